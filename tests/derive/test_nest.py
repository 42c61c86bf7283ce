"""Programs of loops, conditions and cycles are told call by call."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from random_program import RandomProgram
from traced_run import (
    APPEND,
    CREATE,
    MS,
    TracedRun,
    check_one_by_one,
    derived,
    planned,
    steps_of,
)

from venturi.derive.nest.call import calls_of
from venturi.derive.nest.fit import Cells, fit_condition, fit_numbers
from venturi.derive.nest.position import PositionMove, positions_of
from venturi.derive.nest.position import moves_of as position_moves_of
from venturi.derive.nest.repeat import longest_repeats
from venturi.derive.nest.workload import nested
from venturi.derive.operation.run import Steps
from venturi.derive.operation.table import table_of
from venturi.derive.yaml_text import to_yaml
from venturi.model.expression import compile_tree, evaluate, parse
from venturi.model.operation import Kind
from venturi.model.workload import StepSpec, Workload


def walked(steps: Steps) -> Iterator[StepSpec]:
    for step in steps:
        assert isinstance(step, StepSpec)
        yield step
        yield from walked(step.do or [])


def likeness_is_equal(workload: Workload) -> bool:
    assert workload.origin is not None
    assert workload.origin.likeness is not None
    return workload.origin.likeness.is_equal


@pytest.mark.parametrize(
    ("ranks", "reads", "least"), [(1, False, 39), (1, True, 39), (4, False, 37), (3, True, 36)]
)
def test_random_nests_are_told_call_by_call(ranks: int, reads: bool, least: int) -> None:
    equal, lines = 0, []
    for seed in range(40):
        workload = derived(RandomProgram(seed, ranks, reads).run())
        equal += likeness_is_equal(workload)
        text = to_yaml(workload.model_copy(update={"origin": None}))
        lines.append(len([line for line in text.splitlines() if line.strip()]))
    assert equal >= least, equal
    assert sorted(lines)[20] <= 40


@pytest.mark.parametrize(("ranks", "least"), [(1, 11), (3, 10)])
def test_random_work_on_names_is_told_call_by_call(ranks: int, least: int) -> None:
    equal = 0
    for seed in range(12):
        equal += likeness_is_equal(derived(RandomProgram(seed, ranks, names=True).run()))
    assert equal >= least, equal


def test_places_of_one_rank_in_a_file_of_all_are_what_they_were() -> None:
    run = TracedRun(3)
    for rank in range(3):
        run.open(rank, "f")
    for turn in range(12):
        for rank in range(3):
            run.move(rank, Kind.WRITE, "f", [(4096 * (3 * turn + rank), 4096)])
        run.move(1, Kind.WRITE, "f", [(200_000 + 7000 * turn, 5000 if turn % 3 else 3000)])
    for rank in range(3):
        run.close(rank, "f")
    check_one_by_one(run, derived(run))


def test_a_long_program_is_found_by_what_stands_one_behind_the_other() -> None:
    run = TracedRun(1)
    run.open(0, "all")
    end = 0
    for turn in range(20):
        run.open(0, f"out_{turn}")
        for step in range(21):
            for part in range(2):
                place = 8192 * turn + 16384 * (step + part)
                run.move(0, Kind.WRITE, "all", [(place, 4096 + 64 * step)])
            run.now[0] += 10 * MS
            for _ in range(2):
                run.move(0, Kind.WRITE, f"out_{turn}", [(end, 65536)])
                end += 65536
        if turn % 7 == 0:
            run.move(0, Kind.WRITE, "all", [(2**20 * turn, 2**18)])
        run.close(0, f"out_{turn}")
        end = 0
    run.close(0, "all")
    workload = derived(run)
    check_one_by_one(run, workload)
    assert len(steps_of(workload)) <= 14


def test_what_is_replaced_again_and_again_is_one_name() -> None:
    run = TracedRun(1)
    for turn in range(6):
        run.open(0, "state.tmp")
        run.move(0, Kind.WRITE, "state.tmp", [(0, 4096 + 100 * turn)])
        run.close(0, "state.tmp")
        run.rename(0, "state.tmp", "state")
        run.open(0, "state", detail=0)
        run.move(0, Kind.READ, "state", [(0, 4096)])
        run.close(0, "state")
    workload = derived(run)
    check_one_by_one(run, workload)
    assert len(workload.files) == 2
    assert [step.rename for step in steps_of(workload) if step.rename]


def test_files_without_a_common_name_that_begin_alike_are_a_family() -> None:
    drawn, run = random.Random(3), TracedRun(1)
    for _ in range(12):
        name = "".join(drawn.choice("0123456789abcdef") for _ in range(20))
        run.call(0, Kind.MKDIR, f"objects/{name[:2]}")
        run.open(0, f"objects/{name[:2]}/tmp")
        run.move(0, Kind.WRITE, f"objects/{name[:2]}/tmp", [(0, drawn.randint(100, 900))])
        run.close(0, f"objects/{name[:2]}/tmp")
        run.rename(0, f"objects/{name[:2]}/tmp", f"objects/{name[:2]}/{name[2:]}")
    check_one_by_one(run, derived(run))
    table = table_of(run.captured())
    known_as = [""] * len(table.paths)
    calls = calls_of(table, known_as, by_use=True)
    assert calls is not None
    assert [len(family.files) for family in calls.families] == [12, 12, 12]
    steps = next(nested(table, calls, known_as)).steps
    assert len(list(walked(steps))) == 7  # a phase, a loop, and its five calls


def test_inputs_of_several_lengths_are_staged_as_they_were() -> None:
    run = TracedRun(1)
    sizes = [3000, 6000, 9000, 12_000, 700]
    for number, size in enumerate(sizes):
        run.open(0, f"input{number}", detail=0)
        run.move(0, Kind.READ, f"input{number}", [(0, size)])
        run.close(0, f"input{number}")
        run.open(0, "log", detail=CREATE if number == 0 else APPEND)
        run.move(0, Kind.WRITE, "log", [(100 * number, 100)])
        run.close(0, "log")
    workload = derived(run)
    check_one_by_one(run, workload)
    assert planned(workload).totals.bytes_prestaged == sum(sizes)


@pytest.mark.parametrize(
    ("text", "repeats"),
    [
        ("abcabcabcx", [(0, 3, 3)]),
        ("xababab", [(1, 2, 3)]),
        ("aaaa", [(0, 1, 4)]),
        ("abcd", []),
        ("aabaabaab", [(0, 3, 3)]),
        ("ababcdcdcd", [(4, 2, 3), (0, 2, 2)]),
    ],
)
def test_what_stands_one_behind_the_other_is_found(
    text: str, repeats: list[tuple[int, int, int]]
) -> None:
    found = longest_repeats([ord(letter) for letter in text], [0] * (len(text) + 1))
    assert [(one.begin, one.length, one.turns) for one in found] == repeats


def test_a_repeat_begins_where_nothing_is_open() -> None:
    depth = [1, 0, 1, 0, 1, 0, 1, 0]
    assert longest_repeats([ord(letter) for letter in "ocococo"], depth)[0].begin == 1


def test_a_pause_in_each_turn_stays_in_each_turn() -> None:
    run = TracedRun(1)
    for turn in range(8):
        run.now[0] += 20 * MS
        run.open(0, f"out{turn}")
        run.move(0, Kind.WRITE, f"out{turn}", [(0, 4096)])
        run.close(0, f"out{turn}")
    workload = derived(run)
    check_one_by_one(run, workload)
    assert workload.origin is not None
    likeness = workload.origin.likeness
    assert likeness is not None
    assert likeness.proxy_seconds_between == pytest.approx(likeness.seconds_between, rel=0.05)


@pytest.mark.parametrize("count", [8, 9, 12])
def test_sizes_in_a_cycle_keep_their_places(count: int) -> None:
    drawn = random.Random(count)
    table = [drawn.randint(100, 9000) for _ in range(count)]
    run, at = TracedRun(1), 0
    run.open(0, "log")
    for turn in range(5 * count):
        run.move(0, Kind.WRITE, "log", [(at, table[turn % count])])
        at += table[turn % count]
        if turn % 2:
            run.call(0, Kind.SYNC, "log")
    run.close(0, "log")
    workload = derived(run)
    check_one_by_one(run, workload)
    assert len(steps_of(workload)) <= 20


def test_what_moves_the_position_is_found() -> None:
    """Two reads by position around two that leave it alone, and one behind a seek."""
    offset, size = np.array([0, 500, 100, 900, 200, 5000, 5100]), np.full(7, 100)
    position, move = position_moves_of(offset, size)
    assert position.tolist() == [0, 100, 100, 200, 200, 300, 5100]
    assert move.tolist()[:2] == [PositionMove.GO_ON, PositionMove.STAY]
    assert move.tolist()[-2:] == [PositionMove.JUMP, PositionMove.GO_ON]
    assert positions_of(offset, size, move).tolist() == position.tolist()


@pytest.mark.parametrize("seed", range(40))
def test_an_expression_is_right_in_every_turn(seed: int) -> None:
    drawn = random.Random(seed)
    counts = (drawn.randint(2, 9), drawn.randint(2, 9))
    turns = np.nonzero(np.random.default_rng(seed).random(counts) < 0.8)
    cells = Cells(("i", "j"), turns, counts)
    period = drawn.randint(1, 4)
    table = np.array([drawn.randint(0, 99) for _ in range(period)])
    values = 7 * turns[0] + table[turns[1] % period]
    fit = fit_numbers(values, cells)
    assert fit is not None
    code = compile_tree(parse(fit.text), {"i": 0, "j": 1})
    found = [evaluate(code, [int(i), int(j)]) for i, j in zip(*turns, strict=True)]
    assert found == values.tolist()
    mask = turns[1] % (period + 1) == drawn.randint(0, period)
    when = fit_condition(mask, cells)
    assert when is not None or not np.any(mask)
    if when is not None and when.text:
        code = compile_tree(parse(when.text), {"i": 0, "j": 1})
        done = [bool(evaluate(code, [int(i), int(j)])) for i, j in zip(*turns, strict=True)]
        assert done == mask.tolist()
