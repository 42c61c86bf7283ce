"""Numbers in what a program wrote: where they stand and how they are found."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, model_validator

from venturi.model.document import Document


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
    SUM = "sum"


class OutputMetric(Document):
    """A number in what a run wrote; a run in which it is missing has failed."""

    regex: str = ""
    """Its first bracket holds the number; `^` and `$` match at every line."""
    json_path: str = Field("", alias="json")
    """`results[0].rate`: keys and indices of a JSON document."""
    column: str = ""
    """A column of a CSV table with a heading."""
    file: str = "stdout"
    """Relative to the run's folder."""
    pick: Pick = Pick.ONLY
    unit: str = ""
    better: Better = Better.NONE
    about: str = ""

    @model_validator(mode="after")
    def _one_way(self) -> OutputMetric:
        ways = [bool(self.regex), bool(self.json_path), bool(self.column)]
        if sum(ways) != 1:
            raise ValueError("a metric is found by one of regex, json and column")
        return self
