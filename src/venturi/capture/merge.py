"""One trace from the files of many processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from venturi.capture.clock import Beginning, Clock, clocks_of
from venturi.capture.counters import counter_records
from venturi.capture.gap import gaps_of
from venturi.capture.process_file import LEFT_OUT, BytesMoved, Name, ProcessFile
from venturi.model.operation import (
    COPIES,
    KIND_CODES,
    KINDS,
    NO_FILE,
    Kind,
    Operations,
    operations_of,
)
from venturi.model.trace import Layer, Process, Trace, TracedFile, TracedJob, TraceSource
from venturi.model.trace_folder import Captured

WATCHED = [
    Layer.POSIX, Layer.STDIO, Layer.MPIIO, Layer.HDF5_FILE, Layer.HDF5_DATASET,
    Layer.PNETCDF_FILE, Layer.PNETCDF_VARIABLE,
]  # fmt: skip
"""Layers of the tracer, in the order of its codes."""

_OF_TWO_FILES = [KIND_CODES[kind] for kind in (Kind.RENAME, Kind.LINK, *COPIES)]
_TIMES = ("start", "end")


@dataclass(frozen=True)
class LaunchFacts:
    """What whoever started the application knows."""

    beginning: Beginning
    started: str
    """UTC, ISO 8601."""
    seconds: float
    command: tuple[str, ...]
    moved: BytesMoved | None = None
    """Bytes that the kernel counted for all processes that were waited for; None: not known."""


class JobFileTable:
    """Files of the whole job, by what makes two of them the same."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Any, ...], int] = {}
        self.files: list[TracedFile] = []

    def number(self, name: Name, within: int | None) -> int:
        """The index of a file; new ones are added."""
        key = (name.path, within, name.shape)
        if key not in self._numbers:
            self._numbers[key] = len(self.files)
            self.files.append(
                TracedFile(
                    path=name.path,
                    within=within,
                    shape=list(name.shape),
                    element_bytes=name.element_bytes,
                    chunk=list(name.chunk),
                    chunk_cache_bytes=name.chunk_cache_bytes,
                )
            )
        return self._numbers[key]

    def numbers_of(self, names: dict[int, Name], used: set[int]) -> dict[int, int]:
        """For a process's own numbers the job's; what was left out has none."""
        result: dict[int, int] = {}
        within = {names[own].within for own in used if own in names}
        # A dataset's file has a smaller number than the dataset.
        for own, name in sorted(names.items()):
            if name.path != LEFT_OUT and (own in used or own in within):
                holder = result.get(name.within) if name.within is not None else None
                result[own] = self.number(name, holder)
        return result


def merge(
    files: list[ProcessFile],
    facts: LaunchFacts,
    name: str,
    version: str,
    broken: Sequence[str] = (),
) -> Captured:
    """The trace of a job from what its processes recorded.

    `broken` tells of files that could not be used; it becomes gaps.
    """
    files = sorted(files, key=lambda file: file.first[1])
    clocks = clocks_of(files, facts.beginning)
    table = JobFileTable()
    numbers = [table.numbers_of(file.names, _used_by(file)) for file in files]
    operations = _operations(files, numbers, clocks)
    ranks = max((file.rank for file in files), default=-1) + 1
    records = counter_records(files, numbers, clocks, table.files)
    trace = Trace(
        source=TraceSource(format="venturi", file=name, library_version=version),
        job=TracedJob(ranks=max(ranks, 1), seconds=facts.seconds, started=facts.started),
        layers=WATCHED,
        records=records,
        gaps=gaps_of(files, facts.command, broken, facts.moved),
        record_count=len(records),
        files=table.files,
        processes=[_process(file, clocks[file.host]) for file in files],
        operation_count=len(operations),
    )
    return Captured(trace, operations if len(operations) else None)


def _process(file: ProcessFile, clock: Clock) -> Process:
    started = clock.since_start_ns(file.first[0]) / 1e9
    after_ns = file.ended_ns - file.first[1]
    return Process(
        rank=file.rank,
        process=file.process,
        parent=file.parent,
        host=file.host,
        program=file.program,
        started_s=started,
        ended_s=started + max(after_ns, 0) / 1e9 if file.ended_ns else None,
    )


def _operations(
    files: list[ProcessFile], numbers: list[dict[int, int]], clocks: dict[str, Clock]
) -> Operations:
    """All complete records that are operations, as columns."""
    parts = []
    for i, file in enumerate(files):
        for window in file.records:
            known = (window["start"] != 0) & (window["kind"] < len(KINDS))
            parts.append((i, window, None if known.all() else known))
    rows = sum(len(window) if known is None else int(known.sum()) for _, window, known in parts)
    columns: dict[str, Any] = {
        "process": np.empty(rows, "<u4"),
        "thread": np.empty(rows, "<u4"),
        "layer": np.empty(rows, "u1"),
        "kind": np.empty(rows, "u1"),
        "error": np.empty(rows, "<u2"),
        "file": np.empty(rows, "<u4"),
        "detail": np.empty(rows, "<u4"),
        "offset": np.empty(rows, "<i8"),
        "bytes": np.empty(rows, "<i8"),
        "start_ns": np.empty(rows, "<i8"),
        "end_ns": np.empty(rows, "<i8"),
    }
    maps = [_map_of(own) for own in numbers]
    at = 0
    for i, window, known in parts:
        chosen = window if known is None else window[known]
        span = slice(at, at + len(chosen))
        at += len(chosen)
        clock = clocks[files[i].host]
        columns["process"][span] = i
        for column in ("thread", "layer", "kind", "error", "offset", "bytes"):
            columns[column][span] = chosen[column]
        columns["file"][span] = _translate(chosen["file"], maps[i])
        two = np.isin(chosen["kind"], _OF_TWO_FILES)
        detail = chosen["detail"].copy()
        detail[two] = _translate(detail[two], maps[i])
        columns["detail"][span] = detail
        for time in _TIMES:
            columns[f"{time}_ns"][span] = clock.since_start_ns(chosen[time])
    return operations_of(**columns)


def _used_by(file: ProcessFile) -> set[int]:
    """The process's own numbers of the files that its counters and operations name."""
    used = np.zeros(max(file.names, default=-1) + 2, bool)
    used[[min(counted.file, len(used) - 1) for counted in file.counters]] = True
    for window in file.records:
        used[np.minimum(window["file"][window["kind"] < len(KINDS)], len(used) - 1)] = True
        two = np.isin(window["kind"], _OF_TWO_FILES)
        used[np.minimum(window["detail"][two], len(used) - 1)] = True
    return set(np.flatnonzero(used[:-1]).tolist())


def _map_of(numbers: dict[int, int]) -> Any:
    """A process's numbers as an array; the last entry stands for all that are unknown."""
    result = np.full(max(numbers, default=-1) + 2, NO_FILE, "<u4")
    for own, number in numbers.items():
        result[own] = number
    return result


def _translate(own: Any, numbers: Any) -> Any:
    return numbers[np.minimum(own, len(numbers) - 1)]
