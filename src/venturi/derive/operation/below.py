"""Files whose datasets no step can tell: the layer below the library tells them, rule 7.

A step on datasets moves the parts of a split of their shape. Where the selections of a file are no
such parts (columns in another order, some rows only, strides), what the library makes of them
depends on every single place: which chunks a selection touches, and what is still in its cache.
The calls below have been captured too, and hold just that. So the library's calls on such a file
are left out, all of them, and what it called (MPI-IO, else POSIX) is told in their place. So it is
with files that were also used beside the library.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from venturi.derive.known_name import known_name
from venturi.derive.operation.beside_library import moved_beside
from venturi.derive.operation.stream import Stream, Streams
from venturi.derive.operation.table import Table
from venturi.model.operation import LAYER_CODES, Column, Kind, Operations
from venturi.model.trace import INTERFACES, Layer, Trace
from venturi.model.trace_folder import Captured
from venturi.model.workload import Confidence

LIBRARY_LAYERS = (
    Layer.HDF5_FILE,
    Layer.HDF5_DATASET,
    Layer.PNETCDF_FILE,
    Layer.PNETCDF_VARIABLE,
)
_LAYERS_BELOW = tuple(layer for layer in INTERFACES if layer not in LIBRARY_LAYERS)
MOST_NAMES = 3
"""So many datasets are named."""
RULE = "7: datasets that follow no rule are replayed by the layer below"


class Reason(StrEnum):
    """Why the accesses to datasets cannot be told as such; `{}` stands for their names."""

    ONLY_READ = "the run only reads {}, and a workload reads only what it wrote"
    BESIDE = (
        "some of its data was moved while the library did not have it open: through virtual "
        "datasets or links of other files, or by plain calls"
    )
    NO_RULE = "the selections of {} follow no rule that steps on datasets can tell"


@dataclass(frozen=True)
class Below:
    """A capture in which the layer below tells some files, and which these are."""

    captured: Captured
    paths: frozenset[str]
    notes: list[str]
    """For each stream of them, which datasets are the reason."""

    def with_more(self, more: Below) -> Below:
        """Both, where `more` was found in this one's capture."""
        return Below(more.captured, self.paths | more.paths, self.notes + more.notes)

    def confided(
        self, entries: list[Confidence], streams: Streams, table: Table
    ) -> list[Confidence]:
        """The same entries; those of interfaces know why they are not the highest layer's."""
        names = {
            stream.name
            for stream in streams.kept
            if any(table.paths[file] in self.paths for file in stream.files.tolist())
        }
        return [
            entry.model_copy(update={"rule": RULE})
            if entry.field == "interface" and entry.stream in names
            else entry
            for entry in entries
        ]


def below_where_beside(captured: Captured) -> Below | None:
    """The capture without library calls on files that were also used beside the library; None where
    there are none."""
    chosen = used_beside(captured)
    if not np.any(chosen):
        return None
    assert captured.operations is not None
    paths = [captured.trace.files[file].path for file in np.flatnonzero(chosen).tolist()]
    layer = _layer_below(captured.operations, chosen)
    note = _replayed(known_name(paths), layer, Reason.BESIDE)
    return Below(without_library(captured, chosen), frozenset(paths), [note])


def used_beside(captured: Captured) -> Column:
    """Which files, one entry for each, a library moved data of that were also moved beside it."""
    assert captured.operations is not None
    beside = moved_beside(
        captured.operations, _roots(captured.trace), LIBRARY_LAYERS, _LAYERS_BELOW
    )
    found: Column = beside & moved_by_library(captured)
    return found


def below_of(
    captured: Captured,
    table: Table,
    streams: Streams,
    flat: Mapping[int, Collection[int]],
    sized: Collection[int],
) -> Below | None:
    """The capture without library calls on files whose datasets follow no rule; None where there
    are none, or the layer below them was not captured.

    `flat` has, by the number of their stream, datasets that no steps were found for (none: all of
    them), `sized` those of which steps keep the sizes of what is moved, and not the places.
    """
    unruled = {number: set(datasets) for number, datasets in flat.items()}
    files, first = np.unique(table.dataset, return_index=True)
    for dataset, row in zip(files.tolist(), first.tolist(), strict=True):
        number = int(streams.of_file[table.file[row]])
        # Of a source that does not know the shape, the selections are not known to break a rule.
        is_known = dataset in sized and bool(captured.trace.files[dataset].shape)
        if is_known and number >= 0 and number not in flat:
            unruled.setdefault(number, set()).add(dataset)
    operations = captured.operations
    assert operations is not None
    seen = moved_below(captured)
    chosen = np.zeros(len(seen), bool)
    notes = []
    for number in sorted(unruled):
        stream = streams.kept[number]
        paths = {table.paths[file] for file in stream.files.tolist()}
        mine = np.array([file.path in paths for file in captured.trace.files], bool) & seen
        if np.any(mine):
            chosen |= mine
            notes.append(_note(table, stream, unruled[number], _layer_below(operations, mine)))
    if not np.any(chosen):
        return None
    paths = {captured.trace.files[file].path for file in np.flatnonzero(chosen).tolist()}
    return Below(without_library(captured, chosen), frozenset(paths), notes)


def without_library(captured: Captured, files: Column) -> Captured:
    """The capture without library calls on these files (a mask) and on datasets in them.

    A library may look at a file through a stream, too, before it uses it by plain calls: where
    these are more, all are plain.
    """
    operations = captured.operations
    assert operations is not None
    root = _roots(captured.trace)
    named = np.minimum(operations.file, len(root)).astype(np.int64)
    whose = np.append(files[root], False)[named]
    data = whose & operations.is_kind(Kind.READ, Kind.WRITE)
    of_stream = operations.is_layer(Layer.STDIO)
    plain, streamed = (
        np.bincount(named[data & rows], minlength=len(root) + 1)
        for rows in (operations.is_layer(Layer.POSIX), of_stream)
    )
    is_plain = whose & of_stream & (plain > streamed)[named]
    left_out = whose & operations.is_layer(*LIBRARY_LAYERS)
    left_out |= is_plain & operations.is_kind(Kind.SYNC, Kind.DATA_SYNC)  # a flush to the kernel
    layer = np.where(is_plain, LAYER_CODES[Layer.POSIX], operations.layer)
    told = replace(operations, layer=layer.astype(operations.layer.dtype))
    return replace(captured, operations=told.take(~left_out))


def moved_by_library(captured: Captured) -> Column:
    """Which files, one entry for each, HDF5 or PnetCDF moved data of."""
    return _moved(captured, LIBRARY_LAYERS)


def moved_below(captured: Captured) -> Column:
    """Which files, one entry for each, calls below these libraries moved data of."""
    return _moved(captured, _LAYERS_BELOW)


def _moved(captured: Captured, layers: Collection[Layer]) -> Column:
    operations = captured.operations
    assert operations is not None
    root = _roots(captured.trace)
    rows = operations.is_layer(*layers) & operations.is_kind(Kind.READ, Kind.WRITE)
    rows &= (operations.error == 0) & (operations.file < len(root))
    found: Column = np.bincount(root[operations.file[rows]], minlength=len(root)) > 0
    return found


def _roots(trace: Trace) -> Column:
    """For each file itself; for datasets, the file that they lie in."""
    own = enumerate(trace.files)
    return np.array([i if file.within is None else file.within for i, file in own], np.int64)


def _layer_below(operations: Operations, files: Column) -> str:
    """In words, the layer that tells these files without the library."""
    data = operations.is_kind(Kind.READ, Kind.WRITE)
    data &= np.append(files, False)[np.minimum(operations.file, len(files))]
    seen = np.unique(operations.layer[data])
    return "MPI-IO" if LAYER_CODES[Layer.MPIIO] in seen else "POSIX"


def _note(table: Table, stream: Stream, unruled: set[int], layer: str) -> str:
    """What a user is told: which files, by what, and because of which datasets."""
    mine = np.isin(table.file, stream.files)
    datasets = unruled or set(np.unique(table.dataset[mine & (table.dataset >= 0)]).tolist())
    written = np.unique(table.dataset[mine & table.is_kind(Kind.WRITE) & (table.dataset >= 0)])
    made = {table.arrays[dataset].name for dataset in written.tolist()}
    names = list(dict.fromkeys(table.arrays[dataset].name for dataset in sorted(datasets)))
    shown = ", ".join(f"'{name}'" for name in names[:MOST_NAMES])
    if len(names) > MOST_NAMES:
        shown += f" and {len(names) - MOST_NAMES} more"
    reason = Reason.ONLY_READ if made.isdisjoint(names) else Reason.NO_RULE
    why = reason.format(f"dataset{'s'[: len(names) > 1]} {shown}")
    files = known_name([table.paths[file] for file in stream.files.tolist()])
    return _replayed(files, layer, why)


def _replayed(files: str, layer: str, why: str) -> str:
    return f"{files}: its {layer} calls are replayed instead of its dataset accesses, because {why}"
