"""Where nobody does I/O for long: the cuts between stretches of time (rule 3 of the method)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from venturi.derive.operation.table import Table
from venturi.model.operation import KIND_CODES, Column, Kind

LEAST_PAUSE_NS = 1_000_000
"""Shorter pauses are the program's own steps, not computing between phases."""
LEAST_RATIO = 4.0
"""Pauses must stand out: so much longer than the next shorter ones."""
PACE_RATIO = 4.0
"""A pause inside a regular pace is a think time; a cut is so much longer."""
LEAST_COMPUTING_NS = 50_000_000
"""Where pauses do not stand out, shorter ones are the storage's or the machine's."""
COMPUTING_SHARE = 0.3
"""Where no pauses stand out, but all together are so much of the run, the longest are computing."""
COMPUTING_HELD = (0.8, 0.995)
"""These hold so much of the idle time: neither all of it nor only the extremes ..."""
COMPUTING_RATIO = 1.5
"""... and are so much longer than the next shorter ones."""
MOST_COMPUTED = 512
_MOST_SAMPLES = 200_000


def stretches(
    start_ns: Column, end_ns: Column, order: Column, owner: Column, kind: Column
) -> tuple[Column, Column]:
    """The stretch of each operation, and the pause before each stretch (0 for the first).

    Operations come in the order of time; `order` sorts them by `owner` (a file and a rank).
    """
    idle = np.maximum(start_ns[1:] - np.maximum.accumulate(end_ns)[:-1], 0)
    least = max(LEAST_PAUSE_NS, PACE_RATIO * pace_ns(start_ns, end_ns, order, owner, kind))
    threshold = _threshold(idle[idle > 0], least)
    if threshold == float("inf"):
        least = max(least, LEAST_COMPUTING_NS)
        threshold = _computing(idle[idle >= least], int(end_ns.max() - start_ns[0]))
    cut = np.concatenate([[False], idle >= threshold])
    pauses = np.concatenate([[0], idle[cut[1:]]])
    return np.cumsum(cut).astype(np.int64), pauses


def _computing(long: Column, run_ns: int) -> float:
    """The threshold of pauses that hold most of the idle time; infinite: none."""
    long = np.sort(long)[::-1]
    held = np.cumsum(long) / max(int(long.sum()), 1)
    low, high = COMPUTING_HELD
    cuts = np.flatnonzero((held[:-1] >= low) & (held[:-1] <= high))
    cuts = cuts[cuts < MOST_COMPUTED]
    if not len(cuts) or long.sum() < COMPUTING_SHARE * run_ns:
        return float("inf")
    steps = np.log(long[cuts] / long[cuts + 1])
    top = int(np.argmax(steps))
    if steps[top] < np.log(COMPUTING_RATIO):
        return float("inf")
    return float(np.sqrt(float(long[cuts[top]]) * float(long[cuts[top] + 1])))


def pace_ns(start_ns: Column, end_ns: Column, order: Column, owner: Column, kind: Column) -> float:
    """The usual pause between requests of one rank to one file, where requests are many."""
    step = max(1, len(order) // _MOST_SAMPLES)
    here = order[1:]
    before = order[:-1]
    if step > 1:
        here, before = here[::step], before[::step]
    is_data = np.zeros(256, bool)
    is_data[[KIND_CODES[Kind.READ], KIND_CODES[Kind.WRITE]]] = True
    same = (owner[here] == owner[before]) & (kind[here] == kind[before]) & is_data[kind[here]]
    gaps = start_ns[here[same]] - end_ns[before[same]]
    return float(np.median(gaps)) if len(gaps) >= 8 else 0.0


def _threshold(idle: Column, least: float) -> float:
    """The middle of the widest step in the sorted logarithms of pauses; infinite: none."""
    long = np.sort(idle[idle >= least])
    if not len(long):
        return float("inf")
    below = idle[idle < least]
    edge = float(below.max()) if len(below) else 1.0
    logs = np.log(np.concatenate([[max(edge, 1.0)], long]))
    steps = np.diff(logs)
    top = int(np.argmax(steps))
    if steps[top] < np.log(LEAST_RATIO):
        return float("inf")
    return float(np.exp((logs[top] + logs[top + 1]) / 2))


def without_pauses(table: Table, files: Column) -> Table:
    """The table with each opening of these files, a mask, within one stretch of time."""
    rows = np.flatnonzero(files[table.file])
    file, rank, stretch = table.file[rows], table.rank[rows], table.stretch.copy()
    begins = np.ones(len(rows), bool)
    begins[1:] = (file[1:] != file[:-1]) | (rank[1:] != rank[:-1])
    begins |= table.is_kind(Kind.OPEN)[rows]
    first = np.flatnonzero(begins)
    stretch[rows] = np.repeat(stretch[rows[first]], np.diff(np.append(first, len(rows))))
    return replace(table, stretch=stretch)
