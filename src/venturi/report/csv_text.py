"""Records as one flat table: a row for each phase, repetition and operation; base units."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from venturi.model.record import OperationRow, PhaseRow, Record

COLUMNS = (
    "run",
    "name",
    "verdict",
    "phase",
    "group",
    "instance",
    "iteration",
    "repetition",
    "ranks",
    "operation",
    "bytes",
    "operations",
    "errors",
    "open_s",
    "transfer_s",
    "close_s",
    "compute_s",
    "seconds",
    "bytes_per_s",
    "latency_min_ns",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p99_ns",
    "latency_p99_9_ns",
    "latency_max_ns",
    "stopped_by",
    "cache",
    "flushed",
    "labels",
)
"""`operation` is `all` for the phase itself; `seconds` then is its total time, else the largest
rank's sum in that operation."""

Cell = str | int | float


def _labels(record: Record, row: PhaseRow) -> str:
    return ", ".join([*record.labels.get(row.path, ()), *record.run_labels])


def _identity(record: Record, row: PhaseRow) -> tuple[Cell, ...]:
    iteration = " ".join(f"{name}={value}" for name, value in row.iteration.items())
    return (
        record.id,
        record.name,
        record.verdict.level.value,
        row.path,
        row.group,
        row.instance,
        iteration,
        row.repetition,
        row.ranks,
    )


def _whole(row: PhaseRow) -> tuple[Cell, ...]:
    s = row.seconds
    times = (s.open, s.transfer, s.close, s.compute, s.total, row.bytes_per_second)
    return ("all", row.bytes, row.operations, row.errors, *times, *[""] * 6)


def _part(kind: str, part: OperationRow) -> tuple[Cell, ...]:
    latency = part.latency_ns
    values = (latency.min, latency.p50, latency.p90, latency.p99, latency.p99_9, latency.max)
    counts = (kind, part.bytes, part.operations, part.errors)
    return (*counts, "", "", "", "", part.seconds, "", *values)


def rows_of(record: Record) -> Iterator[tuple[Cell, ...]]:
    """The rows of a record, with a value for each of `COLUMNS`, unrounded."""
    for row in record.phases:
        first = _identity(record, row)
        last = (row.stopped_by.value, row.cache.value, row.flushed, _labels(record, row))
        yield (*first, *_whole(row), *last)
        for kind, part in row.by_operation.items():
            yield (*first, *_part(kind, part), *last)


def render_csv(records: Sequence[Record]) -> str:
    """The table as CSV text with a header; bytes, seconds and nanoseconds, unrounded."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for record in records:
        writer.writerows(rows_of(record))
    return text.getvalue()
