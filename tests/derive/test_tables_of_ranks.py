"""Calls of several ranks that follow no rule are kept in tables."""

from __future__ import annotations

import pytest
from irregular_ranks import IrregularRanks
from traced_run import REOPEN, TracedRun, check_exact, derived, steps_of

from venturi.derive.nest.table_calls import CallsInParts
from venturi.derive.operation.table import table_of
from venturi.model.operation import Kind


@pytest.mark.parametrize("ranks", [2, 3, 5])
@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_every_call_of_every_rank_is_kept(seed: int, ranks: int) -> None:
    program = IrregularRanks(seed, ranks, steps=4, calls=200)
    workload = derived(program.run)
    assert workload.tables
    check_exact(program.run, workload)
    assert workload.origin is not None
    likeness = workload.origin.likeness
    assert likeness is not None
    assert likeness.placed == likeness.application
    # What ranks do together comes first in its part; of what some never open, all do.
    assert likeness.ordered > 0.98 * likeness.application
    assert likeness.proxy <= 1.01 * likeness.application
    assert any("made for" in said for said in workload.origin.assumed)


def written_by_the_first() -> TracedRun:
    """Two ranks make a file together, and the first of them writes into it."""
    run = TracedRun(2)
    for rank in range(2):
        run.open(rank, "all")
    run.meet()
    run.move(0, Kind.WRITE, "all", [(0, 700)])
    return run


def test_a_read_of_what_another_rank_wrote_comes_behind_a_wait() -> None:
    run = written_by_the_first()
    run.meet()
    run.move(1, Kind.READ, "all", [(300, 400)])
    found = CallsInParts.of(table_of(run.captured()))
    assert found is not None
    assert found.meetings.part.tolist() == [0, 0, 0, 1]


def test_a_read_that_waited_for_nobody_is_in_no_table() -> None:
    run = written_by_the_first()
    run.now[1] = run.now[0] - 1000
    run.move(1, Kind.READ, "all", [(300, 400)])
    run.rows[-1] = (*run.rows[-1][:6], run.rows[-2][7] - 1, run.rows[-2][7] + 1)
    assert CallsInParts.of(table_of(run.captured())) is None


def test_what_one_rank_makes_and_others_read_is_closed_by_those_that_do_not() -> None:
    run = TracedRun(3, seed=5)
    run.open(1, "head")
    run.move(1, Kind.WRITE, "head", [(0, 90)])
    run.close(1, "head")
    run.call(1, Kind.STAT, "head")
    run.meet()
    run.call(2, Kind.STAT, "head")
    found = CallsInParts.of(table_of(run.captured()))
    assert found is not None
    assert found.meetings.opens_for.tolist() == [1, -1, -1, -1, -1]


def test_two_ranks_that_append_to_a_file_are_in_no_table() -> None:
    run = TracedRun(2)
    for rank in range(2):
        run.open(rank, "log", 0o100 | 0o2000 | 0o1)
        run.move(rank, Kind.WRITE, "log", [(90 * rank, 90)])
    assert CallsInParts.of(table_of(run.captured())) is None


def test_an_input_of_several_ranks_is_filled_once_by_all() -> None:
    run = TracedRun(2, seed=3)
    for rank in range(2):
        run.open(rank, "input", REOPEN)
        for number in range(700):
            at = (number * number * 7919 + rank * 31) % 90_000
            run.move(rank, Kind.READ, "input", [(at, 1 + (at * at) % 977)])
        run.close(rank, "input")
    workload = derived(run)
    assert workload.tables
    made = check_exact(run, workload, files=1)
    longest = max(row[4] + row[5] for row in run.rows)
    assert longest <= made.totals.bytes_prestaged <= longest + 1
    assert not any(step.create for step in steps_of(workload))
