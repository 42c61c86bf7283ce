"""Runs of several kinds of requests, one after the other: their order and places are kept."""

from __future__ import annotations

import numpy as np
import pytest
from traced_run import MS, TracedRun, check_exact, derived, moves_of, steps_of

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


def told(kind: Kind, turns: list[Requests]) -> list[DataStep]:
    """What is said of turns with a file each, which are there before they are read."""
    run = TracedRun(1, seed=3)
    for number, requests in enumerate(turns):
        run.open(0, f"part_{number}", detail=0 if kind is Kind.READ else 0o1102)
        run.move(0, kind, f"part_{number}", requests)
        run.close(0, f"part_{number}")
    workload: Workload = derived(run)
    check_exact(run, workload, files=len(turns))
    return moves_of(workload)


def compressed(blocks: int, seed: int) -> Requests:
    """A look at a file's end, then each block's header and the rest of it, and a short one."""
    chance = TracedRun(1, seed=seed).p_value
    sizes = [size for _ in range(blocks) for size in (HEADER, chance.randint(7400, 7900))]
    body = behind([*sizes, HEADER, 700])
    return [(0, HEADER), (sum(body[-1]) - 28, 28), *body]


@pytest.mark.parametrize("blocks", [[60], [60, 63, 61, 60]])
def test_blocks_are_read_behind_their_headers(blocks: list[int]) -> None:
    moves = told(Kind.READ, [compressed(count, seed) for seed, count in enumerate(blocks)])
    (records,) = (move for move in moves if move.segments is not None)
    assert records.table[0][1] == HEADER
    assert 7400 <= int(str(records.table[1][1])) <= 7900
    before = moves[: moves.index(records)]
    assert before[0].table[0] == [0, HEADER] if len(blocks) == 1 else before[0].transfer == "4 KiB"


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
def test_a_head_and_a_tail_stay_where_they_are(turns: int) -> None:
    chance = TracedRun(1, seed=9).p_value
    parts = []
    for _ in range(turns):
        body = [chance.randint(11_500, 12_900) for _ in range(40)]
        parts.append(behind([HEADER, 8200 + chance.randint(0, 500), *body, 5000, 28]))
    head, *_, last = told(Kind.WRITE, parts)
    assert head.at in (None, 0)
    assert str(head.transfer) == "4 KiB" or head.table[0] == [0, HEADER]
    at = int(str(last.at).split()[0])
    assert at > 40 * 11_500, "the tail comes behind what it follows"


def test_what_is_written_behind_an_earlier_part_stays_there() -> None:
    turns = [[(0, 44), (44, size), (36, 4), (44 + size, 3000)] for size in (90_000, 97_000, 92_000)]
    *_, data, patch, tail = told(Kind.WRITE, turns)
    assert patch.at == "36 B"
    assert tail.at is not None
    begins = [int(str(move.at).split()[0]) for move in (data, tail)]
    assert begins[0] == 44
    assert 90_000 <= begins[1] - 44 <= 97_000


def test_sizes_of_uneven_turns_are_one_mix_and_what_is_left() -> None:
    chance = TracedRun(1, seed=4).p_value
    turns = []
    for number in range(5):
        sizes = [size for size in (8, 15, 90, 400, 3500) for _ in range(60 + number % 3)]
        chance.shuffle(sizes)
        turns.append(behind(sizes))
    moves = told(Kind.WRITE, turns)
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
    check_exact(run, workload)
    reads = [move for move in moves_of(workload) if move.from_ is not None]
    first, odd, main, last = reads
    assert (first.at, last.at) == ("100 kB", "6964 kB")
    assert odd.at in (None, 0)
    assert sorted(int(str(row[0])) for row in odd.table) == [0, 4096, 8192, 20_480]
    assert main.count == "(i + 1) * 833 // 34 - i * 833 // 34"
    assert main.at == "300 kB + 8 kB * (i * 833 // 34)"


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
    made = check_exact(run, workload)
    assert made.totals.operations["open"] + made.totals.operations["create"] == 42
    loops = [step.in_ for step in steps_of(workload) if step.for_ is not None or step.when]
    assert loops == [40], to_yaml(workload)


def test_a_stall_is_one_pause_where_files_take_turns() -> None:
    table = table_of(journal(0o102).captured())
    found = with_turns(table, streams_of(table, tokens_of(table)))
    assert found is not None
    assert np.count_nonzero(table.pauses_ns) == np.count_nonzero(found[0].pauses_ns) == 1
