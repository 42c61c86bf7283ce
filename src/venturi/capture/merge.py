"""One trace from the files of many processes."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from venturi.capture.clock import Beginning, Clock, clocks_of
from venturi.capture.counters import counter_records
from venturi.capture.gap import gaps_of
from venturi.capture.process_file import (
    LEFT_OUT,
    REPEATED,
    RUN,
    BytesMoved,
    Name,
    ProcessFile,
)
from venturi.derive.code_name import is_used_as_data, names_code
from venturi.model.folded import CallRuns, FoldedOperations, no_runs, runs_of
from venturi.model.operation import (
    COPIES,
    KIND_CODES,
    KINDS,
    NO_FILE,
    TYPES,
    Kind,
    Operations,
    operations_of,
)
from venturi.model.trace import Layer, Process, Trace, TracedFile, TracedJob, TraceSource
from venturi.model.trace_folder import FoldedCapture

WATCHED = [
    Layer.POSIX,
    Layer.STDIO,
    Layer.MPIIO,
    Layer.HDF5_FILE,
    Layer.HDF5_DATASET,
    Layer.PNETCDF_FILE,
    Layer.PNETCDF_VARIABLE,
]
"""Layers of the tracer, in the order of its codes."""

_OF_TWO_FILES = [KIND_CODES[kind] for kind in (Kind.RENAME, Kind.LINK, *COPIES)]
_NAMING = [KIND_CODES[kind] for kind in (Kind.RENAME, Kind.LINK)]
_IS_OF_TWO_FILES = np.isin(np.arange(256), _OF_TWO_FILES)
_TIMES = ("start", "end")
_OF_RUNS = ("slot", "period", "times", "offset_step", "address_step", "address_rest")
"""Columns of runs that are alike in a process's file and in a trace."""


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
) -> FoldedCapture:
    """The trace of a job from what its processes recorded.

    `broken` tells of files that could not be used; it becomes gaps.
    """
    files = sorted(files, key=lambda file: file.first[1])
    clocks = clocks_of(files, facts.beginning)
    table = JobFileTable()
    numbers = [table.numbers_of(file.names, _used_by(file)) for file in files]
    operations = _folded(files, numbers, clocks)
    _mark_data(files, numbers, table.files)
    _mark_copied(operations.rows, table.files)
    _mark_named(operations.rows, table.files)
    ranks = max((file.rank for file in files), default=-1) + 1
    records = counter_records(files, numbers, clocks, table.files)
    trace = Trace(
        source=TraceSource(format="venturi", file=name, library_version=version),
        job=TracedJob(
            ranks=max(ranks, 1),
            seconds=facts.seconds,
            started=facts.started,
            command=shlex.join(facts.command),
        ),
        layers=WATCHED,
        records=records,
        gaps=gaps_of(files, facts.command, broken, facts.moved),
        record_count=len(records),
        files=table.files,
        processes=[_process(file, clocks[file.host]) for file in files],
        operation_count=len(operations),
    )
    return FoldedCapture(trace, operations if len(operations) else None)


def _mark_data(
    files: list[ProcessFile], numbers: list[dict[int, int]], found: list[TracedFile]
) -> None:
    """Says of files whose names are those of code where a program used them as data."""
    for file, own in zip(files, numbers, strict=True):
        for counted in file.counters:
            number = own.get(counted.file)
            if number is None or found[number].is_data:
                continue
            path, used = found[number].path, counted.values
            if is_used_as_data(path, file.program, file.starts_programs, used):
                found[number] = found[number].model_copy(update={"is_data": True})


def _mark_copied(rows: Operations, found: list[TracedFile]) -> None:
    """Both files of a copy are data, whoever makes it."""
    copies = np.isin(rows.kind, [KIND_CODES[kind] for kind in COPIES])
    copied = np.concatenate([rows.file[copies], rows.detail[copies]])
    for number in np.unique(copied[copied < len(found)]).tolist():
        if names_code(found[number].path):
            found[number] = found[number].model_copy(update={"is_data": True})


def _mark_named(rows: Operations, found: list[TracedFile]) -> None:
    """What has a name of code only since it was renamed, or by a link, is data as it was before."""
    named = np.flatnonzero(np.isin(rows.kind, _NAMING))
    in_time = named[np.argsort(rows.start_ns[named], kind="stable")]
    for file, to in zip(rows.file[in_time].tolist(), rows.detail[in_time].tolist(), strict=True):
        if max(file, to) >= len(found) or not names_code(found[to].path):
            continue
        if found[file].is_data or not names_code(found[file].path):
            found[to] = found[to].model_copy(update={"is_data": True})


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


@dataclass(frozen=True)
class _WindowRows:
    """What one window holds."""

    process: int
    window: Any
    known: Any
    """A mask of the records that are operations; None: all are."""
    at: int
    """How many operations come before."""


def _parts_of(files: list[ProcessFile]) -> list[_WindowRows]:
    parts = []
    at = 0
    for i, file in enumerate(files):
        for window in file.records:
            known = (window["start"] != 0) & (window["kind"] < len(KINDS))
            parts.append(_WindowRows(i, window, None if known.all() else known, at))
            at += len(window) if parts[-1].known is None else int(np.count_nonzero(known))
    return parts


def _folded(
    files: list[ProcessFile], numbers: list[dict[int, int]], clocks: dict[str, Clock]
) -> FoldedOperations:
    """All complete records that are operations, as columns, and how often they are repeated."""
    parts = _parts_of(files)
    columns, row_count = _columns(parts, files, numbers, clocks)
    runs = _runs(parts, files, clocks)
    starts = columns["start_ns"]
    if row_count and np.any(starts[1:] < starts[:-1]):
        order = np.argsort(starts, kind="stable")
        columns = {name: column[order] for name, column in columns.items()}
        place = np.empty(row_count, np.int64)
        place[order] = np.arange(row_count)
        runs = replace(runs, row=place[runs.row])
    return FoldedOperations(operations_of(**columns), runs)


def _columns(
    parts: list[_WindowRows],
    files: list[ProcessFile],
    numbers: list[dict[int, int]],
    clocks: dict[str, Clock],
) -> tuple[dict[str, Any], int]:
    """The columns of the rows in the order of the windows, and how many rows there are."""
    rows = sum(_row_count(part) for part in parts)
    columns: dict[str, Any] = {name: np.empty(rows, dtype) for name, dtype in TYPES.items()}
    maps = [_map_of(own) for own in numbers]
    for part in parts:
        chosen = part.window if part.known is None else part.window[part.known]
        span = slice(part.at, part.at + len(chosen))
        clock = clocks[files[part.process].host]
        columns["process"][span] = part.process
        for column in ("thread", "layer", "kind", "error", "offset", "bytes"):
            columns[column][span] = chosen[column]
        columns["file"][span] = _translate(chosen["file"], maps[part.process])
        detail = columns["detail"][span]
        detail[:] = chosen["detail"]
        two = np.flatnonzero(_IS_OF_TWO_FILES[columns["kind"][span]])
        if len(two):
            detail[two] = _translate(detail[two], maps[part.process])
        for time in _TIMES:
            columns[f"{time}_ns"][span] = clock.since_start_ns(chosen[time])
    return columns, rows


def _row_count(part: _WindowRows) -> int:
    return len(part.window) if part.known is None else int(np.count_nonzero(part.known))


def _runs(parts: list[_WindowRows], files: list[ProcessFile], clocks: dict[str, Clock]) -> CallRuns:
    """How often rows are repeated; rows are numbered in the order of the windows."""
    found: list[dict[str, Any]] = []
    for part in parts:
        if part.known is None:
            continue
        at = np.flatnonzero((part.window["kind"] == REPEATED) & (part.window["start"] != 0))
        if not len(at):
            continue
        run = part.window.view(RUN)[at]
        number = np.cumsum(part.known) - 1 + part.at
        rate = clocks[files[part.process].host].rate
        took = (run["took"] * rate).astype(np.int64)
        found.append(
            {
                "row": number[at - run["period"].astype(np.int64)],
                "took_ns": took,
                "between_ns": ((run["took"] + run["between"]) * rate).astype(np.int64) - took,
                **{name: run[name] for name in _OF_RUNS},
            }
        )
    if not found:
        return no_runs()
    joined = {name: np.concatenate([one[name] for one in found]) for name in found[0]}
    return runs_of(**joined)


def _used_by(file: ProcessFile) -> set[int]:
    """The process's own numbers of the files that its counters and operations name."""
    used = np.zeros(max(file.names, default=-1) + 2, bool)
    used[[min(counted.file, len(used) - 1) for counted in file.counters]] = True
    for window in file.records:
        kind = window["kind"]
        used[np.minimum(window["file"][kind < len(KINDS)], len(used) - 1)] = True
        two = np.flatnonzero(_IS_OF_TWO_FILES[kind])
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
