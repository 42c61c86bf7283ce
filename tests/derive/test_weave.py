"""Files that take turns stay so: their requests share the turns of one loop, each as many."""

from __future__ import annotations

import pytest
from traced_run import REOPEN, TracedRun, check_exact, check_one_by_one, derived, steps_of

from venturi.derive.operation.table_run import with_run_apart
from venturi.model.operation import Kind
from venturi.model.workload import DataStep, PatternKind, StepSpec, Workload

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
    check_one_by_one(run, workload)
    loop = woven_loop(workload)
    assert loop.in_ in (turns - 1, turns)


def looked_up(every: int) -> TracedRun:
    """A file that is copied in turns of five reads, whose index is read again and again."""
    run = TracedRun(1, seed=5)
    run.open(0, "in", REOPEN)
    run.open(0, "out")
    run.move(0, Kind.READ, "in", [(0, 300), (4, 20), (300, 50)])
    for turn in range(40):
        if turn % every == 1:
            run.move(0, Kind.READ, "in", [(350 + turn * 16, 160)])
        run.move(0, Kind.READ, "in", [(9001 + (turn * 5 + i) * READ, READ) for i in range(5)])
        run.move(0, Kind.WRITE, "out", [(turn * WRITTEN, WRITTEN)])
    run.close(0, "out")
    run.close(0, "in")
    return run


def test_a_run_amidst_odd_requests_takes_turns_with_another_file() -> None:
    run = looked_up(every=9)
    workload = derived(run)
    check_one_by_one(run, workload)
    assert len([step for step in steps_of(workload) if step.for_]) == 1


def table_read(table: list[list[int]], at: int) -> StepSpec:
    """A step of requests of 100 bytes at most."""
    keys = {"from": "file", "pattern": PatternKind.TABLE, "table": table}
    return StepSpec(read=DataStep.model_validate({**keys, "transfer": 100, "at": at}))


@pytest.mark.parametrize("odd", [[[9001, 100], [20_000, 100]], [[9001, 300]]])
def test_a_table_with_many_odd_requests_or_of_other_sizes_stays(odd: list[list[int]]) -> None:
    table = [[0, 400], *odd, [401, 400]] if len(odd) == 1 else [[0, 400], *odd, [400, 400]]
    step = table_read(table, at=0)
    assert with_run_apart(step) == [step]


def test_a_table_is_a_run_and_what_is_odd_before_it() -> None:
    table = [[0, 7], [50, 4000], [0, 7], [4050, 130]]
    odd, run = with_run_apart(table_read(table, at=1000))
    assert isinstance(odd, StepSpec)
    assert isinstance(odd.read, DataStep)
    assert isinstance(run, StepSpec)
    assert isinstance(run.read, DataStep)
    assert (odd.read.table, odd.read.at) == ([[0, 7], [0, 7]], 1000)
    assert (run.read.size, run.read.at, run.read.transfer) == ("4130 B", "1050 B", 100)


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
    check_one_by_one(run, workload)
    assert woven_loop(workload).in_ == 40


def test_what_comes_after_all_files_stays_apart() -> None:
    run = packed(80)
    workload = derived(run)
    check_exact(run, workload, files=81)
    for loop in (step for step in steps_of(workload) if step.for_ is not None):
        verbs = {step.verb for step in loop.do or [] if isinstance(step, StepSpec)}
        assert not {"read", "write"} <= verbs
