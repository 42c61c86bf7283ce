"""The course of a trace: bytes and calls of each lane in equal bins of time."""

from __future__ import annotations

import numpy as np

from venturi.derive.footprint import Footprint
from venturi.model.characterization_data import RankTimeline
from venturi.model.operation import Column

BINS = 120
MOST_ROWS = 64
"""With more lanes than this, neighbouring ones share a row."""


def timeline_of(found: Footprint) -> RankTimeline:
    """Bytes spread evenly over the time of their calls; calls counted where they begin."""
    active = found.data | found.names | found.syncs
    row_of, labels = _rows(found, active)
    bin_s = found.job_s / BINS if found.job_s > 0 else 1.0
    rows = len(labels)
    return RankTimeline(
        bin_s=bin_s,
        labels=labels,
        written=_spread(found, found.writes, row_of, rows, bin_s),
        read=_spread(found, found.reads, row_of, rows, bin_s),
        operations=_counted(found, active, row_of, rows, bin_s),
    )


def _rows(found: Footprint, active: Column) -> tuple[Column, list[str]]:
    """The picture's row of each lane; programs that did nothing have none (-1)."""
    used = np.zeros(len(found.lanes), bool)
    used[: found.ranks] = True
    used[np.unique(found.lane[active])] = True
    shown = np.flatnonzero(used)
    each = max(1, -(-len(shown) // MOST_ROWS))
    row_of = np.full(len(found.lanes), -1, np.int64)
    row_of[shown] = np.arange(len(shown)) // each
    labels = []
    for first in range(0, len(shown), each):
        group = shown[first : first + each]
        name = found.lanes[int(group[0])]
        last = found.lanes[int(group[-1])].removeprefix("rank ")
        labels.append(name if len(group) == 1 else f"{name} to {last}")
    return row_of, labels


def _counted(
    found: Footprint, mask: Column, row_of: Column, rows: int, bin_s: float
) -> list[list[int]]:
    at = np.clip((found.ops.start_ns[mask] * (1e-9 / bin_s)).astype(np.int64), 0, BINS - 1)
    counts = np.bincount(row_of[found.lane[mask]] * BINS + at, minlength=rows * BINS)
    return [[int(value) for value in row] for row in counts.reshape(rows, BINS)]


def _spread(
    found: Footprint, mask: Column, row_of: Column, rows: int, bin_s: float
) -> list[list[int]]:
    """Bytes in each bin: of a call over several, in proportion to its time in each.

    The inner bins of a long call get one slope each: differences of sums over the edges.
    """
    scale = 1e-9 / bin_s
    start = np.clip(found.ops.start_ns[mask] * scale, 0, BINS)
    end = np.clip(np.maximum(found.ops.end_ns[mask] * scale, start), 0, BINS)
    amount = found.ops.bytes[mask].astype(float)
    base = row_of[found.lane[mask]] * (BINS + 1)
    first = np.minimum(start.astype(np.int64), BINS - 1)
    last = np.minimum(end.astype(np.int64), BINS - 1)
    cells = rows * (BINS + 1)
    is_short = first == last
    total = np.bincount((base + first)[is_short], amount[is_short], cells).astype(float)
    long = ~is_short
    rate = amount[long] / (end - start)[long]
    base, first, last = base[long], first[long], last[long]
    total += np.bincount(base + first, rate * (first + 1 - start[long]), cells)
    total += np.bincount(base + last, rate * (end[long] - last), cells)
    slope = np.bincount(base + first + 1, rate, cells) - np.bincount(base + last, rate, cells)
    total += np.cumsum(slope.reshape(rows, BINS + 1), axis=1).ravel()
    summed = np.cumsum(total.reshape(rows, BINS + 1)[:, :BINS], axis=1)
    table = np.diff(np.rint(np.maximum.accumulate(summed, axis=1)), axis=1, prepend=0.0)
    return [[int(value) for value in row] for row in table]
