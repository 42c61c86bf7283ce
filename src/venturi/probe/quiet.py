"""Waiting for a quiet storage target: what its probes felt lately, against what is usual."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from venturi.model.background import FEWEST_SAMPLES
from venturi.model.error import UserError
from venturi.model.probe import OPERATIONS, ProbeOperation, learned_hours
from venturi.probe.background import felt_between, hanging_worker
from venturi.probe.baseline import learn
from venturi.probe.place import target_of

_LOOK_S = 2.0


@dataclass(frozen=True)
class SlowestOperation:
    """The operation of all probes that is farthest above its usual latency."""

    target: str
    operation: ProbeOperation
    slowdown: float
    """How many times the usual latency the median was; infinite while the operation hangs."""

    def __str__(self) -> str:
        what = f"{self.operation} of the probe of {self.target}"
        if self.slowdown == float("inf"):
            return f"{what} hangs"
        return f"{what} takes {self.slowdown:.2g} times its usual latency"


class QuietCondition:
    """Whether no operation of some probes is slower than `most` times its usual latency.

    Medians over the last `over_s` seconds are compared. Raises UserError where that is too short
    for the probes' intervals, or what is usual is not known yet.
    """

    def __init__(self, folders: Sequence[Path], most: float, over_s: float) -> None:
        self._most, self._over_s = most, over_s
        self._targets = [(folder, target_of(folder)) for folder in folders]
        longest_s = FEWEST_SAMPLES * max(target.interval_s for _, target in self._targets)
        if over_s < longest_s:
            raise UserError(
                f"a probe measures {FEWEST_SAMPLES} times in {longest_s:g} s, not in {over_s:g} s",
                f"--over {longest_s:.0f}s or more",
            )
        now_ns = time.time_ns()
        self._usual: dict[Path, dict[ProbeOperation, float]] = {}
        for folder, target in self._targets:
            learned = learn(folder, target, now_ns)
            missing = [name for name, (expected, _) in learned.items() if expected is None]
            if missing:
                hours = min(learned[name][1] for name in missing)
                raise UserError(
                    f"the probe of {target.name} does not know yet what is usual for {missing[0]}: "
                    f"it has measured in {learned_hours(hours)}",
                    "let it go on; venturi probe status shows how far it is",
                )
            self._usual[folder] = {
                name: expected.value_s for name, (expected, _) in learned.items() if expected
            }

    def slowest(self, now_s: float) -> SlowestOperation | None:
        """What is slowest now; None while there are too few measurements of some operation."""
        found: list[SlowestOperation] = []
        for folder, target in self._targets:
            hanging = hanging_worker(folder, target)
            if hanging is not None:
                operation = OPERATIONS[hanging.in_flight_operation or 0]
                return SlowestOperation(target.name, operation, float("inf"))
            usual = self._usual[folder]
            felt = felt_between(folder, target, usual, now_s - self._over_s, now_s)
            if {one.operation for one in felt if one.samples >= FEWEST_SAMPLES} != set(usual):
                return None
            found += [
                SlowestOperation(target.name, one.operation, one.slowdown)
                for one in felt
                if one.slowdown is not None
            ]
        return max(found, key=lambda one: one.slowdown, default=None)

    def wait(
        self,
        within_s: float,
        watch: Callable[[SlowestOperation | None, float], None],
        is_asked: Callable[[], bool],
    ) -> bool:
        """Wait until it holds, at most so long; whether it does.

        `watch` is told what is slowest and the seconds that are left, at each look; `is_asked`
        says that somebody wants the end.
        """
        until_s = time.monotonic() + within_s
        while True:
            found = self.slowest(time.time())
            if found is not None and found.slowdown <= self._most:
                return True
            left_s = until_s - time.monotonic()
            if left_s <= 0 or is_asked():
                return False
            watch(found, left_s)
            time.sleep(min(_LOOK_S, left_s))
