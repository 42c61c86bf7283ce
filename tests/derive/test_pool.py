"""Workers that take tasks as they come: tasks are dealt in turn, and the program is short."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from traced_run import MS, REOPEN, TracedRun, check_exact, derived, steps_of

from venturi.derive.operation.stream import streams_of
from venturi.derive.operation.table import table_of
from venturi.derive.operation.task import dealt_in_turn
from venturi.derive.operation.token import tokens_of
from venturi.derive.operation.two_files import ways_of
from venturi.derive.yaml_text import to_yaml
from venturi.model.operation import FRESH, LOOKED_AT, Kind
from venturi.model.workload import Workload

KIB = 1024
Task = Callable[[TracedRun, int, int], None]


def pool(tasks: int, workers: int, task: Task, seed: int = 1, least_ms: float = 1.0) -> TracedRun:
    """Who is free first takes the next task; how long they compute differs."""
    run = TracedRun(workers, seed=seed)
    chance = random.Random(seed)
    for number in range(tasks):
        rank = min(range(workers), key=lambda one: run.now[one])
        task(run, rank, number)
        run.now[rank] += int(least_ms * MS * chance.uniform(0.5, 8))
    return run


def of_one_size(run: TracedRun, rank: int, number: int) -> None:
    """Writes a file in four requests, and reads it."""
    name = f"part.{number}"
    run.open(rank, name)
    run.move(rank, Kind.WRITE, name, [(i * 64 * KIB, 64 * KIB) for i in range(4)])
    run.close(rank, name)
    run.open(rank, name, REOPEN)
    run.move(rank, Kind.READ, name, [(0, 256 * KIB)])
    run.close(rank, name)


def growing(run: TracedRun, rank: int, number: int) -> None:
    """Writes a header and a body, which grows from file to file, and reads both with a jump."""
    name, size = f"part.{number}", (40 + number) * 8000
    run.open(rank, name)
    run.move(rank, Kind.WRITE, name, [(0, 128), (128, size)])
    run.close(rank, name)
    run.open(rank, name, REOPEN)
    run.move(rank, Kind.READ, name, [(0, 4096), (128, size)])
    run.close(rank, name)


def with_input(run: TracedRun, rank: int, number: int) -> None:
    """Reads a file that was there, and writes another."""
    run.open(rank, f"in.{number}", REOPEN)
    run.move(rank, Kind.READ, f"in.{number}", [(0, 100_000)])
    run.close(rank, f"in.{number}")
    run.open(rank, f"out.{number}")
    run.move(rank, Kind.WRITE, f"out.{number}", [(i * 1000, 1000) for i in range(50)])
    run.close(rank, f"out.{number}")


def tasks_of(workload: Workload) -> list[str]:
    """What the workload says of tasks."""
    assert workload.origin is not None
    return [one.value for one in workload.origin.confidence if one.field == "tasks"]


def lines_of(workload: Workload) -> int:
    """Lines without the origin."""
    return len(to_yaml(workload.model_copy(update={"origin": None})).splitlines())


@pytest.mark.parametrize("task", [of_one_size, growing, with_input])
@pytest.mark.parametrize("seed", [1, 2, 4])
def test_tasks_are_a_loop_whoever_took_them(task: Task, seed: int) -> None:
    run = pool(24, 3, task, seed)
    by_rank = np.bincount([row[0] for row in run.rows])
    assert len(set(by_rank.tolist())) > 1  # so there is something to deal
    found = derived(run)
    check_exact(run, found, files=48 if task is with_input else 24)
    assert tasks_of(found) == ["24 over 3 workers"]
    assert lines_of(found) <= 45
    loops = [step.in_ for step in steps_of(found) if step.for_ is not None]
    assert loops
    assert max(int(str(count)) for count in loops) == 8
    assert not [step for step in steps_of(found) if step.when is not None]


def test_workers_do_not_wait_for_each_other() -> None:
    found = derived(pool(30, 3, of_one_size))
    phase, loop, compute = steps_of(found)[:3]
    assert len([step for step in steps_of(found) if step.phase]) == 1
    assert phase.do == [loop]
    assert loop.in_ == 10
    assert compute.compute is not None


def test_tasks_that_are_too_few_for_all_are_done_by_the_first() -> None:
    run = pool(26, 3, of_one_size)
    found = derived(run)
    check_exact(run, found, files=26)
    assert tasks_of(found) == ["26 over 3 workers"]
    assert {step.when for step in steps_of(found)} - {None} == {"rank < 2"}


def test_who_makes_the_inputs_alone_makes_them_alone() -> None:
    run = TracedRun(4)
    for number in range(24):
        run.open(0, f"in.{number}")
        run.move(0, Kind.WRITE, f"in.{number}", [(0, 100_000)])
        run.close(0, f"in.{number}")
    run.meet()
    for number in range(24):
        rank = min((1, 2, 3), key=lambda one: run.now[one])
        with_input(run, rank, number)
        run.now[rank] += MS * (1 + number * 7 % 5)
    found = derived(run)
    check_exact(run, found, files=48)
    assert tasks_of(found) == ["24 over 3 workers"]
    assert {step.when for step in steps_of(found)} - {None} == {"rank == 0", "rank >= 1"}
    assert all(file.prestage is None for file in found.files.values())
    [again] = [file for file in found.files.values() if file.made_by]
    [maker] = [found.files[name] for name in again.made_by]
    assert "rank" in again.path
    assert "rank" in maker.path  # so none of them gets the number of a rank


def test_inputs_that_are_made_while_others_are_read_are_there_before() -> None:
    """Nobody waits for them within a phase."""
    run = TracedRun(3)
    for number in range(200):
        run.open(0, f"in.{number}")
        run.move(0, Kind.WRITE, f"in.{number}", [(0, 1000)])
        run.close(0, f"in.{number}")
        run.meet()
        reader = 1 + number % 2
        run.open(reader, f"in.{number}", REOPEN)
        run.move(reader, Kind.READ, f"in.{number}", [(0, 1000)])
        run.close(reader, f"in.{number}")
        run.meet()
    found = derived(run)
    check_exact(run, found)
    for phase in [step for step in steps_of(found) if step.phase]:
        text = str(phase)
        for file in found.files.values():
            assert not any(f"create='{name}'" in text for name in file.made_by), to_yaml(found)


def test_what_a_worker_keeps_for_all_of_its_tasks_stays_with_it() -> None:
    def logged(run: TracedRun, rank: int, number: int) -> None:
        of_one_size(run, rank, number)
        log = f"log.{rank}"
        run.open(rank, log, REOPEN)
        run.move(rank, Kind.WRITE, log, [(number * 10_000, 10_000)])
        run.close(rank, log)

    run = pool(24, 3, logged, seed=2)
    check_exact(run, derived(run))


def test_ranks_that_take_one_each_in_turn_are_no_pool() -> None:
    run = TracedRun(3)
    for turn in range(8):
        for rank in range(3):
            of_one_size(run, rank, 3 * turn + rank)
        run.meet(20 * MS)
    found = derived(run)
    check_exact(run, found, files=24)
    assert tasks_of(found) == []


def test_uneven_sizes_at_the_same_places_stay_there() -> None:
    run = TracedRun(1)
    for number in range(12):
        size = 40_000 + number * number * 7919 % 3000
        run.open(0, f"in.{number}", REOPEN)
        run.move(0, Kind.READ, f"in.{number}", [(0, 4096), (128, size)])
        run.close(0, f"in.{number}")
    found = derived(run)
    check_exact(run, found, files=12)
    moves = [step.read for step in steps_of(found) if step.read is not None]
    assert [str(getattr(move, "at", "")) for move in moves] == ["None", "128 B"]


def test_where_memory_is_does_not_make_a_read_a_copy() -> None:
    near = LOOKED_AT | FRESH | 3 << 7
    assert ways_of(np.array([0x164A980, near, 1, 0, 2 << 8])).tolist() == [0, 0, 0, 0, 2]


def test_what_is_known_of_a_call_goes_with_it() -> None:
    run = pool(24, 3, growing)
    table = table_of(run.captured())
    number = np.arange(len(table))
    table = replace(table, within=number, seeks=number, empty=number, memory=number)
    [(dealt, _)] = dealt_in_turn(table, streams_of(table, tokens_of(table)))
    at = dealt.within
    for name in ("file", "kind", "flags", "offset", "bytes", "seeks", "empty", "memory"):
        assert np.array_equal(getattr(dealt, name), getattr(table, name)[at]), name
    assert sorted(at.tolist()) == number.tolist()
    assert not np.array_equal(dealt.rank, table.rank[at])
