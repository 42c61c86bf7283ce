"""What a workload computes of its phases: metrics, rules, and values to compare with."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from venturi.model.document import Document, Real


class Metric(Document):
    """A named number over phases."""

    value: str
    """An expression over `bytes(...)`, `time(...)`, `operations(...)`, `rate(...)`."""
    unit: str = ""
    about: str = ""


class Rule(Document):
    """A condition under which a result counts, as those who set the benchmark ask for it."""

    holds: str
    """An expression like a metric's, also over `found(phase)` and `nodes`; 0: broken."""
    says: str
    """What is broken then; `{expression}` in it is replaced by its value."""


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
