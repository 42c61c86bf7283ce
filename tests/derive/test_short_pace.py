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
    ("source", "between", "told"),
    [("venturi", 3 * US, True), ("venturi", 60 * US, False), ("strace", 3 * US, False)],
)
def test_computing_between_calls(source: str, between: int, told: bool) -> None:
    run = TracedRun(1)
    write_in_turn(run, between)
    captured = run.captured()
    said = Source(format=source, file="run.trace")
    trace = captured.trace.model_copy(update={"source": said})
    found = derive(replace(captured, trace=trace), "turns")
    check_exact(run, found)
    thinks = [str(move.think) for move in moves_of(found)]
    assert len(thinks) >= 2
    if not told:
        assert set(thinks) <= {"0", "None"}, thinks
        return
    for think in thinks:
        amount, unit = think.split()
        # Three microseconds, and what passes before every call of such a run.
        assert unit == "us"
        assert 3.5 <= float(amount) <= 5.5, thinks
