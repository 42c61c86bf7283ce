"""What a probe felt on the file system of a run before, during and after it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from venturi.model.document import Count, Document, Positive, Real, Seconds
from venturi.model.probe import ProbeName, ProbeOperation

FEWEST_SAMPLES = 3
"""With fewer, nothing is said of a window."""
BUSY = 1.5
"""A slowdown from which on storage is called busy."""
STANDS_OUT = 2.0
"""So many times what it was in the other repetitions."""
_FEWEST_REPETITIONS = 3


class BackgroundWhen(StrEnum):
    """Which time of a run."""

    BEFORE = "before"
    """Ten minutes at most, up to when the engine was there."""
    DURING = "during"
    """One repetition. What the run itself does to others is part of it."""
    AFTER = "after"
    """From the end of the last phase on, some seconds."""


class BackgroundOperation(Document):
    """One of the probe's operations in one time."""

    operation: ProbeOperation
    samples: Positive
    """Those that were answered, moments that passed while the storage hung included."""
    errors: Count
    response_s: Seconds
    """The median."""
    longest_s: Seconds
    slowdown: Real | None
    """`response_s` over the baseline; None: there was none yet."""


class BackgroundWindow(Document):
    """One time of a run."""

    when: BackgroundWhen
    repetition: Count | None
    """None: before or after all of them."""
    begin_s: Real
    """Seconds after hello; below 0: before. So is `end_s`."""
    end_s: Real
    operations: list[BackgroundOperation]

    @property
    def worst(self) -> BackgroundOperation | None:
        """The operation with the largest slowdown; None where none is known well enough."""
        known = [one for one in self.operations if _is_known(one)]
        return max(known, key=lambda one: one.slowdown or 0.0, default=None)

    def slowdown_of(self, operation: ProbeOperation) -> float | None:
        """The slowdown of an operation, if it is known well enough."""
        found = next((one for one in self.operations if one.operation is operation), None)
        return found.slowdown if found is not None and _is_known(found) else None


class Background(Document):
    """What one probe felt."""

    target: ProbeName
    """The probe's name of its target."""
    directory: str
    """Where the probe works; on the file system of the run."""
    node_class: ProbeName
    interval_s: Seconds
    windows: list[BackgroundWindow]
    """In the order of time."""
    hanging: ProbeOperation | None = None
    """What had not been answered yet when the record was made."""
    hanging_s: Seconds = 0.0
    """For how long."""

    def of(self, when: BackgroundWhen) -> list[BackgroundWindow]:
        """The windows before, during or after."""
        return [one for one in self.windows if one.when is when]


class OutstandingRepetition(Document):
    """A repetition in which an operation was much slower than in the others."""

    repetition: Count
    operation: ProbeOperation
    slowdown: Real
    others: Real
    """The median slowdown of the other repetitions."""


def _is_known(one: BackgroundOperation) -> bool:
    return one.slowdown is not None and one.samples >= FEWEST_SAMPLES


def outstanding(background: Background) -> list[OutstandingRepetition]:
    """Return the repetitions that stand out, each with the operation in which it does most.

    What a run does to storage is about the same in each repetition, so what is not is others'.
    """
    found: dict[int, OutstandingRepetition] = {}
    during = background.of(BackgroundWhen.DURING)
    for operation in ProbeOperation:
        known = [
            (window.repetition, slowdown)
            for window in during
            if window.repetition is not None
            and (slowdown := window.slowdown_of(operation)) is not None
        ]
        if len(known) < _FEWEST_REPETITIONS:
            continue
        for repetition, slowdown in known:
            others = _median([value for number, value in known if number != repetition])
            if slowdown < BUSY or slowdown < STANDS_OUT * others:
                continue
            old = found.get(repetition)
            if old is None or slowdown / others > old.slowdown / old.others:
                found[repetition] = OutstandingRepetition(
                    repetition=repetition, operation=operation, slowdown=slowdown, others=others
                )
    return [found[number] for number in sorted(found)]


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
