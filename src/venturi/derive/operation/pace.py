"""The moments of computing between a program's calls, which cool the processor's caches.

Most programs compute for some microseconds between two requests. That takes no time in I/O, but
what it uses takes the place of the kernel's code and data in the processor's caches, and so the
next request takes longer than one of a bare loop: sqlite's 4 KiB in memory a quarter longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from venturi.model.operation import KIND_CODES, Column, Kind, Operations

UNKNOWN = -1
MOST_NS = 20_000
"""Pauses that are longer are others than these."""
FAR = 4.0
"""Times the middle of long ones: what is longer is no computing of every turn."""
LEAST_NS = 400
"""Less than this is the program's way from call to call, and what recording takes."""
MOST_RECORDING_NS = 1000
"""Recording takes up to so long after a call on a name, which it has to look up."""
MOST_QUICK_NS = 60
"""Own: the same after a call on a descriptor, which is known by a number: a record is some 50 ns of
clock and memory."""
SHORT_SHARE = 0.05
"""So few of the ways from such a call to the next one are shorter than recording takes."""
_QUICK = [
    KIND_CODES[kind] for kind in (Kind.READ, Kind.WRITE, Kind.SEEK, Kind.SYNC, Kind.DATA_SYNC)
]
"""Calls on descriptors, which are known by a number."""
NOTHING_SHARE = 0.005
"""Of the run: the shortest computing, less than this together, matters to nobody."""
CALL_TO_CALL_NS = 2000
"""A program's way from one call to the next, and what recording takes: no computing."""
LEAST_STEP_NS = 100_000
"""Own: a step of computing is worth its line from so long on."""
LEAST_REQUESTS = 8
"""What is done a few times is as fast in the proxy as makes no difference."""
RECORDED_BY = "venturi"
"""The format of our own captures: others take microseconds to record a call, or leave calls out."""


def beside_ns(
    operations: Operations, rank: Column, rows: Column, height: Column, of_files: Column
) -> Column:
    """For each of these rows the time since the one before, of its rank, in calls that are none
    of them: on files of the application, a mask, and no higher than the row, by `height`.

    The proxy makes these calls, too: it opens datasets, and seeks.
    """
    begin, end = operations.start_ns, np.maximum(operations.end_ns, operations.start_ns)
    if not len(rows):
        return np.zeros(0, np.int64)
    # A clock that goes on from rank to rank.
    which = np.unique(rank, return_inverse=True)[1]
    shift = which * (int(end.max()) - int(begin.min()) + 1)
    order = np.lexsort((rows, which[rows]))
    mine = rows[order]
    before, same = mine[:-1], which[mine[1:]] == which[mine[:-1]]
    found = np.zeros(len(rows), np.int64)
    for level in np.unique(height[mine]).tolist():
        calls = np.flatnonzero(of_files & (height >= 0) & (height <= level))
        spent = _spent_until((begin + shift)[calls], (end + shift)[calls])
        way = spent((begin + shift)[mine[1:]]) - spent((end + shift)[before])
        here = same & (height[mine[1:]] == level)
        found[order[1:][here]] = np.maximum(way[here], 0)
    return found


def _spent_until(begin: Column, end: Column) -> Callable[[Column], Column]:
    """How much time had passed in at least one of these calls, at any time."""
    order = np.argsort(begin, kind="stable")
    until = np.maximum.accumulate(end[order])
    start = begin[order].copy()
    start[1:] = np.maximum(start[1:], until[:-1])
    length = np.maximum(until - start, 0)
    total = np.cumsum(length) - length

    def spent(time: Column) -> Column:
        at = np.searchsorted(start, time, side="right") - 1
        known = np.maximum(at, 0)
        inside = np.clip(time - start[known], 0, length[known])
        return np.asarray(np.where(at >= 0, total[known] + inside, 0))

    return spent


def between_calls(
    rank: Column,
    kind: Column,
    start_ns: Column,
    end_ns: Column,
    source: str,
    beside: Column | None = None,
) -> tuple[Column, Column]:
    """What each rank did between its operations, which come in the order of time: the computing
    before each of them, less the time in calls `beside` them; UNKNOWN of the first ones, and of
    captures that cannot know. And what recording the one before took of that time.

    Processes that act as one rank (the commands of a pipe) compute while others of them are in
    calls; what is between the calls of all of them is the rank's.
    """
    computing, recording = np.full(len(rank), UNKNOWN, np.int64), np.zeros(len(rank), np.int64)
    if source != RECORDED_BY or not len(rank):
        return computing, recording
    order = np.argsort(rank, kind="stable")
    owner, start, end = rank[order], start_ns[order], end_ns[order]
    same = owner[1:] == owner[:-1]
    turn = np.cumsum(np.append(False, ~same)) * (int(end.max()) - int(start.min()) + 1)
    way = np.maximum((start + turn)[1:] - np.maximum.accumulate(end + turn)[:-1], 0)[same]
    if beside is not None:
        way = np.maximum(way - beside[order[1:][same]], 0)
    took = np.minimum(_recording_ns(way, kind[order[:-1]][same]), way)
    recording[order[1:][same]], computing[order[1:][same]] = took, way - took
    return computing, recording


def _recording_ns(way_ns: Column, kind: Column) -> Column:
    """How long recording took after each call: as long as the shortest ways after such calls."""
    found = np.zeros(len(way_ns), np.int64)
    for one in np.unique(kind).tolist():
        mask = kind == one
        shortest = np.quantile(way_ns[mask], SHORT_SHARE)
        found[mask] = min(int(shortest), MOST_QUICK_NS if one in _QUICK else MOST_RECORDING_NS)
    return found


def beside_pauses(computing: Column, pause_ns: Column) -> Column:
    """The same, but UNKNOWN where it is the pause of all ranks before, which is told by itself; 0:
    there is none."""
    is_pause = (pause_ns > 0) & (computing >= pause_ns - MOST_RECORDING_NS)
    return np.where(is_pause, UNKNOWN, computing)


def usual_ns(computing: Column) -> float:
    """What usually comes before an operation; 0 where they follow each other at once, or are few.

    The mean of the short ones where most are, roughly, so that what is alike looks alike; else that
    of the ones that are nearly as long as most."""
    known = computing[computing != UNKNOWN]
    if len(known) < LEAST_REQUESTS:
        return 0.0
    short = known[known < MOST_NS]
    if 2 * len(short) > len(known):
        mean = float(np.mean(short))
        return _nearest(mean) if mean >= LEAST_NS else 0.0
    mean = float(np.mean(known[known <= FAR * np.median(known)]))
    return float(f"{mean:.2g}")


def between_ns(computing: Column) -> float:
    """What is computed before a call that moves nothing, a close after the last request for
    instance: the mean, so that all of it is there; 0 where most turns compute for no time worth a
    step of its own."""
    known = computing[computing != UNKNOWN]
    if 2 * np.count_nonzero(known >= LEAST_STEP_NS) <= len(computing):
        return 0.0
    return float(f"{np.mean(known):.3g}")


def mean_ns(computing: Column) -> float:
    """What is computed before each of some calls in the mean; 0 where nothing is known."""
    known = computing[computing != UNKNOWN]
    return float(known.mean()) if len(known) else 0.0


def least_rest_ns(span_ns: int, calls: int) -> float:
    """From so long on, in all, it matters what so many calls compute beyond what is told with them,
    in a run of this length."""
    return max(NOTHING_SHARE * span_ns, float(CALL_TO_CALL_NS * calls))


def _nearest(value: float) -> float:
    """1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return float(
        min((1.0, 2.0, 5.0, 10.0), key=lambda step: abs(math.log(value / power / step))) * power
    )
