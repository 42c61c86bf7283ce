"""Files that a program wrote and uses again are the same ones in its proxy: warm, not staged."""

from __future__ import annotations

import pytest
from traced_run import MS, REOPEN, TracedRun, check_exact, derived, steps_of

from venturi.model.operation import Kind
from venturi.model.plan import ItemVerb
from venturi.model.trace import Layer
from venturi.model.workload import Workload

PART = [(0, 2**20), (2**20, 2**20)]


def dumped(ranks: int, dumps: int) -> TracedRun:
    """Every rank writes a file of its own in each dump."""
    run = TracedRun(ranks)
    for dump in range(dumps):
        for rank in range(ranks):
            path = f"dump_{dump}_{rank:03d}x"
            run.open(rank, path)
            run.move(rank, Kind.WRITE, path, PART)
            run.close(rank, path)
        run.meet(50 * MS)
    return run


def read(run: TracedRun, dump: int) -> None:
    for rank in range(run.ranks):
        path = f"dump_{dump}_{rank:03d}x"
        run.open(rank, path, REOPEN)
        run.move(rank, Kind.READ, path, PART)
        run.close(rank, path)
    run.meet(50 * MS)


def staged(workload: Workload) -> list[str]:
    return [name for name, file in workload.files.items() if file.prestage is not None]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("chosen", [[0], [5], [5, 0], [0, 2, 4], [5, 4, 3, 2, 1, 0], [1, 1, 1]])
def test_a_dump_that_is_read_back_is_not_staged(ranks: int, chosen: list[int]) -> None:
    run = dumped(ranks, 6)
    for dump in chosen:
        read(run, dump)
    found = derived(run)
    check_exact(run, found, files=6 * ranks)
    assert staged(found) == []


def test_reads_without_a_rule_stay_among_the_files_that_were_written() -> None:
    run = dumped(1, 6)
    for dump in (3, 0, 5, 1, 1, 4, 2, 0):
        read(run, dump)
    found = derived(run)
    check_exact(run, found, files=6)
    assert staged(found) == []


def test_a_loop_that_goes_over_the_files_and_back_to_one_is_cut() -> None:
    run = dumped(1, 6)
    for dump in (0, 1, 2, 3, 4, 5, 2):
        read(run, dump)
    found = derived(run)
    check_exact(run, found, files=6)
    assert sorted(file.path for file in found.files.values()) == ["streamA1.2", "streamA1.{i}"]


def test_removed_files_are_the_ones_that_were_made() -> None:
    run = dumped(1, 6)
    for dump in (0, 2, 4):
        run.call(0, Kind.UNLINK, f"dump_{dump}_000x")
        run.meet(50 * MS)
    read(run, 5)
    made = check_exact(run, derived(run), files=6)
    assert made.totals.operations["unlink"] == 3


def test_what_was_there_before_is_read_again_from_memory() -> None:
    run = TracedRun(1)
    for dump in (0, 1, 2, 3, 2):
        read(run, dump)
    found = derived(run)
    made = check_exact(run, found)
    assert len(staged(found)) == 1
    assert made.totals.bytes_prestaged == 4 * 2 * 2**20


def test_what_is_read_beyond_the_written_is_staged() -> None:
    run = dumped(1, 6)
    run.open(0, "dump_3_000x", REOPEN)
    run.move(0, Kind.READ, "dump_3_000x", [(0, 2**20), (2**20, 2**20), (2 * 2**20, 2**20)])
    run.close(0, "dump_3_000x")
    found = derived(run)
    check_exact(run, found)
    assert len(staged(found)) == 1


def test_what_was_made_once_is_removed_once() -> None:
    """Locks that are made in one loop and removed in another, under names without a rule."""
    run = TracedRun(1)
    for turn in range(8):
        run.open(0, "lock")
        run.close(0, "lock")
        if turn in (2, 5):
            run.call(0, Kind.UNLINK, "lock")
    for _ in range(2):
        run.open(0, "lock", REOPEN)
        run.call(0, Kind.STAT, "lock")
        run.close(0, "lock")
        run.call(0, Kind.UNLINK, "lock")
    run.open(0, "data")
    run.move(0, Kind.WRITE, "data", PART)
    run.close(0, "data")
    found = derived(run)
    made = check_exact(run, found)
    assert made.totals.operations["unlink"] == 2
    assert len([step for step in steps_of(found) if step.unlink]) == 1


def test_what_is_written_after_a_close_is_written_before_it() -> None:
    """A shell's redirection: the descriptor is closed once a copy of it is there."""
    run = TracedRun(1)
    for item in range(9):
        name = f"item.{item}"
        run.open(0, name)
        run.close(0, name)
        run.move(0, Kind.WRITE, name, [(0, 79)])
    check_exact(run, derived(run))
    tree = next(step.each for step in steps_of(derived(run)) if step.each is not None)
    assert tree.do.index(ItemVerb.WRITE) < tree.do.index(ItemVerb.CLOSE)


def test_uneven_runs_that_are_merged_are_the_ones_that_were_written() -> None:
    """Sizes without a rule become means, which do not make a file shorter than its reads."""
    run = TracedRun(1, seed=3)
    ends = []
    for part in range(6):
        path, sizes = f"run_{part}", [9000 + run.p_value.randint(0, 4000) for _ in range(40)]
        places = [(sum(sizes[:i]), size) for i, size in enumerate(sizes)]
        run.open(0, path)
        run.move(0, Kind.WRITE, path, places)
        run.close(0, path)
        run.meet((50 + 40 * (part == 2)) * MS)
        ends.append(sum(sizes))
    for part, end in enumerate(ends):
        path, sizes = f"run_{part}", [7000 + run.p_value.randint(0, 3000) for _ in range(30)]
        run.open(0, path, REOPEN)
        run.move(0, Kind.READ, path, [(sum(sizes[:i]), size) for i, size in enumerate(sizes)])
        run.move(0, Kind.READ, path, [(sum(sizes), end - sum(sizes))])
        run.close(0, path)
    for part in range(6):
        run.call(0, Kind.UNLINK, f"run_{part}")
    found = derived(run)
    made = check_exact(run, found, files=6)
    assert staged(found) == []
    assert made.totals.operations["unlink"] == 6


def test_files_of_different_sizes_are_read_as_far_as_each_was_written() -> None:
    run = TracedRun(1)
    sizes = [(40 + k * 7 % 5) * 8000 for k in range(24)]
    for k, size in enumerate(sizes):
        run.open(0, f"part_{k}")
        run.move(0, Kind.WRITE, f"part_{k}", [(0, 128)])
        run.call(0, Kind.SYNC, f"part_{k}")
        run.move(0, Kind.WRITE, f"part_{k}", [(128, size)])
        run.close(0, f"part_{k}")
    run.meet(50 * MS)
    for k, size in enumerate(sizes):
        run.open(0, f"part_{k}", REOPEN)
        run.move(0, Kind.READ, f"part_{k}", [(128, size)])
        run.close(0, f"part_{k}")
    found = derived(run)
    assert staged(found) == []
    assert len([step for step in steps_of(found) if step.create]) == 1


def test_files_that_others_make_are_not_staged_too() -> None:
    run = TracedRun(3, layer=Layer.STDIO)
    for number in range(2):
        run.call(2, Kind.READ, f"x.{number}", 65542 + number, 1)
        run.now[2] += 100 * MS
    run.now[0] = run.now[2] + 2000 * MS
    run.call(0, Kind.UNLINK, "x.0")
    for number in range(2):
        run.call(0, Kind.READ, f"x.{number}", 90112 + 4096 * number, 4096)
    check_exact(run, derived(run))
