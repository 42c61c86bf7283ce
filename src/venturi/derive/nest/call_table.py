"""A workload that makes exactly the calls of a run, whose numbers stand in tables beside it.

Where calls follow no rule that people could read, their numbers are kept as they are: a row for
each call, and in the program one step for each way of calling.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from venturi.derive.nest.call import DATA, MOST_RANKS, can_be_told, of_links, sessions
from venturi.derive.nest.position import PositionMove, moves_of
from venturi.derive.nest.possible import (
    CLOSE,
    MKDIR,
    OPEN,
    RENAME,
    PossibleCalls,
    closed_last,
    handles_of,
    made_folder_of,
    names_of,
    possible,
)
from venturi.derive.nest.together import ALL, Meetings, meetings
from venturi.derive.operation.attribute import item_verb_of
from venturi.derive.operation.manner import Manner, opening_options
from venturi.derive.operation.memory import memory_keys
from venturi.derive.operation.pace import UNKNOWN
from venturi.derive.operation.run import Steps, sync_mode
from venturi.derive.operation.table import Table
from venturi.model.operation import KIND_CODES, KINDS, Column, Kind
from venturi.model.plan import ComputeMode, Interface
from venturi.model.row_table import RowTable
from venturi.model.workload import (
    RESERVED_NAMES,
    ChooseStep,
    ComputeStep,
    FileSpec,
    PatternKind,
    RenameStep,
    StepSpec,
    SyncStep,
    TruncateStep,
)

TABLE, TOGETHER = "calls", "together"
RANK = "rank"
STEP, FILE, AT, SIZE, BEFORE, LENGTH = "step", "file", "at", "size", "before_ns", "length"
FOLDER, ALONE = "folder", "alone"
COLUMNS = (RANK, STEP, FILE, AT, SIZE, BEFORE, LENGTH, FOLDER, ALONE)
"""Whose a call is; which step of the program it is; the file's number; where, and how many bytes;
the computing before it; how long the file is before the run, where a call opens it; the number of
the folder in which the file lies, where there are several, which is the folder's as a file; the
only rank that has a file open that all make together."""
MOST_CALLS = 3_000_000
"""More would take longer to plan than to run."""
LEAST_COMPUTE_NS = 100_000
"""Shorter computing is added up and stands where it comes to this: row by row it is noise, which
would take more room than all the rest."""
LEAST_PAUSE_NS = 1_000_000
"""The same of several ranks, which sleep: where there are more of them than processors, one that
spins keeps others from their calls, as computing that was recorded has done already."""
BINS_OF_DECADE = 10
"""Times of computing that lie as near together are told by their mean: no time comes twice."""
_DIRECTORY = "directory"
_WORD = re.compile(r"[^A-Za-z0-9]+")
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


@dataclass(frozen=True)
class Tabled:
    """Steps, files and the tables of a workload."""

    steps: Steps
    files: dict[str, FileSpec]
    tables: dict[str, RowTable]
    told: Column
    """Which operations of the capture's table it makes."""


def tabled(table: Table, kept: CallsInParts, known_as: Sequence[str]) -> Tabled:
    """The workload that makes these operations of a table, each rank's in this order.

    `known_as` holds for each file of the table what its stream is called.
    """
    calls = _TableCalls(table, kept)
    entries = _TableEntries(calls, known_as)
    program = _TableProgram(calls, entries)
    phases: Steps = [program.phase(number) for number in range(calls.parts)]
    told = np.isin(np.arange(len(table)), kept.calls.row)
    return Tabled(phases, entries.specs(), program.tables, told)


class _TableProgram:
    """Writes the parts of the program, and keeps the numbers of their calls."""

    def __init__(self, calls: _TableCalls, entries: _TableEntries) -> None:
        self._calls = calls
        self._entries = entries
        steps: dict[Hashable, int] = {}
        keys = calls.keys(entries.of_call, entries.after_call)
        self._step = np.array([steps.setdefault(key, len(steps)) for key in keys], np.int64)
        self.tables: dict[str, RowTable] = {}

    def phase(self, part: int) -> StepSpec:
        """What ranks do together in a part of the program, and each rank's calls."""
        calls, number = self._calls, f"_{part + 1}" if part else ""
        mine = calls.part == part
        joint, own = np.flatnonzero(mine & calls.is_joint), np.flatnonzero(mine & ~calls.is_joint)
        do: Steps = []
        if len(joint):
            in_time = joint[np.argsort(calls.table.start_ns[calls.row[joint]], kind="stable")]
            do.append(self._together(in_time, f"{TOGETHER}{number}"))
        if len(own):
            do.append(self._own(own, f"{TABLE}{number}"))
        return StepSpec(phase=f"{TABLE}{number}", do=do)

    def _own(self, rows: Column, name: str) -> StepSpec:
        place, body = self._steps(rows)
        of_rank = {RANK: self._calls.rank[rows]} if self._calls.table.ranks > 1 else {}
        return self._loop(name, of_rank | self._columns(rows, place), body)

    def _together(self, rows: Column, name: str) -> StepSpec:
        """Calls that all ranks make together; what only one of them has open the others close."""
        place, body = self._steps(rows)
        alone = self._calls.opens_for[rows]
        again = np.repeat(np.arange(len(rows)), np.where(alone == ALL, 1, 2))
        closes = np.diff(again, prepend=-1) == 0
        columns = self._columns(rows[again], place[again])
        if np.any(closes):
            entries, which = np.unique(
                self._entries.of_call[rows[again[closes]]], return_inverse=True
            )
            columns[STEP][closes] = len(body) + which
            columns[BEFORE][closes] = 0
            columns[ALONE] = alone[again]
            body += [
                StepSpec(when=f"{RANK} != {ALONE}", do=[StepSpec(close=self._entries.names[one])])
                for one in entries.tolist()
            ]
        return self._loop(name, columns, body)

    def _columns(self, rows: Column, place: Column) -> dict[str, Column]:
        """The numbers of calls that are these steps."""
        calls = self._calls
        found = {
            STEP: place,
            FILE: calls.number[rows],
            AT: calls.at[rows],
            SIZE: calls.size[rows],
            BEFORE: calls.before_ns[rows],
            LENGTH: self._entries.length_of_call[rows],
        }
        if self._entries.has_folders:
            found[FOLDER] = self._entries.folder_of_call[rows]
        return found

    def _loop(self, name: str, columns: dict[str, Column], body: list[StepSpec]) -> StepSpec:
        numbers = {column: values.tolist() for column, values in columns.items()}
        self.tables[name] = RowTable.of(numbers)
        mode = ComputeMode.SPIN if self._calls.table.ranks == 1 else ComputeMode.SLEEP
        compute = StepSpec(compute=ComputeStep(seconds=f"{BEFORE} / 1e9", mode=mode))
        return StepSpec(for_=name, do=[compute, StepSpec(choose=ChooseStep(by=STEP, of=body))])

    def _steps(self, rows: Column) -> tuple[Column, list[StepSpec]]:
        """Which step each call is, and the steps: what makes and opens comes first."""
        _, first, number = np.unique(self._step[rows], return_index=True, return_inverse=True)
        is_late = [self._calls.is_late(int(rows[one])) for one in first]
        order = np.lexsort((first, np.array(is_late)))
        body = [_step(self._calls, rows[number == one], self._entries) for one in order.tolist()]
        place: Column = np.argsort(order)[number]
        return place, body


class _TableCalls:
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
        least_ns = LEAST_COMPUTE_NS if table.ranks == 1 else LEAST_PAUSE_NS
        gathered = [_gathered(times, least_ns) for times in self._of_ranks(computing)]
        self.before_ns = _rounded(np.concatenate(gathered))

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


def _gathered(times_ns: Column, least_ns: int) -> Column:
    """The same times, of which no more are left than whole `least_ns` in all of them: short ones
    are moved to a later place, and none is lost."""
    until = np.cumsum(times_ns)
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


class _EntryKey(NamedTuple):
    """What files have in common that are one entry."""

    stream: str
    """What it is called."""
    is_folder: bool
    home: str | None
    """What the stream is called of the folders in which they lie; None: they lie in none, as names
    that files lose where the program makes the folder of the others."""
    is_staged: bool
    """Whether they are there before the run."""
    is_aside: bool
    """Whether they have names that they lose."""
    is_shared: bool
    """Whether several ranks use each of them."""
    is_home_shared: bool
    """Whether files of several ranks lie in a folder in which they lie."""
    way: str
    """How they are opened."""
    interface: str
    grows: bool
    """Whether they are appended to."""


class _TableEntries:
    """The files of the workload: an entry for those of one stream that are there before the run, or
    made, and opened in one way."""

    def __init__(self, calls: _TableCalls, known_as: Sequence[str]) -> None:
        self._calls = calls
        staged = calls.staged
        self._places: dict[_EntryKey, int] = {}
        self.names: list[str] = []
        self._words: dict[str, str] = {}
        """What the names of folders begin with, by what their stream is called: a capture of the
        proxy tells by it what a folder stands for."""
        found = []
        made = set(calls.file[calls.kind == MKDIR].tolist())
        folders = _folders(calls, made)
        self.has_folders = bool(folders)
        self.folder_of_call = np.array([folders.get(file, 0) for file in calls.file.tolist()])
        table = calls.table
        columns = (calls.name, calls.kind, calls.is_appended)
        grown = set(calls.file[calls.is_appended & ~calls.is_aside].tolist())
        after = []
        folder_of = made_folder_of(table, calls.row)
        shared = set(calls.file[calls.is_shared].tolist())
        is_alone = table.ranks == 1
        for name, kind, grows in zip(*(column.tolist() for column in columns), strict=True):
            file, aside = name // 2, name % 2 == 1
            home = known_as[folder_of[file] // 2] if file in folder_of else ""
            last = _EntryKey(
                stream=known_as[file],
                is_folder=file in made,
                home=home,
                is_staged=name - aside in staged,
                is_aside=False,
                is_shared=file in shared,
                is_home_shared=folder_of[file] // 2 in shared
                if file in folder_of
                else not is_alone,
                way=table.manners[file].way,
                interface=table.interfaces[file].value,
                grows=file in grown,
            )
            key = last._replace(is_staged=name in staged, is_aside=aside, grows=grows)
            if aside and file in folder_of:
                key = key._replace(home=None)
            found.append(self._place(key))
            after.append(self._place(last) if kind == RENAME else 0)
        self.of_call, self.after_call = np.array(found, np.int64), np.array(after, np.int64)
        first = np.unique(calls.name, return_index=True)[1]
        self.length_of_call = np.zeros(len(calls.name), np.int64)
        self.length_of_call[first] = [staged.get(one, 0) for one in calls.name[first].tolist()]

    def _place(self, key: _EntryKey) -> int:
        if key not in self._places:
            self._places[key] = len(self._places)
            self.names.append(self._name(key))
        return self._places[key]

    def _name(self, key: _EntryKey) -> str:
        word = _WORD.sub("_", key.stream.rpartition("/")[2]).strip("_").lower() or "file"
        word = word if word[0].isalpha() and word not in (TABLE, TOGETHER) else f"f_{word}"
        word = (_DIRECTORY if key.is_folder else word) + "_new" * key.is_aside
        taken = {*self.names, *RESERVED_NAMES, *COLUMNS}
        name, number = word, 2
        while name in taken:
            name, number = f"{word}_{number}", number + 1
        return name

    def _path(self, key: _EntryKey, name: str) -> str:
        if not self.has_folders or key.home is None:
            return f"{name}_{{{FILE}}}"
        own = ".{rank}"
        if key.is_folder:
            return f"{self._word(key.stream)}_{{{FILE}}}{own * (not key.is_shared)}"
        home = f"{self._word(key.home)}_{{{FOLDER}}}{own * (not key.is_home_shared)}"
        return f"{home}/{name}_{{{FILE}}}"

    def is_for_all(self, name: str) -> bool:
        """Whether an entry's files are not those of a rank."""
        key = list(self._places)[self.names.index(name)]
        return key.is_shared or (key.is_staged and self._calls.table.ranks > 1)

    def _word(self, stream: str) -> str:
        number = len(self._words) + 1
        return self._words.setdefault(stream, f"{_DIRECTORY}{number if number > 1 else ''}")

    def specs(self) -> dict[str, FileSpec]:
        """The files."""
        found = {}
        is_alone = self._calls.table.ranks == 1
        length = LENGTH if is_alone else f"({LENGTH} + ranks - 1) // ranks"  # of each rank's part
        for number, (key, name) in enumerate(zip(self._places, self.names, strict=True)):
            files = np.unique(self._calls.file[self.of_call == number]).tolist()
            interface = Interface(key.interface)
            ways = [self._calls.table.manners[file] for file in files] or [Manner(sync=key.way)]
            found[name] = FileSpec(
                path=self._path(key, name),
                about=key.stream,
                interface=interface,
                options=opening_options(ways, interface, True, not key.is_staged),
                shared="all" if self.is_for_all(name) else "rank",
                prestage=length if key.is_staged else None,
            )
        return found


def _folders(calls: _TableCalls, made: set[int]) -> dict[int, int]:
    """The number of the folder in which each file lies that is none of the folders that the program
    made; none where all lie in one that it did not make. Folders in folders lie beside them."""
    paths = calls.table.paths
    number_of = dict(zip(calls.file.tolist(), calls.number.tolist(), strict=True))
    numbers = {paths[file]: number_of[file] for file in made}
    homes = {file: paths[file].rpartition("/")[0] for file in number_of if file not in made}
    if len(set(homes.values())) < 2 and not numbers.keys() & set(homes.values()):
        return {}
    unused = itertools.count(len(number_of))
    for home in homes.values():
        if home not in numbers:
            numbers[home] = next(unused)
    return {file: numbers[home] for file, home in homes.items()}


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


def _step(calls: _TableCalls, mine: Column, entries: _TableEntries) -> StepSpec:
    """The step that makes these calls, which are alike."""
    call = int(mine[0])
    name = entries.names[int(entries.of_call[call])]
    match KINDS[int(calls.kind[call])]:
        case Kind.OPEN:
            return StepSpec(create=name) if calls.makes[call] else StepSpec(open=name)
        case Kind.RENAME:
            return StepSpec(
                rename=RenameStep(on=name, to=entries.names[int(entries.after_call[call])])
            )
        case Kind.TRUNCATE:
            return StepSpec(truncate=TruncateStep(on=name, size=AT))
        case Kind.ATTRIBUTE:
            verb = item_verb_of(int(calls.flags[call]))
            return StepSpec.model_validate({verb.value: name})
        case Kind.SYNC | Kind.DATA_SYNC as kind:
            interface = calls.table.interfaces[int(calls.file[call])]
            return StepSpec(sync=SyncStep(on=name, mode=sync_mode(KIND_CODES[kind], interface)))
        case Kind.READ | Kind.WRITE as kind:
            keys = _data_keys(calls, mine)
            if entries.is_for_all(name) and "pattern" not in keys:
                keys["apart"] = False
            side = "to" if kind is Kind.WRITE else "from"
            return StepSpec.model_validate({kind.value: {side: name, **keys}})
        case kind:
            return StepSpec.model_validate({kind.value: name})


def _data_keys(calls: _TableCalls, mine: Column) -> dict[str, Any]:
    call = int(mine[0])
    move = PositionMove(int(calls.move[call]))
    keys: dict[str, Any] = {"size": SIZE}
    if calls.appends[call]:
        keys = {"pattern": PatternKind.APPEND, "transfer": SIZE, "count": 1}
    elif move is PositionMove.GO_ON:
        keys["pattern"] = PatternKind.SEQUENTIAL
    elif move is PositionMove.JUMP:
        keys |= {"pattern": PatternKind.SEQUENTIAL, "at": AT}
    else:
        keys["at"] = AT
    return keys | memory_keys(calls.table, calls.row[mine])
