"""Microseconds of computing between calls are told where a capture can know them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from traced_run import TracedRun, check_exact, moves_of

from venturi.derive.workload import derive
from venturi.model.operation import Kind
from venturi.model.trace import Source

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
    said = Source(format=source, file="run.trace")
    trace = captured.trace.model_copy(update={"source": said})
    found = derive(replace(captured, trace=trace), "turns")
    check_exact(run, found)
    thinks = [str(move.think) for move in moves_of(found)]
    assert len(thinks) >= 2
    for think in thinks:
        # What passes before every call of such a run, 0.5 to 2 us, and 0 to 5 % more.
        assert least_us <= float(think.removesuffix(" us")) <= most_us, thinks
