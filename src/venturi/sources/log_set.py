"""Several logs of Darshan that belong to one job: of its processes, or forms of one log.

A job that starts programs of one process each (loaders of a training run, stages of a script)
leaves one log per program. They are put beside each other: ranks are numbered through, times
count from the earliest start, the same path is the same file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from venturi.model.error import UserError
from venturi.model.operation import NO_FILE, Operations, operations_of
from venturi.model.trace import (
    CounterRecord,
    Gap,
    Heatmap,
    HeatRow,
    Layer,
    Process,
    Trace,
    TracedFile,
    TracedJob,
    TraceSource,
)
from venturi.model.trace_folder import Captured
from venturi.sources.darshan_container import ContainerError
from venturi.sources.dxt import container_of
from venturi.sources.kind import HEAD_BYTES, CaptureKind

REDUCED = "counters reduced over the ranks of one log stand for its first rank"
_SAME_START_S = 1.0
_JOB = re.compile(rb"^# jobid: (\d+)", re.M)
_FORMS = (CaptureKind.DARSHAN_LOG, CaptureKind.DARSHAN_TEXT, CaptureKind.DXT_TEXT)


@dataclass(frozen=True)
class _Member:
    """One log: what it holds, of which job, since when."""

    path: Path
    kind: CaptureKind
    captured: Captured
    job: int
    started_s: float

    @property
    def ended_s(self) -> float:
        return self.started_s + self.captured.trace.job.seconds


def read_log_set(files: dict[Path, CaptureKind], read_file: Callable[[Path], Captured]) -> Captured:
    """The trace of all logs together. Raises UserError where they are not of one job."""
    members = [_member(path, kind, read_file(path)) for path, kind in files.items()]
    logs = _one_form_each(members)
    if len(logs) == 1:
        return logs[0].captured
    _check_one_job(logs)
    return _merged(sorted(logs, key=lambda log: (log.started_s, log.path.name)))


def _member(path: Path, kind: CaptureKind, captured: Captured) -> _Member:
    started_s = datetime.fromisoformat(captured.trace.job.started).timestamp()
    job = 0
    if kind is CaptureKind.DARSHAN_LOG:
        try:
            facts = container_of(path.read_bytes()).job()
            job, started_s = facts.job, facts.started_ns / 1e9
        except (OSError, ContainerError):
            pass
    else:
        with path.open("rb") as file:
            found = _JOB.search(file.read(HEAD_BYTES))
        job = int(found[1]) if found else 0
    return _Member(path, kind, captured, job, started_s)


def _one_form_each(members: list[_Member]) -> list[_Member]:
    """Of several forms of one log, the richest; of two texts of one log, both together."""
    logs: list[_Member] = []
    for member in sorted(members, key=lambda m: _FORMS.index(m.kind)):
        same = next((n for n, log in enumerate(logs) if _is_form_of(member, log)), None)
        if same is None:
            logs.append(member)
        elif logs[same].captured.operations is None and member.kind is CaptureKind.DXT_TEXT:
            logs[same] = replace(logs[same], captured=_with_operations(logs[same], member))
    return logs


def _is_form_of(member: _Member, log: _Member) -> bool:
    return (
        member.kind is not log.kind
        and member.job == log.job
        and member.captured.trace.job.ranks == log.captured.trace.job.ranks
        and abs(int(member.started_s) - int(log.started_s)) < _SAME_START_S
    )


def _with_operations(log: _Member, text: _Member) -> Captured:
    """Counters of one, operations of the other."""
    update = {
        name: getattr(text.captured.trace, name)
        for name in ("files", "processes", "operation_count")
    }
    trace = log.captured.trace
    update["gaps"] = trace.gaps + [g for g in text.captured.trace.gaps if g not in trace.gaps]
    return Captured(trace.model_copy(update=update), text.captured.operations)


def _check_one_job(logs: list[_Member]) -> None:
    """All have the same job id, or each overlaps in time with those before it."""
    if len({log.job for log in logs}) == 1 and logs[0].job:
        return
    ordered = sorted(logs, key=lambda log: log.started_s)
    last_s, last = ordered[0].ended_s, ordered[0]
    for log in ordered[1:]:
        if int(log.started_s) > last_s + _SAME_START_S:
            raise UserError(
                f"'{last.path.name}' (job {last.job}) and '{log.path.name}' (job {log.job}) are "
                "of different jobs: neither their numbers nor their times meet",
                "name the logs of one job",
            )
        if log.ended_s > last_s:
            last_s, last = log.ended_s, log


def _merged(logs: list[_Member]) -> Captured:
    origin_s = logs[0].started_s
    shifts_s = [log.started_s - origin_s for log in logs]
    first_ranks = np.cumsum([0] + [log.captured.trace.job.ranks for log in logs]).tolist()
    gaps = [
        Gap(layer=gap.layer, what=f"{log.path.name}: {gap.what}")
        for log in logs
        for gap in log.captured.trace.gaps
    ]
    records: list[CounterRecord] = []
    is_reduced = False
    for log, first, shift_s in zip(logs, first_ranks, shifts_s, strict=False):
        for record in log.captured.trace.records:
            is_reduced |= record.rank < 0 and log.captured.trace.job.ranks > 1
            records.append(_moved(record, first, shift_s))
    if is_reduced:
        gaps.append(Gap(layer="darshan", what=REDUCED))
    files, processes, operations = _all_operations(logs, first_ranks, shifts_s)
    traces = [log.captured.trace for log in logs]
    trace = Trace(
        source=TraceSource(
            format=traces[0].source.format,
            file=f"{len(logs)} logs, {traces[0].source.file} ...",
            library_version=traces[0].source.library_version,
            log_version=traces[0].source.log_version,
        ),
        job=TracedJob(
            ranks=first_ranks[-1],
            seconds=max(s + t.job.seconds for s, t in zip(shifts_s, traces, strict=True)),
            started=datetime.fromtimestamp(int(origin_s), UTC).isoformat(),
            number=_common([t.job.number for t in traces]),
            command=_common([t.job.command for t in traces]),
        ),
        layers=list(dict.fromkeys(layer for t in traces for layer in t.layers)),
        records=records,
        mounts={point: kind for t in traces for point, kind in t.mounts.items()},
        gaps=gaps,
        record_count=len(records),
        files=files,
        processes=processes,
        operation_count=0 if operations is None else len(operations),
        heatmaps=_all_heatmaps(logs, first_ranks, shifts_s),
    )
    return Captured(trace, operations)


def _common(words: list[str]) -> str:
    """What all logs say; empty where they differ."""
    return words[0] if len(set(words)) == 1 else ""


def _moved(record: CounterRecord, first_rank: int, shift_s: float) -> CounterRecord:
    """The record in the set's ranks and times."""
    times = {
        name: value + shift_s if name.endswith("_TIMESTAMP") and value > 0 else value
        for name, value in record.times.items()
    }
    return record.model_copy(update={"rank": first_rank + max(0, record.rank), "times": times})


def _all_operations(
    logs: list[_Member], first_ranks: list[int], shifts_s: list[float]
) -> tuple[list[TracedFile], list[Process], Operations | None]:
    numbers: dict[str, int] = {}
    processes: list[Process] = []
    columns: dict[str, list[np.ndarray[tuple[int], np.dtype[np.int64]]]] = {}
    for log, first, shift_s in zip(logs, first_ranks, shifts_s, strict=False):
        operations, trace = log.captured.operations, log.captured.trace
        if operations is None:
            continue
        own = np.array([numbers.setdefault(f.path, len(numbers)) for f in trace.files], np.uint32)
        shift_ns = round(shift_s * 1e9)
        named = operations.file != NO_FILE
        file = operations.file.copy()
        file[named] = own[operations.file[named]]
        changed = {
            "file": file,
            "process": operations.process + np.uint32(len(processes)),
            "start_ns": operations.start_ns + shift_ns,
            "end_ns": operations.end_ns + shift_ns,
        }
        for name in operations.__dataclass_fields__:
            columns.setdefault(name, []).append(changed.get(name, getattr(operations, name)))
        for process in trace.processes:
            rank = first + max(0, process.rank)
            processes.append(
                process.model_copy(update={"rank": rank, "started_s": process.started_s + shift_s})
            )
    if not columns:
        return [], [], None
    merged = operations_of(**{name: np.concatenate(parts) for name, parts in columns.items()})
    return [TracedFile(path=path) for path in numbers], processes, merged


def _all_heatmaps(
    logs: list[_Member], first_ranks: list[int], shifts_s: list[float]
) -> list[Heatmap]:
    """The heatmaps of all logs in bins of the widest; widths are powers of two of each other."""
    of_layer: dict[Layer, list[tuple[Heatmap, int, float]]] = {}
    for log, first, shift_s in zip(logs, first_ranks, shifts_s, strict=False):
        for heatmap in log.captured.trace.heatmaps:
            of_layer.setdefault(heatmap.layer, []).append((heatmap, first, shift_s))
    result = []
    for layer, parts in of_layer.items():
        width_s = max(heatmap.bin_seconds for heatmap, _, _ in parts)
        rows = [
            (
                row.rank + first,
                _rebinned(row.read, heatmap, shift_s, width_s),
                _rebinned(row.written, heatmap, shift_s, width_s),
            )
            for heatmap, first, shift_s in parts
            for row in heatmap.rows
        ]
        longest = max(len(read) for _, read, _ in rows)
        result.append(
            Heatmap(
                layer=layer,
                bin_seconds=width_s,
                rows=[
                    HeatRow(rank=rank, read=_long(read, longest), written=_long(written, longest))
                    for rank, read, written in rows
                ],
            )
        )
    return result


def _rebinned(bins: Iterable[int], heatmap: Heatmap, shift_s: float, width_s: float) -> list[int]:
    """Each bin's bytes go into the wider bin in which it begins."""
    sums: list[int] = []
    for number, count in enumerate(bins):
        place = int((number * heatmap.bin_seconds + shift_s) / width_s + 1e-9)
        sums += [0] * (place + 1 - len(sums))
        sums[place] += count
    return sums


def _long(bins: list[int], length: int) -> list[int]:
    return bins + [0] * (length - len(bins))
