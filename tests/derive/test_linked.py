"""Links and folders: what is done to names that were there before, or lead to other files."""

from __future__ import annotations

import pytest
from test_attribute import left_out
from traced_run import MS, TracedRun, derived, planned, steps_of

from venturi.model.operation import Kind
from venturi.model.plan import ItemKind, ItemVerb


def link(run: TracedRun, source: str, name: str, symbolic: bool, rank: int = 0) -> None:
    detail = run.paths.setdefault(name, len(run.paths))
    run.call(rank, Kind.LINK, source, size=int(symbolic), detail=detail)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_farm_of_links(symbolic: bool, ranks: int) -> None:
    run = TracedRun(ranks)
    for number in range(20):
        for rank in range(ranks):
            link(run, "target", f"farm{rank}x/name{number}", symbolic, rank)
            run.call(rank, Kind.STAT, f"farm{rank}x/name{number}")
    for number in range(20):
        for rank in range(ranks):
            run.call(rank, Kind.UNLINK, f"farm{rank}x/name{number}")
    found = derived(run)
    kind = "symlink" if symbolic else "link"
    operations = planned(found).totals.operations
    assert operations == {kind: 20 * ranks, "stat": 20 * ranks, "unlink": 20 * ranks}
    verbs = [verb for step in steps_of(found) if step.each for verb in step.each.do]
    assert ItemVerb.UNLINK not in verbs
    assert left_out(found) == []


def test_single_links_and_their_removal() -> None:
    run = TracedRun(1)
    for _ in range(5):
        run.open(0, "data")
        run.move(0, Kind.WRITE, "data", [(0, 2**20)])
        run.close(0, "data")
        link(run, "data", "lock", symbolic=False)
        run.call(0, Kind.UNLINK, "lock")
        run.meet(50 * MS)
    found = derived(run)
    operations = planned(found).totals.operations
    assert (operations["link"], operations["unlink"]) == (5, 5)
    assert left_out(found) == []


def test_a_link_that_is_replaced_is_left_out() -> None:
    """`ln -sf` makes another one and renames it over the first."""
    run = TracedRun(1)
    run.open(0, "data")
    run.move(0, Kind.WRITE, "data", [(0, 2**20)])
    run.close(0, "data")
    for _ in range(3):
        link(run, "data", "new", symbolic=True)
        run.call(0, Kind.RENAME, "new", detail=run.paths.setdefault("latest", len(run.paths)))
        run.meet(50 * MS)
    found = derived(run)
    assert "symlink" not in planned(found).totals.operations
    assert left_out(found) == ["left out, because the language has no word for it: 3 link"]


@pytest.mark.parametrize("count", [3, 20])
def test_folders_that_were_there_are_removed(count: int) -> None:
    run = TracedRun(1)
    for number in range(count):
        run.call(0, Kind.STAT, f"tree/d{number}")
        run.call(0, Kind.RMDIR, f"tree/d{number}")
    found = derived(run)
    assert planned(found).totals.operations["rmdir"] == count
    folders = [file.tree for file in found.files.values() if file.tree is not None]
    assert [tree.kind for tree in folders] == [ItemKind.DIRECTORY]
    assert all(file.prestage == 0 for file in found.files.values())


def test_many_files_that_were_there_get_other_names() -> None:
    run = TracedRun(1)
    for number in range(20):
        name = f"tree/new{number}"
        source = f"tree/old{number}"
        run.call(0, Kind.RENAME, source, detail=run.paths.setdefault(name, len(run.paths)))
    found = derived(run)
    assert planned(found).totals.operations == {"rename": 21}
    assert found.origin is not None
    assert any("with a call more" in said for said in found.origin.assumed)
