"""Descriptors of one opening: copies of them, and streams made of them.

Shells and tools open a file, copy its descriptor to the number that they need (`dup2`), and close
the first one: such a close ends no opening. Nor does `fdopen`, which makes a stream of a
descriptor, begin one.
"""

from __future__ import annotations

import numpy as np

from venturi.model.operation import KIND_CODES, LAYER_CODES, Column, Kind, Operations
from venturi.model.trace import Layer

_USES = (Kind.READ, Kind.WRITE, Kind.SYNC, Kind.DATA_SYNC, Kind.CLOSE)


def without_streams_of_descriptors(operations: Operations) -> Operations:
    """The operations without openings of streams that are made of a descriptor: of files that the
    process has open as such. Where it closes the descriptor, too, so go the streams' closes."""
    rows, owner = _by_owner(operations, operations.is_kind(*_USES, Kind.OPEN))
    if not len(rows):
        return operations
    is_open = operations.kind[rows] == KIND_CODES[Kind.OPEN]
    is_stream = operations.layer[rows] == LAYER_CODES[Layer.STDIO]
    closes = operations.kind[rows] == KIND_CODES[Kind.CLOSE]
    plain = np.where(is_stream, 0, is_open.astype(np.int64) - closes)
    # A stream that is closed closes its descriptor, unless the process does that by itself.
    number = np.cumsum(np.concatenate([[False], owner[1:] != owner[:-1]]))
    does = (np.bincount(number, plain) <= 0)[number]
    change = np.where(
        does, plain, np.where(is_stream & is_open, 0, is_open.astype(np.int64) - closes)
    )
    ends = is_open | (closes & does)
    made = np.flatnonzero(ends & is_stream & (_open_after(change, owner) > 0))
    if not len(made):
        return operations
    kept = np.ones(len(operations), bool)
    kept[rows[made]] = False
    return operations.take(kept)


def without_streams_of_streams(operations: Operations) -> tuple[Operations, int]:
    """The operations without streams that are made of a copy of another one's descriptor, and how
    many they are: opened like it and right behind it, by the same process. As many closes go."""
    rows, owner = _by_owner(operations, operations.is_kind(*_USES, Kind.OPEN))
    is_open = operations.kind[rows] == KIND_CODES[Kind.OPEN]
    streams = is_open & (operations.layer[rows] == LAYER_CODES[Layer.STDIO])
    copies = np.zeros(len(rows), bool)
    copies[1:] = streams[1:] & streams[:-1] & (owner[1:] == owner[:-1])
    copies[1:] &= operations.detail[rows[1:]] == operations.detail[rows[:-1]]
    if not np.any(copies):
        return operations, 0
    closes = operations.kind[rows] == KIND_CODES[Kind.CLOSE]
    kept = np.ones(len(operations), bool)
    waiting: dict[int, int] = {}
    for at in np.flatnonzero((copies | closes) & np.isin(owner, owner[copies])).tolist():
        still = waiting.get(int(owner[at]), 0)
        if copies[at] or still:
            waiting[int(owner[at])] = still + (1 if copies[at] else -1)
            kept[rows[at]] = False
    return operations.take(kept), int(np.count_nonzero(copies))


def _open_after(change: Column, owner: Column) -> Column:
    """How often each owner has its file open after each of its calls; what was not seen to be
    opened was not open."""
    total = np.cumsum(change)
    first = np.concatenate([[True], owner[1:] != owner[:-1]])
    start = np.maximum.accumulate(np.where(first, np.arange(len(owner)), 0))
    total = total - (total - change)[start]
    below = np.cumsum(first) * (2 * len(owner) + 1)
    return np.asarray(total - np.minimum(np.minimum.accumulate(total - below) + below, 0))


def _by_owner(operations: Operations, chosen: Column) -> tuple[Column, Column]:
    """Of chosen rows those of the lowest layers that did not fail, by file, process and time; and
    a number for each row's file and process."""
    chosen = chosen & (operations.error == 0) & operations.is_layer(Layer.POSIX, Layer.STDIO)
    rows = np.flatnonzero(chosen)
    owner = operations.file[rows].astype(np.int64) * (1 << 32) + operations.process[rows]
    order = np.lexsort((operations.start_ns[rows], owner))
    return rows[order], owner[order]


def without_copied_closes(operations: Operations) -> tuple[Operations, int]:
    """The operations without closes after which the process still uses the file, though it has no
    other opening of it; and how many they are."""
    rows, owner = _by_owner(operations, operations.is_kind(*_USES, Kind.OPEN))
    if not len(rows):
        return operations, 0
    kind = operations.kind[rows]
    opens, closes = kind == KIND_CODES[Kind.OPEN], kind == KIND_CODES[Kind.CLOSE]
    first = np.concatenate([[True], owner[1:] != owner[:-1]])
    change = opens.astype(np.int64) - closes
    still_open = _open_after(change, owner)
    before = np.concatenate([[False], (still_open == 1)[:-1] & ~first[1:]])
    used = np.concatenate([~first[1:] & ~opens[1:], [False]])
    copied = np.flatnonzero(closes & before & (still_open == 0) & used)
    if not len(copied):
        return operations, 0
    kept = np.ones(len(operations), bool)
    kept[rows[copied]] = False
    return operations.take(kept), len(copied)
