"""A workload that makes exactly the calls of one rank, whose numbers stand in a table beside it.

Where calls follow no rule that people could read, their numbers are kept as they are: a row for
each call, and in the program one step for each way of calling.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from venturi.derive.nest.call import DATA, can_be_told, of_links, sessions
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
    possible,
)
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

TABLE = "calls"
STEP, FILE, AT, SIZE, BEFORE, LENGTH = "step", "file", "at", "size", "before_ns", "length"
FOLDER = "folder"
COLUMNS = (STEP, FILE, AT, SIZE, BEFORE, LENGTH, FOLDER)
"""Which step of the program a call is; the file's number; where, and how many bytes; the computing
before it; how long the file is before the run, where a call opens it; the number of the folder in
which the file lies, where there are several, which is the folder's as a file."""
MOST_CALLS = 3_000_000
"""More would take longer to plan than to run."""
LEAST_COMPUTE_NS = 100_000
"""Shorter computing is added up and stands where it comes to this: row by row it is noise, which
would take more room than all the rest."""
BINS_OF_DECADE = 10
"""Times of computing that lie as near together are told by their mean: no time comes twice."""
_DIRECTORY = "directory"
_WORD = re.compile(r"[^A-Za-z0-9]+")
_BEGINNINGS = (Kind.MKDIR, Kind.OPEN)
"""Steps that come first: a file is opened before it is used."""


@dataclass(frozen=True)
class Tabled:
    """Steps, files and the table of a workload."""

    steps: Steps
    files: dict[str, FileSpec]
    tables: dict[str, RowTable]
    told: Column
    """Which operations of the capture's table it makes."""


def calls_for_table(table: Table) -> PossibleCalls | None:
    """The operations of a table that can be told by one, in order; None where there are too many,
    or some of other kinds, or of several ranks."""
    if table.ranks > 1 or not 0 < len(table) <= MOST_CALLS or not can_be_told(table):
        return None
    order = np.lexsort((np.arange(len(table)), table.start_ns))
    rows = order[~of_links(table.kind[order], table.file[order])]
    calls = possible(table, closed_last(table, rows))
    return calls if len(calls) else None


def tabled(table: Table, kept: PossibleCalls, known_as: Sequence[str]) -> Tabled:
    """The workload that makes these operations of a table of one rank, in this order.

    `known_as` holds for each file of the table what its stream is called.
    """
    calls = _TableCalls(table, kept)
    entries = _TableEntries(calls, known_as)
    steps: dict[Hashable, int] = {}
    of_call = [
        steps.setdefault(key, len(steps)) for key in calls.keys(entries.of_call, entries.after_call)
    ]
    number = np.array(of_call, np.int64)
    first = np.unique(number, return_index=True)[1]
    order = sorted(range(len(steps)), key=lambda one: (calls.is_late(int(first[one])), first[one]))
    place = np.argsort(np.array(order))
    body = [_step(calls, np.flatnonzero(number == one), entries) for one in order]
    do: Steps = [
        StepSpec(compute=ComputeStep(seconds=f"{BEFORE} / 1e9", mode=ComputeMode.SPIN)),
        StepSpec(choose=ChooseStep(by=STEP, of=body)),
    ]
    phase = StepSpec(phase=TABLE, do=[StepSpec(for_=TABLE, do=do)])
    columns = {
        STEP: place[number],
        FILE: calls.number,
        AT: calls.at,
        SIZE: calls.size,
        BEFORE: calls.before_ns,
        LENGTH: entries.length_of_call,
    }
    if entries.has_folders:
        columns[FOLDER] = entries.folder_of_call
    numbers = {name: column.tolist() for name, column in columns.items()}
    return Tabled(
        [phase],
        entries.specs(),
        {TABLE: RowTable.of(numbers)},
        np.isin(np.arange(len(table)), kept.row),
    )


class _TableCalls:
    """Columns of the calls, in order."""

    def __init__(self, table: Table, kept: PossibleCalls) -> None:
        self.table = table
        self.row = kept.row
        self.kind = table.kind[self.row].astype(np.int64)
        self.file = table.file[self.row].astype(np.int64)
        self.is_aside = table.is_aside[self.row]
        self.number = _by_first_use(self.file)
        self.flags = table.flags[self.row]
        is_data = np.isin(self.kind, DATA)
        self.handle = handle = handles_of(table, self.row)
        self.appends = kept.appends
        self.is_before = kept.is_before
        self.is_appended = np.isin(handle, handle[self.appends])
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
        self.end = np.where(is_data, offset + self.size, 0)
        self.makes = (self.kind == OPEN) & kept.makes
        self.before_ns = _rounded(_gathered(_computing(table, self.row)))

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


def _computing(table: Table, rows: Column) -> Column:
    """Nanoseconds of computing before each call."""
    until = np.maximum.accumulate(table.end_ns[rows])
    gaps = np.zeros(len(rows), np.int64)
    gaps[1:] = table.start_ns[rows[1:]] - until[:-1] - table.beside_ns[rows[1:]]
    computing = table.computing_ns[rows]
    found: Column = np.where(computing == UNKNOWN, np.maximum(gaps, 0), computing)
    return found


def _gathered(times_ns: Column) -> Column:
    """The same times, of which no more are left than whole `LEAST_COMPUTE_NS` in all of them: short
    ones are moved to a later place, and none is lost."""
    until = np.cumsum(times_ns)
    stands = np.diff(until // LEAST_COMPUTE_NS, prepend=0) > 0
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
        staged = _staged_bytes(calls)
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
        columns = (calls.handle, calls.kind, calls.is_appended)
        grown = set(calls.file[calls.is_appended & ~calls.is_aside].tolist())
        after = []
        folder_of = made_folder_of(table, calls.row)
        for name, kind, grows in zip(*(column.tolist() for column in columns), strict=True):
            file, aside = name // 2, name % 2 == 1
            home = known_as[folder_of[file] // 2] if file in folder_of else ""
            last = _EntryKey(
                stream=known_as[file],
                is_folder=file in made,
                home=home,
                is_staged=name - aside in staged,
                is_aside=False,
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
        first = np.unique(calls.handle, return_index=True)[1]
        self.length_of_call = np.zeros(len(calls.handle), np.int64)
        self.length_of_call[first] = [staged.get(one, 0) for one in calls.handle[first].tolist()]

    def _place(self, key: _EntryKey) -> int:
        if key not in self._places:
            self._places[key] = len(self._places)
            self.names.append(self._name(key))
        return self._places[key]

    def _name(self, key: _EntryKey) -> str:
        word = _WORD.sub("_", key.stream.rpartition("/")[2]).strip("_").lower() or "file"
        word = word if word[0].isalpha() else f"f_{word}"
        word = (_DIRECTORY if key.is_folder else word) + "_new" * key.is_aside
        taken = {*self.names, *RESERVED_NAMES, *COLUMNS, TABLE}
        name, number = word, 2
        while name in taken:
            name, number = f"{word}_{number}", number + 1
        return name

    def _path(self, key: _EntryKey, name: str) -> str:
        if not self.has_folders or key.home is None:
            return f"{name}_{{{FILE}}}"
        if key.is_folder:
            return f"{self._word(key.stream)}_{{{FILE}}}.{{rank}}"
        return f"{self._word(key.home)}_{{{FOLDER}}}.{{rank}}/{name}_{{{FILE}}}"

    def _word(self, stream: str) -> str:
        number = len(self._words) + 1
        return self._words.setdefault(stream, f"{_DIRECTORY}{number if number > 1 else ''}")

    def specs(self) -> dict[str, FileSpec]:
        """The files."""
        found = {}
        for number, (key, name) in enumerate(zip(self._places, self.names, strict=True)):
            files = np.unique(self._calls.file[self.of_call == number]).tolist()
            interface = Interface(key.interface)
            ways = [self._calls.table.manners[file] for file in files] or [Manner(sync=key.way)]
            found[name] = FileSpec(
                path=self._path(key, name),
                about=key.stream,
                interface=interface,
                options=opening_options(ways, interface, True, not key.is_staged),
                shared="rank",
                prestage=LENGTH if key.is_staged else None,
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


def _staged_bytes(calls: _TableCalls) -> dict[int, int]:
    """Of each name that is there before the run, how long its file must be."""
    found: dict[int, int] = {}
    written: Counter[int] = Counter()
    appended: Counter[int] = Counter()
    read, write = DATA
    columns = (calls.handle, calls.kind, calls.appends, calls.end, calls.size)
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
