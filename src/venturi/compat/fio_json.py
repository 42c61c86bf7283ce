"""A record in the form of fio's JSON output: what programs that read it look for."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from venturi.compat.fio_entry import PlacedJob
from venturi.compat.fio_section import TOOL
from venturi.compat.tool_file import write_tool_file
from venturi.model.plan import OperationKind
from venturi.model.record import PhaseRow, Record
from venturi.report.latency import merge

_PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
_KIB = 1024
_MS_PER_S = 1000
_WAYS = ("read", "write")
_SYNCS = (OperationKind.SYNC.value,)


def fio_json(record: Record, jobs: Sequence[PlacedJob]) -> str:
    """The document; each clone of a job is an entry, or with group_reporting all are one.

    It has only what was measured: neither fio's samples of the rate over time nor slat apart from
    clat, nor figures of the processors. Clones have their bytes, requests, time and slowest
    request; of a job that reads and writes they are one entry, as ranks do not count these apart.
    """
    started = datetime.fromisoformat(record.started)
    document = {
        "fio version": f"venturi-{record.environment.venturi}",
        "timestamp": int(started.timestamp()),
        "timestamp_ms": int(started.timestamp() * _MS_PER_S),
        "time": started.astimezone(UTC).strftime("%a %b %d %H:%M:%S %Y"),
        "venturi": {"record": record.id, "verdict": record.verdict.level.value},
        "jobs": [entry for placed in jobs for entry in _entries(record, placed)],
    }
    return json.dumps(document, indent=2) + "\n"


def hand_out(text: str, output: str) -> None:
    """Print the document, or write it into the file of --output."""
    if not output:
        sys.stdout.write(text)
        return
    write_tool_file(f"{TOOL} --output={output}", output, text)


def _entries(record: Record, placed: PlacedJob) -> list[dict[str, Any]]:
    """The entry of a job, or those of its clones."""
    whole = _job(record, placed)
    rows = [row for row in record.phases if row.path == placed.group]
    ways = {way for row in rows for way in _WAYS if way in row.by_operation}
    if placed.job.grouped or placed.job.clones == 1 or len(ways) != 1:
        return [whole]
    way = ways.pop()
    counts = [_counts(row, way, placed.job.block_bytes) for row in rows]
    return [
        {**whole, way: _clone(rows, counts, clone), **_times(rows, clone)}
        for clone in range(placed.job.clones)
    ]


def _counts(row: PhaseRow, way: str, block_bytes: int) -> list[int]:
    """How many requests each rank made: those that it counted, or by their size.

    A rank counts syncs, too.
    """
    counted = row.per_rank.operations
    if sum(counted) == row.by_operation[way].operations:
        return counted
    return [-(-moved // block_bytes) for moved in row.per_rank.bytes]


def _clone(rows: Sequence[PhaseRow], counts: Sequence[Sequence[int]], clone: int) -> dict[str, Any]:
    moved = sum(row.per_rank.bytes[clone] for row in rows)
    count = sum(own[clone] for own in counts)
    seconds = sum(row.per_rank.total_s[clone] for row in rows)
    slowest = [row.per_rank.longest_s[clone] for row in rows if row.per_rank.longest_s]
    latency = {"max": round(max(slowest, default=0.0) * 1e9), "N": count}
    return {**_moved(moved, count, seconds), "clat_ns": latency, "lat_ns": latency}


def _times(rows: Sequence[PhaseRow], clone: int) -> dict[str, int]:
    seconds = sum(row.per_rank.total_s[clone] for row in rows)
    return {"elapsed": round(seconds), "job_runtime": round(seconds * _MS_PER_S)}


def _job(record: Record, placed: PlacedJob) -> dict[str, Any]:
    rows = [row for row in record.phases if row.path == placed.group]
    job = placed.job
    options = {
        "name": job.name,
        "rw": job.pattern,
        "bs": str(job.block_bytes),
        "ioengine": job.engine,
        "iodepth": str(job.depth),
        "numjobs": str(job.clones),
    }
    errors = sum(row.errors for row in rows)
    return {
        "jobname": job.name,
        "groupid": placed.walls,
        "error": 1 if errors or record.failure else 0,
        "elapsed": round(sum(row.seconds.total for row in rows)),
        "job options": options,
        **{way: _direction(rows, way) for way in _WAYS},
        "trim": _direction([], "trim"),
        "sync": {"total_ios": _count(rows, _SYNCS), **_latency("lat_ns", rows, _SYNCS)},
        "job_runtime": round(sum(row.seconds.total for row in rows) * _MS_PER_S),
    }


def _direction(rows: Sequence[PhaseRow], way: str) -> dict[str, Any]:
    found = [row.by_operation[way] for row in rows if way in row.by_operation]
    moved, count = sum(one.bytes for one in found), sum(one.operations for one in found)
    seconds = sum(row.seconds.total for row in rows) if found else 0.0
    return {
        **_moved(moved, count, seconds),
        "short_ios": sum(row.short_transfers for row in rows) if found else 0,
        **_latency("clat_ns", rows, (way,), percentiles=True),
        **_latency("lat_ns", rows, (way,)),
    }


def _moved(moved: int, count: int, seconds: float) -> dict[str, Any]:
    """Bytes and requests, with their rates over a time."""
    rate = moved / seconds if seconds else 0.0
    return {
        "io_bytes": moved,
        "io_kbytes": moved // _KIB,
        "bw_bytes": round(rate),
        "bw": round(rate / _KIB),
        "iops": count / seconds if seconds else 0.0,
        "runtime": round(seconds * _MS_PER_S),
        "total_ios": count,
    }


def _count(rows: Sequence[PhaseRow], kinds: Sequence[str]) -> int:
    return sum(
        row.by_operation[kind].operations
        for row in rows
        for kind in kinds
        if kind in row.by_operation
    )


def _latency(
    name: str, rows: Sequence[PhaseRow], kinds: Sequence[str], percentiles: bool = False
) -> dict[str, Any]:
    """Times from the beginning of a request to its end, from the record's histogram."""
    own = [row.by_operation[kind] for row in rows for kind in kinds if kind in row.by_operation]
    all_of_them = merge(one.histogram for one in own)
    count = all_of_them.operations
    found: dict[str, Any] = {
        "min": all_of_them.min_ns,
        "max": all_of_them.max_ns,
        "mean": all_of_them.sum_s * 1e9 / count if count else 0.0,
        "N": count,
    }
    if percentiles and count:
        found["percentile"] = {
            f"{share:.6f}": all_of_them.quantile_ns(share / 100) for share in _PERCENTILES
        }
    return {name: found}
