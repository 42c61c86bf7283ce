"""A capture in numbers, as a person wants to see it right after the run."""

from __future__ import annotations

from typing import Any

import numpy as np

from venturi.capture.run import CaptureOutcome
from venturi.model.operation import LAYER_CODES, Kind, Operations
from venturi.model.trace import CounterRecord, Layer

SCHEMA = "venturi.capture-summary/1"

_DATA = {"reads": (Kind.READ,), "writes": (Kind.WRITE,), "copies": (Kind.COPY, Kind.CLONE)}
_READS = ("READS", "INDEP_READS", "COLL_READS", "NB_READS")
_WRITES = ("WRITES", "INDEP_WRITES", "COLL_WRITES", "NB_WRITES")


def summary_of(outcome: CaptureOutcome) -> dict[str, Any]:
    """Ranks, processes, files, and for each layer its calls and bytes; what was not seen.

    It is what `venturi capture --json` prints.
    """
    trace = outcome.captured.trace
    operations = outcome.captured.operations
    layers = []
    for layer in trace.layers:
        records = [record for record in trace.records if record.layer is layer]
        row = (
            _from_operations(operations, layer)
            if operations is not None
            else _from_counters(records)
        )
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


def _from_operations(operations: Operations, layer: Layer) -> dict[str, int]:
    here = (operations.layer == LAYER_CODES[layer]) & (operations.error == 0)
    row: dict[str, int] = {}
    data = np.zeros(len(operations), bool)
    for word, kinds in _DATA.items():
        chosen = here & np.logical_or.reduce([operations.is_kind(kind) for kind in kinds])
        data |= chosen
        row[word] = int(np.count_nonzero(chosen))
        row[f"bytes_{word}"] = int(operations.bytes[chosen].sum())
    other = (operations.layer == LAYER_CODES[layer]) & ~data
    row["others"] = int(np.count_nonzero(other))
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
