"""IOR's JSON: its keys, in its order, with full precision and always one valid document."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from venturi.compat.ior_parameter import (
    VERSION,
    began,
    capacity,
    finished_text,
    machine,
    options,
    parameters,
    path,
)
from venturi.compat.ior_result import (
    MB,
    MIB,
    REMOVE,
    IorRun,
    IorSummary,
    ResultRow,
    largest_rates,
    result_rows,
    summaries,
)


def refusal_json(arguments: Sequence[str], message: str) -> str:
    """The document of a command that measured nothing: valid, and it says why."""
    now = datetime.now().astimezone().strftime("%a %b %e %H:%M:%S %Y")
    document = {
        "Version": VERSION,
        "Began": now,
        "Command line": " ".join(arguments),
        "Machine": f"Linux {platform.node()}",
        "tests": [],
        "summary": [],
        "Finished": now,
        "error": message,
    }
    return json.dumps(document, indent=2) + "\n"


def ior_json(runs: Sequence[IorRun], error: str = "") -> str:
    """The document of a command's tests; `error` is why a later one has no result."""
    first, last = runs[0], runs[-1]
    document: dict[str, Any] = {
        "Version": VERSION,
        "Began": began(first),
        "Command line": " ".join(first.arguments or first.record.command),
        "Machine": machine(first),
        "tests": [_test(run) for run in runs],
        "summary": [_summary(run, line) for run in runs for line in summaries(run)],
        "Finished": finished_text(last),
    }
    if error:
        document["error"] = error
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _test(run: IorRun) -> dict[str, Any]:
    test: dict[str, Any] = {
        "TestID": run.test.number,
        "StartTime": began(run),
        "Path": path(run),
        **capacity(run),
        "Parameters": parameters(run),
        "Options": options(run),
        "Results": [_row(run, row) for row in result_rows(run)],
    }
    if run.test.verbose:
        test["max"] = _best(run)
    return test


def _best(run: IorRun) -> dict[str, float]:
    best = {}
    for access, rate in largest_rates(run).items():
        best[f"{access}MiB"] = rate
        best[f"{access}MB"] = rate * MIB / MB
    return best


def _row(run: IorRun, row: ResultRow) -> dict[str, Any]:
    if row.access == REMOVE:
        return {"access": row.access, "totalTime": row.total_s}
    return {
        "access": row.access,
        "bwMiB": row.rate_mib_per_s,
        "blockKiB": run.test.block_bytes / 1024,
        "xferKiB": run.test.transfer_bytes / 1024,
        "iops": row.iops,
        "latency": row.latency_s,
        "openTime": row.open_s,
        "wrRdTime": row.transfer_s,
        "closeTime": row.close_s,
        "totalTime": row.total_s,
    }


def _summary(run: IorRun, line: IorSummary) -> dict[str, Any]:
    test, layout = run.test, run.layout
    rate, operations = line.rate_mib_per_s, line.operations_per_s
    walls = {}
    if line.wall_s is not None:
        walls = {"StoneWallTime": line.wall_s, "StoneWallbwMeanMIB": line.wall_mib_per_s}
    return {
        "operation": line.access,
        "API": test.api.upper(),
        "TestID": test.number,
        "ReferenceNumber": test.reference,
        "segmentCount": test.segments,
        "blockSize": test.block_bytes,
        "transferSize": test.transfer_bytes,
        "numTasks": layout.ranks,
        "tasksPerNode": layout.ranks_per_node,
        "repetitions": test.repetitions,
        "filePerProc": int(test.file_per_process),
        "reorderTasks": int(test.reorder),
        "taskPerNodeOffset": test.node_offset,
        "reorderTasksRandom": test.reorder_random,
        "reorderTasksRandomSeed": test.reorder_seed,
        "bwMaxMIB": rate.most,
        "bwMinMIB": rate.least,
        "bwMeanMIB": rate.mean,
        "bwStdMIB": rate.deviation,
        "OPsMax": operations.most,
        "OPsMin": operations.least,
        "OPsMean": operations.mean,
        "OPsSD": operations.deviation,
        "MeanTime": line.mean_s,
        **walls,
        "xsizeMiB": line.bytes / MIB,
    }
