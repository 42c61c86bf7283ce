"""Strong and weak scaling: what a campaign's file asks for, and what was measured of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from venturi.model.document import Document, Positive, Real
from venturi.model.output import Better
from venturi.model.verdict import Threshold
from venturi.model.workload import Name, Scalar


class StudyKind(StrEnum):
    """What happens to the problem while the number of processors grows."""

    STRONG = "strong"
    """It stays: the time is to become shorter."""
    WEAK = "weak"
    """It grows in proportion: the time is to stay."""


class Study(Document):
    """A campaign that scales: over what, from which base, and what must be reached."""

    kind: StudyKind
    over: Name | Literal[""] = ""
    """The parameter that is the number of ranks, nodes or clients; default: the one that a step's
    `ranks` or `nodes` name."""
    base: Scalar | None = None
    """Its value that all others are compared with; default: the smallest."""
    of: list[str] = []
    """Metrics; default: the times that are measured, or rates where there are none."""
    thresholds: dict[Literal["speedup", "efficiency"], Threshold] = {}
    """Judged for each metric at every number but the base: `efficiency: {at_least: 70 %}`."""
    problem: str = ""
    """How the problem relates to production, in words; it stands in the report, unchecked."""


class Ratio(Document):
    """A ratio of two medians with its interval."""

    value: Real
    low: Real
    high: Real
    coverage: float
    """Confidence of the interval; 0: one repetition, which has none."""


class ScalingPoint(Document):
    """One number of processors."""

    size: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """How many: the value of the parameter `over`."""
    point: str
    """The name of the campaign's point."""
    runs: Positive
    median: Real
    """Of the metric, in its unit, with its interval."""
    low: Real
    high: Real
    work: Real | None = None
    """Bytes or operations of the phase; None: not known."""
    speedup: Ratio
    """Over the base; of a weak study the scaled one."""
    efficiency: Ratio
    """The speed-up as a share of the ideal one."""


class Law(StrEnum):
    """A law of scaling with one free number, the serial share."""

    AMDAHL = "Amdahl"
    """Speed-up over the base = 1 / (s + (1 - s) / n); s is a share of the time at the base."""
    GUSTAFSON = "Gustafson"
    """Scaled speed-up = s + (1 - s) n; s is a share of the time at n."""

    def speedup(self, serial: float, size: float) -> float:
        """The speed-up on `size`, as a multiple of the base, for a serial share above 0 or so."""
        if self is Law.AMDAHL:
            return 1.0 / (serial + (1.0 - serial) / size)
        return serial + (1.0 - serial) * size


class LawFit(Document):
    """A law that agrees with measured times, and where it no longer does."""

    law: Law
    serial: Real
    """The serial share that fits best, with its 95 % confidence interval."""
    serial_low: Real
    serial_high: Real
    first: Real
    """Smallest and largest number of processors that were fitted."""
    last: Real
    points: Positive
    stops_at: Real | None = None
    """The first number from which on the law does not fit; None: it fits all."""
    contradiction: Real | None = None
    """By what factor the time at `last` would have to be longer to contradict a law that fits all;
    None: even 4 times does not, or it does not fit all."""
    excess: Ratio | None = None
    """The time measured there, divided by what the law says."""


class ScalingCurve(Document):
    """One metric over the number of processors, all other parameters fixed."""

    step: str
    metric: str
    unit: str
    of: str = ""
    better: Better
    parameters: dict[str, Scalar]
    """The others, as far as they vary in the campaign."""
    points: Annotated[list[ScalingPoint], Field(min_length=2)]
    """Ascending in size; the base is one of them."""
    work_says: str = ""
    """How the work contradicts the study's kind; empty: it does not, or is not known."""
    fit: LawFit | None = None
    law_says: str
    """The fit in words, or why there is none."""
    best: Real | None = None
    """The number with the largest speed-up; None: one repetition tells nothing apart."""
    best_alike: list[Real] = []
    """Numbers whose speed-up cannot be told from the best one."""
    best_says: str
    knee: Real | None = None
    """The number with the largest product of speed-up and efficiency, where smaller and larger
    ones are significantly below it."""
    knee_alike: list[Real] = []
    knee_says: str


class GuidelineState(StrEnum):
    """Whether a guideline is kept."""

    MET = "met"
    PARTLY = "partly"
    NOT_MET = "not met"
    STATED = "stated"
    """The campaign's file says so; nothing can check it."""
    UNKNOWN = "not known"


class Guideline(Document):
    """A rule for measuring how something scales, and what the campaign did."""

    rule: str
    state: GuidelineState
    says: str


class ScalingStudy(Document):
    """How a campaign's metrics scale."""

    kind: StudyKind
    over: str
    base: Real
    curves: list[ScalingCurve]
    without: list[str] = []
    """What has no curve, and why, in words."""
    guidelines: list[Guideline]
