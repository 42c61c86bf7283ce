"""Single samples of one operation as they are read: what is drawn, and what phases did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from venturi.model.probe_history import PhaseSource, ProbeDuring
from venturi.probe.columns import Array
from venturi.probe.ring import FAILED, MISSED, WITHHELD
from venturi.probe.rollup import MINUTE_NS, bin_of, quantile_of
from venturi.probe.run_phase import TimedPhase, TimedRun
from venturi.probe.sample import is_felt, is_usual
from venturi.probe.span import Span
from venturi.probe.thin import Thinning

LAST_NS = 10 * MINUTE_NS
MOST_MEASURED = 500
"""Phases for which it is told how long operations took."""
_MOST_EXACT = 50_000
"""Values of a phase that are kept singly: of more its median is right within 1 %."""

Phases = Sequence[tuple[int, TimedRun, TimedPhase]]
"""Phases with their places in the history."""


def measured(phases: Phases) -> Phases:
    """Return the phases for which something is told: those of runs first, then the longest."""

    def order(one: tuple[int, TimedRun, TimedPhase]) -> tuple[bool, int]:
        _, run, phase = one
        return run.source is not PhaseSource.RUN, phase.begin_ns - phase.end_ns

    return sorted(sorted(phases, key=order)[:MOST_MEASURED], key=lambda one: one[0])


@dataclass
class PhaseValues:
    """Times of operations in one phase, in nanoseconds; a histogram where there are many."""

    count: int = 0
    longest: int = 0
    _parts: list[Array] = field(default_factory=list)
    _bins: dict[int, int] | None = None

    def add(self, values: Array) -> None:
        """Take some more."""
        self.count += len(values)
        self.longest = max(self.longest, int(values.max(initial=0)))
        self._parts.append(values)
        if self.count > _MOST_EXACT:
            self._fold()

    def _fold(self) -> None:
        found = {} if self._bins is None else self._bins
        for part in self._parts:
            for number, count in zip(
                *(one.tolist() for one in np.unique(bin_of(part), return_counts=True)), strict=True
            ):
                found[number] = found.get(number, 0) + count
        self._bins, self._parts = found, []

    def median_ns(self) -> float:
        """The median of all; at least one must be there."""
        if self._bins is None:
            return float(np.median(np.concatenate(self._parts)))
        bins = np.array(list(self._bins), np.uint16)
        return quantile_of(bins, np.array(list(self._bins.values())), 0.5) or 0.0


@dataclass
class Collector:
    """Takes samples of one operation in the order of time."""

    span: Span
    phases: Phases
    wants_usual: bool
    done: Thinning = field(default_factory=Thinning)
    missed: Thinning = field(default_factory=Thinning)
    failed: Thinning = field(default_factory=Thinning)
    last: Thinning = field(default_factory=Thinning)
    during: dict[int, PhaseValues] = field(default_factory=dict)
    usual: list[Array] = field(default_factory=list)

    def add(self, samples: Array) -> None:
        """Take samples of the operation."""
        samples = samples[np.argsort(samples["scheduled_ns"], kind="stable")]
        due, response = samples["scheduled_ns"], samples["response_ns"]
        is_missed = samples["flags"] & MISSED != 0
        is_failed = (samples["flags"] & FAILED != 0) & (samples["flags"] & WITHHELD == 0)
        felt = is_felt(samples)
        done = felt & ~is_missed
        for chosen, thinning in (
            (done, self.done), (felt & is_missed, self.missed), (is_failed, self.failed),
            (felt & (due >= self.span.end_ns - LAST_NS), self.last),
        ):  # fmt: skip
            thinning.add(due[chosen], response[chosen])
        outside = is_usual(samples)
        for place, run, phase in self.phases:
            first, last = np.searchsorted(due, (phase.begin_ns, phase.end_ns))
            if first == last:
                continue
            self.during.setdefault(place, PhaseValues()).add(response[first:last][felt[first:last]])
            if run.source is not PhaseSource.SLURM:  # nobody knows whether it used the storage
                outside[first:last] = False
        if self.wants_usual:
            self.usual.append(response[outside])

    def usual_s(self) -> float | None:
        """The median outside of runs; None where there is nothing."""
        values = np.concatenate(self.usual) if self.usual else np.zeros(0)
        return float(np.median(values)) / 1e9 if len(values) else None

    def during_rows(self, usual_s: float | None) -> list[ProbeDuring]:
        """Statistics for each phase in which the operation was made."""
        found = []
        for place, values in sorted(self.during.items()):
            if values.count:
                p50_s = values.median_ns() / 1e9
                found.append(
                    ProbeDuring(
                        phase=place,
                        samples=values.count,
                        p50_s=p50_s,
                        max_s=values.longest / 1e9,
                        slowdown=p50_s / usual_s if usual_s else None,
                    )
                )
        return found
