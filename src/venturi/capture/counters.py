"""The tracer's counters in the trace's words: Darshan's names, layer by layer."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from venturi.capture.clock import Clock
from venturi.capture.process_file import LEFT_OUT, ProcessFile
from venturi.model.trace import CounterRecord, Layer, TracedFile

KEPT_VALUES = 4
"""Darshan keeps the four most frequent request sizes and strides of a record."""

_OWN = (
    "CLOSES",
    "UNLINKS",
    "RENAMES",
    "LINKS",
    "MKDIRS",
    "RMDIRS",
    "LISTS",
    "TRUNCATES",
    "ALLOCATES",
    "COPIES",
    "ATTRIBUTES",
)
"""Counts that Darshan does not have; left out where they are 0."""

_OF_COLLECTIVE_LAYERS = ("COLL_OPENS", "COLL_READS", "COLL_WRITES", "NB_READS", "NB_WRITES")
_CALLS = (*_OWN, "OPENS", "READS", "WRITES", "SEEKS", "STATS", "FSYNCS", "FDSYNCS", "MMAPS")
_VALUES = ("ACCESS", "STRIDE")
_TRACED = (
    Layer.POSIX,
    Layer.STDIO,
    Layer.MPIIO,
    Layer.HDF5_FILE,
    Layer.HDF5_DATASET,
    Layer.PNETCDF_FILE,
    Layer.PNETCDF_VARIABLE,
)


class _Sum:
    """Sets of one file, layer and rank, added up."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.most: dict[str, int] = {}
        self.values: dict[str, Counter[int]] = {name: Counter() for name in _VALUES}
        self.spans_ns: dict[str, float] = {}
        self.seconds: dict[str, float] = defaultdict(float)

    def add(self, values: dict[str, Any], clock: Clock) -> None:
        for name in _VALUES:
            for value, count in zip(values[name], values[f"{name}_COUNT"], strict=True):
                if count > 0:
                    self.values[name][value] += count
        for name, value in values.items():
            if isinstance(value, list) or name == "_":
                continue
            if name.endswith("_TIMESTAMP"):
                self._add_stamp(name, value, clock)
            elif name.startswith("F_MAX"):
                self.seconds[name] = max(self.seconds[name], value * clock.rate / 1e9)
            elif name.startswith("F_"):
                self.seconds[name] += value * clock.rate / 1e9
            elif name.startswith("MAX_BYTE"):
                self.most[name] = max(self.most.get(name, 0), value)
            else:
                self.counts[name] += value

    def _add_stamp(self, name: str, ticks: int, clock: Clock) -> None:
        if ticks == 0:
            return
        at = float(clock.since_start_ns(ticks))
        choose = min if "_START_" in name else max
        self.spans_ns[name] = choose(at, self.spans_ns.get(name, at))


def counter_records(
    files: list[ProcessFile],
    numbers: list[dict[int, int]],
    clocks: dict[str, Clock],
    table: list[TracedFile],
) -> list[CounterRecord]:
    """A record for each layer, file and rank.

    Where no process has a rank, all count as rank 0; where some have, the others (shells,
    launchers) are no part of the records.
    """
    is_parallel = any(file.rank >= 0 for file in files)
    sums: dict[tuple[int, int, int], _Sum] = defaultdict(_Sum)
    for file, own in zip(files, numbers, strict=True):
        if is_parallel and file.rank < 0:
            continue
        for counted in file.counters:
            if counted.file in own and counted.layer < len(_TRACED):
                key = (counted.layer, own[counted.file], max(file.rank, 0))
                sums[key].add(counted.values, clocks[file.host])
    return [
        _record(_TRACED[layer], number, rank, total, table[number])
        for (layer, number, rank), total in sorted(sums.items())
    ]


def _record(layer: Layer, number: int, rank: int, total: _Sum, file: TracedFile) -> CounterRecord:
    times = dict(total.seconds)
    times |= {name: at / 1e9 for name, at in total.spans_ns.items()}
    return CounterRecord(
        layer=layer,
        file=file.path,
        identity=str(number),
        within="" if file.within is None else str(file.within),
        rank=rank,
        counters=_counters(layer, total, file),
        times=times,
    )


def _counters(layer: Layer, total: _Sum, file: TracedFile) -> dict[str, int]:
    counts = {
        name: value
        for name, value in total.counts.items()
        if name not in _OF_COLLECTIVE_LAYERS and (value or name not in _OWN)
    }
    for way, past in (("READ", "READ"), ("WRITE", "WRITTEN")):
        if total.counts[f"BYTES_{past}"]:
            counts[f"MAX_BYTE_{past}"] = total.most[f"MAX_BYTE_{past}"]
        if layer in (Layer.MPIIO, Layer.PNETCDF_VARIABLE):
            collective = total.counts[f"COLL_{way}S"]
            non_blocking = total.counts[f"NB_{way}S"]
            counts[f"COLL_{way}S"] = collective
            counts[f"NB_{way}S"] = non_blocking
            counts[f"INDEP_{way}S"] = counts.pop(f"{way}S") - collective - non_blocking
    for name in _VALUES:
        for place, (value, count) in enumerate(total.values[name].most_common(KEPT_VALUES), 1):
            counts[f"{name}{place}_{name}"] = value
            counts[f"{name}{place}_COUNT"] = count
    if layer is Layer.MPIIO:
        counts["COLL_OPENS"] = total.counts["COLL_OPENS"]
        counts["INDEP_OPENS"] = counts.pop("OPENS") - total.counts["COLL_OPENS"]
        counts["SYNCS"] = counts.pop("FSYNCS")
    if layer is Layer.PNETCDF_FILE:
        counts["SYNCS"] = counts.pop("FSYNCS")
    if layer is Layer.PNETCDF_VARIABLE:
        counts |= _shape(file, "NDIMS", "NPOINTS")
    if layer is Layer.STDIO:
        counts["FLUSHES"] = counts.pop("FSYNCS")
    if layer is not Layer.POSIX:
        counts = {_aggregate(name): value for name, value in counts.items()}
    if layer is Layer.HDF5_DATASET:
        counts |= _shape(file, "DATASPACE_NDIMS", "DATASPACE_NPOINTS")
        collective = total.counts["COLL_READS"] + total.counts["COLL_WRITES"]
        counts["USE_MPIIO_COLLECTIVE"] = int(collective > 0)
    return counts


def _aggregate(name: str) -> str:
    """Above POSIX, Darshan's histograms of sizes have another name."""
    for way in ("READ", "WRITE"):
        name = name.replace(f"SIZE_{way}_", f"SIZE_{way}_AGG_")
    return name


def _shape(file: TracedFile, dimensions: str, elements: str) -> dict[str, int]:
    """The shape of a dataset, by the names that its layer has for it."""
    points = 1
    for size in file.shape:
        points *= size
    result = {
        dimensions: len(file.shape),
        elements: points,
        "DATATYPE_SIZE": file.element_bytes,
    }
    result |= {f"CHUNK_SIZE_D{i}": size for i, size in enumerate(file.chunk[:5], 1)}
    return result


def left_out_of(files: list[ProcessFile]) -> dict[str, int]:
    """`operations` and `bytes` on files that the tracer's filter left out."""
    sets = [
        counted.values
        for file in files
        for counted in file.counters
        if counted.file in file.names and file.names[counted.file].path == LEFT_OUT
    ]
    return {
        "operations": sum(values[name] for values in sets for name in _CALLS),
        "bytes": sum(values["BYTES_READ"] + values["BYTES_WRITTEN"] for values in sets),
    }
