"""The tuning: changes to a workload, each measured beside the workload as it is."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

from pydantic import Field

from venturi.model.document import Count, Document, Fraction, Positive, Real, Seconds
from venturi.model.record import FileSystem

TUNING_SCHEMA: Final = "venturi.tuning/2"


class Durability(StrEnum):
    """What a crash may take, beside the workload as it is."""

    SAME = "same"
    WEAKER = "weaker"


class TuningStage(StrEnum):
    """How far a change came."""

    SCREEN = "screen"
    """Looked at once, beside the workload as it is."""
    RACE = "race"
    """Among the better ones, looked at again."""
    FINAL = "final"
    """Measured afresh; only these measurements count."""
    NONE = "none"
    """Not measured: the time ran out, or it failed."""


class Effect(StrEnum):
    """What the final measurements say of a change."""

    HELPS = "helps"
    NO_GAIN = "no gain"
    """Its interval holds 1, or the gain is too small to matter."""
    HARMS = "harms"
    UNJUDGED = "unjudged"
    """It was not measured often enough to be judged."""


class Meaning(Document):
    """What a change takes for granted about what the application means."""

    durability: Durability = Durability.SAME
    assumes: str = ""
    """What must be all right for the change to be allowed; empty: nothing changes for anybody."""


class TrialPair(Document):
    """One measurement of a change and the one of the workload as it is beside it."""

    stage: TuningStage
    base_s: Seconds
    changed_s: Seconds
    base_first_s: Seconds = 0.0
    changed_first_s: Seconds = 0.0
    """Of each run the first repetition alone, since an application does its work once; 0: not
    known."""

    @property
    def ratio(self) -> float:
        """I/O time with the change, relative to that without."""
        return self.changed_s / self.base_s if self.base_s > 0 else 1.0


class Gain(Document):
    """I/O time with a change relative to that without, from the final pairs."""

    ratio: Real
    """The median of the pairs' ratios: 0.25 is four times as fast."""
    low: Real
    high: Real
    """One of both also reaches to the ratio of the first repetitions, and to where the change
    leaves those files of the application as slow as they are that the workload leaves out."""
    confidence: Fraction
    """Of the interval; higher than 95 % where several changes are judged together."""
    pairs: Positive
    base_s: Seconds
    changed_s: Seconds
    """Medians of the I/O time without and with the change."""


class Whole(Document):
    """What a gain means for the whole run (Amdahl): its computing stays."""

    before_s: Seconds
    after_s: Seconds


class Trial(Document):
    """One change, and what measuring it said."""

    key: str
    value: str
    """`key=value` is what `--what-if` takes."""
    what: str
    advice: str
    """What to change in the code or the job script, in one sentence."""
    meaning: Meaning
    stage: TuningStage
    effect: Effect
    gain: Gain | None = None
    measured_ratio: Real | None = None
    """The median of all pairs before the final ones: it chose, so it is no result."""
    pairs: list[TrialPair] = []
    whole: Whole | None = None
    failure: str = ""
    """Why it could not be measured."""
    workload_text: str = ""
    """The changed workload, of changes that came to the final."""

    @property
    def name(self) -> str:
        """`key=value`."""
        return f"{self.key}={self.value}"


class Skipped(Document):
    """A change that does not apply."""

    name: str
    why: str


class Cause(Document):
    """Something that the application does badly, and changes that answer it."""

    finding: str
    """The finding's stable word."""
    what: str
    evidence: str
    advice: str
    """What to do about it, in general."""
    answers: list[str]
    """Names of the trials (`key=value`) that answer it; none where no such change applies."""
    says: str = ""
    """What measuring them said of its cost here, in one sentence."""


class Computing(Document):
    """The time of a run that is not I/O, and who says so."""

    seconds: Seconds
    source: Literal["capture", "workload", "unknown"]


class Tuning(Document):
    """What would make a workload's I/O faster here, by measurement."""

    schema_: Literal["venturi.tuning/2"] = Field("venturi.tuning/2", alias="schema")
    name: str
    about: str
    started: str
    """UTC, ISO 8601."""
    command: list[str]
    headline: str
    """One sentence: what helps most, or that nothing does."""
    rule: str
    """How it was decided what helps."""
    interrupted: bool = False
    """The user ended it; what was measured till then is here."""
    budget_s: Seconds
    spent_s: Seconds
    runs: Count
    """Starts of the engine, with the first one, which no pair holds."""
    ranks: Positive
    seed: Count
    base_s: list[Seconds]
    """I/O time of every run of the workload as it is, in order."""
    computing: Computing
    trials: list[Trial]
    """Those that help first, the largest gain first."""
    causes: list[Cause] = []
    """What the capture shows and a change here answers, with most time at stake first; also
    where mending it gains nothing."""
    skipped: list[Skipped]
    left_out: list[str]
    """Changes that the language of workloads cannot say."""
    remarks: list[str] = []
    host: str
    directory: str
    file_system: FileSystem
    venturi: str
    workload_text: str
    """The workload as it is."""
