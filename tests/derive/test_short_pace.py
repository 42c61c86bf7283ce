"""Microseconds of computing between calls are told where a capture can know them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from traced_run import TracedRun, check_exact, moves_of

from capture_factory import CaptureFactory
from venturi.derive.operation.pace import UNKNOWN, beside_ns, between_calls
from venturi.derive.workload import derive
from venturi.model.operation import KIND_CODES, Column, Kind
from venturi.model.trace import Layer, TraceSource

US = 1000


def write_in_turn(run: TracedRun, between: int) -> None:
    """Two files that take turns, so that no request follows one on the same file."""
    for name in ("log", "table"):
        run.open(0, name)
    for turn in range(60):
        for name in ("log", "table"):
            run.move(0, Kind.WRITE, name, [(turn * 100, 100)], think=between)
    for name in ("log", "table"):
        run.close(0, name)


@pytest.mark.parametrize(
    ("source", "between", "least_us", "most_us"),
    [("venturi", 3 * US, 5, 5), ("venturi", 60 * US, 60, 66), ("strace", 3 * US, 0, 0)],
)
def test_computing_between_calls(source: str, between: int, least_us: int, most_us: int) -> None:
    run = TracedRun(1)
    write_in_turn(run, between)
    captured = run.captured()
    said = TraceSource(format=source, file="run.trace")
    trace = captured.trace.model_copy(update={"source": said})
    found = derive(replace(captured, trace=trace), "turns")
    check_exact(run, found)
    thinks = [str(move.think) for move in moves_of(found)]
    assert len(thinks) >= 2
    for think in thinks:
        # What passes before every call of such a run, 0.5 to 2 us, and 0 to 5 % more.
        assert least_us <= float(think.removesuffix(" us")) <= most_us, thinks


def gaps(ways_ns: list[int], kinds: list[Kind]) -> Column:
    """What is told of calls of one process: before each of them so long, and each takes 1 us."""
    start = np.cumsum(np.array(ways_ns) + US)
    kind = np.array([KIND_CODES[one] for one in kinds])
    no_rank = np.zeros(len(kinds), np.int64)
    computing, recording = between_calls(no_rank, kind, start, start + US, "venturi")
    assert (computing + recording)[1:].tolist() == ways_ns[1:]
    return computing


def test_recording_is_no_computing() -> None:
    """After each open 600 ns pass, and after each read 40: no program does what takes that."""
    found = gaps([0, *[600, 40] * 30], [Kind.OPEN, *[Kind.READ, Kind.OPEN] * 30])
    assert found[0] == UNKNOWN
    assert set(found[1:].tolist()) == {0}


def test_computing_after_quick_calls_is_told() -> None:
    """A descriptor is known by its number, so recording a call on it takes 60 ns at most."""
    found = gaps([0, *[600, 100] * 30], [Kind.OPEN, *[Kind.READ, Kind.OPEN] * 30])
    assert set(found[1::2].tolist()) == {0}
    assert set(found[2::2].tolist()) == {40}


def test_computing_after_names_is_told() -> None:
    """Every tenth open is followed by 5 us; recording alone takes no more than 1 us."""
    ways = [5000 if turn % 10 == 0 else 600 for turn in range(100)]
    found = gaps([0, *ways], [Kind.OPEN] * 101)
    assert sorted(set(found[1:].tolist())) == [0, 4400]
    assert set(gaps([0, *[5000] * 20], [Kind.OPEN] * 21)[1:].tolist()) == {4000}


def test_calls_beside_the_requests_are_no_computing() -> None:
    """A seek between two writes is; a library's call around them, another process's, and one on a
    file of the system are not."""
    made = CaptureFactory(ranks=2)
    made.call(1, Kind.WRITE, "/scratch/b", 8, 0, s=4 * US / 1e9)
    made.clock_s[1] = 1 * US / 1e9
    made.call(1, Kind.WRITE, "/scratch/b", 8, 0, s=90 * US / 1e9, layer=Layer.HDF5_FILE)
    made.clock_s[1] = 60 * US / 1e9
    made.call(1, Kind.WRITE, "/scratch/b", 8, 8, s=4 * US / 1e9)
    made.call(0, Kind.WRITE, "/scratch/a", 8, 0, s=10 * US / 1e9)
    made.clock_s[0] = 12 * US / 1e9
    made.call(0, Kind.SEEK, "/scratch/a", s=8 * US / 1e9)
    made.call(0, Kind.STAT, "/etc/passwd", s=3 * US / 1e9)
    made.clock_s[0] = 25 * US / 1e9
    made.call(0, Kind.WRITE, "/scratch/a", 8, 8, s=5 * US / 1e9)
    captured = made.captured()
    ops = captured.operations
    assert ops is not None
    height = np.where(ops.is_layer(Layer.HDF5_FILE), 1, 0)
    ours = np.array([file.path.startswith("/scratch") for file in captured.trace.files])[ops.file]
    rows = np.flatnonzero(ops.is_kind(Kind.WRITE) & (height == 0))
    found = beside_ns(ops, ops.process, rows, height, ours)
    later = ops.offset[rows] == 8
    told = {int(p): int(ns) for p, ns in zip(ops.process[rows[later]], found[later], strict=True)}
    assert told == {0: 8 * US, 1: 0}
    assert set(found[~later].tolist()) == {0}
