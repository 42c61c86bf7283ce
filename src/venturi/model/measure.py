"""What a workload computes of its phases: metrics, rules, and values to compare with."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from venturi.model.document import Document, Real
from venturi.model.name_step import Value
from venturi.model.output import Better


class Metric(Document):
    """A named number over phases."""

    value: str
    """An expression over `bytes(...)`, `time(...)`, `operations(...)`, `rate(...)`."""
    unit: str = ""
    about: str = ""


class RateCurve(Document):
    """A picture that the workload is about: rates of its phases over a number."""

    over: str
    """What stands below the axis: `ranks that write`."""
    at: Annotated[list[Value], Field(min_length=2)]
    """The places along it: expressions over parameters."""
    unit: str = ""
    """Of the places; `B` for bytes."""
    lines: Annotated[dict[str, list[str]], Field(min_length=1)]
    """The phase at each place, for each line."""
    better: Better = Better.HIGHER

    @model_validator(mode="after")
    def _one_for_each(self) -> RateCurve:
        for line, phases in self.lines.items():
            if len(phases) != len(self.at):
                raise ValueError(
                    f"line '{line}' has {len(phases)} phases for {len(self.at)} places"
                )
        return self


class Rule(Document):
    """A condition under which a result counts, as those who set the benchmark ask for it."""

    holds: str
    """An expression like a metric's, also over `nodes` and `node_memory` (bytes); 0: broken."""
    says: str
    """What is broken then; `{expression}` in it is replaced by its value."""
    fatal: bool = False
    """A run that breaks it counts for nothing: it is INVALID."""


class Reference(Document):
    """A published value, shown beside ours and never a pass mark."""

    metric: str
    """One that the workload names, or another one: then it has no value of ours."""
    value: Annotated[int | float | str, Field(union_mode="left_to_right")]
    """A number of `unit`, or words."""
    unit: str = ""
    low: Real | None = None
    """The least of the published runs."""
    high: Real | None = None
    """The greatest of the published runs."""
    case: str = ""
    """Which of several published configurations it is."""
    when: Annotated[int | float | str, Field(union_mode="left_to_right")] | None = None
    """A condition over parameters: whether a run is that configuration. Absent: every run is."""
    machine: str = ""
    source: str = ""
    caveat: str = ""
