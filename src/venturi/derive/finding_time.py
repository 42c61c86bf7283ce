"""Findings on time: who waits for whom, what comes in bursts, what is slow alone.

Thresholds without another source are our own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from venturi.derive.finding_counter import SIZE_IMBALANCE, STRAGGLER_SHARE
from venturi.derive.finding_rule import FindingRule, RuleMatch, amount_text, seconds_text
from venturi.derive.footprint import Footprint
from venturi.derive.stream_rows import StreamRows
from venturi.model.operation import Column
from venturi.model.workload import Audience

EQUAL_BYTES = 0.10
"""Amounts that differ by less than this are equal work."""
SLOW_FILE_FACTOR = 2.0
"""Time for the same amount, over that of the middle file."""
FEWEST_FILES = 4
SERIAL_SHARE = 0.5
"""Of a phase: a rank that is alone for less is late, and not the only one at work."""
FEWEST_BURSTS = 3
REGULAR = 0.3
"""Spread of bytes and of periods over their mean, up to which bursts are regular."""
PAUSE_SHARE = 0.02
"""Of the run: silence of all ranks that ends a burst."""


def _imbalance(rows: StreamRows) -> Iterator[RuleMatch]:
    if len(rows.ranks) < 2:
        return
    moved = np.bincount(rows.found.lane[rows.data], rows.found.ops.bytes[rows.data])[rows.ranks]
    if moved.max() - moved.min() <= SIZE_IMBALANCE * moved.max():
        return
    spent = rows.lane_seconds(rows.data)[rows.ranks]
    most, least = int(moved.argmax()), int(moved.argmin())
    high, low = amount_text(int(moved[most])), amount_text(int(moved[least]))
    yield RuleMatch(
        f"{rows.name}: ranks move different amounts of data.",
        f"{high} by {_lane(rows, most)} against {low} by {_lane(rows, least)} "
        f"(threshold {SIZE_IMBALANCE:.0%})",
        at_stake_s=float(spent.max() - spent.mean()),
    )


def _lane(rows: StreamRows, place: int) -> str:
    return rows.found.lanes[int(rows.ranks[place])]


def _straggler(rows: StreamRows) -> Iterator[RuleMatch]:
    """One rank that is slow with the same amount as the others."""
    if len(rows.ranks) < 2:
        return
    moved = np.bincount(rows.found.lane[rows.data], rows.found.ops.bytes[rows.data])[rows.ranks]
    spent = rows.lane_seconds(rows.data)[rows.ranks]
    slow, middle = int(spent.argmax()), float(np.median(spent))
    is_equal = moved[slow] <= (1 + EQUAL_BYTES) * np.median(moved)
    if is_equal and spent[slow] - middle > STRAGGLER_SHARE * spent[slow]:
        yield RuleMatch(
            f"{rows.name}: {_lane(rows, slow)} is slower than the others with the same amount.",
            f"{seconds_text(float(spent[slow]))} for {amount_text(int(moved[slow]))}, the middle "
            f"rank {seconds_text(middle)} (threshold {STRAGGLER_SHARE:.0%})",
            at_stake_s=float(spent[slow]) - middle,
        )


def _slow_file(rows: StreamRows) -> Iterator[RuleMatch]:
    """One file that is slow with the same amount as others of its kind, for ranks that use
    several, so that it is not the rank; and slow without its longest request, too, for a single
    pause is not the file's."""
    roots, inverse = np.unique(rows.found.root[rows.data], return_inverse=True)
    if len(roots) < FEWEST_FILES or len(roots) == len(rows.lanes):
        return
    moved = np.bincount(inverse, rows.found.ops.bytes[rows.data])
    spent = np.bincount(inverse, rows.found.seconds[rows.data])
    slow, middle = int(spent.argmax()), float(np.median(spent))
    is_equal = abs(moved[slow] - np.median(moved)) <= EQUAL_BYTES * np.median(moved)
    on_it = rows.data[inverse == slow]
    without_s = float(spent[slow] - rows.found.seconds[on_it].max())
    if is_equal and without_s > SLOW_FILE_FACTOR * middle:
        yield RuleMatch(
            f"{rows.name}: one file is much slower than others of its size.",
            f"{seconds_text(float(spent[slow]))} for {amount_text(int(moved[slow]))} of "
            f"{rows.found.path(int(roots[slow]))}, the middle file {seconds_text(middle)} "
            f"(own threshold {SLOW_FILE_FACTOR:g} times)",
            at_stake_s=rows.longest_s(on_it) * (1 - middle / float(spent[slow])),
        )


def _serial(found: Footprint) -> Iterator[RuleMatch]:
    """Phases that one and the same rank spends alone at its files for the most part.

    A rank that is late at the end of a phase is a straggler, and no serial phase.
    """
    rows = np.flatnonzero(found.data | found.names | found.syncs)
    if found.ranks < 2 or not len(rows):
        return
    lane, starts, ends = found.lane[rows], found.ops.start_ns[rows], found.ops.end_ns[rows]
    reached = np.maximum.accumulate(ends)
    begins = np.append(True, starts[1:] - reached[:-1] > PAUSE_SHARE * found.job_s * 1e9)
    first = np.flatnonzero(np.append(True, lane[1:] != lane[:-1]) | begins)
    before = np.append(starts[0], reached[first[1:] - 1])
    after = np.append(starts[first[1:]], reached[-1])
    last_end = np.maximum.reduceat(ends, first)
    alone_s = (np.minimum(last_end, after) - np.maximum(starts[first], before)) * 1e-9
    phase = np.cumsum(begins) - 1
    opens = np.flatnonzero(begins)
    lasts_s = (np.maximum.reduceat(ends, opens) - starts[opens]) * 1e-9
    table = np.zeros((len(opens), len(found.lanes)))
    np.add.at(table, (phase[first], lane[first]), np.maximum(alone_s, 0.0))
    table[table < SERIAL_SHARE * lasts_s[:, None]] = 0.0
    by_lane = table.sum(axis=0)
    worst = int(by_lane.argmax())
    if by_lane[worst] <= 0.0:
        return
    phases = int(np.count_nonzero(table[:, worst]))
    mine = rows[(lane == worst) & (table[phase, worst] > 0)]
    streams, counts = np.unique(found.stream[mine], return_counts=True)
    yield RuleMatch(
        f"Only {found.lanes[worst]} of {found.ranks} works on files while all others make no call.",
        f"{phases} phase{'s' if phases > 1 else ''}, {seconds_text(float(by_lane[worst]))} alone, "
        f"most calls on {found.streams[int(streams[counts.argmax()])]}",
        at_stake_s=float(by_lane[worst]),
    )


def _bursts(found: Footprint) -> Iterator[RuleMatch]:
    """Writing that comes back at equal intervals, with silence between."""
    writes = np.flatnonzero(found.writes)
    if len(writes) < FEWEST_BURSTS:
        return
    starts, ends, moved = _burst_table(found, writes)
    periods = np.diff(starts)
    if len(starts) < FEWEST_BURSTS or _spread(moved) > REGULAR or _spread(periods) > REGULAR:
        return
    burst_s, period_s = float((ends - starts).mean()), float(periods.mean())
    size = float(moved.mean())
    yield RuleMatch(
        "The run stops to write at regular intervals.",
        f"{len(starts)} bursts of {amount_text(int(size))}, one every {seconds_text(period_s)}, "
        f"each {seconds_text(burst_s)}: {amount_text(int(size / burst_s))}/s while it lasts, where "
        f"{amount_text(int(size / period_s))}/s would do if writing went on beside computing",
        at_stake_s=float((ends - starts).sum()),
    )


def _burst_table(found: Footprint, writes: Column) -> tuple[Column, Column, Column]:
    """When bursts begin and end, in seconds, and their bytes."""
    starts, ends = found.ops.start_ns[writes] * 1e-9, found.ops.end_ns[writes] * 1e-9
    reached = np.maximum.accumulate(ends)
    cuts = np.flatnonzero(starts[1:] - reached[:-1] > PAUSE_SHARE * found.job_s) + 1
    first = np.append(0, cuts)
    last = np.append(cuts, len(writes)) - 1
    return starts[first], reached[last], np.add.reduceat(found.ops.bytes[writes], first)


def _spread(values: Column) -> float:
    mean = float(values.mean()) if len(values) else 0.0
    return float(values.std()) / mean if mean > 0 else 0.0


TIME_RULES: tuple[FindingRule[StreamRows], ...] = (
    FindingRule(
        "imbalance",
        _imbalance,
        "Spread the data over the ranks, or let dedicated ranks write for all (collective MPI-IO "
        "with the hint cb_nodes does so).",
        is_gain=True,
    ),
    FindingRule(
        "straggler",
        _straggler,
        "Look at that rank's node and network, at the storage target of its file "
        "(lfs getstripe FILE), and at what else that rank does in between.",
        Audience.ADMINISTRATOR,
        is_gain=True,
    ),
    FindingRule(
        "slow-file",
        _slow_file,
        "Look at the storage target that holds this file (lfs getstripe FILE; its load and its "
        "disks), and spread large files over several (lfs setstripe -c).",
        Audience.ADMINISTRATOR,
        is_gain=True,
    ),
)

TIMELINE_RULES: tuple[FindingRule[Footprint], ...] = (
    FindingRule(
        "serial-io",
        _serial,
        "Let all ranks read or write their parts (collective MPI-IO, parallel HDF5), or let the "
        "one rank do it while the others compute.",
    ),
    FindingRule(
        "checkpoint-bursts",
        _bursts,
        "Write while computing goes on (a thread, ADIOS2 or the HDF5 async connector, VELOC), "
        "write to node-local storage first, or write less often.",
        Audience.USER,
    ),
)
