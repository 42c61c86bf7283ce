"""Loops with odd turns, and stalls: what happens but once breaks no loop and no write in two."""

from __future__ import annotations

import pytest
from traced_run import MS, REOPEN, TracedRun, check_exact, derived, moves_of, steps_of

from venturi.derive.yaml_text import to_yaml
from venturi.model.operation import Kind
from venturi.model.workload import StepSpec, Workload

MIB = 2**20


def loops(workload: Workload) -> list[StepSpec]:
    return [step for step in steps_of(workload) if step.for_ is not None]


def conditions(workload: Workload) -> list[str]:
    return [str(step.when) for step in steps_of(workload) if step.when is not None]


def turn(run: TracedRun, number: int, is_last: bool) -> None:
    """A record of the journal, a page of the table, and the next line of the input."""
    for name, size, offset in (("journal", 512, 0), ("table", 4096, number * 4096)):
        if name == "journal":
            run.open(0, name)
        run.move(0, Kind.WRITE, name, [(offset, size)])
        run.call(0, Kind.SYNC, name)
    run.close(0, "journal")
    run.call(0, Kind.UNLINK, "journal")
    if not is_last:
        run.open(0, "input", REOPEN)
        run.move(0, Kind.READ, "input", [(number * 100, 100)])
        run.close(0, "input")


@pytest.mark.parametrize("turns", [12, 60])
def test_the_last_turn_may_be_cut_short(turns: int) -> None:
    run = TracedRun(1)
    run.open(0, "table")
    for number in range(turns):
        turn(run, number, number == turns - 1)
    run.close(0, "table")
    found = derived(run)
    made = check_exact(run, found)
    assert made.totals.operations["unlink"] == turns
    assert conditions(found) == [f"i < {turns - 1}"], to_yaml(found)
    assert [loop.in_ for loop in loops(found)] == [turns]


@pytest.mark.parametrize("at", [3, 17, 29])
@pytest.mark.parametrize("ranks", [1, 3])
def test_what_one_turn_does_alone_stands_in_its_loop(at: int, ranks: int) -> None:
    run = TracedRun(ranks)
    for number in range(30):
        for rank in range(ranks):
            for name in ("a", "b"):
                path = f"{name}{number}_{rank}x"
                run.open(rank, path)
                run.move(rank, Kind.WRITE, path, [(i * MIB, MIB) for i in range(3)])
                run.close(rank, path)
                if number == at and name == "a":
                    run.open(rank, f"more{rank}x", REOPEN)
                    run.move(rank, Kind.READ, f"more{rank}x", [(i * MIB, MIB) for i in range(9)])
                    run.close(rank, f"more{rank}x")
        run.meet()
    found = derived(run)
    check_exact(run, found)
    assert [loop.in_ for loop in loops(found) if loop.in_ == 30] == [30], to_yaml(found)
    assert f"i == {at}" in conditions(found)


def test_loops_within_loops_are_found_where_the_outer_one_is_longer() -> None:
    run = TracedRun(1)
    for folder in range(24):
        run.call(0, Kind.MKDIR, f"d{folder}")
        for number in range(6):
            source, target = f"in/d{folder}/f{number}", f"out/d{folder}/f{number}"
            run.open(0, source, REOPEN)
            run.move(0, Kind.READ, source, [(0, 3000 * (number + 1))])
            run.close(0, source)
            run.open(0, target)
            run.move(0, Kind.WRITE, target, [(0, 3000 * (number + 1))])
            run.close(0, target)
    found = derived(run)
    check_exact(run, found)
    assert sorted(loop.in_ for loop in loops(found)) == [6, 24], to_yaml(found)


@pytest.mark.parametrize("stall_ms", [8, 15, 40])
@pytest.mark.parametrize("at", [1, 50, 77])
def test_a_stall_leaves_a_contiguous_write_whole(stall_ms: int, at: int) -> None:
    run = TracedRun(1)
    run.open(0, "out")
    for part in range(100):
        if part == at:
            run.meet(stall_ms * MS)
        run.move(0, Kind.WRITE, "out", [(part * MIB, MIB)])
    run.close(0, "out")
    found = derived(run)
    check_exact(run, found)
    [move] = moves_of(found)
    assert move.transfer == "1 MiB"
    assert len([step for step in steps_of(found) if step.phase]) == 1


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("stalls", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_stalls_break_no_loop_without_pauses(ranks: int, stalls: int, seed: int) -> None:
    run = TracedRun(ranks, seed=seed)
    at = {run.p_value.randrange(160) for _ in range(stalls)}
    for dump in range(20):
        for rank in range(ranks):
            path = f"dump_{dump}_{rank}x"
            run.open(rank, path)
            for part in range(8):
                if dump * 8 + part in at:
                    run.meet(run.p_value.randint(8 * MS, 30 * MS))
                run.move(rank, Kind.WRITE, path, [(part * MIB, MIB)])
            run.close(rank, path)
    found = derived(run)
    check_exact(run, found, files=20 * ranks)
    assert len(moves_of(found)) == 1, to_yaml(found)
    assert len([step for step in steps_of(found) if step.phase]) == 1


def test_two_halves_with_computing_between_them_stay_two() -> None:
    run = TracedRun(1)
    run.open(0, "out")
    for half in range(2):
        run.meet(3000 * MS)
        run.move(0, Kind.WRITE, "out", [((half * 50 + i) * MIB, MIB) for i in range(50)])
    run.close(0, "out")
    found = derived(run)
    check_exact(run, found)
    assert any(step.compute is not None for step in steps_of(found))


def test_a_small_file_that_a_loop_adds_to_is_made_before_it() -> None:
    run = TracedRun(1)
    run.open(0, "out")
    run.move(0, Kind.WRITE, "out", [(i * MIB, MIB) for i in range(400)])
    run.close(0, "out")
    for number in range(12):
        run.open(0, "notes", 0o102)
        run.move(0, Kind.WRITE, "notes", [(number * 30, 30)])
        run.close(0, "notes")
    run.call(0, Kind.UNLINK, "notes")
    check_exact(run, derived(run))


def test_two_cadences_are_one_loop_with_a_condition() -> None:
    run = TracedRun(2)
    for step in range(0, 201, 10):
        run.meet(pause=300 * MS)
        for rank in range(2):
            if step % 20 == 0:
                run.open(rank, f"dump{step}_{rank}x")
                run.move(
                    rank, Kind.WRITE, f"dump{step}_{rank}x", [(i * MIB, MIB) for i in range(3)]
                )
                run.close(rank, f"dump{step}_{rank}x")
            if step and step % 50 == 0:
                run.open(rank, f"state{step}_{rank}x")
                run.move(rank, Kind.WRITE, f"state{step}_{rank}x", [(0, MIB), (MIB, MIB)])
                run.close(rank, f"state{step}_{rank}x")
    found = derived(run)
    made = check_exact(run, found)
    assert made.totals.operations["create"] == 2 * (11 + 4)
    assert [loop.in_ for loop in loops(found)] == [11]
    assert conditions(found) == ["i == 2 or i == 5 or i == 7 or i == 10"]


def test_many_stalls_within_one_read_are_left_out() -> None:
    run = TracedRun(1)
    run.open(0, "input", REOPEN)
    at = 0
    for number, count in enumerate((31, 17, 44, 9, 26, 38, 12, 53, 21, 35, 28, 40, 15)):
        run.move(0, Kind.READ, "input", [(at + i * 8192, 8192) for i in range(count)])
        at += count * 8192
        run.meet(pause=(12 + 5 * (number % 6)) * MS)
    run.close(0, "input")
    found = derived(run)
    check_exact(run, found)
    assert len(moves_of(found)) == 1, to_yaml(found)
