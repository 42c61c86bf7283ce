"""Files that take turns in batches, one read and another written, do so in the proxy, too."""

from __future__ import annotations

from traced_run import REOPEN, TracedRun, check_exact, check_one_by_one, derived, steps_of

from venturi.derive.yaml_text import to_yaml
from venturi.model.operation import Kind
from venturi.model.workload import StepSpec

STRIP, TILE = 8000, 65536


def converted(turns: int, strips: int, tiles: int) -> TracedRun:
    """An image of strips is read, and written in tiles, a row of tiles at a time."""
    run = TracedRun(1, seed=9)
    run.open(0, "in", REOPEN)
    run.open(0, "out")
    for turn in range(turns):
        reads = strips + (turn % 3 == 1)
        run.move(0, Kind.READ, "in", [((turn * strips + i) * STRIP, STRIP) for i in range(reads)])
        run.move(0, Kind.WRITE, "out", [((turn * tiles + i) * TILE, TILE) for i in range(tiles)])
    run.close(0, "out")
    run.close(0, "in")
    return run


def test_small_batches_are_told_call_by_call() -> None:
    run = converted(20, 12, 16)
    found = derived(run)
    check_one_by_one(run, found)
    # No table of where each turn begins: it would be fewer lines, and longer ones.
    assert len(steps_of(found)) <= 16
    assert "pick" not in to_yaml(found)


def test_what_is_read_in_batches_is_not_read_at_once() -> None:
    run = converted(20, 130, 16)
    found = derived(run)
    check_one_by_one(run, found)
    (loop,) = [step for step in steps_of(found) if step.for_ is not None]
    inner = [step.verb for step in loop.do or [] if isinstance(step, StepSpec)]
    assert (loop.in_, inner) == (20, ["read", "write"])


def test_turns_of_single_requests_are_no_batches() -> None:
    run = converted(300, 1, 1)
    found = derived(run)
    check_exact(run, found, files=2)
    assert len(steps_of(found)) <= 12
