"""Where the modules of one Darshan log contradict each other: the one that holds less lost some.

Counters and DXT see the same reads and writes, so the requests and bytes of a file are the same in
both, to the byte. DXT may leave out whole files (its triggers), and says when its buffer was full;
nothing else excuses a difference. A heatmap with bytes is of a layer that counted them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from venturi.model.operation import LAYER_CODES, Kind, Operations
from venturi.model.trace import CounterRecord, Gap, Layer, Trace
from venturi.sources.counter import LAYERS

_SHOWN = 3
"""Files that a contradiction names."""

_DXT = {Layer.POSIX: "DXT_POSIX", Layer.MPIIO: "DXT_MPIIO"}
_MODULES = {layer: module for module, (layer, _) in LAYERS.items()}
_PREFIXES = {Layer.POSIX: ("",), Layer.MPIIO: ("COLL_", "INDEP_", "NB_", "SPLIT_")}
_WORDS = ("reads", "bytes read", "writes", "bytes written")

_Amounts = tuple[int, ...]
"""Reads, bytes read, writes, bytes written."""


def contradictions(trace: Trace, operations: Operations | None) -> list[Gap]:
    """What one module of a log holds and another should too, as gaps of the one that has less.

    Amounts are compared by file and layer, over all ranks. A module that is known to be incomplete
    is not told again.
    """
    known = {gap.layer for gap in trace.gaps}
    found: list[Gap] = []
    for layer, dxt in _DXT.items() if operations is not None else ():
        assert operations is not None
        module = _MODULES[layer]
        traced, counted = _traced(operations, layer, trace), _counted(trace, layer)
        fewer: dict[str, list[str]] = {module: [], dxt: []}
        for path, amounts in traced.items():
            here = counted.get(path, (0,) * len(_WORDS))
            differing = [
                triple
                for triple in zip(_WORDS, here, amounts, strict=True)
                if triple[1] != triple[2]
            ]
            if differing:
                word, count, seen = differing[0]
                of = module if count < seen else dxt
                both = sorted((count, seen))
                fewer[of].append(f"{both[0]} {word} of {path} instead of {both[1]}")
        found += [
            _gap(one, other, fewer[one])
            for one, other in ((module, dxt), (dxt, module))
            if fewer[one] and one not in known
        ]
    return found + _beside_heatmaps(trace, known | {gap.layer for gap in found})


def _gap(module: str, other: str, texts: Sequence[str]) -> Gap:
    shown = "; ".join(texts[:_SHOWN])
    more = f"; and {len(texts) - _SHOWN} more files" if len(texts) > _SHOWN else ""
    return Gap(layer=module, what=f"contradicts {other}, which holds more: {shown}{more}")


def _traced(operations: Operations, layer: Layer, trace: Trace) -> dict[str, _Amounts]:
    """What DXT holds of each file in a layer."""
    rows = np.flatnonzero(operations.layer == LAYER_CODES[layer])
    file, count = operations.file[rows], len(trace.files)
    columns = []
    for kind in (Kind.READ, Kind.WRITE):
        mine = rows[operations.is_kind(kind)[rows]]
        of = operations.file[mine]
        columns.append(np.bincount(of, minlength=count))
        # Doubles hold the bytes of a file exactly up to 2**53.
        columns.append(np.bincount(of, operations.bytes[mine], count).astype(np.int64))
    table = np.stack(columns, axis=1)
    return {
        trace.files[number].path: tuple(table[number].tolist())
        for number in np.unique(file).tolist()
    }


def _counted(trace: Trace, layer: Layer) -> dict[str, _Amounts]:
    """What counters hold of each file in a layer."""
    found: dict[str, _Amounts] = {}
    for record in trace.records:
        if record.layer is layer:
            path = record.file or f"record {record.identity}"
            before = found.get(path, (0,) * len(_WORDS))
            found[path] = tuple(map(sum, zip(before, _amounts(record), strict=True)))
    return found


def _amounts(record: CounterRecord) -> _Amounts:
    counters, prefixes = record.counters, _PREFIXES[record.layer]
    return (
        sum(counters.get(prefix + "READS", 0) for prefix in prefixes),
        counters.get("BYTES_READ", 0),
        sum(counters.get(prefix + "WRITES", 0) for prefix in prefixes),
        counters.get("BYTES_WRITTEN", 0),
    )


def _beside_heatmaps(trace: Trace, known: set[str]) -> list[Gap]:
    """Layers that moved bytes by their heatmap, and have no record."""
    there = {record.layer for record in trace.records}
    return [
        Gap(layer=module, what="has no record, but the heatmap of this layer holds bytes")
        for heatmap in trace.heatmaps
        if heatmap.layer not in there and (module := _MODULES[heatmap.layer]) not in known
    ]
