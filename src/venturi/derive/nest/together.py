"""What ranks do together, and where they wait for each other, so that each has what others make.

A plan's ranks wait where a name that they share appears, goes or changes its length. So a program
of several ranks has parts, between which all of them were ready at one time in the capture. At the
beginning of each part stands what they do together; then each rank makes calls of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np

from venturi.derive.nest.possible import (
    CLOSE,
    MKDIR,
    OPEN,
    RENAME,
    PossibleCalls,
    made_folder_of,
)
from venturi.derive.operation.table import Table
from venturi.model.operation import KIND_CODES, Column, Kind

MOST_PARTS = 64
"""More are no program that people could follow."""
ALL = -1
"""In place of a rank: all of them."""
_READ, _WRITE, _TRUNCATE, _UNLINK, _RMDIR = (
    KIND_CODES[kind] for kind in (Kind.READ, Kind.WRITE, Kind.TRUNCATE, Kind.UNLINK, Kind.RMDIR)
)
_WAITING = {MKDIR, RENAME, _TRUNCATE, _UNLINK, _RMDIR}
_COLLECTIVE = [OPEN, CLOSE, _TRUNCATE, *(KIND_CODES[one] for one in (Kind.SYNC, Kind.DATA_SYNC))]
"""What ranks do together with a file of a library whose ranks wait for each other (MPI-IO)."""


@dataclass(frozen=True)
class Meetings:
    """Of calls in the order of time: who makes them, and when."""

    part: Column
    """The part of the program, from 0."""
    starts: list[int]
    """The first call of each part."""
    is_shared: Column
    """Whether it is on a file that several ranks use."""
    is_joint: Column
    """Whether all ranks make it together, at the beginning of its part."""
    is_done: Column
    """Whether a call that all ranks make together stands for it."""
    opens_for: Column
    """Of files that all ranks make together: the only rank that has it open then, or ALL."""


def meetings(table: Table, calls: PossibleCalls) -> Meetings | None:
    """Where the ranks of a table have to wait for each other; None where one would have to that
    did not."""
    shared = _shared_files(table, calls.row) if table.ranks > 1 else set()
    found = _Meetings(table, calls, shared)
    if shared and not found.follow():
        return None
    if len(found.starts) > MOST_PARTS:
        return None
    return found.told()


def _shared_files(table: Table, rows: Column) -> set[int]:
    """Files that several ranks use, and folders that the program makes with files of several."""
    file, rank = table.file[rows], table.rank[rows]
    users: dict[int, set[int]] = defaultdict(set)
    for one, whose in np.unique(np.stack([file, rank]), axis=1).T.tolist():
        users[one].add(whose)
    for one, folder in made_folder_of(table, rows).items():
        users[folder // 2] |= users[one]
    return {one for one, ranks in users.items() if len(ranks) > 1}


def _groups(chosen: Column, file: Column, kind: Column, rank: Column) -> list[Column]:
    """Of calls in the order of time those that ranks make together: the first of each rank of one
    kind on one file, the second ones, and so on."""
    found: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    times: Counter[tuple[int, int, int]] = Counter()
    for place in np.flatnonzero(chosen).tolist():
        key = int(file[place]), int(kind[place])
        found[*key, times[*key, int(rank[place])]].append(place)
        times[*key, int(rank[place])] += 1
    return [np.array(rows, np.int64) for rows in found.values()]


@dataclass
class _Uses:
    """What was done to a shared file so far."""

    last: int = -1
    """The last call on it, or in it."""
    made: int = -1
    """The call by which ranks made it together; -1: it is not there, or was cut since."""
    makers: set[int] = field(default_factory=set)
    """The ranks that made it so; empty once anything but openings came since."""
    lengths: list[tuple[int, int]] = field(default_factory=list)
    """How long it is, from which call on."""
    own: dict[int, int] = field(default_factory=dict)
    """How long each rank made it."""
    writers: dict[int, int] = field(default_factory=dict)
    """The last write of each rank."""

    def begin(self, place: int, length: int) -> None:
        """A call gives it this length."""
        self.own.clear()
        self.lengths = [(place, length)]


class _Meetings:
    """Follows the calls, and cuts them into parts."""

    def __init__(self, table: Table, calls: PossibleCalls, shared: set[int]) -> None:
        self._calls = calls
        self._file = table.file[calls.row].astype(np.int64)
        self._rank = table.rank[calls.row].astype(np.int64)
        self._kind = table.kind[calls.row].astype(np.int64)
        self._end = (table.offset[calls.row] + table.bytes[calls.row]).astype(np.int64)
        start, end = table.start_ns[calls.row], table.end_ns[calls.row].copy()
        self._is_shared = np.isin(self._file, list(shared))
        self._is_opening = self._is_shared & (self._kind == OPEN)
        of_library = np.array([one.entry.can_collect for one in table.interfaces], bool)
        collective = self._is_shared & of_library[self._file] & np.isin(self._kind, _COLLECTIVE)
        self._is_collective = collective
        self._collective = _groups(collective, self._file, self._kind, self._rank)
        """The calls that ranks make together, of each such call."""
        self._ranks = table.ranks
        # Who comes first waits in it for the others.
        end[collective] = start[collective]
        ready = np.ones(len(calls), bool)
        ready[1:] = np.maximum.accumulate(end)[:-1] <= start[1:]
        self._ready = np.maximum.accumulate(np.where(ready, np.arange(len(calls)), 0))
        """For each call the last one, up to it, before which all ranks were ready."""
        self._uses: dict[int, _Uses] = defaultdict(_Uses)
        self._folder_of = {
            one: folder // 2
            for one, folder in made_folder_of(table, calls.row).items()
            if folder // 2 in shared
        }
        self._joint = np.zeros(len(calls), bool)
        self._is_done = np.zeros(len(calls), bool)
        self._openers: dict[int, set[int]] = {}
        """The ranks that open what ranks make together, by the call that stands for it."""
        self.starts = [0]

    def follow(self) -> bool:
        """Whether there is a way; the parts are known then."""
        if any(len(rows) < self._ranks for rows in self._collective):
            return False
        columns = (self._file, self._rank, self._kind, self._calls.makes, self._end)
        meets = {self._meets_at(rows) for rows in self._collective}
        for place, call in enumerate(zip(*(one.tolist() for one in columns), strict=True)):
            file = call[0]
            if self._is_collective[place]:
                if place in meets and not self._take_together(place, call[2], call[3]):
                    return False
            elif self._is_shared[place] and not self._take(place, *call):
                return False
            for one in (file, self._folder_of.get(file)):
                if one is not None:
                    self._uses[one].last = place
        return True

    def told(self) -> Meetings:
        """What was found."""
        part = np.zeros(len(self._calls), np.int64)
        part[self.starts[1:]] = 1
        part = np.cumsum(part)
        opens_for = np.full(len(self._calls), ALL)
        for made, openers in self._openers.items():
            if len(openers) == 1:
                opens_for[made] = self._rank[made]
        done = (self._is_done | self._is_collective) & ~self._joint
        return Meetings(part, self.starts, self._is_shared, self._joint, done, opens_for)

    def _meets_at(self, rows: Column) -> int:
        """Which of the calls that ranks make together stands for all: an opening comes before what
        any of them does with the file, and others come behind it."""
        return int(rows[0] if self._kind[rows[0]] == OPEN else rows[-1])

    def _take_together(self, place: int, kind: int, makes: bool) -> bool:
        """The next call of a library whose ranks wait for each other."""
        uses = self._uses[int(self._file[place])]
        if makes or kind == _TRUNCATE:
            uses.begin(place, int(self._end[place]) if kind == _TRUNCATE else 0)
        return self._meet(place, uses)

    def _take(self, place: int, file: int, rank: int, kind: int, makes: bool, end: int) -> bool:
        """The next call on a shared file; False where it cannot be made as it was."""
        uses = self._uses[file]
        if kind == OPEN:
            return self._open(place, uses, rank, makes)
        if kind in _WAITING:
            uses.begin(place, end if kind == _TRUNCATE else 0)
            uses.made, uses.makers = -1, set()
            return self._meet(place, uses)
        if kind == _WRITE:
            if self._calls.appends[place]:
                return False
            uses.makers = set()
            uses.own[rank] = max(uses.own.get(rank, 0), end)
            if not uses.lengths or end > uses.lengths[-1][1]:
                uses.lengths.append((place, end))
            uses.writers[rank] = place
        elif kind == _READ and not self._calls.is_before[place]:
            uses.makers = set()
            others = [at for writer, at in uses.writers.items() if writer != rank]
            has_waited = not others or self._waits(max(others), place)
            if end > uses.own.get(rank, 0) and not has_waited:
                made = next((at for at, length in uses.lengths if length >= end), None)
                return made is not None and self._waits(made, place)
        return True

    def _open(self, place: int, uses: _Uses, rank: int, makes: bool) -> bool:
        """The next opening; one that makes the file is made by all ranks that do so at once."""
        fits = True
        if makes and (not uses.makers or rank in uses.makers):
            uses.begin(place, 0)
            uses.made, uses.makers = place, set()
            self._openers[place] = set()
            fits = self._meet(place, uses)
        if makes:
            uses.makers.add(rank)
        openers = self._openers.get(uses.made)
        if openers is not None:
            self._is_done[place] = rank not in openers
            openers.add(rank)
        return fits

    def _meet(self, place: int, uses: _Uses) -> bool:
        """All ranks make a call together, once all that came before it on the file is done."""
        self._joint[place] = True
        if uses.last >= self.starts[-1]:
            return self._waits(uses.last, place)
        # Nothing asks for it, but so it comes after what it came after.
        ready = int(self._ready[place])
        between = slice(self.starts[-1], ready)
        if np.any(~self._joint[between] & ~self._is_opening[between]):
            self.starts.append(ready)
        return True

    def _waits(self, before: int, place: int) -> bool:
        """A new part between two calls, where there is none yet; False where ranks did not wait."""
        if self.starts[-1] > before:
            return True
        ready = int(self._ready[place])
        if ready <= before:
            return False
        self.starts.append(ready)
        return True
