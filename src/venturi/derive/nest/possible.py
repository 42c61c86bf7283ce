"""Which calls of a run can be made again, and in which order.

A capture shows what a program asked for, on what was there by chance: names that links made, for
which there is no word, files of before the run that were replaced. Here all calls are followed from
the first one on, and what a program could not do, because something else is not done, is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from venturi.derive.nest.call import DATA, appending
from venturi.derive.operation.table import CREATES, TRUNCATES, Table
from venturi.model.operation import KIND_CODES, Column, Kind

OPEN, CLOSE, MKDIR, RENAME, MISS = (
    KIND_CODES[kind] for kind in (Kind.OPEN, Kind.CLOSE, Kind.MKDIR, Kind.RENAME, Kind.MISS)
)
IMPOSSIBLE, USES, MAKES = range(3)
"""What a call does to its name."""
_RMDIR = KIND_CODES[Kind.RMDIR]
_ENDS_OF_NAMES = {KIND_CODES[Kind.UNLINK], _RMDIR, RENAME}
_ON_OPEN = {
    KIND_CODES[kind] for kind in (Kind.READ, Kind.WRITE, Kind.SYNC, Kind.DATA_SYNC, Kind.TRUNCATE)
}
"""What needs a file that is open."""


def names_of(table: Table, rows: Column) -> Column:
    """A number for each name under which an operation knows its file."""
    return 2 * table.file[rows].astype(np.int64) + table.is_aside[rows]


def handles_of(table: Table, rows: Column) -> Column:
    """A number for each name as one rank knows it, which has the file open or not."""
    return names_of(table, rows) * table.ranks + table.rank[rows]


def closed_last(table: Table, rows: Column) -> Column:
    """The same, but what closes a file that is used once more before it is opened again stands
    behind that: another process had it open, too."""
    order = np.arange(len(rows), dtype=np.float64)
    opened: dict[int, int] = {}
    closes: dict[int, int] = {}
    handle = handles_of(table, rows)
    for place, (which, kind) in enumerate(
        zip(handle.tolist(), table.kind[rows].tolist(), strict=True)
    ):
        if kind == OPEN:
            opened[which] = opened.get(which, 0) + 1
        elif kind in _ON_OPEN and not opened.get(which) and which in closes:
            order[closes[which]] = place + 0.5
        if kind == CLOSE and opened.get(which):
            opened[which] -= 1
            closes[which] = place
    found: Column = rows[np.argsort(order, kind="stable")]
    return found


@dataclass(frozen=True)
class PossibleCalls:
    """Calls that can be made again, in order."""

    row: Column
    """In the table."""
    makes: Column
    """Whether it opens, and makes the file or empties it."""
    appends: Column
    """Whether it writes where the file ends: the file is not written to elsewhere."""
    is_before: Column
    """Whether its name is there before the run."""

    def __len__(self) -> int:
        return len(self.row)


def possible(table: Table, rows: Column) -> PossibleCalls:
    """These operations without what a program cannot do, and what cannot be done without that:
    rename or replace what was there before the run, use a name that a link made, for which there is
    no word, read what would stand in such a file, or have a file before the run in a folder that it
    makes."""
    names = _Names(made_folder_of(table, rows))
    makes = table.flags[rows] & (CREATES | TRUNCATES) > 0
    is_on_the_way = _is_on_the_way(table.kind[rows], names_of(table, rows), makes)
    rows, makes = rows[~is_on_the_way], makes[~is_on_the_way]
    kind, name = table.kind[rows], names_of(table, rows)
    appends = appending(table.flags[rows], kind, handles_of(table, rows))
    appends &= ~np.isin(name, name[(kind == KIND_CODES[Kind.WRITE]) & ~appends])
    size = np.where(np.isin(kind, DATA), table.bytes[rows], 0)
    # Each of several ranks asks for a file that the first of them makes.
    is_asked = makes & (table.ranks > 1) & (table.flags[rows] & TRUNCATES == 0)
    columns = (name, table.rank[rows], kind, makes, is_asked, appends, table.offset[rows], size)
    calls = map(_NameCall, *(one.tolist() for one in columns))
    found = [names.take(call) for call in calls]
    how = np.array(found, np.int64)
    keeps = (how != IMPOSSIBLE) & (~np.isin(kind, DATA) | (size > 0))
    is_before = np.isin(name, list(names.before))
    return PossibleCalls(rows[keeps], (how == MAKES)[keeps], appends[keeps], is_before[keeps])


def _is_on_the_way(kind: Column, handle: Column, makes: Column) -> Column:
    """Which calls give a file a name that it loses again: what is done to it under any of its names
    but the last is done to one name."""
    order = np.argsort(handle, kind="stable")
    matters = order[(kind[order] == RENAME) | makes[order]]
    found = np.zeros(len(kind), bool)
    found[matters[:-1]] = (kind[matters] == RENAME)[1:] & (np.diff(handle[matters]) == 0)
    found &= kind == RENAME
    return found


class _NameCall(NamedTuple):
    """A call, and the name that it is about."""

    name: int
    rank: int
    kind: int
    makes: bool
    """Whether it opens, and makes the file or empties it."""
    is_asked: bool
    """Whether it makes only what is not there."""
    appends: bool
    at: int
    size: int


class _Names:
    """Follows which names are there, and how long the files are that the program made."""

    def __init__(self, made_folder_of: Mapping[int, int]) -> None:
        self._folder_of = made_folder_of
        self.before: set[int] = set()
        """Names that are there before the run."""
        self._gone: set[int] = set()
        self._opened: Counter[tuple[int, int]] = Counter()
        """How often each rank has a name open."""
        self._length: dict[int, int] = {}
        """Of files and folders that the program has made."""
        self._inside: Counter[int] = Counter()
        """How many files there are in each folder."""

    def take(self, call: _NameCall) -> int:
        """The next call: IMPOSSIBLE, USES, or MAKES."""
        name, kind = call.name, call.kind
        if kind == MISS:  # whatever is there: the name asked for is another
            return USES
        makes = call.makes and not (call.is_asked and name in self._length)
        if name not in self.before:
            makes |= kind == MKDIR
        else:
            # What is there before a run is to be there before the next one, as long as it was.
            makes = False
            if kind in (MKDIR, KIND_CODES[Kind.TRUNCATE]):
                return IMPOSSIBLE
        if not makes and name not in self._length and name not in self._gone:
            (self._gone if name >> 1 in self._folder_of else self.before).add(name)
        if not self._can(call, makes):
            return IMPOSSIBLE
        if makes:
            self._appears(name, 0)
        if kind == OPEN:
            self._opened[name, call.rank] += 1
        elif kind == CLOSE:
            self._opened[name, call.rank] -= 1
        elif kind in _ENDS_OF_NAMES:
            self._vanishes(name, kind)
        elif name in self._length and kind == KIND_CODES[Kind.TRUNCATE]:
            self._length[name] = call.at
        elif name in self._length and kind == KIND_CODES[Kind.WRITE]:
            now = self._length[name]
            self._length[name] = now + call.size if call.appends else max(now, call.at + call.size)
        return MAKES if makes else USES

    def _can(self, call: _NameCall, makes: bool) -> bool:
        name, kind = call.name, call.kind
        if makes:
            return self._has_folder(name) and (kind != MKDIR or name not in self._length)
        if kind == RENAME:
            known = name not in self._gone and not self.before & {name, name - 1}
            return known and name % 2 == 1 and self._has_folder(name - 1)
        end = call.at + call.size
        if kind == KIND_CODES[Kind.READ] and end > self._length.get(name, end):
            return False
        if kind in _ON_OPEN or kind == CLOSE:
            return self._opened[name, call.rank] > 0
        return name not in self._gone and not (kind == _RMDIR and self._inside[name] > 0)

    def _has_folder(self, name: int) -> bool:
        """Whether the folder is there in which a name is to be."""
        folder = self._folder_of.get(name >> 1)
        return name % 2 == 1 or folder is None or folder in self._length

    def _appears(self, name: int, length: int) -> None:
        if name not in self._length and name % 2 == 0:
            self._inside[self._folder_of.get(name >> 1, -1)] += 1
        self._length[name] = length
        self._gone.discard(name)

    def _vanishes(self, name: int, kind: int) -> None:
        if name in self._length and name % 2 == 0:
            self._inside[self._folder_of.get(name >> 1, -1)] -= 1
        length = self._length.pop(name, 0)
        self._gone.add(name)
        if kind == RENAME:
            self._appears(name - 1, length)


def made_folder_of(table: Table, rows: Column) -> dict[int, int]:
    """Of the files that lie in folders that the program makes, the name of that folder."""
    folders = np.unique(table.file[rows[table.kind[rows] == MKDIR]]).tolist()
    made = {table.paths[folder]: 2 * folder for folder in folders}
    homes = ((file, path.rpartition("/")[0]) for file, path in enumerate(table.paths))
    return {file: made[home] for file, home in homes if home in made}
