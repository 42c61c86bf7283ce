"""A capture in numbers, as a person wants to see it right after the run."""

from __future__ import annotations

from typing import Any

import numpy as np

from venturi.capture.run import CaptureOutcome
from venturi.model.folded import FoldedOperations
from venturi.model.operation import COPIES, KIND_CODES, KINDS, LAYER_CODES, LAYERS, Kind
from venturi.model.trace import CounterRecord, Layer

SCHEMA = "venturi.capture-summary/1"

_DATA = {"reads": (Kind.READ,), "writes": (Kind.WRITE,), "copies": COPIES}
_STEP = np.uint16(2 * len(KINDS))
_PART = 2**16
"""Rows that are counted at a time."""
_READS = ("READS", "INDEP_READS", "COLL_READS", "NB_READS")
_WRITES = ("WRITES", "INDEP_WRITES", "COLL_WRITES", "NB_WRITES")


def summary_of(outcome: CaptureOutcome) -> dict[str, Any]:
    """Ranks, processes, files, and for each layer its calls and bytes; what was not seen.

    It is what `venturi capture --json` prints.
    """
    trace = outcome.folded.trace
    operations = outcome.folded.operations
    layers = []
    counts = None if operations is None else _CallsByLayer(operations)
    for layer in trace.layers:
        records = [record for record in trace.records if record.layer is layer]
        row = _from_counters(records)
        if counts is not None:  # behind a limit operations are in the counters only
            row = {word: max(number, row[word]) for word, number in counts.of(layer).items()}
        if any(row.values()):
            layers.append({"layer": layer.value, **row})
    return {
        "schema": SCHEMA,
        "folder": str(outcome.folder),
        "application": outcome.finished.how,
        "exit_code": outcome.finished.code,
        "seconds": trace.job.seconds,
        "ranks": trace.job.ranks if any(p.rank >= 0 for p in trace.processes) else 0,
        "processes": len(trace.processes),
        "without_end": sum(process.ended_s is None for process in trace.processes),
        "operations": trace.operation_count,
        "files": sum(file.within is None for file in trace.files),
        "layers": layers,
        "left_out": outcome.left_out,
        "gaps": [gap.what for gap in trace.gaps],
        "remarks": outcome.remarks,
    }


class _CallsByLayer:
    """Calls and bytes of operations by layer, kind and whether they failed, counted in one pass."""

    def __init__(self, operations: FoldedOperations) -> None:
        rows, times = operations.rows, operations.times()
        most = _STEP * len(LAYERS)
        calls, moved = np.zeros(most), np.zeros(most)
        # In parts that stay in the processor's caches.
        for at in range(0, len(rows), _PART):
            part = slice(at, at + _PART)
            key = rows.layer[part].astype(np.uint16) * _STEP
            key += rows.kind[part] * np.uint16(2) + (rows.error[part] != 0)
            calls += np.bincount(key, times[part], most)
            moved += np.bincount(key, rows.bytes[part] * times[part], most)
        self._calls = calls.astype(np.int64).reshape(-1, len(KINDS), 2)
        self._bytes = moved.astype(np.int64).reshape(-1, len(KINDS), 2)

    def of(self, layer: Layer) -> dict[str, int]:
        """What was done in a layer; failed calls are among the others."""
        calls, moved = (counted[LAYER_CODES[layer]] for counted in (self._calls, self._bytes))
        row: dict[str, int] = {}
        for word, kinds in _DATA.items():
            codes = [KIND_CODES[kind] for kind in kinds]
            row[word] = int(calls[codes, 0].sum())
            row[f"bytes_{word}"] = int(moved[codes, 0].sum())
        row["others"] = int(calls.sum()) - sum(row[word] for word in _DATA)
        return row


def _from_counters(records: list[CounterRecord]) -> dict[str, int]:
    def total(*names: str) -> int:
        return sum(record.counters.get(name, 0) for record in records for name in names)

    return {
        "reads": total(*_READS),
        "bytes_reads": total("BYTES_READ"),
        "writes": total(*_WRITES),
        "bytes_writes": total("BYTES_WRITTEN"),
        "copies": 0,
        "bytes_copies": 0,
        "others": total("OPENS", "CLOSES", "SEEKS", "STATS", "FSYNCS", "FDSYNCS", "UNLINKS"),
    }
