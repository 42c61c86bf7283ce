"""HDF5 in Recorder's text: which file or dataset an id stands for, and what a call does to it.

Recorder keeps arguments, not results, so which id a call made is not in the text. Ids count up
from the first of their type; where that does not tell, an id that was not seen before stands for
the oldest that is open and has none. How much a request moved is not in the text either: it is
what the calls that it made below moved.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from venturi.model.operation import LAYER_CODES, NO_FILE, Kind, Operations
from venturi.model.trace import Layer, TracedFile
from venturi.sources.rows import FileTable

GUESSED = (
    "which dataset an HDF5 call is on follows from the order of opening, and its size from the "
    "calls below it"
)

_FILE, _GROUP, _DATASET = 1, 2, 5
"""HDF5's types of ids."""
_TYPE_BITS = (56, 24)
"""Where an id holds its type: since 1.10, and before."""

_RDWR, _CREATE_FLAGS = 0o2, 0o102
_MADE = 0o1102
_BELOW = (Layer.MPIIO, Layer.POSIX, Layer.STDIO)
"""Layers that HDF5 calls; where one made the requests, those below it are its own."""


class Hdf5Effect(NamedTuple):
    """What a call is in the trace."""

    layer: Layer
    kind: Kind
    file: int
    detail: int = 0


class _Ids:
    """The open objects of one type."""

    def __init__(self) -> None:
        self._bound: dict[str, int] = {}
        self._waiting: dict[int, int] = {}
        """Opened objects that no id was seen of, by how many were opened before."""
        self._opened = 0

    def open(self, what: int) -> None:
        self._waiting[self._opened] = what
        self._opened += 1

    def find(self, text: str) -> int:
        """What an id stands for; NO_FILE where nothing is open that it could be."""
        known = self._bound.get(text)
        if known is not None or not self._waiting:
            return NO_FILE if known is None else known
        number = int(text) if text.isdigit() and len(text) < 20 else -1
        low = next((number & (1 << bits) - 1 for bits in _TYPE_BITS if number >> bits), -1)
        place = low if low in self._waiting else next(iter(self._waiting))
        self._bound[text] = what = self._waiting.pop(place)
        return what

    def close(self, text: str) -> int:
        what = self.find(text)
        self._bound.pop(text, None)
        return what


class Hdf5Ids:
    """One rank's HDF5 calls."""

    def __init__(self, files: FileTable) -> None:
        self._files = files
        self._ids = {kind: _Ids() for kind in (_FILE, _GROUP, _DATASET)}
        self._groups: list[tuple[int, str]] = []
        """File and path of each group that was opened."""

    def call(self, name: str, arguments: Sequence[str]) -> Hdf5Effect | None:
        """What a call does; None for calls that do nothing to files."""
        if not arguments:
            return None
        verb = name.rstrip("12") if name[-1] in "12" else name
        match verb:
            case "H5Fcreate" | "H5Fopen":
                return self._open_file(verb, arguments)
            case "H5Gcreate" | "H5Gopen" if len(arguments) > 1:
                self._groups.append(self._place(arguments[0], arguments[1]))
                self._ids[_GROUP].open(len(self._groups) - 1)
            case "H5Gclose":
                self._ids[_GROUP].close(arguments[0])
            case "H5Dcreate" | "H5Dopen" if len(arguments) > 1:
                file, path = self._place(arguments[0], arguments[1])
                dataset = self._files.dataset(path, file)
                self._ids[_DATASET].open(dataset)
                flags = _CREATE_FLAGS if verb == "H5Dcreate" else _RDWR
                return Hdf5Effect(Layer.HDF5_DATASET, Kind.OPEN, dataset, flags)
            case _:
                return self._use(verb, arguments[0])
        return None

    def _open_file(self, verb: str, arguments: Sequence[str]) -> Hdf5Effect:
        file = self._files.number(arguments[0])
        self._ids[_FILE].open(file)
        is_writing = len(arguments) > 1 and arguments[1] not in ("0", "H5F_ACC_RDONLY")
        detail = _MADE if verb == "H5Fcreate" else _RDWR * is_writing
        return Hdf5Effect(Layer.HDF5_FILE, Kind.OPEN, file, detail)

    def _use(self, verb: str, text: str) -> Hdf5Effect | None:
        datasets = self._ids[_DATASET]
        match verb:
            case "H5Fclose":
                return Hdf5Effect(Layer.HDF5_FILE, Kind.CLOSE, self._ids[_FILE].close(text))
            case "H5Fflush":
                return Hdf5Effect(Layer.HDF5_FILE, Kind.SYNC, self._ids[_FILE].find(text))
            case "H5Dclose":
                return Hdf5Effect(Layer.HDF5_DATASET, Kind.CLOSE, datasets.close(text))
            case "H5Dread":
                return Hdf5Effect(Layer.HDF5_DATASET, Kind.READ, datasets.find(text))
            case "H5Dwrite":
                return Hdf5Effect(Layer.HDF5_DATASET, Kind.WRITE, datasets.find(text))
            case "H5Dset_extent":
                return Hdf5Effect(Layer.HDF5_DATASET, Kind.TRUNCATE, datasets.find(text))
        return None

    def _place(self, location: str, name: str) -> tuple[int, str]:
        """The file, and the path in it, of a name that is looked up at a file or a group."""
        number = int(location) if location.isdigit() and len(location) < 20 else 0
        if any(number >> bits == _GROUP for bits in _TYPE_BITS):
            group = self._ids[_GROUP].find(location)
            file, folder = self._groups[group] if group != NO_FILE else (NO_FILE, "/")
        else:
            file, folder = self._ids[_FILE].find(location), "/"
        return file, posixpath.join(folder, name)


def with_sizes(operations: Operations, files: Sequence[TracedFile]) -> Operations:
    """The operations, those on datasets with the bytes that calls moved inside their time."""
    sizes = operations.bytes.copy()
    roots = np.array([i if f.within is None else f.within for i, f in enumerate(files)], np.int64)
    high = operations.layer == LAYER_CODES[Layer.HDF5_DATASET]
    for kind in (Kind.READ, Kind.WRITE):
        mine = operations.is_kind(kind) & (operations.file != NO_FILE)
        asked = np.flatnonzero(mine & high)
        if not len(asked):
            continue
        below = np.flatnonzero(mine & operations.is_layer(*_BELOW))
        owner = _owners(operations, asked, roots)
        source = _owners(operations, below, roots)
        for one in np.unique(owner).tolist():
            rows = asked[owner == one]
            sizes[rows] = _inside(operations, rows, below[source == one])
    columns = {name: getattr(operations, name) for name in operations.__dataclass_fields__}
    return Operations(**columns | {"bytes": sizes})


def _owners(
    operations: Operations, rows: npt.NDArray[np.int64], roots: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """A number for the process and the file of each row."""
    process = operations.process[rows].astype(np.int64)
    return process * len(roots) + roots[operations.file[rows]]


def _inside(
    operations: Operations, rows: npt.NDArray[np.int64], below: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """For each row the bytes of the highest layer of `below` that begins in its time."""
    sums = np.zeros(len(rows), np.int64)
    for layer in _BELOW:
        calls = below[operations.layer[below] == LAYER_CODES[layer]]
        total = np.append(0, np.cumsum(operations.bytes[calls]))
        starts = operations.start_ns[calls]
        first = np.searchsorted(starts, operations.start_ns[rows], "left")
        last = np.searchsorted(starts, operations.end_ns[rows], "right")
        here = np.maximum(total[np.maximum(first, last)] - total[first], 0)
        sums = np.where(sums > 0, sums, here)
    return sums
