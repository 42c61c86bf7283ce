"""Places of a file that take turns: a head that is written anew behind each record."""

from __future__ import annotations

import pytest
from traced_run import MS, REOPEN, TracedRun, check_exact, derived, moves_of, steps_of

from venturi.model.operation import Kind
from venturi.model.workload import PatternKind


def table_with_head(run: TracedRun, path: str, sizes: list[int], kind: Kind = Kind.WRITE) -> None:
    """A head of 512 bytes, then records behind it, and the head again after each."""
    run.open(0, path)
    run.move(0, kind, path, [(0, 512)])
    at = 512
    for size in sizes:
        run.move(0, kind, path, [(at, size), (0, 512)])
        at += size
    run.close(0, path)
    run.meet(50 * MS)


@pytest.mark.parametrize("files", [1, 3])
def test_a_head_is_written_anew_after_each_record(files: int) -> None:
    run = TracedRun(1)
    for number in range(files):
        table_with_head(run, f"table_{number}", [4096] * 100)
    found = derived(run)
    check_exact(run, found, files=files)
    first, record, head = moves_of(found)
    assert (first.size, first.at) == ("512 B", None)
    assert (record.size, record.at) == ("4 KiB", f"512 B + 4 KiB * {'ij'[files > 1]}")
    assert (head.size, head.at) == ("512 B", None)
    assert [step.in_ for step in steps_of(found) if step.for_][-1] == 100


def test_records_of_any_size_are_their_mean_behind_each_other() -> None:
    run = TracedRun(1)
    sizes = [run.p_value.randint(100, 9000) for _ in range(2500)]
    table_with_head(run, "table", sizes)
    found = derived(run, simplify=True)
    check_exact(run, found, files=1)
    _, record, head = moves_of(found)
    assert record.size == f"block({sum(sizes)}, 2500, i)"
    assert str(record.at).startswith(f"512 B + {sum(sizes) // 2500} B * i + min(i, ")
    assert (head.size, head.at) == ("512 B", None)
    assert found.origin is not None
    assert not any("order and places" in text for text in found.origin.assumed)


def test_an_index_beside_its_data() -> None:
    run = TracedRun(1)
    run.open(0, "base")
    for turn in range(50):
        run.move(0, Kind.WRITE, "base", [(1 << 20 | 3000 * turn, 3000), (4096 + 16 * turn, 16)])
    run.close(0, "base")
    found = derived(run)
    check_exact(run, found, files=1)
    data, index = moves_of(found)
    assert (data.at, data.size) == ("1 MiB + 3 kB * i", "3 kB")
    assert (index.at, index.size) == ("4 KiB + 16 B * i", "16 B")


def test_random_places_take_no_turns() -> None:
    run = TracedRun(1)
    run.open(0, "base")
    places = [4096 * run.p_value.randint(0, 999) for _ in range(200)]
    run.move(0, Kind.WRITE, "base", [(place, 4096) for place in places])
    run.close(0, "base")
    found = derived(run)
    check_exact(run, found, files=1)
    assert not any(step.for_ for step in steps_of(found))


@pytest.mark.parametrize("turns", [12, 40])
def test_parts_of_records_at_equal_distances(turns: int) -> None:
    """A stream's buffer, and what is left of the block, at places far apart."""
    run = TracedRun(1)
    run.open(0, "base")
    run.move(0, Kind.WRITE, "base", [(1000 * i, 1000) for i in range(50 * turns)])
    run.close(0, "base")
    run.meet(50 * MS)
    run.open(0, "base", REOPEN)
    for turn in range(turns):
        run.move(0, Kind.READ, "base", [(50000 * turn, 8191), (50000 * turn + 8191, 15813)])
    run.close(0, "base")
    found = derived(run)
    check_exact(run, found, files=1)
    _, read = moves_of(found)
    assert read.table == [[0, 8191], [8191, 15813]]
    assert (read.segments, read.block) == (turns, "50 kB")


@pytest.mark.parametrize("turns", [9, 60])
def test_what_is_known_only_later_is_written_where_it_belongs(turns: int) -> None:
    """Records whose length is written before them when they are there, and behind them."""
    run = TracedRun(1)
    run.open(0, "base")
    run.move(0, Kind.WRITE, "base", [(0, 20)])
    for turn in range(turns):
        at = 20 + 3008 * turn
        last = turn == turns - 1
        places = [(at, 3000), (at - 4, 4), (at + 3000, 4 if last else 8)]
        run.move(0, Kind.WRITE, "base", places)
    run.close(0, "base")
    found = derived(run)
    check_exact(run, found, files=1)
    lead, records, tail = moves_of(found)
    assert (lead.size, lead.at) == ("20 B", None)
    assert records.table == [[4, 3000], [0, 4], [3004, 8]]
    assert (records.segments, records.block) == (turns - 1, "3008 B")
    assert tail.table is not None
    assert len(tail.table) == 3


def test_going_back_now_and_then_is_not_random() -> None:
    run = TracedRun(1)
    run.open(0, "base")
    end = 0
    for _ in range(200):
        size = run.p_value.randint(500, 9000)
        run.move(0, Kind.WRITE, "base", [(end + 4, size), (end, 4)])
        end += size + 4
    run.close(0, "base")
    found = derived(run)
    check_exact(run, found, files=1)
    assert not any(move.pattern is PatternKind.RANDOM for move in moves_of(found))
