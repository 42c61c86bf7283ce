"""Runs of several kinds of requests, one after the other: their order and places are kept."""

from __future__ import annotations

import numpy as np
import pytest
from traced_run import MS, TracedRun, check_exact, check_one_by_one, derived, moves_of, steps_of

from venturi.derive.operation.stream import streams_of
from venturi.derive.operation.table import table_of
from venturi.derive.operation.token import tokens_of
from venturi.derive.operation.view import with_turns
from venturi.derive.yaml_text import to_yaml
from venturi.model.operation import Kind
from venturi.model.workload import DataStep, PatternKind, Workload

Requests = list[tuple[int, int]]
HEADER = 4096


def behind(sizes: list[int], start: int = 0) -> Requests:
    """Requests of these sizes, one behind the other."""
    return [(start + sum(sizes[:i]), size) for i, size in enumerate(sizes)]


def told(kind: Kind, turns: list[Requests], simplify: bool = False) -> list[DataStep]:
    """What is said of turns with a file each, which are there before they are read."""
    run = run_of(kind, turns)
    workload: Workload = derived(run, simplify)
    check_exact(run, workload, files=len(turns))
    return moves_of(workload)


def run_of(kind: Kind, turns: list[Requests]) -> TracedRun:
    """Turns with a file each."""
    run = TracedRun(1, seed=3)
    for number, requests in enumerate(turns):
        run.open(0, f"part_{number}", detail=0 if kind is Kind.READ else 0o1102)
        run.move(0, kind, f"part_{number}", requests)
        run.close(0, f"part_{number}")
    return run


def compressed(blocks: int, seed: int) -> Requests:
    """A look at a file's end, then each block's header and the rest of it, and a short one."""
    chance = TracedRun(1, seed=seed).p_value
    sizes = [size for _ in range(blocks) for size in (HEADER, chance.randint(7400, 7900))]
    body = behind([*sizes, HEADER, 700])
    return [(0, HEADER), (sum(body[-1]) - 28, 28), *body]


def test_blocks_of_one_file_are_read_one_by_one() -> None:
    run = run_of(Kind.READ, [compressed(60, 0)])
    check_one_by_one(run, derived(run))


def test_blocks_are_read_behind_their_headers() -> None:
    turns = [compressed(count, seed) for seed, count in enumerate((60, 63, 61, 60))]
    run = run_of(Kind.READ, turns)
    check_one_by_one(run, derived(run))


def test_few_long_runs_are_a_table() -> None:
    body = [behind([8000] * 300, 36_158 + i * 2_400_000) for i in range(9)]
    looks = [(4096 * (1 + i * 5 % 7), 4096) for i in range(9)]
    requests = [one for look, run in zip(looks, body, strict=True) for one in (look, *run)]
    (move,) = told(Kind.READ, [requests])
    assert (move.pattern, move.transfer) == (PatternKind.TABLE, "8 kB")
    assert len(move.table) == 18
    low = 4096
    assert move.table[:2] == [[looks[0][0] - low, 4096], [36_158 - low, 2_400_000]]


@pytest.mark.parametrize("turns", [1, 5])
def test_the_parts_of_files_are_told_one_by_one(turns: int) -> None:
    chance = TracedRun(1, seed=9).p_value
    parts = []
    for _ in range(turns):
        body = [chance.randint(11_500, 12_900) for _ in range(40)]
        parts.append(behind([HEADER, 8200 + chance.randint(0, 500), *body, 5000, 28]))
    run = run_of(Kind.WRITE, parts)
    check_one_by_one(run, derived(run))


def test_what_is_written_behind_an_earlier_part_stays_there() -> None:
    turns = [[(0, 44), (44, size), (36, 4), (44 + size, 3000)] for size in (90_000, 97_000, 92_000)]
    run = run_of(Kind.WRITE, turns)
    workload = derived(run)
    check_one_by_one(run, workload)
    assert [str(move.at) for move in moves_of(workload) if move.at] == ["36 B"]


def test_sizes_of_uneven_turns_are_one_mix_and_what_is_left() -> None:
    chance = TracedRun(1, seed=4).p_value
    turns = []
    for number in range(5):
        sizes = [size for size in (8, 15, 90, 400, 3500) for _ in range(60 + number % 3)]
        chance.shuffle(sizes)
        turns.append(behind(sizes))
    moves = told(Kind.WRITE, turns, simplify=True)
    assert moves[0].mix, moves
    assert len(moves) <= 3
    assert int(str(moves[0].count)) >= 290


def test_what_is_beyond_some_size_begins_elsewhere() -> None:
    """Files of which only the part beyond a hole is written, by what comes again every few."""
    sizes = [3000, 6000, 9000, 12_000, 15_000, 1616, 4616, 7616]
    turns = [[(16_384 if size % 3000 else 0, size)] for _ in range(6) for size in sizes]
    (move,) = told(Kind.WRITE, turns)
    assert move.at == "0 if i % 8 < 5 else 16 KiB"
    assert str(move.size).startswith("3 kB + 3 kB * (i % 8) if i % 8 < 5 else")


def test_a_file_needs_no_more_lines_than_its_text() -> None:
    run = TracedRun(1)
    path = "a/folder/with/a/name/that/is/too/long/beside/all/that/is/said.bin"
    run.open(0, path)
    run.move(0, Kind.WRITE, path, behind([4096] * 20))
    run.close(0, path)
    text = to_yaml(derived(run))
    lines = text[text.index("files:") : text.index("# what the ranks do")].split("\n")
    assert len([line for line in lines if line]) == 3, text


def test_turns_go_on_where_the_one_before_stopped() -> None:
    """Blocks that are read and written in turns, the reader's index now and then elsewhere."""
    run = TracedRun(1)
    run.open(0, "in", detail=0)
    run.open(0, "out")
    at, pages = 100_000, iter([8192, 0, 20_480, 4096])
    for turn in range(36):
        count = 25 - turn % 2
        if turn % 10 == 3:
            run.move(0, Kind.READ, "in", [(next(pages), 4096)])
        run.move(0, Kind.READ, "in", behind([8000] * count, at))
        at += 8000 * count
        run.move(0, Kind.WRITE, "out", behind([65_536] * 12, turn * 12 * 65_536))
    run.close(0, "in")
    run.close(0, "out")
    workload = derived(run)
    check_one_by_one(run, workload)
    assert len(steps_of(workload)) <= 12


def journal(first: int) -> TracedRun:
    """A journal that is written before and after a table; once somebody is held up between.

    `first` are the flags with which the journal is opened first.
    """
    run = TracedRun(1, seed=5)
    run.open(0, "table")
    for turn in range(40):
        run.open(0, "journal", detail=0o2 if turn else first)
        run.move(0, Kind.WRITE, "journal", behind([512] + [4096] * run.p_value.randint(3, 6)))
        run.call(0, Kind.SYNC, "journal")
        if turn == 17:
            run.meet(30 * MS)
        run.move(0, Kind.WRITE, "table", behind([4096] * 4, 16_384 * turn))
        run.call(0, Kind.SYNC, "table")
        run.move(0, Kind.WRITE, "journal", [(0, 12)])
        run.call(0, Kind.SYNC, "journal")
        run.close(0, "journal")
    run.close(0, "table")
    return run


@pytest.mark.parametrize("first", [0o102, 0o1102])
def test_a_stall_within_one_opening_leaves_a_loop_whole(first: int) -> None:
    run = journal(first)
    workload = derived(run)
    check_one_by_one(run, workload)
    loops = [step.in_ for step in steps_of(workload) if step.for_ is not None]
    assert loops in ([39], [40]), to_yaml(workload)  # the first opening is another one
    pauses = [step for step in steps_of(workload) if step.compute]
    assert len(pauses) == 1


def test_a_stall_is_one_pause_where_files_take_turns() -> None:
    table = table_of(journal(0o102).captured())
    found = with_turns(table, streams_of(table, tokens_of(table)))
    assert found is not None
    assert np.count_nonzero(table.pauses_ns) == np.count_nonzero(found[0].pauses_ns) == 1
