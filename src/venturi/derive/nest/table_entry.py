"""The files that the rows of tables are about, as entries of a workload."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from venturi.derive.nest.fit import RANK
from venturi.derive.nest.possible import MKDIR, RENAME, made_folder_of
from venturi.derive.nest.table_calls import TableCalls
from venturi.derive.operation.manner import Manner, opening_options
from venturi.model.plan import Interface
from venturi.model.workload import RESERVED_NAMES, FileSpec

TABLE, TOGETHER = "calls", "together"
STEP, FILE, AT, SIZE, BEFORE, LENGTH = "step", "file", "at", "size", "before_ns", "length"
FOLDER, ALONE = "folder", "alone"
COLUMNS = (RANK, STEP, FILE, AT, SIZE, BEFORE, LENGTH, FOLDER, ALONE)
"""Whose a call is; which step of the program it is; the file's number; where, and how many bytes;
the computing before it; how long the file is before the run, where a call opens it; the number of
the folder in which the file lies, where there are several, which is the folder's as a file; the
only rank that has a file open that all make together."""
_DIRECTORY = "directory"
_WORD = re.compile(r"[^A-Za-z0-9]+")


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


class _KeysOfCalls:
    """What the files of calls have in common with others, by what is known of all calls."""

    def __init__(self, calls: TableCalls, known_as: Sequence[str], made: set[int]) -> None:
        self._calls = calls
        self._known_as = known_as
        self._made = made
        """Folders."""
        self._grown = set(calls.file[calls.is_appended & ~calls.is_aside].tolist())
        self._folder_of = made_folder_of(calls.table, calls.row)
        self._shared = set(calls.file[calls.is_shared].tolist())

    def __call__(self, call: int) -> tuple[_EntryKey, _EntryKey]:
        """Of the name that a call uses, and of the last one that its file gets."""
        calls, table = self._calls, self._calls.table
        name = int(calls.name[call])
        file, aside = name // 2, name % 2 == 1
        folder = self._folder_of[file] // 2 if file in self._folder_of else None
        last = _EntryKey(
            stream=self._known_as[file],
            is_folder=file in self._made,
            home="" if folder is None else self._known_as[folder],
            is_staged=name - aside in calls.staged,
            is_aside=False,
            is_shared=file in self._shared,
            is_home_shared=table.ranks > 1 if folder is None else folder in self._shared,
            way=table.manners[file].way,
            interface=table.interfaces[file].value,
            grows=file in self._grown,
        )
        grows = bool(calls.is_appended[call])
        key = last._replace(is_staged=name in calls.staged, is_aside=aside, grows=grows)
        return key._replace(home=None) if aside and folder is not None else key, last


class TableEntries:
    """The files of the workload: an entry for those of one stream that are there before the run, or
    made, and opened in one way."""

    def __init__(self, calls: TableCalls, known_as: Sequence[str]) -> None:
        self._calls = calls
        staged = calls.staged
        self._places: dict[_EntryKey, int] = {}
        self.names: list[str] = []
        self._words: dict[str, str] = {}
        """What the names of folders begin with, by what their stream is called: a capture of the
        proxy tells by it what a folder stands for."""
        made = set(calls.file[calls.kind == MKDIR].tolist())
        folders = _folders(calls, made)
        self.has_folders = bool(folders)
        self.folder_of_call = np.array([folders.get(file, 0) for file in calls.file.tolist()])
        renames = calls.kind == RENAME
        about = calls.name * 4 + renames * 2 + calls.is_appended
        _, first, which = np.unique(about, return_index=True, return_inverse=True)
        places = np.zeros((2, len(first)), np.int64)
        keys_of = _KeysOfCalls(calls, known_as, made)
        for one in np.argsort(first).tolist():
            call = int(first[one])
            key, last = keys_of(call)
            places[0, one] = self._place(key)
            places[1, one] = self._place(last) if renames[call] else 0
        self._is_for_all = [
            key.is_shared or (key.is_staged and calls.table.ranks > 1) for key in self._places
        ]
        self.of_call, self.after_call = places[:, which]
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

    def is_for_all(self, number: int) -> bool:
        """Whether the files of an entry, by its number, are not those of a rank."""
        return self._is_for_all[number]

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
                shared="all" if self.is_for_all(number) else "rank",
                prestage=length if key.is_staged else None,
            )
        return found


def _folders(calls: TableCalls, made: set[int]) -> dict[int, int]:
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
