"""What a probe beside a run says of it: sentences for the verdict, and the first suspect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from venturi.model.background import (
    BUSY,
    FEWEST_SAMPLES,
    Background,
    BackgroundOperation,
    BackgroundWhen,
    BackgroundWindow,
    outstanding,
)
from venturi.model.probe import ProbeOperation
from venturi.model.statistic import median
from venturi.model.verdict import Suspicion, SuspicionCause

_LEAST_RATIO = 1.5
"""Two runs whose times of a probe differ by less are not told apart by it."""


def background_suspicions(backgrounds: Sequence[Background]) -> list[Suspicion]:
    """How storage was by itself: slower than usual before the run, or in some repetitions alone."""
    found = []
    for background in backgrounds:
        for window in background.of(BackgroundWhen.BEFORE):
            worst = window.worst
            if worst is not None and (worst.slowdown or 0.0) >= BUSY:
                what = (
                    f"the storage was slow before the run: latency was "
                    f"{_times(worst.slowdown)} its usual value ({_by(background, worst)})"
                )
                found.append(Suspicion(cause=SuspicionCause.BACKGROUND, what=what))
        found += [
            Suspicion(
                cause=SuspicionCause.BACKGROUND,
                what=f"latency was {_times(one.slowdown)} its usual value during repetition "
                f"{one.repetition + 1}, and {_times(one.others)} during the others "
                f"({one.operation.value}, probe of {background.target})",
            )
            for one in outstanding(background)
        ]
    return found


def background_notes(backgrounds: Sequence[Background]) -> list[str]:
    """How busy the storage was, in a sentence for each probe that knows what is usual."""
    found = []
    for background in backgrounds:
        parts = [
            f"{_times(worst.slowdown)} its usual value {_when(windows)} ({worst.operation.value})"
            for when in BackgroundWhen
            if (windows := background.of(when)) and (worst := _worst(windows)) is not None
        ]
        if parts:
            listed = ", ".join(parts)
            found.append(f"by the probe of {background.target}, latency was {listed}")
        if background.hanging is not None:
            found.append(
                f"{background.hanging.value} of the probe of {background.target} had not been "
                f"answered for {background.hanging_s:.3g} s when the run was over"
            )
    return found


def _worst(windows: Sequence[BackgroundWindow]) -> BackgroundOperation | None:
    known = [worst for window in windows if (worst := window.worst) is not None]
    return max(known, key=lambda one: one.slowdown or 0.0, default=None)


def _when(windows: Sequence[BackgroundWindow]) -> str:
    when = windows[0].when
    if when is not BackgroundWhen.DURING:
        return f"{when.value} the run"
    known = [one for one in windows if one.worst is not None]
    slowest = max(known, key=lambda one: (one.worst and one.worst.slowdown) or 0.0)
    if len(windows) == 1:
        return "during the run, which is part of it"
    return f"during repetition {(slowest.repetition or 0) + 1}, the run itself being part of it"


def _times(slowdown: float | None) -> str:
    return f"{slowdown or 0.0:.2g} ×" if (slowdown or 0.0) < 100 else f"{slowdown:.0f} ×"


def _by(background: Background, worst: BackgroundOperation) -> str:
    return f"{worst.operation.value}, probe of {background.target}"


@dataclass(frozen=True)
class _TimePair:
    """How long one operation of a probe took beside two runs."""

    target: str
    when: BackgroundWhen
    operation: ProbeOperation
    first_s: float
    second_s: float

    @property
    def ratio(self) -> float:
        """The longer time over the shorter one."""
        return max(self.first_s / self.second_s, self.second_s / self.first_s)


def first_suspect(first: Sequence[Background], second: Sequence[Background]) -> str:
    """Return how much busier the storage was in one of two runs; empty where that is not known.

    Times of the same probe and operation are compared, before with before and during with during.
    """
    pairs = [
        _TimePair(ours.target, when, operation, first_s, second_s)
        for ours, theirs in _common(first, second)
        for when in (BackgroundWhen.BEFORE, BackgroundWhen.DURING)
        for operation in ProbeOperation
        if (first_s := _response_s(ours, when, operation))
        and (second_s := _response_s(theirs, when, operation))
    ]
    # What was before a run is nothing that it did itself.
    pairs.sort(key=lambda pair: (-pair.ratio, pair.when is not BackgroundWhen.BEFORE))
    if not pairs or pairs[0].ratio < _LEAST_RATIO:
        return ""
    found = pairs[0]
    busier, other = ("first", "second") if found.first_s > found.second_s else ("second", "first")
    return (
        f"first suspect: the storage was busier {found.when.value} the {busier} run: "
        f"{found.operation.value} took {found.ratio:.2g} times as long as in the {other} "
        f"(median, probe of {found.target})"
    )


def _common(
    first: Sequence[Background], second: Sequence[Background]
) -> list[tuple[Background, Background]]:
    """The probes that were beside both runs."""
    return [
        (one, other)
        for one in first
        for other in second
        if (one.target, one.directory, one.node_class)
        == (other.target, other.directory, other.node_class)
    ]


def _response_s(
    background: Background, when: BackgroundWhen, operation: ProbeOperation
) -> float | None:
    """The median of the windows' medians; None where nothing is known well enough."""
    values = [
        one.response_s
        for window in background.of(when)
        for one in window.operations
        if one.operation is operation and one.samples >= FEWEST_SAMPLES and one.response_s > 0
    ]
    return median(values) if values else None
