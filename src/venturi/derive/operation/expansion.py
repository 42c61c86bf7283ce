"""Operations one by one, of an application and of its proxy, in one form.

A proxy's are found by writing its program out, without any run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np

from venturi.derive.operation.table import Table
from venturi.model.operation import KIND_CODES, Column, Kind
from venturi.model.plan import OperationKind, Plan, Sharing
from venturi.plan.rank_view import RankView
from venturi.plan.stage import staged_lengths
from venturi.plan.stream import Operation, RequestStream

NOWHERE: Final = -1
"""The offset of what has no place, or one that is not known."""

_AS_TRACED = {
    OperationKind.CREATE: Kind.OPEN,
    OperationKind.SYMLINK: Kind.LINK,
    OperationKind.SET_XATTR: Kind.ATTRIBUTE,
    OperationKind.GET_XATTR: Kind.ATTRIBUTE,
    OperationKind.SET_ATTRIBUTE: Kind.ATTRIBUTE,
    OperationKind.READ_DIR: Kind.LIST,
    OperationKind.CLONE: Kind.COPY,
}
"""The engine's words for what a trace calls otherwise."""

_NO_REQUESTS = (OperationKind.SEEK, OperationKind.EMPTY_READ)
"""What stands beside requests, as a share of them."""


_ON_OPEN = (OperationKind.CLOSE, OperationKind.READ, OperationKind.WRITE, OperationKind.SYNC)
"""What needs a file that is open."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """Operations, rank after rank, each rank's in its order."""

    rank: Column
    kind: Column
    """Codes of `Kind`; a synchronization is `sync`, whatever it leaves out."""
    file: Column
    """Files numbered in the order of this table."""
    offset: Column
    """Bytes from the file's beginning, or NOWHERE."""
    bytes: Column
    """What is moved; 0 where nothing is."""
    seconds_between: Column
    """For each rank that is looked at, the time in which it computes or waits between its
    operations."""
    fault: str = ""
    """What would fail in a run; empty: nothing that is known before."""
    beyond: str = ""
    """What would be read behind the end of its file; empty: nothing that is known before."""

    def __len__(self) -> int:
        return len(self.rank)


def asked_by(
    table: Table, ranks: Sequence[int], most: int, is_known: Column | None = None
) -> Expansion:
    """At most so many operations of each of these ranks of an application, the first ones.

    `is_known` tells for each of the table's files whether it counts.
    """
    order = np.lexsort((np.arange(len(table)), table.start_ns, table.rank))
    if is_known is not None:
        order = order[is_known[table.file[order]]]
    whose = table.rank[order]
    parts = []
    between = []
    for rank in ranks:
        first, last = np.searchsorted(whose, [rank, rank + 1])
        rows = order[first:last]
        rows = rows[~((table.copied[rows] > 0) & (table.kind[rows] == KIND_CODES[Kind.READ]))]
        parts.append(rows[:most])
        between.append(_seconds_between(table, rows[:most]))
    rows = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    kind = table.kind[rows].copy()
    kind[table.copied[rows] > 0] = KIND_CODES[Kind.COPY]
    kind[kind == KIND_CODES[Kind.DATA_SYNC]] = KIND_CODES[Kind.SYNC]
    is_data = np.isin(kind, [KIND_CODES[Kind.READ], KIND_CODES[Kind.WRITE]])
    is_placed = is_data & (table.dataset[rows] < 0)
    return Expansion(
        rank=table.rank[rows],
        kind=kind,
        file=table.file[rows],
        offset=np.where(is_placed, table.offset[rows], NOWHERE),
        bytes=table.bytes[rows],
        seconds_between=np.array(between),
    )


def _seconds_between(table: Table, rows: Column) -> float:
    """The time from one of a rank's operations to the next, of all of them, without what recording
    them took; where some overlap, once."""
    if not len(rows):
        return 0.0
    until = np.maximum.accumulate(table.end_ns[rows])
    gaps = table.start_ns[rows[1:]] - until[:-1] - table.recording_ns[rows[1:]]
    return float(np.maximum(gaps, 0).sum()) / 1e9


def asked_by_proxy(plan: Plan, ranks: Sequence[int], most: int) -> Expansion:
    """At most so many operations of each of these ranks of a plan, the first ones.

    Raises UserError where only a run knows them.
    """
    files = _FileNumbers()
    rows: list[tuple[int, int, int, int, int]] = []
    between = []
    fault = beyond = ""
    for rank in ranks:
        before = len(rows)
        stream, opened = RequestStream(plan, rank), OpenFiles(plan)
        seconds = []
        for row in islice(_rows(plan, stream, rank, files, opened), most):
            rows.append(row)
            seconds.append(stream.seconds_between)
        # What is computed before the first operation or after the last is between none.
        between.append(seconds[-1] - seconds[0] if seconds else 0.0)
        is_whole = len(rows) - before < most
        rest = opened.lengths.shortened if is_whole else ""
        if not is_whole and stream.has_several:
            rest = _fault_of_names(plan, rank, most)
        fault = fault or opened.fault or rest
        beyond = beyond or opened.lengths.beyond
    rank_of, kind, file, offset, size = np.array(rows, np.int64).reshape(-1, 5).T
    file = files.last(file)
    return Expansion(rank_of, kind, file, offset, size, np.array(between), fault, beyond)


def _fault_of_names(plan: Plan, rank: int, most: int) -> str:
    """What of a rank's calls on names would fail in a program that is too long to be written out:
    of each data step one request is looked at."""
    opened = OpenFiles(plan)
    for one in islice(RequestStream(plan, rank, most_requests=1).operations(), most):
        opened.take(one)
        if opened.fault:
            break
    return opened.fault


_ON_NAME = (
    OperationKind.OPEN,
    OperationKind.STAT,
    OperationKind.UNLINK,
    OperationKind.RENAME,
    OperationKind.SET_ATTRIBUTE,
)
"""What needs a name that is there."""


_CHANGE_LENGTH = (
    OperationKind.RENAME,
    OperationKind.UNLINK,
    OperationKind.TRUNCATE,
    OperationKind.COPY,
    OperationKind.CLONE,
)
"""What makes a file shorter, or a name that of another file."""


class _FileNumbers:
    """Numbers of files under their last names, as a table has them: a name that is used again
    after its file was renamed is another one, and a name that files get one after the other is one.
    """

    def __init__(self) -> None:
        self._of_path: dict[str, int] = {}
        self._last: list[int] = []

    def of(self, path: str) -> int:
        """The number of the file that has this name now."""
        number = self._of_path.get(path)
        if number is None:
            number = self._of_path[path] = len(self._last)
            self._last.append(number)
        return number

    def rename(self, path: str, to: str) -> None:
        """The file of that path gets another name."""
        last = self._root(self.of(to))
        self._last[self._root(self._of_path.pop(path))] = last

    def last(self, numbers: Column) -> Column:
        """The numbers of files under their last names."""
        roots = np.array([self._root(number) for number in range(len(self._last))], np.int64)
        return roots[numbers]

    def _root(self, number: int) -> int:
        while self._last[number] != number:
            number = self._last[number]
        return number


class FileLengths:
    """Follows how long the files are that one rank makes and no other rank has, and notes the first
    read behind such an end."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._known: dict[str, int] = {}
        self._needed: dict[str, int] = {}
        """Of files that are filled before the run, how long they must be."""
        self._written: dict[str, float] = {}
        """Up to where such files have been written to since."""
        self.beyond = ""

    @property
    def shortened(self) -> str:
        """What a repetition leaves shorter than the next one needs it, or what is filled with less
        than is read of it; empty: nothing that is known."""
        view = RankView(self._plan, self._plan.groups[0])
        filled = staged_lengths(self._plan, view) if self._plan.ranks == 1 else {}
        for path, needed in self._needed.items():
            if self._known.get(path, needed) < needed:
                return f"{path} is read up to {needed} B, and then made anew with less"
            if filled.get(path, needed) < needed:
                return f"{path} is filled up to {filled[path]} B, and read up to {needed} B"
        return ""

    def take(self, one: Operation) -> None:
        """The rank's next operation."""
        file = self._plan.files[one.file]
        if file.prestage and one.path not in self._known:
            self._take_filled(one)
        if one.kind is OperationKind.CREATE:
            is_own = self._plan.ranks == 1 or file.sharing is Sharing.RANK
            if is_own and not (file.datasets or file.prestage or file.append):
                self._known[one.path] = 0
        elif one.kind in _CHANGE_LENGTH or (one.kind is OperationKind.WRITE and one.offset is None):
            self._known.pop(one.path, None)
            self._known.pop(one.to or "", None)
        elif one.path in self._known and one.offset is not None:
            end = one.offset + (one.bytes or 0)
            if one.kind is OperationKind.WRITE:
                self._known[one.path] = max(self._known[one.path], end)
            elif one.kind is OperationKind.READ and end > self._known[one.path]:
                at = f"at {self._known[one.path]} B"
                self.beyond = self.beyond or f"read of '{file.name}' up to {end} B, which ends {at}"

    def _take_filled(self, one: Operation) -> None:
        """The next operation on a file that is filled before the run."""
        written = self._written.get(one.path, 0)
        end = math.inf if one.offset is None else one.offset + (one.bytes or 0)
        if one.kind is OperationKind.WRITE:
            self._written[one.path] = max(written, end)
        elif one.kind is OperationKind.READ and one.offset is not None and end > written:
            self._needed[one.path] = max(self._needed.get(one.path, 0), int(end))


class OpenFiles:
    """Follows which files one rank has open and which it removed, and notes the first call that
    could not be made."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._opened: Counter[tuple[int, str]] = Counter()
        """By the entry under which it was opened, too: the engine knows it under that one only."""
        self._gone: set[str] = set()
        """What was removed, or has another name, and was not made again."""
        self._filled = tuple(file.path[0].text for file in plan.files if file.prestage is not None)
        """What the names of files begin with that are filled before the run."""
        self._made: set[str] = set()
        """What was made, or got its name."""
        self._folders: set[str] = set()
        """Those that were made and not removed."""
        self.lengths = FileLengths(plan)
        self.fault = ""

    def take(self, one: Operation) -> None:
        """The rank's next operation."""
        if self.fault or self._plan.files[one.file].tree is not None:
            return
        self.lengths.take(one)
        if one.kind is OperationKind.CREATE:
            self._gone.discard(one.path)
            self._made.add(one.path)
        elif one.kind is OperationKind.OPEN and self._is_own(one) and one.path not in self._made:
            name = self._plan.files[one.file].name
            self.fault = f"open of '{name}' ({one.path}), which nothing made"
        elif one.kind in _ON_NAME and one.path in self._gone:
            name = self._plan.files[one.file].name
            self.fault = f"{one.kind.value} of '{name}' ({one.path}), which is not there any more"
        if self._plan.ranks == 1 and not self.fault:
            self._look_at_folders(one)
        if one.kind in (OperationKind.UNLINK, OperationKind.RENAME):
            self._gone.add(one.path)
            self._gone.discard(one.to or "")
            self._made.add(one.to or "")
        opened = one.file, one.path
        if one.kind in (OperationKind.CREATE, OperationKind.OPEN):
            self._opened[opened] += 1
        elif one.kind in _ON_OPEN and one.path and not self._opened[opened]:
            name = self._plan.files[one.file].name
            self.fault = f"{one.kind.value} of '{name}' ({one.path}), which is not open"
        elif one.kind is OperationKind.CLOSE:
            self._opened[opened] -= 1

    def _look_at_folders(self, one: Operation) -> None:
        """What is filled before the run has its folder then, which cannot be made any more."""
        file = self._plan.files[one.file]
        if one.kind is OperationKind.MKDIR and one.path in self._folders:
            self.fault = f"mkdir of '{file.name}' ({one.path}), which is there"
        elif one.kind is OperationKind.MKDIR:
            self._folders.add(one.path)
        elif one.kind is OperationKind.RMDIR:
            self._folders.discard(one.path)
        elif file.prestage is not None and one.path.rpartition("/")[0] in self._folders:
            what = f"'{file.name}' ({one.path})"
            self.fault = f"{what} is filled before the run, in a folder that is made in it"

    def _is_own(self, one: Operation) -> bool:
        """Whether only the rank itself can have made a file before it opens it: ranks open what
        others made, too, and entries what another one has filled before the run."""
        file = self._plan.files[one.file]
        is_alone = self._plan.ranks == 1 and not file.foreign
        return is_alone and not one.path.startswith(self._filled)


def _rows(
    plan: Plan, stream: RequestStream, rank: int, files: _FileNumbers, opened: OpenFiles
) -> Iterator[tuple[int, int, int, int, int]]:
    for one in stream.operations():
        opened.take(one)
        if one.kind in _NO_REQUESTS:
            continue
        known = _AS_TRACED.get(one.kind)
        kind = KIND_CODES[known or Kind(one.kind.value)]
        number = files.of(one.path)
        if one.to is not None:
            files.rename(one.path, one.to)
        yield rank, kind, number, _offset(plan, one), one.bytes or 0


def _offset(plan: Plan, one: Operation) -> int:
    is_data = one.kind in (OperationKind.WRITE, OperationKind.READ)
    if not is_data or one.offset is None or plan.files[one.file].datasets:
        return NOWHERE
    return one.offset
