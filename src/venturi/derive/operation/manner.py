"""How files are opened: past the page cache, with each write persistent, allocated beforehand.

The same requests cost a device's time in one of these ways and that of a copy in memory in another,
so the workload has the options with which the interface opens files likewise (rule 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venturi.model.operation import KIND_CODES, Column, Kind, Operations
from venturi.model.plan import Interface
from venturi.model.units import size_text

O_DIRECT, O_DSYNC, O_SYNC = 0o40000, 0o10000, 0o4010000
_UNKNOWN = -1
SYNCS = ("", "dsync", "sync")
UNEVEN_NOTE = "its requests go through the page cache here, because their sizes are means"

Option = str | int | float | bool


@dataclass(frozen=True)
class Manner:
    """How a file is open while most of its requests are made."""

    is_direct: bool = False
    sync: str = ""
    """`sync` or `dsync`: each write is persistent when it returns; empty: it is not."""
    allocated: int = 0
    """Bytes that it is given each time when it is made, before it is written; 0: none."""

    @property
    def way(self) -> str:
        """What files of one stream have in common."""
        return f"{'direct' if self.is_direct else ''} {self.sync}".strip()


def manners_of(
    operations: Operations, rows: Column, file: Column, makes: Column, known: Column
) -> tuple[list[Manner], int]:
    """The manner of each file, and how many calls that allocate it tells.

    `rows` are the operations that are kept, with the numbers of their `file` and a mask of those
    that make it; `known` is the number of each file of the trace, -1 where it is left out.
    """
    count = int(known.max()) + 1
    kind = operations.kind[rows]
    opens, writes = (kind == KIND_CODES[one] for one in (Kind.OPEN, Kind.WRITE))
    opened = _opened_with(operations, rows, file)

    def mostly(flags: int, requests: Column) -> Column:
        """Where most requests were made with these flags; without any, most openings."""
        counted = requests & (opened != _UNKNOWN)
        has_any = np.bincount(file[counted], minlength=count) > 0
        counted = np.where(has_any[file], counted, opens)
        asked = counted & (opened & flags == flags)
        of_all = np.bincount(file[counted], minlength=count)
        return np.bincount(file[asked], minlength=count) * 2 > of_all

    direct = mostly(O_DIRECT, writes | (kind == KIND_CODES[Kind.READ]))
    data_sync, sync = mostly(O_DSYNC, writes), mostly(O_SYNC, writes)
    written = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(written, file[writes], operations.start_ns[rows[writes]])
    times = np.bincount(file[makes], minlength=count)
    allocated, told = _allocated(operations, known, times, written)
    kinds = np.where(sync, 2, np.where(data_sync, 1, 0))
    found = [Manner(bool(direct[i]), SYNCS[kinds[i]], int(allocated[i])) for i in range(count)]
    return found, told


def _opened_with(operations: Operations, rows: Column, file: Column) -> Column:
    """For each row the flags of the last opening of its file by its process, or _UNKNOWN.

    A database opens its log once to make it, and once more to write to it all day.
    """
    process = operations.process[rows]
    opens = operations.kind[rows] == KIND_CODES[Kind.OPEN]
    order = np.lexsort((operations.start_ns[rows], process, file))
    last = np.maximum.accumulate(np.where(opens[order], np.arange(len(order)), -1))
    before = order[np.maximum(last, 0)]
    is_of_it = (last >= 0) & (file[before] == file[order]) & (process[before] == process[order])
    found = np.full(len(rows), _UNKNOWN)
    found[order[is_of_it]] = operations.detail[rows[before[is_of_it]]]
    return found


def _allocated(
    operations: Operations, known: Column, times: Column, written: Column
) -> tuple[Column, int]:
    """What each file is given from its beginning on whenever it is made, before it is `written`
    first, and how many calls do so."""
    none = np.zeros(len(times), np.int64)
    asked = (operations.kind == KIND_CODES[Kind.ALLOCATE]) & (operations.error == 0)
    calls = np.flatnonzero(asked & (operations.file < len(known)))
    calls = calls[known[operations.file[calls]] >= 0]
    if not len(calls):
        return none, 0
    file = known[operations.file[calls]]
    size = none.copy()
    size[file] = operations.bytes[calls]
    plain = (operations.offset[calls] == 0) & (operations.detail[calls] == 0)
    plain &= operations.bytes[calls] == size[file]
    plain &= (operations.start_ns[calls] < written[file]) | (times[file] > 1)
    is_told = np.bincount(file[plain], minlength=len(times)) == times
    is_told &= np.bincount(file, minlength=len(times)) == times
    return np.where(is_told, size, none), int(times[is_told].sum())


def opening_options(
    manners: Sequence[Manner], interface: Interface, is_aligned: bool, is_made: bool
) -> dict[str, Option]:
    """The options of an entry whose files have these manners, all opened the same way.

    `is_aligned`: its requests can go past the cache; `is_made`: the program makes the files.
    """
    if not interface.entry.has_option("open_sync"):
        return {}
    found: dict[str, Option] = {}
    if manners[0].is_direct and is_aligned:
        found["direct"] = True
    if manners[0].sync:
        found["open_sync"] = manners[0].sync
    sizes = {manner.allocated for manner in manners}
    if is_made and len(sizes) == 1 and (size := sizes.pop()):
        found["preallocate"] = size_text(size)
    return found
