"""Numbers in what a program wrote: where they stand and how they are found."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, model_validator

from venturi.model.document import Document, Real


class Better(StrEnum):
    """Which way a metric improves."""

    HIGHER = "higher"
    LOWER = "lower"
    NONE = "none"


class Pick(StrEnum):
    """Which of several values that a pattern finds is the metric."""

    ONLY = "only"
    """There must be exactly one; several are an error."""
    FIRST = "first"
    LAST = "last"
    LEAST = "least"
    MOST = "most"
    MEDIAN = "median"
    MEAN = "mean"
    SUM = "sum"
    COUNT = "count"
    """How many there are."""
    DEVIATION = "deviation"
    """The standard deviation of those that are there (n - 1); 0 of one."""


class OutputMetric(Document):
    """A number in what a run wrote; a run in which it is missing has failed."""

    regex: str = ""
    """Its first bracket holds the number; `^` and `$` match at every line."""
    json_path: str = Field("", alias="json")
    """`results[0].rate`: keys and indices of a JSON document."""
    column: str = ""
    """A column of a CSV table with a heading."""
    where: dict[str, str] = {}
    """Only rows of the table whose columns are so: `{operation: WRITE}`, or a pattern as of file
    names. With `json` the file has one document on each line, and the names are paths in it."""
    file: str = "stdout"
    """Relative to the run's folder."""
    pick: Pick = Pick.ONLY
    default: Real | None = None
    """The value where nothing is found; without it the run has failed."""
    unit: str = ""
    better: Better | None = None
    """None: as the unit says."""
    about: str = ""

    @property
    def ways(self) -> dict[str, str]:
        """How it is found: one of these is not empty."""
        return {"regex": self.regex, "json": self.json_path, "column": self.column}

    @model_validator(mode="after")
    def _one_way(self) -> OutputMetric:
        if sum(map(bool, self.ways.values())) != 1:
            *first, last = self.ways
            raise ValueError(f"a metric is found by one of {', '.join(first)} and {last}")
        if self.where and not (self.json_path or self.column):
            raise ValueError("'where' chooses rows of a table or documents of JSON")
        return self
