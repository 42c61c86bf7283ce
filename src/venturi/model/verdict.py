"""The verdict on a run: is the number valid, what is its label, and what may it be used for."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, model_validator

from venturi.model.document import Count, Document, Fraction, Real


class Level(StrEnum):
    """Validity in one word, best first."""

    VALID = "VALID"
    """The numbers are what their labels say."""
    INDICATIVE = "INDICATIVE"
    """Nothing failed, but another cause cannot be excluded, or there is no interval."""
    INVALID = "INVALID"
    """Something failed: the numbers are not what their labels say."""


class SuspicionCause(StrEnum):
    """What other than the storage can explain a number."""

    CACHE = "cache"
    BOUND = "bound"
    NEIGHBOUR = "neighbour"
    STEAL = "steal"
    THROTTLED = "throttled"
    MEMORY = "memory"
    STOPPED = "stopped"
    GAP = "gap"
    CLOCK = "clock"
    BACKGROUND = "background"
    """Others used the storage, as a probe felt."""
    OTHER = "other"


class Suspicion(Document):
    """Another cause than the storage that can explain more of a number than its interval says."""

    cause: SuspicionCause
    phase: str = ""
    """Empty: the whole run."""
    share: Fraction | None = None
    """Share of the time, or of the bytes, that it can explain; absent: not a share."""
    what: str


class UseKind(StrEnum):
    """What numbers are used for."""

    COMPARE = "compare"
    RANK = "rank"
    GATE = "gate"


class Use(Document):
    """Whether the numbers may be used for something, by which set of rules."""

    what: UseKind
    allowed: bool
    rule_set: str
    """`venturi`, or the workload whose own rules are asked."""
    broken: list[str] = []
    """The rules that fail, in words."""


class Outcome(StrEnum):
    """What became of a threshold."""

    PASS = "PASS"
    FAIL = "FAIL"
    UNDECIDED = "UNDECIDED"
    """The interval lies on both sides, or the run is not valid."""


class Threshold(Document):
    """What a metric must reach: numbers in the metric's unit, or texts such as `1 GB/s`."""

    at_least: float | str | None = None
    at_most: float | str | None = None
    within: Annotated[list[float | str], Field(min_length=2, max_length=2)] | None = None
    """The smallest and the largest value that are in order."""

    @model_validator(mode="after")
    def _says_something(self) -> Threshold:
        if self.at_least is None and self.at_most is None and self.within is None:
            raise ValueError("a threshold has at_least, at_most or within")
        return self


class ThresholdRow(Document):
    """A threshold and what became of it."""

    metric: str
    rule: str
    """In words: `at least 1 GB/s`."""
    outcome: Outcome
    low: Real | None = None
    """The interval that was judged, in the metric's unit; absent: there was no value."""
    high: Real | None = None
    n: Count = 0
    says: str


class Verdict(Document):
    """Three separate answers: valid, labels (they stand with the metrics), and use."""

    level: Level
    reasons: list[str]
    """Why the level is what it is; of a valid run, what was checked."""
    valid: bool = False
    """The numbers are what their labels say: the level is VALID."""
    suspicions: list[Suspicion] = []
    notes: list[str] = []
    """What was not observed, so that nobody takes it for checked; that repetitions depend on the
    ones before them, so that nobody takes an interval for wider than it is."""
    use: list[Use] = []
    thresholds: list[ThresholdRow] = []

    @model_validator(mode="before")
    @classmethod
    def _valid_by_level(cls, data: Any) -> Any:
        if isinstance(data, dict) and "valid" not in data:
            return {**data, "valid": data.get("level") in (Level.VALID, Level.VALID.value)}
        return data

    @model_validator(mode="after")
    def _one_answer(self) -> Verdict:
        if self.valid != (self.level is Level.VALID):
            raise ValueError("'valid' and 'level' contradict each other")
        return self

    def use_for(self, what: UseKind) -> Use | None:
        """The rules of a use; None where nothing was asked (a record of version 1)."""
        return next((use for use in self.use if use.what is what), None)

    def may(self, what: UseKind) -> bool:
        """Whether the numbers may be used for something."""
        use = self.use_for(what)
        return use is not None and use.allowed

    def invalid_for(self, faults: list[str]) -> Verdict:
        """The verdict of a run that is found to be INVALID later: no use is allowed."""
        broken = [f"the run is {Level.INVALID.value}"]
        uses = [
            use.model_copy(update={"allowed": False, "broken": [*broken, *use.broken]})
            for use in self.use
        ]
        thresholds = [
            row.model_copy(update={"outcome": Outcome.UNDECIDED, "says": faults[0]})
            if row.outcome is Outcome.PASS
            else row
            for row in self.thresholds
        ]
        return self.model_copy(
            update={
                "level": Level.INVALID,
                "valid": False,
                "reasons": [*faults, *self.reasons],
                "use": uses,
                "thresholds": thresholds,
            }
        )

    @property
    def failed_thresholds(self) -> list[ThresholdRow]:
        """Those that are surely not met."""
        return [row for row in self.thresholds if row.outcome is Outcome.FAIL]
