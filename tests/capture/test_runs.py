"""Runs of equal calls are kept once, and what is made of the trace is as if each were there."""

from __future__ import annotations

import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from capture.conftest import Capture
from venturi.capture.clock import Beginning
from venturi.capture.merge import LaunchFacts, merge
from venturi.capture.process_file import REPEATED, ProcessFile
from venturi.capture.spool import read_all
from venturi.capture.tracer import TracerSettings, configure, environment
from venturi.derive.workload import derive
from venturi.model.operation import KIND_CODES, Kind
from venturi.model.trace_folder import Captured, FoldedCapture, read_trace, write_trace

FACTS = LaunchFacts(Beginning("host", 1, 1), "", 1.0, ("cycles",))
SEEDS = range(1, 9)
LONGEST_TICKS = 1_000_000
FAR_TICKS = 20_000
DERIVED = {"layer", "operations", "request_sizes", "bytes_written", "bytes_read", "files"}
_KEPT = ("kind", "layer", "offset", "bytes", "error", "detail")


class Traced:
    """Programs under the tracer, without a capture around them."""

    def __init__(self, place: Path, programs: Path) -> None:
        self._place, self._programs, self._count = place, programs, 0

    def __call__(self, *command: str, settings: TracerSettings) -> list[ProcessFile]:
        self._count += 1
        spool, here = self._place / f"spool{self._count}", self._place / "here"
        spool.mkdir()
        here.mkdir(exist_ok=True)
        configure(spool, settings)
        # At the same addresses each time.
        line = ["setarch", "-R", str(self._programs / command[0]), *command[1:]]
        subprocess.run(line, cwd=here, env=environment(spool), check=True)
        files, broken = read_all(spool)
        assert broken == []
        assert [file.damage for file in files] == [()] * len(files)
        return [file for file in files if file.program == command[0]]

    def of(self, seed: int, threads: int, *, with_runs: bool) -> list[ProcessFile]:
        settings = TracerSettings(with_runs=with_runs)
        return self("cycles", str(seed), str(threads), settings=settings)


@pytest.fixture
def traced(tmp_path: Path, programs: Path) -> Traced:
    return Traced(tmp_path, programs)


def merged(files: list[ProcessFile]) -> FoldedCapture:
    first = min(files, key=lambda file: file.first[1])
    beginning = Beginning(first.host, first.first[1], first.realtime_ns)
    return merge(files, replace(FACTS, beginning=beginning), "x", "1")


def by_thread(captured: Captured) -> dict[str, list[tuple[Any, ...]]]:
    """The calls of each thread, which is known by the first file that it opens, in their order."""
    ops = captured.operations
    assert ops is not None
    paths = [file.path.rsplit("/", 1)[-1] for file in captured.trace.files]
    columns = [getattr(ops, name) for name in _KEPT]
    found = {}
    for thread in np.unique(ops.thread):
        rows = np.flatnonzero(ops.thread == thread)
        calls = list(
            zip(
                *[column[rows].tolist() for column in columns],
                [paths[i] if i < len(paths) else "" for i in ops.file[rows].tolist()],
                strict=True,
            )
        )
        opened = [call[-1] for call in calls if call[0] == KIND_CODES[Kind.OPEN]]
        found[opened[0] if opened else ""] = calls
    return found


def runs_in(files: list[ProcessFile]) -> int:
    return sum(int(np.count_nonzero(w["kind"] == REPEATED)) for f in files for w in f.records)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_calls_are_there(traced: Traced, seed: int, threads: int) -> None:
    plain, folded = (traced.of(seed, threads, with_runs=way) for way in (False, True))
    assert runs_in(plain) == 0
    assert runs_in(folded) > 20
    assert len(merged(folded).operations or ()) == len(merged(plain).operations or ())
    expected, found = by_thread(merged(plain).unfolded()), by_thread(merged(folded).unfolded())
    assert expected.keys() == found.keys()
    for who, calls in expected.items():
        assert len(calls) == len(found[who])
        apart = [pair for pair in zip(calls, found[who], strict=True) if pair[0] != pair[1]]
        assert apart == []


def test_threads_that_need_room_at_once_get_parts_of_the_file_of_their_own(
    traced: Traced,
) -> None:
    """Names, counters and records grow by themselves; `Traced` finds what overlaps."""
    for seed in range(100, 120):
        assert traced.of(seed, 8, with_runs=seed % 2 == 0)


def in_ticks(file: ProcessFile) -> ProcessFile:
    """The same, with ticks taken for nanoseconds, so that nothing is rounded."""
    return replace(
        file, ticks_are_ns=True, first=(file.first[0], 0), last=(file.last[0], 1), host="host"
    )


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_time_is_lost(traced: Traced, seed: int, threads: int) -> None:
    """The counters, which are kept call by call, know how long calls took and when the first began:
    unfolded calls give the same, tick by tick."""
    [file] = traced.of(seed, threads, with_runs=True)
    ticked = in_ticks(file)
    captured = merge([ticked], replace(FACTS, beginning=Beginning("host", 0, 0)), "x", "1")
    ops = captured.unfolded().operations
    assert ops is not None
    start = ops.start_ns + file.first[0]
    end = ops.end_ns + file.first[0]
    paths = [known.path for known in captured.trace.files]
    compared = 0
    for counted in file.counters:
        name = file.names[counted.file].path
        if name not in paths:
            continue
        rows = (ops.file == paths.index(name)) & (ops.layer == counted.layer) & (ops.error == 0)
        for kind, way in ((Kind.READ, "READ"), (Kind.WRITE, "WRITE")):
            here = rows & (ops.kind == KIND_CODES[kind])
            assert int((end - start)[here].sum()) == counted.values[f"F_{way}_TIME"]
            if not here.any():
                continue
            compared += 1
            assert int(start[here].min()) == counted.values[f"F_{way}_START_TIMESTAMP"]
            # Which of the calls of a cycle took how long is known of all repetitions together.
            last = counted.values[f"F_{way}_END_TIMESTAMP"]
            assert abs(int(end[here].max()) - last) <= LONGEST_TICKS
    assert compared > 3


@pytest.mark.parametrize("seed", SEEDS)
def test_calls_of_a_thread_follow_each_other(traced: Traced, seed: int) -> None:
    """And whatever stands out is no part of a run: a long call, a long pause."""
    files = traced.of(seed, 4, with_runs=True)
    for file in files:
        for window in file.records:
            calls = window[(window["kind"] == REPEATED)]
            assert np.all(calls["end"] <= LONGEST_TICKS)  # took
            assert np.all(calls["offset"] <= LONGEST_TICKS)  # between
            assert np.all(calls["end"] <= calls["start"] * FAR_TICKS)
    ops = merged(files).unfolded().operations
    assert ops is not None
    for thread in np.unique(ops.thread):
        mine = ops.thread == thread
        start, end = ops.start_ns[mine], ops.end_ns[mine]
        assert np.all(start[1:] >= end[:-1] - 1)
        assert np.all(end >= start)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_trace_on_disk_is_the_same(traced: Traced, tmp_path: Path, seed: int) -> None:
    folded = merged(traced.of(seed, 2, with_runs=True))
    write_trace(tmp_path / "folded.trace", folded)
    write_trace(tmp_path / "plain.trace", folded.unfolded())
    one, other = (read_trace(tmp_path / f"{name}.trace") for name in ("folded", "plain"))
    assert one.trace == other.trace
    assert one.operations is not None
    assert other.operations is not None
    for name in (*_KEPT, "start_ns", "end_ns", "process", "thread", "file"):
        assert np.array_equal(getattr(one.operations, name), getattr(other.operations, name)), name


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_derive_finds_the_same_bytes(traced: Traced, seed: int) -> None:
    told = []
    for with_runs in (False, True):
        found = derive(merged(traced.of(seed, 1, with_runs=with_runs)).unfolded(), "cycles")
        assert found.origin is not None
        observed = found.origin.observed
        assert observed is not None
        # Coverage depends on times, also between two captures without runs.
        told.append(observed.model_dump(include=DERIVED))
    assert told[0] == told[1]


LINES = """
#include <stdio.h>
int main(void) {
  static int values[4];
  FILE* file = fopen("numbers", "w+");
  for (int i = 0; i < 1000000; ++i) fwrite(&i, sizeof i, 1, file);
  rewind(file);
  for (int i = 0; i < 1000000; ++i)
    if (fread(values, sizeof *values, 1, file) != 1) return 9;
  return fclose(file);
}
"""


def test_a_million_small_reads_take_little_room(capture: Capture) -> None:
    run = capture(capture.compiled(LINES))
    assert run.trace.operation_count >= 2_000_003
    operations = run.captured.operations
    assert operations is not None
    counts = Counter(operations.kind.tolist())
    assert counts[KIND_CODES[Kind.READ]] == counts[KIND_CODES[Kind.WRITE]] == 1_000_000
    size = sum(path.stat().st_size for path in run.folder.rglob("*") if path.is_file())
    assert size < 20_000_000
