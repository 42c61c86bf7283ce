"""The calls of a capture as columns, as the rows of tables need them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from venturi.derive.nest.call import DATA, MOST_RANKS, can_be_told, of_links, sessions
from venturi.derive.nest.position import PositionMove, moves_of
from venturi.derive.nest.possible import (
    CLOSE,
    OPEN,
    PossibleCalls,
    closed_last,
    handles_of,
    names_of,
    possible,
)
from venturi.derive.nest.together import Meetings, meetings
from venturi.derive.operation.pace import MOST_NS, UNKNOWN
from venturi.derive.operation.table import Table
from venturi.model.operation import KIND_CODES, KINDS, Column, Kind

MOST_CALLS = 3_000_000
"""More would take longer to plan than to run."""
LEAST_COMPUTE_NS = 100_000
"""Shorter computing is added up and stands where it comes to this: row by row it is noise, which
would take more room than all the rest."""
LEAST_PAUSE_NS = 1_000_000
"""The same of several ranks, which sleep: where there are more of them than processors, one that
spins keeps others from their calls, as computing that was recorded has done already."""
LEAST_THINK_NS = 20
"""Less than this before each request is what reading a clock takes."""
TOO_MUCH_SHARE = 0.001
"""Of all computing: so much more may be told."""
THINK_LEVELS = 100
"""So many are tried."""
BINS_OF_DECADE = 10
"""Times of computing that lie as near together are told by their mean: no time comes twice."""
_BEGINNINGS = (Kind.MKDIR, Kind.OPEN)
"""Steps that come first: a file is opened before it is used."""


@dataclass(frozen=True)
class CallsInParts:
    """Calls that can be made again, in order, and what ranks do together."""

    calls: PossibleCalls
    meetings: Meetings

    @staticmethod
    def of(table: Table) -> CallsInParts | None:
        """The operations of a table that can be told by tables; None where there are too many, or
        some of other kinds, or ranks would wait that did not, or use what others have open."""
        is_small = 0 < len(table) <= MOST_CALLS and table.ranks <= MOST_RANKS
        if not is_small or not can_be_told(table):
            return None
        order = np.lexsort((np.arange(len(table)), table.start_ns))
        rows = order[~of_links(table.kind[order], table.file[order])]
        calls = possible(table, closed_last(table, rows))
        if table.ranks > 1 and _moves(table, calls.row) < _moves(table, rows):
            return None
        found = meetings(table, calls) if len(calls) else None
        return None if found is None else CallsInParts(calls, found)


def _moves(table: Table, rows: Column) -> int:
    """How many requests there are."""
    return int(np.count_nonzero(np.isin(table.kind[rows], DATA) & (table.bytes[rows] > 0)))


class TableCalls:
    """Columns of the calls, part by part, in it rank by rank, in order."""

    def __init__(self, table: Table, kept: CallsInParts) -> None:
        told = kept.meetings
        self.table = table
        self.staged = _staged_bytes(table, kept.calls)
        order = np.lexsort((table.rank[kept.calls.row], told.part))
        order = order[~told.is_done[order]]
        self.row = kept.calls.row[order]
        self.rank = table.rank[self.row].astype(np.int64)
        self.part, self.is_joint = told.part[order], told.is_joint[order]
        self.parts = len(told.starts)
        self.is_shared, self.opens_for = told.is_shared[order], told.opens_for[order]
        self.kind = table.kind[self.row].astype(np.int64)
        self.file = table.file[self.row].astype(np.int64)
        self.is_aside = table.is_aside[self.row]
        self.number = _by_first_use(self.file)
        self.flags = table.flags[self.row]
        is_data = np.isin(self.kind, DATA)
        self.name = name = names_of(table, self.row)
        handle = handles_of(table, self.row)
        self.appends = kept.calls.appends[order]
        self.is_appended = np.isin(name, name[self.appends])
        offset = table.offset[self.row].astype(np.int64)
        self.size = np.where(is_data, table.bytes[self.row], 0).astype(np.int64)
        self.move = np.full(len(self.row), int(PositionMove.STAY))
        moves = np.array([one.entry.can_seek for one in table.interfaces], bool)[self.file]
        moves &= ~np.isin(handle, _open_twice(self.kind, handle))
        for places in sessions(self.kind, handle):
            if not moves[places[0]]:
                continue  # its requests have places of their own
            self.move[places] = moves_of(offset[places], self.size[places])[1]
        self.move[self.appends] = PositionMove.GO_ON
        has_place = is_data & (self.move != PositionMove.GO_ON)
        has_place |= self.kind == KIND_CODES[Kind.TRUNCATE]
        self.at = np.where(has_place, offset, 0)
        self.makes = (self.kind == OPEN) & kept.calls.makes[order]
        self.makes &= self.is_joint | ~self.is_shared
        computing = _computing(table, kept.calls.row, told)[order]
        piece = self.part * table.ranks + self.rank
        usual_ns = {
            kind: _think_ns(computing[mine], piece[mine])
            for kind in (KIND_CODES.values() if table.ranks == 1 else DATA)
            for mine in [self.kind == kind]
        }
        self.think_ns = {kind: usual_ns[kind] for kind in DATA}
        """What is computed before each request of a kind, at least; `before_ns` is the rest."""
        before = np.zeros(len(self.row), np.int64)
        for kind, ns in usual_ns.items():
            before[self.kind == kind] = ns
        computing -= before
        least_ns = LEAST_COMPUTE_NS if table.ranks == 1 else LEAST_PAUSE_NS
        gathered = [_gathered(times, least_ns) for times in self._of_ranks(computing)]
        self.before_ns = _rounded(np.concatenate(gathered)) + np.where(is_data, 0, before)

    def _of_ranks(self, column: Column) -> Iterator[Column]:
        """A column in pieces, one for each part and rank."""
        cuts = np.diff(self.part * self.table.ranks + self.rank).nonzero()[0] + 1
        yield from np.split(column, cuts)

    def is_late(self, call: int) -> bool:
        """Whether a call is none of those that come first."""
        return KINDS[int(self.kind[call])] not in _BEGINNINGS

    def keys(self, entry: Column, after: Column) -> list[Hashable]:
        """Of each call, what it has in common with others that one step makes; `after` are the
        entries of files that get their names."""
        about = np.where(self.kind == KIND_CODES[Kind.ATTRIBUTE], self.flags, 0)
        columns = (self.kind, entry, after, self.makes, self.appends, self.move, about)
        return list(zip(*(column.tolist() for column in columns), strict=True))


def _open_twice(kind: Column, handle: Column) -> list[int]:
    """Files that are opened while they are open: which of their positions moves, nobody knows."""
    opened: Counter[int] = Counter()
    found = set()
    for what, which in zip(kind.tolist(), handle.tolist(), strict=True):
        if what == OPEN:
            found |= {which} if opened[which] > 0 else set()
            opened[which] += 1
        elif what == CLOSE:
            opened[which] -= 1
    return sorted(found)


def _by_first_use(file: Column) -> Column:
    """Numbers of files in the order in which they are used first."""
    first, place = np.unique(file, return_index=True, return_inverse=True)[1:]
    found: Column = np.argsort(np.argsort(first))[place]
    return found


def _computing(table: Table, rows: Column, told: Meetings) -> Column:
    """Nanoseconds of computing before each call, of calls in the order of time: since the rank's
    call before, or since all ranks were ready for its part of the program, and had done what they
    do together there."""
    start, end = table.start_ns[rows], table.end_ns[rows]
    ready = np.zeros(len(told.starts), np.int64)
    ready[1:] = np.maximum.accumulate(end)[np.array(told.starts[1:], int) - 1]
    gaps = np.zeros(len(rows), np.int64)
    for one in np.flatnonzero(told.is_joint).tolist():
        part = told.part[one]
        gaps[one] = start[one] - ready[part] if part or ready[part] else 0
        ready[part] = max(ready[part], end[one])
    for rank in range(table.ranks):
        mine = np.flatnonzero((table.rank[rows] == rank) & ~told.is_joint)
        if len(mine):
            until = np.maximum.accumulate(end[mine])
            before = np.concatenate([start[mine[:1]], until[:-1]])
            before = np.maximum(before, ready[told.part[mine]])
            gaps[mine] = start[mine] - before - table.beside_ns[rows[mine]]
    computing, gaps = table.computing_ns[rows], np.maximum(gaps, 0)
    most = gaps if table.ranks > 1 else computing
    found: Column = np.where(computing == UNKNOWN, gaps, np.minimum(computing, most))
    return found


def _think_ns(times_ns: Column, piece: Column) -> int:
    """What is computed before every request, of calls that are told in pieces; 0 where that is
    nothing worth telling.

    Half of them compute for longer, and the pieces, all requests of each together, hardly any for
    less: the rest is told beside it.
    """
    if not len(times_ns):
        return 0
    requests, sums_ns = np.bincount(piece), np.bincount(piece, weights=times_ns)
    usual_ns = min(float(np.median(times_ns)), MOST_NS)
    levels = np.floor(usual_ns * np.arange(THINK_LEVELS + 1) / THINK_LEVELS)
    too_much = np.maximum(levels[:, None] * requests - sums_ns, 0).sum(axis=1)
    think_ns = int(levels[too_much <= TOO_MUCH_SHARE * sums_ns.sum()].max())
    think_ns -= think_ns % 10 ** max(0, len(str(think_ns)) - 2)  # as text it has two digits
    return think_ns if think_ns >= LEAST_THINK_NS else 0


def _gathered(times_ns: Column, least_ns: int) -> Column:
    """The same times, of which no more are left than whole `least_ns` in all of them: short ones
    are moved to a later place, and none is lost. Times below 0 are taken off those before them."""
    until = np.minimum.accumulate(np.maximum(np.cumsum(times_ns), 0)[::-1])[::-1]
    stands = np.diff(until // least_ns, prepend=0) > 0
    stands[-1] |= until[-1] > 0
    found = np.zeros(len(times_ns), np.int64)
    found[stands] = np.diff(until[stands], prepend=0)
    return found


def _rounded(times_ns: Column) -> Column:
    """Times that lie near together as their mean: their sum stays, and there are few."""
    some = times_ns > 0
    bins = np.floor(BINS_OF_DECADE * np.log10(np.where(some, times_ns, 1))).astype(np.int64)
    place = np.unique(bins[some], return_inverse=True)[1]
    means = np.bincount(place, weights=times_ns[some]) / np.maximum(np.bincount(place), 1)
    found = np.zeros(len(times_ns), np.int64)
    found[some] = np.rint(means).astype(np.int64)[place]
    return found


def _staged_bytes(table: Table, calls: PossibleCalls) -> dict[int, int]:
    """Of each name that is there before the run, how long its file must be; of calls in the order
    of time."""
    found: dict[int, int] = {}
    written: Counter[int] = Counter()
    appended: Counter[int] = Counter()
    read, write = DATA
    kind = table.kind[calls.row]
    size = np.where(np.isin(kind, DATA), table.bytes[calls.row], 0)
    end = np.where(np.isin(kind, DATA), table.offset[calls.row] + size, 0)
    columns = (names_of(table, calls.row), kind, calls.appends, end, size)
    named = (column[calls.is_before].tolist() for column in columns)
    for name, kind, appends, end, size in zip(*named, strict=True):
        needed = 0
        if kind == read and end > written[name]:
            needed = end
        elif kind == write:
            written[name] = max(written[name], end)
        if appends:
            needed = end - size - appended[name]
            appended[name] += size
        found[name] = max(found.get(name, 0), needed)
    return found
