"""Lines that a program appends to a file that it opens for each of them."""

from __future__ import annotations

from bisect import bisect_right

from traced_run import TracedRun, derived, planned, steps_of

from venturi.model.operation import Kind
from venturi.model.trace import Layer
from venturi.model.workload import DataStep, PatternKind

CREATE_TO_APPEND = 0o100 | 0o2000 | 0o1


def test_lines_that_grow_are_appended_in_every_turn() -> None:
    """As a shell does: the length of a number grows, and a stream knows no place in the file."""
    run = TracedRun(1, layer=Layer.STDIO)
    total = 0
    for number in range(1200):
        digits = bisect_right((10, 100, 300, 500), number)
        run.open(0, "run.log", detail=CREATE_TO_APPEND)
        run.move(0, Kind.WRITE, "run.log", [(0, 28 + digits), (28 + digits, 1)])
        run.call(0, Kind.SYNC, "run.log")
        run.call(0, Kind.SYNC, "run.log")
        run.close(0, "run.log")
        total += 29 + digits
    found = derived(run)
    writes = [step.write for step in steps_of(found) if isinstance(step.write, DataStep)]
    assert {write.pattern for write in writes} == {PatternKind.APPEND}
    made = planned(found)
    assert made.totals.bytes_written == total
    assert made.totals.operations["write"] == 2400
