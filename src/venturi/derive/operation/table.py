"""The operations that an application asked for, as one table: rules 0 to 2 of the method.

Of the layers in which a file was seen only the highest is kept: what lower ones did follows from
it. Systems, libraries and streams that are no files are dropped, and so is what failed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from venturi.derive.noise import is_foreign_path
from venturi.derive.operation.actor import Actors, actors_of
from venturi.derive.operation.array import NO_DATASET, Array, array_of, in_file
from venturi.derive.operation.opening import healed, makes_file
from venturi.derive.operation.two_files import last_names, with_copies_said
from venturi.model.error import UserError
from venturi.model.operation import (
    COLLECTIVE,
    KIND_CODES,
    LAYER_CODES,
    LAYERS,
    NO_FILE,
    NOT_A_FILE,
    SCATTERED,
    Column,
    Kind,
    Operations,
)
from venturi.model.plan import Interface
from venturi.model.trace import Layer, Trace
from venturi.model.trace_folder import Captured

O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_DIRECTORY = 0o100, 0o200, 0o1000, 0o2000, 0o200000

CREATES, APPENDS, TOGETHER, TRUNCATES, ASIDE = 1, 2, 4, 8, 16
"""Bits of the column `flags`; ASIDE: opened under a name that it has not at last."""

INTERFACES = {
    Layer.POSIX: Interface.POSIX,
    Layer.STDIO: Interface.STDIO,
    Layer.MPIIO: Interface.MPIIO,
    Layer.HDF5_FILE: Interface.HDF5,
    Layer.HDF5_DATASET: Interface.HDF5,
    Layer.PNETCDF_FILE: Interface.PNETCDF,
    Layer.PNETCDF_VARIABLE: Interface.PNETCDF,
}
"""The interface that stands for each layer."""

DATASET_LAYERS = (Layer.HDF5_DATASET, Layer.PNETCDF_VARIABLE)
DATASET_INTERFACES = frozenset(INTERFACES[layer] for layer in DATASET_LAYERS)

_HEIGHTS = list(dict.fromkeys(INTERFACES.values()))
"""Interfaces, the lowest first; the highest that moved data of a file is what is replayed."""

LEAST_OF_FILE = 0.01
"""Of what moved most of a file's bytes: an interface with less is a look at its beginning, such as
a library takes that tries whether a file is of its format."""
_HEIGHT = np.array(
    [_HEIGHTS.index(INTERFACES[layer]) if layer in INTERFACES else -1 for layer in LAYERS]
    + [-1] * (256 - len(LAYERS)),
    np.int8,
)
_MPIIO_HEIGHT = _HEIGHTS.index(Interface.MPIIO)

SAID = (
    Kind.OPEN, Kind.CLOSE, Kind.READ, Kind.WRITE, Kind.SYNC, Kind.DATA_SYNC, Kind.STAT,
    Kind.UNLINK, Kind.MKDIR, Kind.RMDIR, Kind.RENAME, Kind.TRUNCATE,
)  # fmt: skip
"""What the language can say of a file; `seek` follows from the places of requests."""
_UNSAID = (Kind.LINK, Kind.LIST, Kind.ALLOCATE, Kind.MAP, Kind.ATTRIBUTE)
_MERE = (Kind.STAT, Kind.CLOSE, Kind.SYNC, Kind.DATA_SYNC, Kind.RENAME, Kind.TRUNCATE)
"""What is done to a file that is only looked at, or was there before."""

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
    """In the file; datasets lie behind each other there."""
    dataset: Column
    """Key of `arrays`, or NO_DATASET."""
    within: Column
    """Offset in the dataset in row-major order, of the first element of the selection."""
    is_scattered: Column
    """Whether the elements fill no box."""
    bytes: Column
    start_ns: Column
    end_ns: Column
    follows: Column
    """Whether the rank's operation just before was on the same file."""
    stretch: Column
    """Number of the stretch of time between long pauses of all ranks."""
    pauses_ns: Column
    """The pause before each stretch; 0 for the first."""
    arrays: dict[int, Array] = field(default_factory=dict)
    """Datasets that were read or written."""
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
    trace = captured.trace
    assert captured.operations is not None
    given, copies = with_copies_said(captured.operations)
    operations = replace(given, file=last_names(given, len(trace.files)))
    root = _roots(trace)
    own = _own(trace, root)
    actors = _actors(trace, given, own)
    rows, left, assumed = _kept(operations, actors, root, own)
    if not len(rows):
        raise UserError(
            f"'{trace.source.file}' holds {len(operations)} operations, but none of them is I/O "
            "of the application (only systems, libraries and streams)",
            "capture a job that reads, writes or opens files",
        )
    if copies:
        assumed.append(
            "copies within the kernel are repeated as reads and writes, also where the storage may "
            "only have shared blocks"
        )
    is_aside = operations.file[rows] != given.file[rows]
    file = root[operations.file[rows]]
    used, file = np.unique(file, return_inverse=True)
    heights = np.zeros(len(root), np.int8)
    heights[root[operations.file[rows]]] = _HEIGHT[operations.layer[rows]]
    from venturi.derive.operation.pause import stretches

    rank = actors.of_process[operations.process[rows]].astype(np.int64)
    start, end = operations.start_ns[rows], operations.end_ns[rows]
    order = np.argsort(file * actors.ranks + rank, kind="stable")
    follows = _follows(file, rank)
    kind = operations.kind[rows]
    stretch, pauses = stretches(
        start, np.maximum(end, start), order, file * actors.ranks + rank, kind
    )
    paths = [trace.files[i].path for i in used.tolist()]
    whole = healed(paths, file[order], rank[order], kind[order], stretch[order])
    moved = _among(kind, (Kind.READ, Kind.WRITE))
    size = np.where(moved, operations.bytes[rows], 0)
    offset = operations.offset[rows]
    dataset = _datasets(operations, rows, len(root))
    arrays = {i: array_of(trace.files[i]) for i in np.unique(dataset).tolist() if i != NO_DATASET}
    return Table(
        ranks=actors.ranks,
        paths=paths,
        interfaces=[_HEIGHTS[height] for height in heights[used].tolist()],
        file=file[order].astype(np.int32),
        rank=rank[order].astype(np.int32),
        kind=kind[order],
        flags=(_flags(operations, rows, file, rank) | _aside(is_aside, kind))[order],
        offset=in_file(dataset, file, offset, size, arrays)[order],
        dataset=dataset[order],
        within=offset[order],
        is_scattered=(moved & (operations.detail[rows] & SCATTERED > 0))[order],
        bytes=size[order],
        start_ns=start[order],
        end_ns=end[order],
        follows=follows[order],
        stretch=whole,
        pauses_ns=pauses,
        arrays=arrays,
        left=left,
        assumed=actors.assumed + assumed,
        all_bytes=int(size.sum()),
    )


def actors_in(trace: Trace, operations: Operations) -> Actors:
    """Which process of a trace acts as which rank of its proxy."""
    return _actors(trace, operations, _own(trace, _roots(trace)))


def _own(trace: Trace, root: Column) -> Column:
    """Which files are the application's; datasets are if their file is. One more entry: none."""
    own = np.array([not is_foreign_path(file.path) for file in trace.files], bool)
    return np.append(own[root], False)


def _actors(trace: Trace, operations: Operations, own: Column) -> Actors:
    process = np.asarray(operations.process)
    count = max(len(trace.processes), int(process.max()) + 1)
    first, last = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    rows = np.flatnonzero(
        own[np.minimum(operations.file, len(own) - 1)]
        & _among(operations.kind, (Kind.READ, Kind.WRITE))
    )
    last[process[rows]] = operations.end_ns[rows]  # in the order of time: the last one stays
    first[process[rows[::-1]]] = operations.start_ns[rows[::-1]]
    moved = np.bincount(process[rows], weights=operations.bytes[rows], minlength=count)
    return actors_of(trace, first, last, moved)


def _roots(trace: Trace) -> Column:
    """For each file itself; for datasets, the file that they lie in."""
    count = len(trace.files)
    root = np.arange(count)
    for index, file in enumerate(trace.files):
        if file.within is not None and file.within < count:
            root[index] = file.within
    return root


def _kept(
    operations: Operations, actors: Actors, root: Column, own: Column
) -> tuple[Column, Counter[str], list[str]]:
    """Rows of the application's own operations in the layer that is replayed."""
    count = len(root)
    named = np.minimum(operations.file, count)
    kind = operations.kind
    is_data = _among(kind, (Kind.READ, Kind.WRITE))
    mask = own[named] & (operations.error == 0)
    mask &= actors.of_process[operations.process] >= 0
    mask &= ~(is_data & (operations.detail & NOT_A_FILE > 0))
    mask &= _HEIGHT[operations.layer] >= 0
    rows = np.flatnonzero(mask)
    chosen, assumed = _chosen_heights(operations, rows, root, count)
    rows = rows[_HEIGHT[operations.layer[rows]] == chosen[root[named[rows]]]]
    rows = rows[is_data[rows] | ~operations.is_layer(*DATASET_LAYERS)[rows]]
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


def _chosen_heights(
    operations: Operations, rows: Column, root: Column, count: int
) -> tuple[Column, list[str]]:
    """The interface of each file: the highest that moved data, else the highest that was used.

    One that moved next to nothing of what another moved only looked at the file.
    """
    width = len(_HEIGHTS)
    key = root[operations.file[rows]] * width + _HEIGHT[operations.layer[rows]]
    is_data = _among(operations.kind[rows], (Kind.READ, Kind.WRITE))
    weights = operations.bytes[rows[is_data]].astype(float)
    data = np.bincount(key[is_data], weights, count * width).reshape(count, width)
    looks = (data > 0) & (data < LEAST_OF_FILE * data.max(axis=1, keepdims=True))
    data[looks] = 0
    any_use = np.bincount(key, minlength=count * width).reshape(count, width)
    chosen = np.zeros(count, np.int8)
    for seen in (any_use, data):
        for height in range(width):
            chosen[seen[:, height] > 0] = height
    lower = int(np.count_nonzero((data > 0).sum(axis=1) > 1))
    files = "1 file was" if lower == 1 else f"{lower} files were"
    said = [f"{files} seen in several layers; only the highest is replayed"] if lower else []
    if looks.any():
        count = int(np.count_nonzero(looks.any(axis=1)))
        some = "1 file was" if count == 1 else f"{count} files were"
        said.append(f"{some} looked at through another interface, too; that is left out")
    return chosen, said


def _datasets(operations: Operations, rows: Column, count: int) -> Column:
    """The dataset of each row, by its number in the trace; one that got a name later, by that."""
    of_parts = operations.is_layer(*DATASET_LAYERS)
    named = np.flatnonzero(of_parts & (operations.kind == KIND_CODES[Kind.LINK]))
    named = named[np.maximum(operations.file[named], operations.detail[named]) < count]
    number = np.arange(count)
    number[operations.file[named]] = operations.detail[named]
    return np.where(of_parts[rows], number[operations.file[rows]], NO_DATASET)


def _is_used(operations: Operations, rows: Column, root: Column, count: int) -> Column:
    """Files that are more than looked at; tiny files beside MPI-IO's are its library's own."""
    file = root[operations.file[rows]]
    kinds = operations.kind[rows]
    mere = _among(kinds, _MERE)
    touched = np.bincount(file[~mere], minlength=count) > 0
    if np.any(operations.layer == LAYER_CODES[Layer.MPIIO]):
        moved = np.bincount(file, weights=operations.bytes[rows], minlength=count)
        high = np.bincount(file, _HEIGHT[operations.layer[rows]] >= _MPIIO_HEIGHT, count)
        touched &= (high > 0) | (moved > SIDE_FILE_BYTES)
    return touched


def _flags(operations: Operations, rows: Column, file: Column, rank: Column) -> Column:
    """Bits that say how a file was opened or a request made."""
    detail, kind = operations.detail[rows], operations.kind[rows]
    opens = kind == KIND_CODES[Kind.OPEN]
    anew = detail & (O_TRUNC | O_EXCL) > 0
    gone = kind == KIND_CODES[Kind.UNLINK]
    asks = opens & (detail & O_CREAT > 0)
    flags = np.where(makes_file(asks, anew, gone, file, rank), CREATES, 0)
    flags |= np.where(opens & (detail & O_APPEND > 0), APPENDS, 0)
    flags |= np.where(opens & (detail & O_TRUNC > 0), TRUNCATES, 0)
    is_data = _among(kind, (Kind.READ, Kind.WRITE))
    knows = _HEIGHT[operations.layer[rows]] >= _MPIIO_HEIGHT
    flags |= np.where(is_data & knows & (detail & COLLECTIVE > 0), TOGETHER, 0)
    return flags.astype(np.uint8)


def _aside(is_aside: Column, kind: Column) -> Column:
    opens: Column = is_aside & (kind == KIND_CODES[Kind.OPEN])
    return opens.astype(np.uint8) * np.uint8(ASIDE)


def _follows(file: Column, rank: Column) -> Column:
    """Whether the operation of the same rank just before, in time, was on the same file."""
    order = np.argsort(rank, kind="stable")
    sorted_file, sorted_rank = file[order], rank[order]
    same = np.zeros(len(file), bool)
    same[1:] = (sorted_file[1:] == sorted_file[:-1]) & (sorted_rank[1:] == sorted_rank[:-1])
    result = np.empty(len(file), bool)
    result[order] = same
    return result


__all__ = ["APPENDS", "ASIDE", "CREATES", "NO_FILE", "TOGETHER", "TRUNCATES", "Table", "table_of"]
