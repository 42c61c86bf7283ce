"""The calls of each rank in the order of time, and the computing between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from venturi.derive.nest.position import PositionMove, moves_of
from venturi.derive.nest.slot import FileFamily, slots_of
from venturi.derive.nest.unopened import ImpliedCalls, implied_calls
from venturi.derive.operation.array import NO_DATASET
from venturi.derive.operation.pace import NOTHING_SHARE
from venturi.derive.operation.table import APPENDS, CREATES, TOGETHER, TRUNCATES, Table
from venturi.model.operation import KIND_CODES, Column, Kind

COMPUTE = 255
"""In place of a kind's code: no call, but computing that lasts."""
MOST_CALLS = 6_000
"""Of one rank: finding loops takes time with the square of what differs."""
MOST_RANKS = 64
"""More are told by what they have in common."""
LEAST_COMPUTE_NS = 1_000_000
"""Shorter computing is told by its mean: another process on the processor makes as much."""
ALIKE = 1.5
"""Times of computing that lie nearer than this factor are of one kind."""

DATA = (KIND_CODES[Kind.READ], KIND_CODES[Kind.WRITE])
_SAID = frozenset(
    KIND_CODES[kind]
    for kind in (
        Kind.OPEN,
        Kind.CLOSE,
        Kind.READ,
        Kind.WRITE,
        Kind.SYNC,
        Kind.DATA_SYNC,
        Kind.STAT,
        Kind.UNLINK,
        Kind.MKDIR,
        Kind.RMDIR,
        Kind.RENAME,
        Kind.TRUNCATE,
        Kind.ATTRIBUTE,
        Kind.MISS,
    )
)


@dataclass(frozen=True, eq=False)
class RankCalls:
    """Columns of equal length: calls, and computing as calls of its own; rank after rank."""

    rank: Column
    kind: Column
    """Codes of `Kind`, or COMPUTE."""
    makes: Column
    """Of openings: whether the file is made or emptied."""
    about: Column
    """Of calls that set attributes: the bits of the table's `flags` that say which; else 0."""
    slot: Column
    """Which file, or family of files that come one after the other; -1 for computing."""
    ordinal: Column
    """Which of the family, in the order of first use."""
    to_slot: Column
    to_ordinal: Column
    """Of calls that rename: the same of the name that the file gets; else 0."""
    size: Column
    """Bytes."""
    offset: Column
    """Of calls that cut a file: how long it is afterwards."""
    position: Column
    """Of the open file, before the call."""
    move: Column
    """What a request does to the position: values of `PositionMove`."""
    appends: Column
    """Whether it writes where the file ends, whatever the position is."""
    seconds: Column
    """How long computing lasts that stands by itself; of calls 0."""
    rest: Column
    """Seconds of computing before each call that does not stand by itself."""
    row: Column
    """In the table, of implied openings and closes that of a use; -1 for computing."""
    families: list[FileFamily]
    """By slot."""

    @property
    def ranks(self) -> int:
        """How many there are."""
        return int(self.rank[-1]) + 1

    @property
    def handle(self) -> Column:
        """A number for each file as one rank knows it."""
        found: Column = (self.rank * (self.slot.max() + 1) + self.slot) * len(self) + self.ordinal
        return found

    @property
    def pauses(self) -> int:
        """How often there is computing of its own."""
        return int(np.count_nonzero(self.kind == COMPUTE))

    def __len__(self) -> int:
        return len(self.kind)


def calls_of(table: Table, known_as: Sequence[str], by_use: bool = False) -> RankCalls | None:
    """The calls of a table, whose files are families by their names, or `by_use` as well; None
    where there are too many, or some of other kinds.

    `known_as` holds for each file of the table what its stream is called.
    """
    if not len(table) > 0 or table.ranks > MOST_RANKS or not can_be_told(table):
        return None
    if np.any(table.copied):
        return None
    if not all(interface.entry.can_seek for interface in table.interfaces):
        return None
    order = np.lexsort((np.arange(len(table)), table.start_ns, table.rank))
    order = order[~of_links(table.kind[order], table.file[order])]
    counts = np.bincount(table.rank[order], minlength=table.ranks)
    if counts.max() > MOST_CALLS or not counts.min():
        return None
    rank = table.rank[order].astype(np.int64)
    kind, file = table.kind[order].astype(np.int64), table.file[order].astype(np.int64)
    is_aside = table.is_aside[order]
    if _is_renamed_on(kind, file, is_aside):
        return None
    used = slots_of(rank, kind, file, is_aside, table.paths, known_as, by_use)
    slot, families = used.slot, used.families
    offset, size = table.offset[order].astype(np.int64), table.bytes[order].astype(np.int64)
    gaps = _gaps_ns(table, order)
    is_pause = _pauses(gaps, table.ranks * float(table.end_ns.max() - table.start_ns.min()))
    position = np.zeros(len(order), np.int64)
    move = np.zeros(len(order), np.int64)
    handle = 2 * (rank * len(table.paths) + file) + is_aside
    appends = appending(table.flags[order], kind, handle)
    for rows in sessions(kind, handle):
        position[rows], move[rows] = moves_of(offset[rows], size[rows])
    move[appends] = PositionMove.JUMP
    makes = _makes(table.flags[order], kind, slot, families)
    is_made = np.isin(file, file[makes > 0])
    added = _Added(is_pause, implied_calls(rank, kind, handle, is_made))
    gaps_s = gaps / 1e9
    return RankCalls(
        rank=added.to_all(rank),
        kind=added.kinds(kind),
        makes=added.to_calls(makes, 0),
        about=added.to_calls(
            np.where(kind == KIND_CODES[Kind.ATTRIBUTE], table.flags[order], 0), 0
        ),
        slot=added.to_files(slot, -1),
        ordinal=added.to_files(used.ordinal, 0),
        to_slot=added.to_calls(used.to_slot, 0),
        to_ordinal=added.to_calls(used.to_ordinal, 0),
        size=added.to_calls(size, 0),
        offset=added.to_calls(offset, -1),
        position=added.to_calls(position, 0),
        move=added.to_calls(move, int(PositionMove.STAY)),
        appends=added.to_calls(appends, 0),
        seconds=added.to_pauses(gaps_s),
        rest=added.to_calls(np.where(is_pause, 0.0, gaps_s), 0.0),
        row=added.to_files(order.astype(np.int64), -1),
        families=families,
    )


class _Added:
    """Rows between those of calls: computing that lasts, before its call, and what is implied."""

    def __init__(self, is_pause: Column, implied: ImpliedCalls) -> None:
        pauses = np.flatnonzero(is_pause)
        before = np.concatenate([implied.before, pauses])
        calls = np.arange(len(is_pause))
        self._like = np.insert(calls, before, np.concatenate([implied.use, pauses]))
        """Of each row the call that it is, or is about."""
        told = np.concatenate([implied.kind, np.full(len(pauses), COMPUTE)])
        self._kind = np.insert(np.full(len(calls), -1), before, told)

    def to_all(self, column: Column) -> Column:
        """The column with rows that are as those of their calls."""
        found: Column = column[self._like]
        return found

    def kinds(self, kind: Column) -> Column:
        """The column of kinds."""
        return np.where(self._kind < 0, kind[self._like], self._kind)

    def to_calls(self, column: Column, empty: int | float) -> Column:
        """A column that only calls have which somebody made."""
        return np.where(self._kind < 0, column[self._like], column.dtype.type(empty))

    def to_files(self, column: Column, empty: int) -> Column:
        """A column that all calls have, also what is implied."""
        return np.where(self._kind == COMPUTE, empty, column[self._like])

    def to_pauses(self, column: Column) -> Column:
        """A column that only computing has."""
        return np.where(self._kind == COMPUTE, column[self._like], 0.0)


def can_be_told(table: Table) -> bool:
    """Whether all calls are of kinds that are told one by one, or are links, which are left out."""
    return (
        set(np.unique(table.kind).tolist()) <= {*_SAID, KIND_CODES[Kind.LINK]}
        and not np.any(table.dataset != NO_DATASET)
        and not np.any((table.flags & TOGETHER > 0) & table.is_kind(Kind.READ, Kind.WRITE))
    )


def of_links(kind: Column, file: Column) -> Column:
    """What makes a name a link, and what is done to it until it is removed: no word says it."""
    found = np.zeros(len(kind), bool)
    for one in np.unique(file[kind == KIND_CODES[Kind.LINK]]).tolist():
        rows = np.flatnonzero(file == one)
        links = np.cumsum(kind[rows] == KIND_CODES[Kind.LINK])
        ends = np.cumsum(kind[rows] == KIND_CODES[Kind.UNLINK])
        before = np.concatenate([[0], ends[:-1]])
        # Since the last link there was no removal.
        at_link = np.maximum.accumulate(np.where(np.diff(links, prepend=0) > 0, before, 0))
        found[rows] = (links > 0) & (before == at_link)
    return found


def _is_renamed_on(kind: Column, file: Column, is_aside: Column) -> bool:
    """Whether some file gets more than one new name, one after the other."""
    order = np.argsort(file, kind="stable")
    kind, file, is_aside = kind[order], file[order], is_aside[order]
    renames = kind == KIND_CODES[Kind.RENAME]
    if np.any(renames & ~is_aside):
        return True
    aside = np.flatnonzero(is_aside)
    follows = renames[aside[:-1]] & (file[aside[1:]] == file[aside[:-1]])
    return bool(np.any(follows & (kind[aside[1:]] != KIND_CODES[Kind.OPEN])))


def appending(flags: Column, kind: Column, handle: Column) -> Column:
    """Which writes are to files that were opened for appending, by the opening before them."""
    order = np.argsort(handle, kind="stable")
    opens = kind[order] == KIND_CODES[Kind.OPEN]
    last = np.maximum.accumulate(np.where(opens, np.arange(len(order)), -1))
    same = (last >= 0) & (handle[order[last]] == handle[order])
    found = np.zeros(len(order), bool)
    found[order] = same & (flags[order[last]] & APPENDS > 0)
    found &= kind == KIND_CODES[Kind.WRITE]
    return found


def _makes(flags: Column, kind: Column, slot: Column, families: list[FileFamily]) -> Column:
    """Which openings make or empty their file; a file that ranks share is made by all of them
    together, whoever of them did it."""
    makes = (flags & (CREATES | TRUNCATES) > 0).astype(np.int64)
    is_open = kind == KIND_CODES[Kind.OPEN]
    for number, family in enumerate(families):
        mine = is_open & (slot == number)
        if family.is_shared and np.any(makes[mine]):
            makes[mine] = 1
    return makes


def _gaps_ns(table: Table, order: Column) -> Column:
    """What was computed before each call, without calls that are not in the table."""
    gaps = np.zeros(len(order), np.int64)
    rank = table.rank[order]
    for rows in np.split(np.arange(len(order)), np.flatnonzero(np.diff(rank)) + 1):
        start, end = table.start_ns[order[rows]], table.end_ns[order[rows]]
        waited = start[1:] - np.maximum.accumulate(end)[:-1] - table.beside_ns[order[rows[1:]]]
        gaps[rows[1:]] = np.maximum(waited, 0)
    return gaps


def _pauses(gaps: Column, span_ns: float) -> Column:
    """Where computing is told by itself: not where it is long, but nothing beside all the other."""
    found = gaps >= _threshold_ns(gaps)
    long = np.flatnonzero(found)
    rising = long[np.argsort(gaps[long], kind="stable")]
    little = int(np.count_nonzero(np.cumsum(gaps[rising]) <= NOTHING_SHARE * span_ns))
    if little < len(rising):  # of times that are alike none is left out alone
        steps = np.flatnonzero(gaps[rising[1:]] >= ALIKE * gaps[rising[:-1]]) + 1
        little = int(steps[steps <= little].max(initial=0))
    found[rising[:little]] = False
    return found


def _threshold_ns(gaps: Column) -> float:
    """From where on computing is told by itself: in the widest gap between what is short and what
    is long."""
    far = np.sort(gaps[gaps >= LEAST_COMPUTE_NS / 10])
    if not len(far):
        return float(LEAST_COMPUTE_NS)
    edges = np.concatenate([[LEAST_COMPUTE_NS / 10], far[far <= 50 * LEAST_COMPUTE_NS]])
    ratios = edges[1:] / edges[:-1]
    if not len(ratios) or ratios.max() < 2.0:
        return float(LEAST_COMPUTE_NS)
    widest = int(np.argmax(ratios))
    return max(float(np.sqrt(edges[widest] * edges[widest + 1])), LEAST_COMPUTE_NS)


def sessions(kind: Column, file: Column) -> Iterator[Column]:
    """The requests between one opening of a file and the next, in order."""
    of_file: dict[int, list[list[int]]] = defaultdict(lambda: [[]])
    for place, (what, which) in enumerate(zip(kind.tolist(), file.tolist(), strict=True)):
        if what == KIND_CODES[Kind.OPEN]:
            of_file[which].append([])
        elif what in DATA:
            of_file[which][-1].append(place)
    for opened in of_file.values():
        for rows in opened:
            if rows:
                yield np.array(rows, np.int64)
