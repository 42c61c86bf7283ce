"""What an operation usually takes: a rolling median, and a reference that somebody froze."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from venturi.model.error import UserError
from venturi.model.probe import (
    LEARNING_HOURS,
    OPERATIONS,
    ProbeExpected,
    ProbeOperation,
    ProbeReference,
    ProbeTarget,
    learned_hours,
)
from venturi.probe.cost import operations_of
from venturi.probe.keep import HOURS, rows_between
from venturi.probe.place import (
    BASELINE_NAME,
    REFERENCE_NAME,
    read_reference,
    target_of,
)
from venturi.probe.rollup import DAY_NS, HOUR_NS, quantile_of
from venturi.store.whole_file import write_whole

WINDOW_DAYS = 30
DRIFTED = 1.5
"""A baseline that many times the reference is a warning."""
_FRESH_NS = HOUR_NS

Clock = Callable[[], int]
Learned = dict[ProbeOperation, tuple[ProbeExpected | None, int]]
"""For each operation its baseline, if there is one, and from how many hours."""


def learn(folder: Path, target: ProbeTarget, now_ns: int) -> Learned:
    """Return the median of the last 30 days for each operation.

    Errors, moments that passed while the storage hung, and reads from the cache do not count.
    """
    learned: Learned = {}
    for kind in target.kinds:
        begin_ns = now_ns - WINDOW_DAYS * DAY_NS
        rows = rows_between(folder, HOURS, kind, begin_ns, now_ns + HOUR_NS)
        for operation in operations_of([kind]):
            mine = (rows["operation"] == OPERATIONS.index(operation)) & (rows["usual"] > 0)
            hours = np.unique(rows["begin_ns"][mine])
            value = quantile_of(rows["bin"][mine], rows["usual"][mine], 0.5)
            expected = None
            if value is not None and len(hours) >= LEARNING_HOURS:
                expected = ProbeExpected(
                    operation=operation,
                    value_s=value / 1e9,
                    samples=int(rows["usual"][mine].sum()),
                    begin_ns=int(hours[0]),
                    end_ns=int(hours[-1]) + HOUR_NS,
                    fitted_ns=now_ns,
                )
            learned[operation] = (expected, len(hours))
    return learned


def baseline_of(folder: Path, target: ProbeTarget, now_ns: int) -> Learned:
    """Return the baseline of this hour: learned anew where the kept one is older."""
    kept = read_reference(folder, BASELINE_NAME)
    fresh = kept is not None and all(
        0 <= now_ns - one.fitted_ns < _FRESH_NS for one in kept.expected
    )
    wanted = operations_of(target.kinds)
    if kept is not None and fresh and [one.operation for one in kept.expected] == wanted:
        return {one.operation: (one, LEARNING_HOURS) for one in kept.expected}
    learned = learn(folder, target, now_ns)
    expected = [one for one, _ in learned.values() if one is not None]
    write_whole(folder / BASELINE_NAME, ProbeReference(expected=expected).to_json(indent=1))
    return learned


def freeze(folder: Path, clock: Clock = time.time_ns) -> ProbeReference:
    """Make the baseline of this moment the reference. Raises UserError while it is learned."""
    target = target_of(folder)
    learned = learn(folder, target, clock())
    lacking = {hours for expected, hours in learned.values() if expected is None}
    if lacking:
        raise UserError(
            f"{target.name}: the baseline is still being learned: {learned_hours(min(lacking))}",
            "wait until there is a day of samples",
        )
    reference = ProbeReference(expected=[one for one, _ in learned.values() if one is not None])
    write_whole(folder / REFERENCE_NAME, reference.to_json(indent=1))
    return reference


def reference_of(folder: Path) -> dict[ProbeOperation, ProbeExpected]:
    """Return the frozen expected values; empty where nobody set any."""
    kept = read_reference(folder, REFERENCE_NAME)
    return {one.operation: one for one in kept.expected} if kept is not None else {}
