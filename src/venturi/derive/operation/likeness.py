"""How like the operations of an application those of its proxy are, one by one."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Container
from dataclasses import dataclass, replace

import numpy as np

from venturi.derive.operation.expansion import NOWHERE, Expansion, asked_by, asked_by_proxy
from venturi.derive.operation.table import Table, table_of
from venturi.derive.operation.token import mixed_hash
from venturi.model.error import UserError
from venturi.model.likeness import Likeness
from venturi.model.operation import KIND_CODES, Column, Kind
from venturi.model.plan import Plan
from venturi.model.trace_folder import Captured
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

MOST_OPERATIONS = 200_000
"""So many operations are written out; of more, the first ones of each rank. It bounds the time:
one takes up to 100 us where a program is all conditions."""
MOST_RANKS = 16
"""Ranks of which operations are compared, evenly chosen."""

_DATA = [KIND_CODES[Kind.READ], KIND_CODES[Kind.WRITE]]


@dataclass(frozen=True)
class Judgement:
    """What writing a workload out showed."""

    likeness: Likeness | None
    """None where only a run knows what the workload does."""
    fault: str = ""
    """What would fail in a run; empty: nothing that is known before."""
    beyond: str = ""
    """What would be read behind the end of its file: a run fails there, unless something else in
    it, which is not known before, makes the file longer."""
    share: float = 1.0
    """Of all operations of the application, those that were compared."""


@dataclass(frozen=True)
class WrittenOut:
    """Operations of an application and of a workload, of the same ranks, each rank's first ones."""

    application: Expansion
    workload: Expansion
    likeness: Likeness


def judged(table: Table, workload: Workload) -> Judgement:
    """The operations of a workload that was derived from `table` beside those in it."""
    try:
        made = make_plan(workload, RunSettings(most_ranks=table.ranks))
    except UserError as error:
        return Judgement(None, error.message)
    try:
        both = written_out(table, made.plan)
    except UserError:
        return Judgement(None)
    share = max(len(both.application), 1) / max(len(table), 1)
    likeness = both.likeness
    if not likeness.is_whole:
        likeness = likeness.model_copy(update=_requests(table, made.totals.sizes))
    return Judgement(likeness, both.workload.fault, both.workload.beyond, share)


def _requests(table: Table, planned: Counter[tuple[str, int]]) -> dict[str, int]:
    """How many reads and writes a whole run has, and how many of the same bytes both sides have;
    `planned` counts those of a plan by direction and bytes."""
    ours: Counter[tuple[str, int]] = Counter()
    for kind in (Kind.READ, Kind.WRITE):
        mine = (table.kind == KIND_CODES[kind]) & (table.bytes > 0) & (table.copied == 0)
        sizes, counts = np.unique(table.bytes[mine], return_counts=True)
        for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
            ours[kind.value, size] = count
    most = max(ours.total(), planned.total())
    return {"requests": most, "requests_alike": (ours & planned).total()}


def written_out(table: Table, plan: Plan) -> WrittenOut:
    """The operations of a plan beside those of a table, as many as `MOST_OPERATIONS` of each.

    Raises UserError where only a run knows them.
    """
    few = min(table.ranks, MOST_RANKS)
    ranks = [number * table.ranks // few for number in range(few)]
    most = MOST_OPERATIONS // few
    ours, theirs = asked_by(table, ranks, most), asked_by_proxy(plan, ranks, most)
    return WrittenOut(ours, theirs, compared(ours, theirs, most))


def likeness_of_captures(
    application: Captured, proxy: Captured, paths: tuple[Container[str], Container[str]]
) -> Likeness | None:
    """The operations of two captures on those of their files that have these paths; None where one
    has no I/O of an application."""
    try:
        tables = table_of(application), table_of(proxy)
    except UserError:
        return None
    ranks = range(max(table.ranks for table in tables))
    most = max(map(len, tables)) + 1
    ours, theirs = (
        asked_by(table, ranks, most, np.array([path in known for path in table.paths], bool))
        for table, known in zip(tables, paths, strict=True)
    )
    return compared(ours, theirs, most)


def compared(ours: Expansion, theirs: Expansion, most: int) -> Likeness:
    """The operations of an application beside those of its proxy, on the same ranks; those with
    `most` operations may have had more.

    Files are the same whatever they are called: those that are used in exactly the same way, then
    those with the same operations in another order, then those that come first.
    """
    theirs = replace(theirs, file=_counterparts(ours, theirs))
    unplaced = np.union1d(_unplaced_files(ours), _unplaced_files(theirs))
    left, right = (_columns(side, unplaced) for side in (ours, theirs))
    kinds, places = (
        [_key(column, names) for column in (left, right)]
        for names in (("kind", "bytes"), ("kind", "file", "offset", "bytes"))
    )
    is_equal = len(ours) == len(theirs) and all(
        np.array_equal(left[name], right[name]) for name in left
    )
    whole = all(_most_of_a_rank(side) < most for side in (ours, theirs))
    data = np.isin(ours.kind, _DATA)
    return Likeness(
        ranks=len(ours.seconds_between),
        is_whole=whole,
        application=len(ours),
        proxy=len(theirs),
        alike=_common(*kinds),
        placed=_common(*places),
        ordered=_in_order([left["rank"], right["rank"]], places, is_equal),
        unplaced=int(np.count_nonzero(data & np.isin(ours.file, unplaced))),
        is_equal=is_equal,
        seconds_between=round(float(ours.seconds_between.sum()), 6),
        proxy_seconds_between=round(float(theirs.seconds_between.sum()), 6),
    )


def _columns(side: Expansion, unplaced: Column) -> dict[str, Column]:
    offset = np.where(np.isin(side.file, unplaced), NOWHERE, side.offset)
    return {
        "rank": side.rank.astype(np.int64),
        "kind": side.kind.astype(np.int64),
        "file": side.file.astype(np.int64),
        "offset": offset,
        "bytes": side.bytes.astype(np.int64),
    }


def _unplaced_files(side: Expansion) -> Column:
    """Files of which some request has no known place."""
    return np.unique(side.file[np.isin(side.kind, _DATA) & (side.offset == NOWHERE)])


def _most_of_a_rank(side: Expansion) -> int:
    return int(np.bincount(side.rank).max(initial=0))


def _key(columns: dict[str, Column], names: tuple[str, ...]) -> Column:
    """One number for each row that tells these columns apart."""
    key = np.zeros(len(columns["rank"]), np.uint64)
    for name in names:
        key = mixed_hash(key + columns[name].astype(np.uint64))
    return key


def _in_order(ranks: list[Column], keys: list[Column], is_equal: bool) -> int:
    """How many come after the same operation of their rank as in the other stream.

    Where each does, though the streams differ (a, b, a, c, a and a, c, a, b, a), as many operations
    before it are looked at as tell them apart.
    """
    keys = [mixed_hash(rank + key) for rank, key in zip(ranks, keys, strict=True)]
    distance = 1
    while True:
        keys = [_after(rank, key, distance) for rank, key in zip(ranks, keys, strict=True)]
        found, distance = _common(*keys), 2 * distance
        if is_equal or found < max(map(len, keys)):
            return found


def _after(rank: Column, key: Column, distance: int) -> Column:
    """One number for each row that tells it and what its rank did so far before."""
    before = np.zeros(len(key), np.uint64)
    same = rank[distance:] == rank[:-distance]
    before[distance:][same] = key[:-distance][same]
    return mixed_hash(mixed_hash(before) + key)


def _common(left: Column, right: Column) -> int:
    """How many there are in both, each as often as in the one that has fewer."""
    values, where = np.unique(np.concatenate([left, right]), return_inverse=True)
    counts = [
        np.bincount(part, minlength=len(values))
        for part in (where[: len(left)], where[len(left) :])
    ]
    return int(np.minimum(*counts).sum())


def _counterparts(ours: Expansion, theirs: Expansion) -> Column:
    """The file column of `theirs` with the numbers that its files have in `ours`."""
    of_theirs: dict[int, int] = {}
    taken: set[int] = set()
    for left, right in zip(_signatures(ours), _signatures(theirs), strict=True):
        waiting: dict[int, deque[int]] = defaultdict(deque)
        for file, signature in left.items():
            if file not in taken:
                waiting[signature].append(file)
        for file, signature in right.items():
            if file not in of_theirs and waiting[signature]:
                of_theirs[file] = waiting[signature].popleft()
                taken.add(of_theirs[file])
    unknown = int(ours.file.max(initial=-1)) + 1
    others = [file for file in np.unique(theirs.file).tolist() if file not in of_theirs]
    of_theirs |= {file: unknown + number for number, file in enumerate(others)}
    return np.array([of_theirs[file] for file in theirs.file.tolist()], np.int64)


def _signatures(side: Expansion) -> list[dict[int, int]]:
    """For each file, in the order of first use, what it is known by: how it is used exactly, what
    is done to it in any order, and nothing."""
    nowhere = np.zeros(0, np.int64)
    columns = _columns(side, nowhere)
    order = np.argsort(columns["file"], kind="stable")
    files, first, place = np.unique(columns["file"], return_index=True, return_inverse=True)
    position = np.empty(len(side), np.int64)
    counts = np.bincount(place, minlength=len(files))
    position[order] = np.arange(len(side)) - np.repeat(np.cumsum(counts) - counts, counts)
    loose = _key(columns, ("kind", "offset", "bytes"))
    exact = mixed_hash(
        _key(columns, ("rank", "kind", "offset", "bytes")) + position.astype(np.uint64)
    )
    found = []
    for key in (exact, loose, np.zeros(len(side), np.uint64)):
        sums = np.zeros(len(files), np.uint64)
        np.add.at(sums, place, key)
        in_order = np.argsort(first)
        found.append(dict(zip(files[in_order].tolist(), sums[in_order].tolist(), strict=True)))
    return found
