"""Seeks, and reads that bring nothing, come before as many requests as they did, if they matter."""

from __future__ import annotations

import pytest
from traced_run import TracedRun, check_exact, derived, moves_of

from venturi.model.operation import Kind
from venturi.model.trace import Layer
from venturi.model.workload import Workload

PAGE = 8192


def paged(pages: int, looks: int, layer: Layer = Layer.POSIX) -> TracedRun:
    """Pages, each looked at before it is written, and the position moved for both; after `looks`
    of them the program knows that there is nothing."""
    run = TracedRun(1, layer=layer)
    run.open(0, "out")
    for page in range(pages):
        if page < looks:
            run.call(0, Kind.SEEK, "out", page * PAGE)
            run.call(0, Kind.READ, "out", page * PAGE, 0)
            run.call(0, Kind.SEEK, "out", page * PAGE)
        run.move(0, Kind.WRITE, "out", [(page * PAGE, PAGE)])
    run.call(0, Kind.SEEK, "out", 0)  # behind the last request: it is of that one
    run.close(0, "out")
    return run


def said_of_empty(workload: Workload) -> list[str]:
    """What the workload says to have left out."""
    assert workload.origin is not None
    return [said for said in workload.origin.assumed if "0 bytes" in said]


@pytest.mark.parametrize(("looks", "seeks"), [(64, 2.0156), (32, 1.0156)])
def test_there_are_as_many(looks: int, seeks: float) -> None:
    run = paged(64, looks)
    workload = derived(run)
    made = check_exact(run, workload, files=1)
    (write,) = moves_of(workload)
    assert (write.seeks, write.empty_reads) == (seeks, looks / 64)
    assert made.totals.operations["seek"] == 2 * looks + 1
    assert made.totals.operations["empty_read"] == looks
    assert said_of_empty(workload) == []


def test_few_of_them_are_left_out() -> None:
    run = paged(2000, 2)
    workload = derived(run)
    made = check_exact(run, workload, files=1)
    assert "seek" not in made.totals.operations
    (said,) = said_of_empty(workload)
    assert "2 requests of 0 bytes" in said


def test_streams_position_themselves() -> None:
    run = paged(64, 64, Layer.STDIO)
    made = check_exact(run, derived(run), files=1)
    assert "seek" not in made.totals.operations
