"""A program that adds a line to its log in each step: the line's length breaks no loop."""

from __future__ import annotations

import pytest
from traced_run import APPEND, MS, TracedRun, check_exact, check_one_by_one, derived, steps_of

from venturi.model.operation import Kind
from venturi.model.workload import Workload

STEPS = 20
PIECES = [(i * 2**16, 2**16) for i in range(16)]


def logged(lengths: list[int], pause: int = 60 * MS) -> TracedRun:
    """Each step writes a field into a file of its own and a line into one log."""
    run, end = TracedRun(1), 0
    for step, length in enumerate(lengths):
        run.meet(pause=pause)
        run.open(0, f"field.{step:03}")
        run.move(0, Kind.WRITE, f"field.{step:03}", PIECES)
        run.close(0, f"field.{step:03}")
        run.open(0, "log", APPEND)
        run.move(0, Kind.WRITE, "log", [(end, length)])
        run.close(0, "log")
        end += length
    return run


def loops_of(workload: Workload) -> list[int | str | None]:
    return [step.in_ for step in steps_of(workload) if step.for_]


@pytest.mark.parametrize("pause", [0, 60 * MS])
def test_steps_with_lines_of_several_lengths_are_one_loop(pause: int) -> None:
    run = logged([5] * 5 + [6] * 5 + [7] * 10, pause)
    workload = derived(run)
    check_one_by_one(run, workload)
    assert loops_of(workload) == [STEPS - 1]  # all but the first, which makes the log
    assert len(steps_of(workload)) <= 16


def test_lines_that_are_the_bulk_of_a_program_keep_their_sizes() -> None:
    run = TracedRun(1)
    run.open(0, "log", APPEND)
    sizes = [64] * 500 + [4000] * 500
    places = [sum(sizes[:i]) for i in range(len(sizes))]
    run.move(0, Kind.WRITE, "log", list(zip(places, sizes, strict=True)))
    run.close(0, "log")
    workload = derived(run)
    check_one_by_one(run, workload)
    assert len(steps_of(workload)) <= 6


def test_files_that_a_loop_wrote_are_the_ones_that_are_read() -> None:
    run = logged([9] * STEPS)
    run.meet(pause=60 * MS)
    for step in range(STEPS):
        run.open(0, f"field.{step:03}", 0)
        run.move(0, Kind.READ, f"field.{step:03}", [(0, 2**20)])
        run.close(0, f"field.{step:03}")
    workload = derived(run)
    check_exact(run, workload, STEPS + 1)
    assert all(file.prestage is None for file in workload.files.values())
    assert loops_of(workload) == [STEPS, STEPS]
