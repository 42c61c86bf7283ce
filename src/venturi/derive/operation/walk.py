"""Looking through folders: names that are listed and looked at, but not used otherwise.

`ls -lR`, `find`, a synchroniser and a file manager read folders and ask for the status of what is
in them. What that costs depends on how many folders there are and how many names each holds, so a
tree of as many stands for them: `read_dir` lists its folders, `stat` looks at its items.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from venturi.derive.noise import is_foreign
from venturi.derive.operation.table import actors_in
from venturi.derive.operation.thread import with_threads_apart
from venturi.model.operation import Column, Kind
from venturi.model.trace import Layer
from venturi.model.trace_folder import Captured

LEAST_LISTS = 8
LEAST_NAMES = 100
"""Folders that are listed less often, and hold fewer names together, are a program's start."""
MOST_WALKS = 3
"""Folders that are listed as often as each other are one walk; the rest is left out."""
LEAST_LOOKED_AT = 0.5
"""So many of the names must be looked at; fewer are accidents."""
_DOTS = 2
"""Every folder holds itself and the one above."""


@dataclass(frozen=True)
class Walk:
    """Folders that are listed equally often."""

    paths: tuple[str, ...]
    """Of the folders."""
    ranks: Column
    """Who lists them, in rising order."""
    is_own: bool
    """Whether each rank lists folders of its own."""
    has_top: bool
    """Whether one of the folders holds nothing but the others."""
    folders: int
    """Of each rank, without that one."""
    names: int
    """In each of them, that are no folders of the walk."""
    times: int
    """How often each folder is listed."""
    looks: int
    """How often each name is looked at in each of these times."""
    looked_at: frozenset[str]
    """Names in the folders that are used in no other way."""
    lists: int
    stats: int
    """All of both, of all ranks."""
    start_ns: int
    """In the midst of it."""

    @property
    def files(self) -> frozenset[str]:
        """All that the walk stands for."""
        return self.looked_at | set(self.paths)


def walks_in(captured: Captured, told: set[str]) -> list[Walk]:
    """The walks of a capture, the largest first; `told` are files that are told in another way."""
    if captured.operations is None or not np.any(captured.operations.is_kind(Kind.LIST)):
        return []
    seen = _seen(with_threads_apart(captured))
    held = _names_held(seen)
    if len(seen.lists) < LEAST_LISTS and sum(held.values()) < LEAST_NAMES:
        return []
    of_folder: dict[str, list[int]] = defaultdict(list)
    for row in seen.lists.tolist():
        of_folder[seen.path(row)].append(row)
    looks: dict[str, list[int]] = defaultdict(list)
    for row in seen.stats.tolist():
        path = seen.path(row)
        if path.rpartition("/")[0] in held and path not in told and path not in held:
            looks[path.rpartition("/")[0]].append(row)
    groups: dict[int, list[str]] = defaultdict(list)
    for folder, rows in of_folder.items():
        each = len(rows) / len(set(seen.rank[rows].tolist()))
        groups[round(each)].append(folder)
    found = [
        _walk(seen, folders, times, {one: held[one] for one in folders}, (of_folder, looks))
        for times, folders in groups.items()
    ]
    return sorted(found, key=lambda walk: -walk.lists - walk.stats)[:MOST_WALKS]


def ranks_in(captured: Captured) -> int:
    """How many ranks a proxy of a capture has."""
    assert captured.operations is not None
    return actors_in(captured.trace, captured.operations).ranks


@dataclass(frozen=True)
class _Seen:
    """The calls in question of all ranks."""

    paths: list[str]
    file: Column
    """Of every operation; so are these two."""
    rank: Column
    start_ns: Column
    entries: Column
    lists: Column
    """Rows: one for each pass over a folder."""
    stats: Column

    def path(self, row: int) -> str:
        """The file of a row."""
        return self.paths[int(self.file[row])]


def _seen(captured: Captured) -> _Seen:
    ops, trace = captured.operations, captured.trace
    assert ops is not None
    own = np.array([not is_foreign(file) for file in trace.files] + [False], bool)
    named = np.minimum(ops.file, len(trace.files)).astype(np.int64)
    rank = actors_in(trace, ops).of_process[ops.process].astype(np.int64)
    fine = (ops.error == 0) & ops.is_layer(Layer.POSIX) & own[named] & (rank >= 0)
    lists = np.flatnonzero(fine & ops.is_kind(Kind.LIST))
    return _Seen(
        paths=[file.path for file in trace.files],
        file=named,
        rank=rank,
        start_ns=np.asarray(ops.start_ns),
        entries=np.asarray(ops.bytes),
        lists=lists[_begins_pass(ops.bytes, named, rank, lists)],
        stats=np.flatnonzero(fine & ops.is_kind(Kind.STAT)),
    )


def _begins_pass(size: Column, file: Column, rank: Column, lists: Column) -> Column:
    """Mask of the rows with which a pass over a folder begins.

    Where a program reads a folder by the system's own call, each call is a row that knows no
    number of names; those of a rank and folder that follow each other are one pass.
    """
    order = lists[np.lexsort((lists, rank[lists]))]
    again = (file[order][1:] == file[order][:-1]) & (rank[order][1:] == rank[order][:-1])
    again &= (size[order][1:] == 0) & (size[order][:-1] == 0)
    begins = np.ones(len(order), bool)
    begins[1:] = ~again
    mask = np.zeros(len(size), bool)
    mask[order] = begins
    found: Column = mask[lists]
    return found


def _names_held(seen: _Seen) -> dict[str, int]:
    """How many names, but for folders that are listed too, each listed folder holds."""
    held: dict[str, int] = {}
    for row in seen.lists.tolist():
        path = seen.path(row)
        held[path] = max(held.get(path, 0), int(seen.entries[row]) - _DOTS)
    known = dict.fromkeys(held, 0)
    for path in seen.paths:
        folder = path.rpartition("/")[0]
        if folder in known:
            known[folder] += 1
    for path in known:
        folder = path.rpartition("/")[0]
        if folder in known:
            known[folder] -= 1
            held[folder] -= 1
    return {path: max(count, known[path], 0) for path, count in held.items()}


def _walk(
    seen: _Seen,
    folders: list[str],
    times: int,
    held: dict[str, int],
    rows: tuple[dict[str, list[int]], dict[str, list[int]]],
) -> Walk:
    """The walk over these folders."""
    lists = [row for folder in folders for row in rows[0][folder]]
    stats = [row for folder in folders for row in rows[1].get(folder, [])]
    owners = [set(seen.rank[rows[0][folder]].tolist()) for folder in folders]
    ranks = sorted(set().union(*owners))
    is_own = len(ranks) > 1 and all(len(owner) == 1 for owner in owners)
    full = [count for count in held.values() if count]
    has_top = len(folders) > 1 and len(full) < len(folders)
    each = max(len(full), 1) / (len(ranks) if is_own else 1)
    names = round(sum(full) / max(len(full), 1))
    looks = len(stats) / max(sum(full) * times * (1 if is_own else len(ranks)), 1)
    is_looked_at = looks >= LEAST_LOOKED_AT
    return Walk(
        paths=tuple(folders),
        ranks=np.array(ranks),
        is_own=is_own,
        has_top=has_top,
        folders=max(round(each), 1),
        names=names,
        times=times,
        looks=max(round(looks), 1) if is_looked_at else 0,
        looked_at=frozenset(seen.path(row) for row in stats) if is_looked_at else frozenset(),
        lists=len(lists),
        stats=len(stats) if is_looked_at else 0,
        start_ns=int(np.median(seen.start_ns[lists])),
    )
