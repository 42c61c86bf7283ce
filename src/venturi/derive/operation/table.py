"""The operations that an application asked for, as one table: rules 0 to 2 of the method.

Of the layers in which a file was seen only the highest is kept: what lower ones did follows from
it. Systems, libraries and streams that are no files are dropped, and so is what failed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from venturi.derive.noise import is_foreign_path
from venturi.derive.operation.actor import Actors, actors_of
from venturi.model.error import UserError
from venturi.model.operation import (
    COLLECTIVE,
    KIND_CODES,
    LAYER_CODES,
    LAYERS,
    NO_FILE,
    NOT_A_FILE,
    Column,
    Kind,
    Operations,
)
from venturi.model.plan import Interface
from venturi.model.trace import Layer, Trace
from venturi.model.trace_folder import Captured

O_CREAT, O_TRUNC, O_APPEND, O_DIRECTORY = 0o100, 0o1000, 0o2000, 0o200000

CREATES, APPENDS, TOGETHER, TRUNCATES = 1, 2, 4, 8
"""Bits of the column `flags`."""

INTERFACES = {
    Layer.POSIX: Interface.POSIX,
    Layer.STDIO: Interface.STDIO,
    Layer.MPIIO: Interface.MPIIO,
}
"""Layers whose calls are replayed; libraries above them are replayed by their calls there."""

SAID = (
    Kind.OPEN, Kind.CLOSE, Kind.READ, Kind.WRITE, Kind.SYNC, Kind.DATA_SYNC, Kind.STAT,
    Kind.UNLINK, Kind.MKDIR, Kind.RMDIR,
)  # fmt: skip
"""What the language can say of a file; `seek` follows from the places of requests."""
_UNSAID = (
    Kind.RENAME, Kind.LINK, Kind.LIST, Kind.TRUNCATE, Kind.ALLOCATE, Kind.MAP, Kind.COPY,
    Kind.ATTRIBUTE,
)  # fmt: skip

SIDE_FILE_BYTES = 4096
"""Files with less beside MPI-IO's are its library's own."""


@dataclass(frozen=True)
class Table:
    """Operations sorted by file, rank and start; files are numbered anew."""

    ranks: int
    paths: list[str]
    interfaces: list[Interface]
    file: Column
    rank: Column
    kind: Column
    """As in the trace."""
    flags: Column
    offset: Column
    bytes: Column
    start_ns: Column
    end_ns: Column
    follows: Column
    """Whether the rank's operation just before was on the same file."""
    stretch: Column
    """Number of the stretch of time between long pauses of all ranks."""
    pauses_ns: Column
    """The pause before each stretch; 0 for the first."""
    left: Counter[str] = field(default_factory=Counter)
    """Operations that the language cannot say, by kind."""
    assumed: list[str] = field(default_factory=list)
    all_bytes: int = 0
    """Moved by the application, with what was left out."""

    def __len__(self) -> int:
        return len(self.file)

    def is_kind(self, *kinds: Kind) -> Column:
        """A mask of the rows of these kinds."""
        return _among(self.kind, kinds)


def _among(column: Column, kinds: tuple[Kind, ...]) -> Column:
    chosen = np.zeros(256, bool)
    chosen[[KIND_CODES[kind] for kind in kinds]] = True
    return chosen[column]


def table_of(captured: Captured) -> Table:
    """The table of a capture. Raises UserError where no I/O of an application is in it."""
    operations, trace = captured.operations, captured.trace
    assert operations is not None
    actors = actors_in(trace, operations)
    root = _roots(trace)
    rows, left, assumed = _kept(trace, operations, actors, root)
    if not len(rows):
        raise UserError(
            f"'{trace.source.file}' holds {len(operations)} operations, but none of them is I/O "
            "of the application (only systems, libraries and streams)",
            "capture a job that reads, writes or opens files",
        )
    file = root[operations.file[rows]]
    used, file = np.unique(file, return_inverse=True)
    layers = np.zeros(len(root), np.uint8)
    layers[root[operations.file[rows]]] = operations.layer[rows]
    from venturi.derive.operation.pause import stretches

    rank = actors.of_process[operations.process[rows]].astype(np.int64)
    start, end = operations.start_ns[rows], operations.end_ns[rows]
    order = np.argsort(file * actors.ranks + rank, kind="stable")
    follows = _follows(file, rank)
    kind = operations.kind[rows]
    stretch, pauses = stretches(
        start, np.maximum(end, start), order, file * actors.ranks + rank, kind
    )
    size = operations.bytes[rows]
    moved = _among(kind, (Kind.READ, Kind.WRITE))
    return Table(
        ranks=actors.ranks,
        paths=[trace.files[i].path for i in used],
        interfaces=[INTERFACES[LAYERS[layers[i]]] for i in used],
        file=file[order].astype(np.int32),
        rank=rank[order].astype(np.int32),
        kind=kind[order],
        flags=_flags(operations, rows, kind)[order],
        offset=operations.offset[rows][order],
        bytes=np.where(moved, size, 0)[order],
        start_ns=start[order],
        end_ns=end[order],
        follows=follows[order],
        stretch=stretch[order],
        pauses_ns=pauses,
        left=left,
        assumed=actors.assumed + assumed,
        all_bytes=int(size[moved].sum()),
    )


def actors_in(trace: Trace, operations: Operations) -> Actors:
    """Which process of a trace acts as which rank of its proxy."""
    process = np.asarray(operations.process)
    count = max(len(trace.processes), int(process.max()) + 1)
    first, last = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    own = np.append([not is_foreign_path(file.path) for file in trace.files], False)
    rows = np.flatnonzero(
        own[np.minimum(operations.file, len(own) - 1)]
        & _among(operations.kind, (Kind.READ, Kind.WRITE))
    )
    last[process[rows]] = operations.end_ns[rows]  # in the order of time: the last one stays
    first[process[rows[::-1]]] = operations.start_ns[rows[::-1]]
    return actors_of(trace, first, last)


def _roots(trace: Trace) -> Column:
    """For each file itself; for datasets, the file that they lie in."""
    count = len(trace.files)
    root = np.arange(count)
    for index, file in enumerate(trace.files):
        if file.within is not None and file.within < count:
            root[index] = file.within
    return root


def _kept(
    trace: Trace, operations: Operations, actors: Actors, root: Column
) -> tuple[Column, Counter[str], list[str]]:
    """Rows of the application's own operations in the layer that is replayed."""
    count = len(trace.files)
    own = np.array([not is_foreign_path(file.path) for file in trace.files] + [False])
    named = np.minimum(operations.file, count)
    named = np.where(named < count, named, count)
    kind = operations.kind
    is_data = _among(kind, (Kind.READ, Kind.WRITE))
    mask = own[named] & (operations.error == 0)
    mask &= actors.of_process[operations.process] >= 0
    mask &= ~(is_data & (operations.detail & NOT_A_FILE > 0))
    mask &= np.isin(operations.layer, [LAYER_CODES[layer] for layer in INTERFACES])
    rows = np.flatnonzero(mask)
    chosen, assumed = _chosen_layers(operations, rows, root, count)
    rows = rows[operations.layer[rows] == chosen[root[named[rows]]]]
    kinds = kind[rows]
    left = Counter(
        {
            said.value: int(np.count_nonzero(kinds == KIND_CODES[said]))
            for said in _UNSAID
            if np.any(kinds == KIND_CODES[said])
        }
    )
    empty = is_data[rows] & (operations.bytes[rows] <= 0)
    if np.any(empty):
        left["requests of 0 bytes"] = int(np.count_nonzero(empty))
    rows = rows[_among(kinds, SAID) & ~empty]
    rows = rows[~_mistaken(operations, rows, kind, root)]
    rows = rows[_is_used(operations, rows, root, count)[root[named[rows]]]]
    return rows, left, assumed


def _mistaken(operations: Operations, rows: Column, kind: Column, root: Column) -> Column:
    """Calls on directories as if they were files, and the other way round.

    A directory is what was made, removed or listed as one and moved no data; it is not opened.
    """
    count = len(root)
    file, kinds = root[operations.file[rows]], kind[rows]
    data = np.bincount(file[_among(kinds, (Kind.READ, Kind.WRITE))], minlength=count) > 0
    opens = kinds == KIND_CODES[Kind.OPEN]
    listed = opens & (operations.detail[rows] & O_DIRECTORY > 0)
    made = _among(kinds, (Kind.MKDIR, Kind.RMDIR))
    directory = np.bincount(file[made | listed], minlength=count) > 0
    directory[root[np.unique(operations.file[_listing(operations, count)])]] = True
    directory &= ~data
    as_file = ~_among(kinds, (Kind.MKDIR, Kind.RMDIR, Kind.STAT))
    mistaken: Column = np.where(directory[file], as_file, made)
    return mistaken


def _listing(operations: Operations, count: int) -> Column:
    listing: Column = (operations.kind == KIND_CODES[Kind.LIST]) & (operations.file < count)
    return listing


def _chosen_layers(
    operations: Operations, rows: Column, root: Column, count: int
) -> tuple[Column, list[str]]:
    """The layer in which each file is replayed: the highest that moved data, else that opened."""
    width = len(LAYERS)
    key = root[operations.file[rows]] * width + operations.layer[rows]
    is_data = _among(operations.kind[rows], (Kind.READ, Kind.WRITE))
    data = np.bincount(key[is_data], minlength=count * width).reshape(count, width)
    any_use = np.bincount(key, minlength=count * width).reshape(count, width)
    heights = [Layer.POSIX, Layer.STDIO, Layer.MPIIO]
    chosen = np.zeros(count, np.uint8)
    found = np.zeros(count, bool)
    for seen in (any_use, data):
        for layer in heights:
            code = LAYER_CODES[layer]
            there = seen[:, code] > 0
            chosen[there] = code
            found |= there
    lower = int(np.count_nonzero((data > 0).sum(axis=1) > 1))
    said = f"{lower} files were seen in several layers; only the highest is replayed"
    return chosen, [said] if lower else []


def _is_used(operations: Operations, rows: Column, root: Column, count: int) -> Column:
    """Files that are more than looked at; tiny files beside MPI-IO's are its library's own."""
    file = root[operations.file[rows]]
    kinds = operations.kind[rows]
    mere = _among(kinds, (Kind.STAT, Kind.CLOSE, Kind.SYNC, Kind.DATA_SYNC))
    touched = np.bincount(file[~mere], minlength=count) > 0
    layer = operations.layer[rows]
    has_mpiio = bool(np.any(layer == LAYER_CODES[Layer.MPIIO]))
    if has_mpiio:
        moved = np.bincount(file, weights=operations.bytes[rows], minlength=count)
        high = np.bincount(file, weights=layer == LAYER_CODES[Layer.MPIIO], minlength=count)
        touched &= (high > 0) | (moved > SIDE_FILE_BYTES)
    return touched


def _flags(operations: Operations, rows: Column, kind: Column) -> Column:
    """Bits that say how a file was opened or a request made."""
    detail = operations.detail[rows]
    opens = kind == KIND_CODES[Kind.OPEN]
    flags = np.where(opens & (detail & O_CREAT > 0), CREATES, 0)
    flags |= np.where(opens & (detail & O_APPEND > 0), APPENDS, 0)
    flags |= np.where(opens & (detail & O_TRUNC > 0), TRUNCATES, 0)
    is_data = _among(kind, (Kind.READ, Kind.WRITE))
    is_mpiio = operations.layer[rows] == LAYER_CODES[Layer.MPIIO]
    flags |= np.where(is_data & is_mpiio & (detail & COLLECTIVE > 0), TOGETHER, 0)
    return flags.astype(np.uint8)


def _follows(file: Column, rank: Column) -> Column:
    """Whether the operation of the same rank just before, in time, was on the same file."""
    order = np.argsort(rank, kind="stable")
    sorted_file, sorted_rank = file[order], rank[order]
    same = np.zeros(len(file), bool)
    same[1:] = (sorted_file[1:] == sorted_file[:-1]) & (sorted_rank[1:] == sorted_rank[:-1])
    result = np.empty(len(file), bool)
    result[order] = same
    return result


__all__ = ["APPENDS", "CREATES", "NO_FILE", "TOGETHER", "TRUNCATES", "Table", "table_of"]
