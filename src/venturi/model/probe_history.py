"""The history of probes: what pages draw, thinned by rules that keep every outlier."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

from pydantic import Field

from venturi.model.document import Count, Document, Positive, Real, Seconds
from venturi.model.probe import ProbeOperation

PROBE_HISTORY_SCHEMA: Final = "venturi.probe-history/1"


class PhaseSource(StrEnum):
    """Who says when something went on."""

    RUN = "run"
    """The record of a run of Venturi."""
    IO500 = "io500"
    """`result.txt` of the IO500 program."""
    SLURM = "slurm"
    """A job, by `sacct`; what it did to the storage is not known."""
    DARSHAN = "darshan"
    """A job, by its Darshan log."""
    FILE = "file"
    """A table of begins, ends and labels."""


class ProbePhase(Document):
    """A phase of a run, or a job, that went on while the probe measured."""

    run: str
    path: str
    """The phase; of a job its name."""
    repetition: Count
    source: PhaseSource = PhaseSource.RUN
    begin_s: Real
    """Seconds after the history's begin; below 0: it had begun before."""
    end_s: Real


class ProbePoints(Document):
    """Times of operations, or means of minutes: the longest are all there, others thinned."""

    at_s: list[Seconds]
    """When each was due, in seconds after the history's begin."""
    value_s: list[Seconds]
    measured: Count
    """How many there were."""
    above_s: Seconds | None = None
    """All that took longer are there; absent: all are."""
    thinned: Count = 0
    """How many are there of the others, chosen at random."""
    thinned_from: Count = 0
    """How many of these others there were."""

    @property
    def stands_for(self) -> float:
        """For how many measurements one of the thinned ones stands."""
        return self.thinned_from / self.thinned if self.thinned else 1.0


class ProbeSpan(Document):
    """Statistics of one operation in a part of the history."""

    begin_s: Real
    """Seconds after the history's begin; below 0: the part had begun before."""
    samples: Positive
    p50_s: Seconds
    p95_s: Seconds


class ProbeDuring(Document):
    """One operation while one phase of a run went on."""

    phase: Count
    """Its place among the history's phases."""
    samples: Positive
    p50_s: Seconds
    max_s: Seconds
    slowdown: Real | None
    """The median over what is usual; None: nobody knows that."""


class UsualSource(StrEnum):
    """Where the usual time of an operation is from."""

    BASELINE = "baseline"
    """The median of 30 days."""
    SHOWN = "shown"
    """The median of what is shown, outside of runs: the baseline was still being learned."""
    NONE = "none"


class ProbeChange(Document):
    """From a moment on an operation took another time than before."""

    at_s: Seconds
    before_s: Seconds
    after_s: Seconds


class ProbeSeries(Document):
    """One operation of a target."""

    operation: ProbeOperation
    usual_s: Seconds | None
    source: UsualSource
    points: ProbePoints
    """Whole operations."""
    missed: ProbePoints
    """Moments that passed while the storage hung: their times last until it answered."""
    failed: ProbePoints
    last: ProbePoints
    """The last ten minutes, every measurement; empty where the whole history is hardly longer."""
    minutes: ProbePoints
    """Means of 60 s."""
    spans: list[ProbeSpan]
    """Every four hours of a history that has at least two of them."""
    during: list[ProbeDuring]
    changes: list[ProbeChange] = []
    """Of the medians of four hours."""
    learning_hours: Count | None = None
    """Hours that its baseline has so far; absent: it has enough."""


class ProbeTargetHistory(Document):
    """One target."""

    name: str
    node_class: str
    interval_s: Seconds
    learning_hours: Count | None
    """Hours that the baseline has so far of which it has least; None: all have enough."""
    phases: list[Count]
    """Which of the history's phases went on on its file system."""
    series: list[ProbeSeries]


class ProbeHistory(Document):
    """What `venturi probe plot` draws."""

    schema_: Literal["venturi.probe-history/1"] = Field(PROBE_HISTORY_SCHEMA, alias="schema")
    begin_ns: Count
    """Since 1970, UTC; so is `end_ns`."""
    end_ns: Count
    single_s: Seconds = 0.0
    """From how many seconds after the begin on single measurements are there, not minutes alone."""
    targets: list[ProbeTargetHistory]
    phases: list[ProbePhase]
    """Of runs on the same file systems, by their begin."""
