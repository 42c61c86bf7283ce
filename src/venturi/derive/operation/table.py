"""The operations that an application asked for, as one table: rules 0 to 2 of the method.

Of the layers in which a file was seen only the highest is kept: what lower ones did follows from
it. Systems, libraries and streams that are no files are dropped, and so is what failed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from venturi.derive.noise import is_foreign, side_files
from venturi.derive.operation.actor import Actors, actors_of
from venturi.derive.operation.array import NO_DATASET, Array, array_of, in_file
from venturi.derive.operation.asked import with_looks_said
from venturi.derive.operation.attribute import attribute_flags, without_word
from venturi.derive.operation.beside import Looks, looks_beside
from venturi.derive.operation.linked import link_flags, with_links_removed, wordless_links
from venturi.derive.operation.manner import Manner, manners_of
from venturi.derive.operation.mapped import mapping_rows, with_maps_told
from venturi.derive.operation.neighbour import follows_of
from venturi.derive.operation.omitted import Omitted, Why, omitted
from venturi.derive.operation.opening import NameUses, healed, makes_file
from venturi.derive.operation.pace import beside_ns, beside_pauses, between_calls
from venturi.derive.operation.replaced import with_replaced_apart
from venturi.derive.operation.thread import with_threads_apart
from venturi.derive.operation.two_files import last_names, said_plainly, ways_of
from venturi.derive.operation.unseen import with_unseen
from venturi.model.error import UserError
from venturi.model.operation import (
    COLLECTIVE,
    FRESH,
    IN_VIEW,
    KIND_CODES,
    KINDS,
    LAYERS,
    LOOKED_AT,
    MEMORY_SHIFT,
    NO_FILE,
    NOT_A_FILE,
    SCATTERED,
    UNKNOWN_OFFSET,
    Column,
    Kind,
    Operations,
)
from venturi.model.plan import Interface
from venturi.model.trace import INTERFACES, Layer, Trace
from venturi.model.trace_folder import Captured

O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_DIRECTORY = 0o100, 0o200, 0o1000, 0o2000, 0o200000

CREATES, APPENDS, TOGETHER, TRUNCATES, ASIDE = 1, 2, 4, 8, 16
"""Bits of the column `flags`; ASIDE: opened under a name that it has not at last."""

DATASET_LAYERS = (Layer.HDF5_DATASET, Layer.PNETCDF_VARIABLE)

_OF_MEMORY = LOOKED_AT | FRESH | (2**32 - (1 << MEMORY_SHIFT))

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
_MPIIO_HEIGHT = _HEIGHTS.index(INTERFACES[Layer.MPIIO])
_STDIO_HEIGHT = _HEIGHTS.index(INTERFACES[Layer.STDIO])
_LEVEL = np.maximum(np.arange(len(_HEIGHTS)), _STDIO_HEIGHT)
"""Streams and plain calls stand beside each other: what a stream calls below is not seen."""

SAID = (
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
    Kind.LINK,
    Kind.MISS,
)
"""What the language can say of a file; `seek` follows from the places of requests."""
_UNSAID = (Kind.LIST, Kind.ALLOCATE, Kind.MAP)
_MERE = (Kind.STAT, Kind.MISS, Kind.CLOSE, Kind.SYNC, Kind.DATA_SYNC, Kind.TRUNCATE)
"""What is done to a file that is only looked at, or was there before."""


@dataclass(frozen=True)
class Table:
    """Operations sorted by file, rank and start; files are numbered anew."""

    ranks: int
    paths: list[str]
    interfaces: list[Interface]
    manners: list[Manner]
    """How each file is opened."""
    file: Column
    rank: Column
    kind: Column
    """As in the trace."""
    is_aside: Column
    """Under a name that the file had before it was renamed."""
    flags: Column
    offset: Column
    """In the file; datasets lie behind each other there."""
    dataset: Column
    """Key of `arrays`, or NO_DATASET."""
    within: Column
    """Offset in the dataset in row-major order, of the first element of the selection."""
    copied: Column
    """Of reads and writes that were a copy within the kernel: the way's number; else 0."""
    is_scattered: Column
    """Whether the elements fill no box."""
    bytes: Column
    seeks: Column
    """Of reads and writes: how often the position was moved before; 0 where that matters little."""
    empty: Column
    """The same of reads where the file ends."""
    memory: Column
    """Of reads and writes, the bits of `detail` that say where their memory is."""
    start_ns: Column
    end_ns: Column
    way_ns: Column
    """How long the rank computed just before, or UNKNOWN (`pace`)."""
    beside_ns: Column
    """Time since the rank's operation before in calls that are not in the table (`pace`)."""
    recording_ns: Column
    """Of that time, what recording the operation before took (`pace`)."""
    follows: Column
    """Whether the rank's operation just before was on the same file."""
    stretch: Column
    """Number of the stretch of time between long pauses of all ranks."""
    pauses_ns: Column
    """The pause before each stretch; 0 for the first."""
    dealt: Column | None = None
    """Where tasks were dealt to the ranks: 1 for their rows, 2 for those of the last ones, which
    are too few for all ranks."""
    job: Column | None = None
    """The number of the job, of more than there were workers, that a row belongs to; -1: none."""
    arrays: dict[int, Array] = field(default_factory=dict)
    """Datasets that were read or written."""
    left: Counter[str] = field(default_factory=Counter)
    """Operations that the language cannot say, by kind."""
    omitted: Omitted | None = None
    """All operations that are not in the table, and why."""
    assumed: list[str] = field(default_factory=list)
    all_bytes: int = 0
    """Moved by the application, with what was left out."""

    def __len__(self) -> int:
        return len(self.file)

    @cached_property
    def has_looks(self) -> bool:
        """Whether calls that move nothing are told beside requests."""
        return bool(np.any(self.seeks) or np.any(self.empty))

    @cached_property
    def computing_ns(self) -> Column:
        """What the rank computed just before, or UNKNOWN: also of a pause of all ranks, which is
        told by itself."""
        in_time = np.lexsort((self.start_ns, self.stretch, self.rank))
        rank, stretch = self.rank[in_time], self.stretch[in_time]
        begins = np.ones(len(self), bool)
        begins[in_time[1:]] = (rank[1:] != rank[:-1]) | (stretch[1:] != stretch[:-1])
        return beside_pauses(self.way_ns, np.where(begins, self.pauses_ns[self.stretch], 0))

    @cached_property
    def span_ns(self) -> int:
        """How long the run is, all ranks together."""
        return self.ranks * int(self.end_ns.max() - self.start_ns.min())

    def is_kind(self, *kinds: Kind) -> Column:
        """A mask of the rows of these kinds."""
        return _among(self.kind, kinds)


def _among(column: Column, kinds: tuple[Kind, ...]) -> Column:
    chosen = np.zeros(256, bool)
    chosen[[KIND_CODES[kind] for kind in kinds]] = True
    return chosen[column]


def table_of(captured: Captured) -> Table:
    """The table of a capture. Raises UserError where no I/O of an application is in it."""
    captured = with_replaced_apart(with_threads_apart(captured))
    trace = captured.trace
    assert captured.operations is not None
    given, notes = said_plainly(captured.operations)
    plain = with_links_removed(replace(given, file=last_names(given, len(trace.files))))
    plain, asked = with_looks_said(plain, trace)
    operations = with_maps_told(plain, notes)
    own = _own(trace, root := _roots(trace), given)
    actors = _actors(trace, given, own)
    rows, heights, left, assumed, others = _kept(operations, actors, (root, own), asked)
    _refuse_nothing(trace, operations, rows)
    used, file = np.unique(root[operations.file[rows]], return_inverse=True)
    from venturi.derive.operation.pause import stretches

    process = operations.process[rows]
    rank = actors.of_process[process].astype(np.int64)
    start, end = operations.start_ns[rows], operations.end_ns[rows]
    owner = file * actors.ranks + rank
    order = np.argsort(owner, kind="stable")
    kind = operations.kind[rows]
    stretch, pauses = stretches(start, np.maximum(end, start), order, owner, kind)
    paths = [trace.files[i].path for i in used.tolist()]
    whole = healed(paths, file[order], rank[order], kind[order], stretch[order])
    beside = _beside(operations, rows, own, actors)
    source = trace.source.format
    computing, recording = between_calls(rank, kind, start, end, source, beside)
    moved = _among(kind, (Kind.READ, Kind.WRITE))
    offset = _places(operations, rows, moved, notes)
    size = _sizes(operations, rows, file, offset, notes)
    looks = _looks(operations, rows, heights, (actors, root, own), left)
    aside = np.asarray(operations.file[rows] != given.file[rows])
    flags = _flags(operations, rows, file, rank, aside)
    dataset = _datasets(operations, rows, len(root))
    arrays = {i: array_of(trace.files[i]) for i in np.unique(dataset).tolist() if i != NO_DATASET}
    return Table(
        ranks=actors.ranks,
        paths=paths,
        interfaces=_interfaces(plain, heights, used),
        manners=_manners(operations, rows, file, flags, root, left),
        file=file[order].astype(np.int32),
        rank=rank[order].astype(np.int32),
        kind=kind[order],
        is_aside=aside[order],
        flags=flags[order],
        offset=in_file(dataset, file, offset, size, arrays)[order],
        dataset=dataset[order],
        within=offset[order],
        copied=np.where(moved, ways_of(operations.detail[rows]), 0)[order].astype(np.uint8),
        is_scattered=(moved & (operations.detail[rows] & SCATTERED > 0))[order],
        bytes=size[order],
        seeks=looks.seeks[order],
        empty=looks.empty[order],
        memory=np.where(moved, operations.detail[rows] & _OF_MEMORY, 0)[order],
        start_ns=start[order],
        end_ns=end[order],
        way_ns=computing[order],
        beside_ns=beside[order],
        recording_ns=recording[order],
        follows=follows_of(file, rank)[order],
        stretch=whole,
        pauses_ns=pauses,
        job=actors.job[process][order],
        arrays=arrays,
        left=left,
        omitted=others,
        assumed=actors.assumed + assumed + notes,
        all_bytes=int(size.sum()),
    )


def _refuse_nothing(trace: Trace, operations: Operations, rows: Column) -> None:
    if not len(rows):
        raise UserError(
            f"'{trace.source.file}' holds {len(operations)} operations, but none of them is I/O "
            "of the application (only systems, libraries and streams)",
            "capture a job that reads, writes or opens files",
        )


def _beside(operations: Operations, rows: Column, own: Column, actors: Actors) -> Column:
    """Time in calls on the application's files that are not in the table, before each row."""
    of_files = own[np.minimum(operations.file, len(own) - 1)] & (operations.error == 0)
    rank = actors.of_process[operations.process]
    return beside_ns(operations, rank, rows, _HEIGHT[operations.layer], of_files)


def _sizes(
    operations: Operations, rows: Column, file: Column, offset: Column, notes: list[str]
) -> Column:
    """The bytes of each row, with those of writes that the layer did not show."""
    kind = operations.kind[rows]
    moved = _among(kind, (Kind.READ, Kind.WRITE))
    anew = _among(kind, (Kind.OPEN,)) & (operations.detail[rows] & (O_TRUNC | O_EXCL) > 0)
    streamed = _among(kind, (Kind.WRITE,)) & operations.is_layer(Layer.STDIO)[rows]
    seen = np.where(moved, operations.bytes[rows], 0)
    size, files = with_unseen(file, offset, seen, streamed, _among(kind, (Kind.READ,)), anew)
    if files:
        said = "read a little further than writes were seen; the last write is longer"
        notes.append(f"{_files(files)} {said}")
    return size


def _interfaces(operations: Operations, heights: Column, used: Column) -> list[Interface]:
    """The interface of each file; files that are used through mappings are mapped."""
    mapped = np.isin(used, operations.file[mapping_rows(operations)])
    found = [_HEIGHTS[height] for height in heights[used].tolist()]
    return [
        Interface.MMAP if is_mapped and one is INTERFACES[Layer.POSIX] else one
        for one, is_mapped in zip(found, mapped.tolist(), strict=True)
    ]


def _places(operations: Operations, rows: Column, moved: Column, notes: list[str]) -> Column:
    """The offset of each row; of requests through file views with holes none is known."""
    in_view = moved & (operations.detail[rows] & IN_VIEW > 0)
    if np.any(in_view):
        seen = int(np.count_nonzero(in_view))
        notes.append(f"{seen} requests through file views with holes: which bytes is not seen")
    return np.where(in_view, UNKNOWN_OFFSET, operations.offset[rows])


def _manners(
    operations: Operations,
    rows: Column,
    file: Column,
    flags: Column,
    root: Column,
    left: Counter[str],
) -> list[Manner]:
    """How each file is opened; allocations that this tells are no longer left out."""
    number = np.full(len(root), -1)
    number[root[operations.file[rows]]] = file
    manners, told = manners_of(operations, rows, file, flags & CREATES > 0, number[root])
    if told:
        left -= Counter({Kind.ALLOCATE.value: told})
    return manners


def actors_in(trace: Trace, operations: Operations) -> Actors:
    """Which process of a trace acts as which rank of its proxy, threads that act by themselves
    being `with_threads_apart`."""
    return _actors(trace, operations, _own(trace, _roots(trace), operations))


def _own(trace: Trace, root: Column, operations: Operations) -> Column:
    """Which files are the application's; datasets are if their file is. One more entry: none."""
    paths = [file.path for file in trace.files]
    of_mpiio = np.unique(operations.file[operations.is_layer(Layer.MPIIO)])
    side = side_files(paths, [paths[file] for file in of_mpiio.tolist() if file < len(paths)])
    own = np.array([not (is_foreign(file) or file.path in side) for file in trace.files], bool)
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
    operations: Operations, actors: Actors, of_file: tuple[Column, Column], asked: Column
) -> tuple[Column, Column, Counter[str], list[str], Omitted]:
    """Rows of the application's own operations in the layer that is replayed, that of each file,
    and what else there is.

    `of_file` holds the file that each lies in and whether it is the application's; `asked` those
    whose looks are kept, though nothing else is done to them.
    """
    root, own = of_file
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
    everything = np.arange(len(kind))
    replayed = _is_replayed(operations, everything, np.append(chosen[root], 0)[named])
    replayed &= is_data | ~operations.is_layer(*DATASET_LAYERS)
    rows = rows[replayed[rows]]
    others = omitted(operations, root, own, actors.of_process, replayed)
    kinds = kind[rows]
    left = Counter(
        {
            unsaid.value: int(np.count_nonzero(kinds == KIND_CODES[unsaid]))
            for unsaid in _UNSAID
            if np.any(kinds == KIND_CODES[unsaid])
        }
    )
    wordless = without_word(operations, rows) | wordless_links(operations, rows)
    left += Counter(KINDS[code].value for code in kinds[wordless].tolist())
    empty = is_data[rows] & (operations.bytes[rows] <= 0)
    if np.any(empty):
        left["requests of 0 bytes"] = int(np.count_nonzero(empty))
    said = _among(kinds, SAID) & ~empty & ~wordless
    rows = others.without(rows, ~said, Why.NO_WORD)
    rows = others.without(rows, _mistaken(operations, rows, kind, root), Why.FOLDER)
    used = _is_used(operations, rows, root, count) | asked
    rows = others.without(rows, ~used[root[named[rows]]], Why.LOOKED_AT)
    return rows, chosen, left, assumed, others


def _looks(
    operations: Operations,
    rows: Column,
    heights: Column,
    whose: tuple[Actors, Column, Column],
    left: Counter[str],
) -> Looks:
    """The calls beside the requests of plain files; what is told of is no longer left out."""
    actors, root, own = whose
    named = np.minimum(operations.file, len(root))
    kind = operations.kind
    empty = _among(kind, (Kind.READ,)) & (operations.bytes <= 0)
    mask = (empty & (operations.detail & NOT_A_FILE == 0)) | _among(kind, (Kind.SEEK,))
    mask &= own[named] & (operations.error == 0) & operations.is_layer(Layer.POSIX)
    mask &= actors.of_process[operations.process] >= 0
    beside = np.flatnonzero(mask)
    file = root[named[beside]]
    beside = beside[(heights[file] == 0) & np.isin(file, root[named[rows]])]
    keys = [
        root[named[some]].astype(np.int64) * actors.ranks
        + actors.of_process[operations.process[some]]
        for some in (rows, beside)
    ]
    found = looks_beside(operations, rows, keys[0], beside, keys[1])
    if found is None:
        none = np.zeros(len(rows), np.int64)
        return Looks(none, none)
    left["requests of 0 bytes"] -= int(np.count_nonzero(empty[beside]))
    if left["requests of 0 bytes"] <= 0:
        del left["requests of 0 bytes"]
    return found


def _mistaken(operations: Operations, rows: Column, kind: Column, root: Column) -> Column:
    """Calls on directories as if they were files, and the other way round.

    A directory is what was made, removed or listed as one and moved no data; it is not opened,
    unless to be made persistent where it was there before.
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
    as_file = ~_among(kinds, (Kind.MKDIR, Kind.RMDIR, Kind.STAT, Kind.ATTRIBUTE))
    lasting = np.bincount(file[made], minlength=count) == 0
    as_file &= ~(lasting[file] & _is_synced(kinds, file, operations.process[rows]))
    mistaken: Column = np.where(directory[file], as_file, made)
    return mistaken


def _is_synced(kinds: Column, file: Column, process: Column) -> Column:
    """Mask: openings of files that are made persistent and closed at once."""
    order = np.argsort(file.astype(np.int64) << 32 | process, kind="stable")
    syncs = _among(kinds, (Kind.SYNC, Kind.DATA_SYNC))[order]
    result = syncs.copy()
    result[:-1] |= syncs[1:] & (kinds[order][:-1] == KIND_CODES[Kind.OPEN])
    result[1:] |= syncs[:-1] & (kinds[order][1:] == KIND_CODES[Kind.CLOSE])
    mask = np.empty(len(kinds), bool)
    mask[order] = result
    return mask


def _listing(operations: Operations, count: int) -> Column:
    listing: Column = (operations.kind == KIND_CODES[Kind.LIST]) & (operations.file < count)
    return listing


def _chosen_heights(
    operations: Operations, rows: Column, root: Column, count: int
) -> tuple[Column, list[str]]:
    """The interface of each file: the highest that moved data, else the highest that was used.

    One that moved next to nothing of the file, and of what another moved, only looked at it. That
    POSIX moves a file many times over for a library's few calls is no such look.
    """
    width = len(_HEIGHTS)
    key = root[operations.file[rows]] * width + _HEIGHT[operations.layer[rows]]
    is_data = _among(operations.kind[rows], (Kind.READ, Kind.WRITE))
    weights = operations.bytes[rows[is_data]].astype(float)
    data = np.bincount(key[is_data], weights, count * width).reshape(count, width)
    most = np.minimum(data.max(axis=1), _lengths(operations, rows[is_data], root, count))
    looks = (data > 0) & (data < LEAST_OF_FILE * most[:, None])
    data[looks] = 0
    any_use = np.bincount(key, minlength=count * width).reshape(count, width)
    chosen = np.zeros(count, np.int8)
    for seen in (any_use, data):
        for height in range(width):
            chosen[seen[:, height] > 0] = height
    moved, is_beside = data > 0, _LEVEL[chosen][:, None] == _LEVEL
    notes = (
        (moved & ~is_beside, "seen in several layers; only the highest is replayed"),
        (
            moved & is_beside & (np.arange(width) < chosen[:, None]),
            "used as streams and by plain calls; here all are calls on streams",
        ),
        (looks & ~is_beside, "looked at through another interface, too; that is left out"),
    )
    said = [(int(np.count_nonzero(mask.any(axis=1))), text) for mask, text in notes]
    return chosen, [f"{_files(files)} {text}" for files, text in said if files]


def _lengths(operations: Operations, moves: Column, root: Column, count: int) -> Column:
    """How far each file was moved by system calls; infinite where no place is known."""
    moves = moves[(_HEIGHT[operations.layer[moves]] == 0) & (operations.offset[moves] >= 0)]
    found = np.zeros(count)
    ends = operations.offset[moves] + operations.bytes[moves]
    np.maximum.at(found, root[operations.file[moves]], ends)
    return np.where(found > 0, found, np.inf)


def _files(count: int) -> str:
    return "1 file was" if count == 1 else f"{count} files were"


def _is_replayed(operations: Operations, rows: Column, chosen: Column) -> Column:
    """Rows of the interface that is `chosen` for their file, or of one that stands beside it.

    A file may be opened as a stream and written by plain calls on its descriptor. Flushes are a
    stream's only.
    """
    height = _HEIGHT[operations.layer[rows]]
    beside = _LEVEL[height] == _LEVEL[chosen]
    syncs = _among(operations.kind[rows], (Kind.SYNC, Kind.DATA_SYNC))
    mask: Column = (height == chosen) | (beside & ~syncs)
    return mask


def _datasets(operations: Operations, rows: Column, count: int) -> Column:
    """The dataset of each row, by its number in the trace; one that got a name later, by that."""
    of_parts = operations.is_layer(*DATASET_LAYERS)
    named = np.flatnonzero(of_parts & (operations.kind == KIND_CODES[Kind.LINK]))
    named = named[np.maximum(operations.file[named], operations.detail[named]) < count]
    number = np.arange(count)
    number[operations.file[named]] = operations.detail[named]
    return np.where(of_parts[rows], number[operations.file[rows]], NO_DATASET)


def _is_used(operations: Operations, rows: Column, root: Column, count: int) -> Column:
    """Files that are more than looked at."""
    file = root[operations.file[rows]]
    mere = _among(operations.kind[rows], _MERE)
    return np.asarray(np.bincount(file[~mere], minlength=count) > 0)


def _flags(
    operations: Operations, rows: Column, file: Column, rank: Column, aside: Column
) -> Column:
    """Bits that say how a file was opened or a request made."""
    detail, kind = operations.detail[rows], operations.kind[rows]
    opens = kind == KIND_CODES[Kind.OPEN]
    asks = opens & (detail & O_CREAT > 0)
    name = 2 * file.astype(np.int64) + aside
    uses = NameUses(
        name=name,
        rank=rank,
        asks=asks,
        anew=detail & (O_TRUNC | O_EXCL) > 0,
        needs=(opens & ~asks) | _among(kind, (Kind.STAT, Kind.TRUNCATE, Kind.ATTRIBUTE)),
        removes=_among(kind, (Kind.UNLINK, Kind.RENAME)),
        gives=np.where((kind == KIND_CODES[Kind.RENAME]) & aside, name - 1, -1),
    )
    flags = np.where(makes_file(uses), CREATES, 0)
    flags |= np.where(opens & (detail & O_APPEND > 0), APPENDS, 0)
    flags |= np.where(opens & (detail & O_TRUNC > 0), TRUNCATES, 0)
    flags |= np.where(opens & aside, ASIDE, 0)
    is_data = _among(kind, (Kind.READ, Kind.WRITE))
    knows = _HEIGHT[operations.layer[rows]] >= _MPIIO_HEIGHT
    flags |= np.where(is_data & knows & (detail & COLLECTIVE > 0), TOGETHER, 0)
    flags |= attribute_flags(kind, detail) | link_flags(kind, detail)
    return flags.astype(np.uint8)


__all__ = ["APPENDS", "ASIDE", "CREATES", "NO_FILE", "TOGETHER", "TRUNCATES", "Table", "table_of"]
