"""Files that are renamed into place, or cut: the proxy does the same."""

from __future__ import annotations

import pytest
from traced_run import MS, REOPEN, TracedRun, check_exact, derived, steps_of

from venturi.model.operation import Kind
from venturi.model.plan import ItemVerb
from venturi.model.workload import RenameStep, TruncateStep, Workload

MAKE = 0o100 | 0o200 | 0o2
PART = [(0, 2**20), (2**20, 2**20)]


def rename(run: TracedRun, rank: int, source: str, target: str) -> None:
    file = run.paths.setdefault(f"{target}", len(run.paths))
    run.call(rank, Kind.RENAME, source, detail=file)


def into_place(run: TracedRun, rank: int, target: str, size: int = 2**20) -> None:
    """Written under another name, then renamed."""
    source = f"{target}.part"
    run.open(rank, source, MAKE)
    run.move(rank, Kind.WRITE, source, [(0, size), (size, size)])
    run.close(rank, source)
    rename(run, rank, source, target)


def renames(workload: Workload) -> list[RenameStep]:
    return [step.rename for step in steps_of(workload) if step.rename is not None]


@pytest.mark.parametrize("ranks", [1, 3])
def test_dumps_that_get_their_names_when_they_are_whole(ranks: int) -> None:
    run = TracedRun(ranks)
    for dump in range(5):
        for rank in range(ranks):
            into_place(run, rank, f"dump_{dump}_{rank}x")
        run.meet(50 * MS)
    found = derived(run)
    made = check_exact(run, found, files=5 * ranks)
    assert made.totals.operations["rename"] == 5 * ranks
    [step] = renames(found)
    assert found.files[step.on].path != found.files[step.to].path


def test_a_hard_link_whose_first_name_is_removed_is_a_rename() -> None:
    run = TracedRun(1)
    for number in range(5):
        source, target = f"tmp_{number}", f"object_{number}"
        run.open(0, source, MAKE)
        run.move(0, Kind.WRITE, source, PART)
        run.close(0, source)
        run.call(0, Kind.LINK, source, detail=run.paths.setdefault(target, len(run.paths)))
        run.call(0, Kind.UNLINK, source)
        run.meet(50 * MS)
    found = derived(run)
    made = check_exact(run, found)
    assert made.totals.operations["rename"] == 5
    assert "unlink" not in made.totals.operations
    assert found.origin is not None
    assert any("hard links" in said for said in found.origin.assumed)


def test_a_file_that_keeps_both_names_is_not_renamed() -> None:
    run = TracedRun(1)
    into_place(run, 0, "state")
    run.call(0, Kind.LINK, "state", detail=run.paths.setdefault("second", len(run.paths)))
    run.open(0, "state", REOPEN)
    run.move(0, Kind.READ, "state", PART)
    run.close(0, "state")
    assert len(renames(derived(run))) == 1


def test_a_file_that_is_replaced_again_and_again_is_one() -> None:
    run = TracedRun(1)
    for _ in range(6):
        into_place(run, 0, "state")
        run.meet(50 * MS)
    found = derived(run)
    made = check_exact(run, found)
    assert made.totals.operations["rename"] == 6
    assert len(found.files) == 2


def test_what_is_in_place_is_read_under_its_name() -> None:
    run = TracedRun(1)
    into_place(run, 0, "state")
    run.meet(50 * MS)
    run.open(0, "state", REOPEN)
    run.move(0, Kind.READ, "state", PART)
    run.close(0, "state")
    found = derived(run)
    check_exact(run, found)
    [step] = renames(found)
    opened = [step.open for step in steps_of(found) if step.open is not None]
    assert opened == [step.to]
    assert all(file.prestage is None for file in found.files.values())


def test_many_files_are_items_that_get_their_names() -> None:
    run = TracedRun(1)
    for number in range(40):
        target = f"tree/file{number}"
        run.open(0, f"{target}.part", MAKE)
        run.move(0, Kind.WRITE, f"{target}.part", [(0, 3000)])
        run.close(0, f"{target}.part")
        rename(run, 0, f"{target}.part", target)
    found = derived(run)
    made = check_exact(run, found)
    [each] = [step.each for step in steps_of(found) if step.each is not None]
    assert each.do == [ItemVerb.CREATE, ItemVerb.WRITE, ItemVerb.CLOSE, ItemVerb.RENAME]
    assert made.totals.operations["rename"] == 40


@pytest.mark.parametrize("saves", [1, 6])
def test_what_was_there_before_is_read_and_then_replaced(saves: int) -> None:
    run = TracedRun(1)
    run.open(0, "state", REOPEN)
    run.move(0, Kind.READ, "state", PART)
    run.close(0, "state")
    for _ in range(saves):
        run.meet(50 * MS)
        into_place(run, 0, "state")
    found = derived(run)
    made = check_exact(run, found)
    assert made.totals.operations["rename"] == saves
    staged = [file for file in found.files.values() if file.prestage is not None]
    assert len(staged) == 1
    assert len([step for step in steps_of(found) if step.for_]) == (saves > 1)


def test_a_look_at_what_is_replaced_does_not_keep_it() -> None:
    run = TracedRun(1)
    for _ in range(6):
        run.call(0, Kind.STAT, "state")
        into_place(run, 0, "state")
    made = check_exact(run, derived(run))
    assert made.totals.operations["rename"] == 6


def test_what_is_read_changed_and_replaced_is_one_loop() -> None:
    run = TracedRun(1)
    for _ in range(8):
        run.open(0, "state", REOPEN)
        run.move(0, Kind.READ, "state", PART)
        run.close(0, "state")
        into_place(run, 0, "state")
    found = derived(run)
    made = check_exact(run, found)
    assert made.totals.operations["rename"] == 8
    assert len([step for step in steps_of(found) if step.for_]) == 1


def test_a_journal_that_is_cut_after_each_transaction() -> None:
    run = TracedRun(1)
    run.open(0, "base", MAKE)
    run.open(0, "journal", MAKE)
    for turn in range(20):
        run.move(0, Kind.WRITE, "journal", [(0, 512), (512, 4096), (4608, 4096)])
        run.call(0, Kind.SYNC, "journal")
        run.move(0, Kind.WRITE, "base", [(turn % 5 * 4096, 4096), (40960, 4096)])
        run.call(0, Kind.SYNC, "base")
        run.call(0, Kind.TRUNCATE, "journal", 0)
    run.close(0, "journal")
    run.close(0, "base")
    found = derived(run)
    made = check_exact(run, found)
    assert made.totals.operations["truncate"] == 20
    cuts = [step.truncate for step in steps_of(found) if step.truncate is not None]
    assert all(isinstance(cut, str) for cut in cuts)


def test_a_file_is_made_as_long_as_it_will_be() -> None:
    run = TracedRun(2)
    for rank in range(2):
        run.open(rank, f"part{rank}x", MAKE)
        run.call(rank, Kind.TRUNCATE, f"part{rank}x", 8 * 2**20)
        run.move(rank, Kind.WRITE, f"part{rank}x", PART)
        run.close(rank, f"part{rank}x")
    found = derived(run)
    check_exact(run, found)
    [cut] = [step.truncate for step in steps_of(found) if step.truncate is not None]
    assert isinstance(cut, TruncateStep)
    assert cut.size == "8 MiB"
