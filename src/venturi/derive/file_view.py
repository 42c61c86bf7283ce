"""One file as all layers of the I/O stack saw it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from venturi.derive.counts import bytes_of, requests_of, total
from venturi.model.plan import Direction, Interface
from venturi.model.trace import INTERFACES, CounterRecord, Layer, Trace

_PARTS = {Layer.HDF5_DATASET: Layer.HDF5_FILE, Layer.PNETCDF_VARIABLE: Layer.PNETCDF_FILE}
"""Layers of datasets and variables, and the layer of the file around them."""

_DATA_LAYERS = (Layer.HDF5_DATASET, Layer.PNETCDF_VARIABLE, Layer.MPIIO, Layer.POSIX, Layer.STDIO)
"""Where data can be counted, highest first."""

_HIGHEST_FIRST = (
    Layer.HDF5_DATASET,
    Layer.HDF5_FILE,
    Layer.PNETCDF_VARIABLE,
    Layer.PNETCDF_FILE,
    Layer.MPIIO,
    Layer.STDIO,
)
"""Layers by which a file's interface is known; with none of them, it is that of POSIX."""

_DIRECTIONS = tuple(Direction)


@dataclass
class FileView:
    """The records of one file; STDIO is a stack of its own, beside POSIX and all above it.

    What follows from the records is computed once, so they must all be there when it is asked for.
    """

    identity: str
    path: str
    is_data: bool = False
    """As its `TracedFile` says."""
    records: dict[Layer, list[CounterRecord]] = field(default_factory=dict)

    @property
    def interface(self) -> Interface:
        """The highest layer that knows the file."""
        top = next((layer for layer in _HIGHEST_FIRST if layer in self.records), Layer.POSIX)
        return INTERFACES[top]

    @cached_property
    def data_layer(self) -> Layer:
        """The highest layer that counted data; without data, the lowest one there is."""
        there = [layer for layer in _DATA_LAYERS if layer in self.records]
        for layer in there:
            if any(bytes_of(r, d) for r in self.records[layer] for d in _DIRECTIONS):
                return layer
        return there[-1] if there else Layer.POSIX

    @cached_property
    def data(self) -> list[CounterRecord]:
        """The records of the data layer."""
        return self.records.get(self.data_layer, [])

    @cached_property
    def ranks(self) -> frozenset[int]:
        """Ranks that used the file; -1 stands for all. From the highest layer that knows."""
        top = self.data or next(iter(self.records.values()))
        used = [record for record in top if _is_used(record)]
        return frozenset(record.rank for record in used or top)

    def bytes(self, direction: Direction) -> int:
        """Bytes moved at the data layer."""
        return self._bytes[direction]

    def requests(self, direction: Direction) -> int:
        """Requests at the data layer."""
        return self._requests[direction]

    @cached_property
    def both_bytes(self) -> int:
        """Bytes moved at the data layer in both directions."""
        return sum(self._bytes.values())

    @cached_property
    def amounts(self) -> tuple[int, ...]:
        """Bytes, then requests, of each direction."""
        return (*self._bytes.values(), *self._requests.values())

    @cached_property
    def _bytes(self) -> dict[Direction, int]:
        return {d: sum(bytes_of(record, d) for record in self.data) for d in _DIRECTIONS}

    @cached_property
    def _requests(self) -> dict[Direction, int]:
        return {d: sum(requests_of(record, d)[0] for record in self.data) for d in _DIRECTIONS}

    @cached_property
    def opens(self) -> int:
        """How often the file was opened, at POSIX or STDIO where they saw it."""
        low = self.records.get(Layer.POSIX) or self.records.get(Layer.STDIO) or []
        return total(low, "OPENS")

    @cached_property
    def operations(self) -> int:
        """Requests of both directions; opens too without data or a layer above POSIX."""
        requests = sum(self.requests(direction) for direction in _DIRECTIONS)
        if requests and self.interface.entry.is_library:
            return requests
        return requests + self.opens


def _is_used(record: CounterRecord) -> bool:
    return any(requests_of(record, direction)[0] for direction in _DIRECTIONS)


def files_of(trace: Trace) -> list[FileView]:
    """All files of a trace; datasets and variables join the file that they lie in."""
    views: dict[tuple[str, bool], FileView] = {}
    by_path: dict[str, str] = {}
    data = {file.path for file in trace.files if file.is_data}
    for record in trace.records:
        if record.layer is Layer.LUSTRE:
            continue
        is_part = record.layer in _PARTS
        path = record.file.rsplit(":", 1)[0] if is_part else record.file
        identity = _file_identity(record, path, by_path) if is_part else record.identity
        key = (identity, record.layer is Layer.STDIO)
        view = views.get(key)
        if view is None:
            view = views[key] = FileView(identity, path, path in data)
            by_path.setdefault(path, identity)
        view.records.setdefault(record.layer, []).append(record)
    return list(views.values())


def _file_identity(record: CounterRecord, path: str, by_path: dict[str, str]) -> str:
    """The file of a dataset: by id where the source tells it, else by the name before ':'."""
    return record.within or by_path.get(path) or f"file of {path}"
