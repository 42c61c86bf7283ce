"""The history: what a benchmark measured session by session, and where that changed."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from venturi.model.comparison import Difference
from venturi.model.document import Count, Document, Positive, Real
from venturi.model.output import Better
from venturi.model.workload import Scalar

Day = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d(T[0-9:.+Z-]*)?$")]


class KnownChange(Document):
    """Something that was done to a machine or a benchmark."""

    at: Day
    """`2026-03-01`, or with a time of day; UTC."""
    about: str
    machine: str = ""
    """Only for this one; empty: for all. So is `name`, of the benchmark."""
    name: str = ""


class KnownChanges(Document):
    """What people know of changes, beside the results."""

    changes: Literal[1]
    known: list[KnownChange]


class Trend(StrEnum):
    """How a series stands now."""

    STEADY = "steady"
    WORSE = "worse"
    """It changed for the worse, nobody said why, and it is so still."""
    BETTER = "better"
    CHANGED = "changed"
    """It has no direction; or the change for the worse is a known one."""
    SHORT = "short"
    """Too few sessions to tell."""


class SessionValue(Document):
    """One session: the median of its repetitions."""

    session: str
    started: str
    value: Real
    repetitions: Positive


class ChangePoint(Document):
    """Where values are others than before."""

    at: Count
    """The number of the first session after it, from 0."""
    started: str
    before: Real
    """The median of the sessions since the change before; `after`: to the next one."""
    after: Real
    change: Real
    """As a share of `before`."""
    is_worse: bool
    known: str = ""
    """What somebody did at that time; empty: nobody said."""
    differences: list[Difference] = []
    """What else changed between the sessions before and after it."""


class Series(Document):
    """One metric of one benchmark, with one set of parameters, on one machine."""

    name: str
    machine: str
    metric: str
    unit: str
    of: str = ""
    """The operation that a rate in 1/s counts; empty: several kinds, or no such rate."""
    better: Better
    ranks: Positive
    parameters: dict[str, Scalar]
    condition: str
    variant: str = ""
    """What tells it from series with the same parameters that did other work; empty: none is."""
    sessions: list[SessionValue]
    changes: list[ChangePoint]
    detectable: Real | None
    """The least lasting change, as a share, that is found four times out of five."""
    seen_after: Positive | None = None
    """How many sessions after a clean change, if it comes now, show it four times out of five."""
    trend: Trend


class History(Document):
    """All series of the chosen runs."""

    schema_: Literal["venturi.history/1"] = Field("venturi.history/1", alias="schema")
    chosen: str
    least: Real
    """The smallest change that counts as one, as a share."""
    series: list[Series]
    headline: str

    @property
    def worse(self) -> list[Series]:
        """Those that a gate stops at."""
        return [one for one in self.series if one.trend is Trend.WORSE]
