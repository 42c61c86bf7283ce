"""Operations as tokens: an opening, a run of requests one way, a sync, a removal.

A run of requests lasts while file, rank, direction and manner stay the same and nobody pauses for
long. Tokens keep what the shape of a run needs: a hash of its relative places says whether two
runs are laid out alike without looking at them again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venturi.derive.operation.table import APPENDS, TOGETHER, Table
from venturi.model.operation import KIND_CODES, Column, Kind

_ONE = np.uint64(0x9E3779B97F4A7C15)
_TWO = np.uint64(0xC2B2AE3D27D4EB4F)
_SHIFT = np.uint64(29)

LEAST_THINK_NS = 20_000
"""Shorter pauses between requests are the program's own steps."""


@dataclass(frozen=True)
class Tokens:
    """Sorted by file, rank and start, as the table is."""

    rows: Column
    """The table's rows that stand in tokens, in order."""
    first: Column
    """Where a token's rows begin in `rows`."""
    count: Column
    file: Column
    rank: Column
    kind: Column
    flags: Column
    """Of a run: TOGETHER, and APPENDS where the file was opened so."""
    bytes: Column
    base: Column
    """Offset of the first request; -1: unknown."""
    low: Column
    end: Column
    """Behind the last byte."""
    unit: Column
    """Size of all requests but the last, which may be shorter; 0 where they differ."""
    jumps: Column
    """Requests that do not follow the one before."""
    backward: Column
    shape: Column
    """Hash of relative places and sizes."""
    each: Column
    """Sync kind after every write, plus 1; 0: none."""
    think_ns: Column
    start_ns: Column
    end_ns: Column
    stretch: Column
    follows: Column

    def __len__(self) -> int:
        return len(self.first)

    def rows_of(self, token: int) -> Column:
        """The table's rows of one token."""
        first = int(self.first[token])
        return self.rows[first : first + int(self.count[token])]

    def are_last(self, ids: Column) -> bool:
        """Whether no file of these tokens is used after them."""
        file = self.file[ids].ravel()
        last = np.full(int(self.file.max()) + 1, np.iinfo(np.int64).max)
        last[file] = 0
        np.maximum.at(last, file, self.start_ns[ids].ravel())
        return not np.any(self.start_ns > last[self.file])

    def is_kind(self, *kinds: Kind) -> Column:
        """A mask of the tokens of these kinds."""
        return np.isin(self.kind, [KIND_CODES[kind] for kind in kinds])


def mixed_hash(values: Column) -> Column:
    """A scrambled copy of 64-bit values, so that sums of them tell sequences apart."""
    mixed = np.asarray(values).astype(np.uint64) * _ONE
    mixed ^= mixed >> _SHIFT
    mixed *= _TWO
    mixed ^= mixed >> _SHIFT
    return mixed


def tokens_of(table: Table) -> Tokens:
    """The tokens of a table."""
    each, dropped = _synced_each(table)
    rows = np.flatnonzero(~dropped)
    file, rank, kind = table.file[rows], table.rank[rows], table.kind[rows]
    flags = (table.flags[rows] & TOGETHER) | _appending(table, rows)
    is_data = table.is_kind(Kind.READ, Kind.WRITE)[rows]
    starts = np.ones(len(rows), bool)
    same = (file[1:] == file[:-1]) & (rank[1:] == rank[:-1]) & (kind[1:] == kind[:-1])
    same &= is_data[1:] & (flags[1:] == flags[:-1])
    same &= table.stretch[rows][1:] == table.stretch[rows][:-1]
    starts[1:] = ~same
    first = np.flatnonzero(starts)
    return _measured(table, rows, first, is_data, flags, each)


def _synced_each(table: Table) -> tuple[Column, Column]:
    """The sync kind (plus 1) of rows whose file and rank sync after every write; rows of syncs."""
    none = np.zeros(len(table), np.uint8)
    drop = np.zeros(len(table), bool)
    writes, syncs = table.is_kind(Kind.WRITE), table.is_kind(Kind.SYNC, Kind.DATA_SYNC)
    if not np.any(syncs) or len(table) < 2:
        return none, drop
    group = table.file.astype(np.int64) * table.ranks + table.rank
    pair = np.zeros(len(table), bool)
    pair[1:] = syncs[1:] & writes[:-1] & (group[1:] == group[:-1])
    ids = np.cumsum(np.concatenate([[False], group[1:] != group[:-1]]))
    groups = int(ids[-1]) + 1
    wrote = np.bincount(ids[writes], minlength=groups)
    paired = np.bincount(ids[pair], minlength=groups)
    all_syncs = np.bincount(ids[syncs], minlength=groups)
    kinds = np.zeros(groups, np.int64)
    kinds[ids[pair]] = table.kind[pair].astype(np.int64) + 1
    is_each = (wrote > 1) & (paired == wrote) & (all_syncs == paired)
    each = np.where(is_each[ids] & writes, kinds[ids], 0).astype(np.uint8)
    return each, is_each[ids] & syncs


def _appending(table: Table, rows: Column) -> Column:
    """APPENDS for writes to files that some rank opened for appending only."""
    opens = table.is_kind(Kind.OPEN)
    appends = np.bincount(
        table.file[opens & (table.flags & APPENDS > 0)], minlength=len(table.paths)
    )
    every = np.bincount(table.file[opens], minlength=len(table.paths))
    only = (appends > 0) & (appends == every)
    writes = table.is_kind(Kind.WRITE)[rows]
    return np.where(writes & only[table.file[rows]], APPENDS, 0).astype(np.uint8)


def _measured(
    table: Table, rows: Column, first: Column, is_data: Column, flags: Column, each: Column
) -> Tokens:
    offset, size = table.offset[rows], table.bytes[rows]
    start, end = table.start_ns[rows], table.end_ns[rows]
    count = np.diff(np.append(first, len(rows)))
    index = np.repeat(np.arange(len(first)), count)
    inner = np.ones(len(rows), bool)
    inner[first] = False
    follow = np.zeros(len(rows), np.int64)
    follow[1:] = offset[1:] - offset[:-1] - size[:-1]
    jump = inner & (follow != 0)
    back = inner & (offset < np.concatenate([[0], offset[:-1]]))
    unit = size[first]
    last = np.zeros(len(rows), bool)
    last[first + count - 1] = True
    odd = is_data & np.where(last, size > unit[index], size != unit[index])
    relative = np.where(offset >= 0, offset - offset[first][index], -1)
    place = np.arange(len(rows), dtype=np.int64) - first[index]
    code = mixed_hash(relative) + mixed_hash(mixed_hash(size) + place.astype(np.uint64) * _ONE)
    code = mixed_hash(code)
    # Time in other calls, or in the syncs after each write, is no thinking.
    synced = np.where(each[rows] > 0, table.end_ns[np.minimum(rows + 1, len(table) - 1)], end)
    ways = start - np.concatenate([[0], synced[:-1]]) - table.beside_ns[rows]
    idle = np.where(inner & table.follows[rows], ways, 0)
    known = np.where(offset >= 0, offset, 0)
    return Tokens(
        rows=rows,
        first=first,
        count=count,
        file=table.file[rows][first],
        rank=table.rank[rows][first],
        kind=table.kind[rows][first],
        flags=np.where(is_data[first], flags[first], table.flags[rows][first]),
        bytes=np.add.reduceat(size, first),
        base=offset[first],
        low=np.minimum.reduceat(known, first),
        end=np.maximum.reduceat(known + size, first),
        unit=np.where(np.logical_or.reduceat(odd, first), 0, unit),
        jumps=np.add.reduceat(jump.astype(np.int64), first),
        backward=np.add.reduceat(back.astype(np.int64), first),
        shape=np.add.reduceat(code, first),
        each=np.maximum.reduceat(each[rows], first),
        think_ns=_thinks(idle, inner, first, count),
        start_ns=start[first],
        end_ns=np.maximum.reduceat(end, first),
        stretch=table.stretch[rows][first],
        follows=table.follows[rows][first],
    )


def _thinks(idle: Column, inner: Column, first: Column, count: Column) -> Column:
    """The usual pause between requests of each run: 0 where most are shorter than a pause."""
    long = inner & (idle >= LEAST_THINK_NS)
    times = np.add.reduceat(long.astype(np.int64), first)
    total = np.add.reduceat(np.where(long, idle, 0), first)
    usual = times * 2 > np.maximum(count - 1, 1)
    return np.where(usual & (times > 0), total // np.maximum(times, 1), 0)
