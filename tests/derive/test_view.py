"""What is told apart in time: syncs between files that take turns, and pauses of a busy machine."""

from __future__ import annotations

import pytest
from traced_run import (
    MS,
    REOPEN,
    TracedRun,
    check_exact,
    check_one_by_one,
    derived,
    moves_of,
    steps_of,
)

from venturi.model.operation import Kind
from venturi.model.workload import StepSpec, SyncStep, Workload

PAGE = 4096


def verbs(workload: Workload) -> list[tuple[str, str]]:
    """Writes, syncs and removals in the order of the program, with their files."""
    found = []
    for step in steps_of(workload):
        data = step.write
        if data is not None and not isinstance(data, str):
            found.append(("write", str(data.to)))
        elif isinstance(step.sync, SyncStep):
            found.append(("sync", step.sync.on))
        elif step.unlink is not None:
            found.append(("unlink", step.unlink))
    return found


def transactions(ranks: int, count: int) -> TracedRun:
    """A journal is written and synced, then pages of a table, then the journal is removed."""
    run = TracedRun(ranks)
    for rank in range(ranks):
        run.open(rank, f"table.{rank}")
    for turn in range(count):
        pages = 3 + turn * 7 % 5
        for rank in range(ranks):
            journal, table = f"journal.{rank}", f"table.{rank}"
            run.open(rank, journal)
            run.move(rank, Kind.WRITE, journal, [(PAGE * i, PAGE) for i in range(pages)])
            run.call(rank, Kind.DATA_SYNC, journal)
            places = [0, *(PAGE * (turn + i * i + 1) for i in range(pages - 1))]
            run.move(rank, Kind.WRITE, table, [(place, PAGE) for place in places])
            run.call(rank, Kind.DATA_SYNC, table)
            run.close(rank, journal)
            run.call(rank, Kind.UNLINK, journal)
    for rank in range(ranks):
        run.close(rank, f"table.{rank}")
    return run


def test_transactions_of_one_rank_are_told_call_by_call() -> None:
    run = transactions(1, 40)
    check_one_by_one(run, derived(run))


def test_files_take_turns_between_syncs_as_they_did() -> None:
    ranks = 2
    run = transactions(ranks, 40)
    found = derived(run)
    check_one_by_one(run, found)
    assert len(steps_of(found)) <= 24


def test_one_file_with_syncs_between_its_writes_needs_no_cuts() -> None:
    run = TracedRun(1)
    run.open(0, "log")
    for turn in range(30):
        run.move(0, Kind.WRITE, "log", [(turn * 300 + i * 100, 100) for i in range(3)])
        run.call(0, Kind.SYNC, "log")
    run.close(0, "log")
    found = derived(run)
    check_exact(run, found)
    assert len([step for step in steps_of(found) if step.phase]) == 1


@pytest.mark.parametrize("seed", range(4))
def test_stalls_of_a_busy_machine_break_no_loop(seed: int) -> None:
    """Pauses of computing, and shorter ones at any place."""
    run = TracedRun(2, seed=seed)
    for rank in range(2):
        run.open(rank, f"dump.{rank}")
    for step in range(20):
        run.meet(1000 * MS)
        for rank in range(2):
            for part in range(5):
                if run.p_value.random() < 0.2:
                    run.meet(run.p_value.randint(3 * MS, 60 * MS))
                run.move(rank, Kind.WRITE, f"dump.{rank}", [((step * 5 + part) * 2**20, 2**20)])
    for rank in range(2):
        run.close(rank, f"dump.{rank}")
    found = derived(run)
    check_exact(run, found)
    pauses = [step for step in steps_of(found) if isinstance(step, StepSpec) and step.compute]
    assert len([step for step in steps_of(found) if step.phase]) <= 4
    assert len(pauses) <= 6


def test_acts_that_matter_little_share_a_phase() -> None:
    run = TracedRun(1)
    run.open(0, "big")
    run.move(0, Kind.WRITE, "big", [(i * 2**20, 2**20) for i in range(400)])
    run.close(0, "big")
    for number, size in enumerate((100, 5000, 70, 9000)):
        name = "abcd"[number] * 3
        for turn in range(6):
            run.open(0, f"{name}{turn}", REOPEN if turn else 0o102)
            run.move(0, Kind.WRITE, f"{name}{turn}", [(0, size)])
            run.close(0, f"{name}{turn}")
            if turn < number:
                break
    found = derived(run)
    check_exact(run, found)
    assert len([step for step in steps_of(found) if step.phase]) <= 3


def test_waiting_for_a_sync_or_for_other_files_is_no_thinking() -> None:
    run = TracedRun(1)
    for name in ("log", "table"):
        run.open(0, name)
    for turn in range(40):
        for name in ("log", "table"):
            run.move(0, Kind.WRITE, name, [(turn * 100, 100)])
            if name == "log":
                start = run.now[0]
                run.call(0, Kind.SYNC, name)
                run.now[0] = start + 5 * MS
                run.rows[-1] = (*run.rows[-1][:7], run.now[0])
    for name in ("log", "table"):
        run.close(0, name)
    found = derived(run)
    check_exact(run, found)
    assert all(move.think in (0, None, "0") for move in moves_of(found))
