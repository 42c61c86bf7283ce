"""Files that take turns stay so: their requests share the turns of one loop, each as many."""

from __future__ import annotations

import pytest
from traced_run import REOPEN, TracedRun, check_exact, derived, moves_of, steps_of

from venturi.model.operation import Kind
from venturi.model.workload import StepSpec, Workload

READ, WRITTEN = 4000, 10240


def woven_loop(workload: Workload) -> StepSpec:
    """The one loop, in which a file is read and another written."""
    (loop,) = [step for step in steps_of(workload) if step.for_ is not None]
    verbs = {step.verb for step in loop.do or [] if isinstance(step, StepSpec)}
    assert verbs >= {"read", "write"}
    return loop


@pytest.mark.parametrize(("reads", "tail"), [(5, 0), (2, 700)])
def test_two_runs_are_one_loop(reads: int, tail: int) -> None:
    run, turns = TracedRun(1), 40
    run.open(0, "in", REOPEN)
    run.open(0, "out")
    for turn in range(turns):
        places = [((turn * reads + i) * READ, READ) for i in range(reads)]
        last = turn == turns - 1
        run.move(0, Kind.READ, "in", places)
        run.move(0, Kind.WRITE, "out", [(turn * WRITTEN, tail if last and tail else WRITTEN)])
    run.close(0, "out")
    run.close(0, "in")
    workload = derived(run)
    check_exact(run, workload, files=2)
    loop = woven_loop(workload)
    assert loop.in_ == turns
    read = next(step for step in moves_of(workload) if step.from_)
    assert (read.count, read.at) == (reads, f"{reads * READ // 1000} kB * i")


def packed(gathers: int, files: int = 80) -> TracedRun:
    """Files of several requests, read one after the other into one that is written whenever a
    buffer is full, after every `gathers` of them."""
    run, buffered, end = TracedRun(1, seed=3), 0, 0
    run.open(0, "all")
    for file in range(files):
        run.open(0, f"part/{file:03d}", REOPEN)
        for i in range(4):
            run.move(0, Kind.READ, f"part/{file:03d}", [(i * 5000, 5000)])
            buffered += 5000
        run.close(0, f"part/{file:03d}")
        while (file + 1) % gathers == 0 and buffered >= WRITTEN:
            run.move(0, Kind.WRITE, "all", [(end, WRITTEN)])
            end, buffered = end + WRITTEN, buffered - WRITTEN
    run.close(0, "all")
    return run


def test_a_run_goes_into_the_loop_over_files() -> None:
    run = packed(1)
    workload = derived(run)
    check_exact(run, workload, files=81)
    loop = woven_loop(workload)
    assert loop.in_ == 80


def test_a_run_goes_into_the_phase_of_each_file() -> None:
    run = packed(1, files=40)
    workload = derived(run)
    check_exact(run, workload, files=41)
    before, loop, after = (
        step for step in next(iter(workload.program.values())) if isinstance(step, StepSpec)
    )
    assert (loop.in_, [step.verb for step in loop.do or [] if isinstance(step, StepSpec)]) == (
        40,
        ["phase"],
    )
    assert [step.verb for step in steps_of(workload)].count("write") == 1
    assert {step.verb for step in before.do or [] if isinstance(step, StepSpec)} == {"create"}
    assert {step.verb for step in after.do or [] if isinstance(step, StepSpec)} == {"close"}


def test_what_comes_after_all_files_stays_apart() -> None:
    run = packed(80)
    workload = derived(run)
    check_exact(run, workload, files=81)
    for loop in (step for step in steps_of(workload) if step.for_ is not None):
        verbs = {step.verb for step in loop.do or [] if isinstance(step, StepSpec)}
        assert not {"read", "write"} <= verbs
