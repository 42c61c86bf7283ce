"""Folders that are listed, and names that are only looked at: a tree of as many."""

from __future__ import annotations

import pytest
from traced_run import MS, REOPEN, TracedRun, check_exact, derived, planned, steps_of

from venturi.derive.operation.workload import known_streams
from venturi.derive.yaml_text import to_yaml
from venturi.model.error import UserError
from venturi.model.operation import Kind
from venturi.model.plan import ItemOwner
from venturi.model.workload import Workload


def walk(run: TracedRun, rank: int, top: str, folders: int, names: int, looks: int = 1) -> None:
    """As `ls -lR`: the top, then each folder and the status of what is in it."""
    run.call(rank, Kind.LIST, top, size=folders + 2)
    for folder in range(folders):
        run.call(rank, Kind.LIST, f"{top}/{folder}", size=names + 2)
        for name in range(names):
            for _ in range(looks):
                run.call(rank, Kind.STAT, f"{top}/{folder}/name{name}")


def counts(workload: Workload) -> tuple[int, int]:
    """Folders listed and names looked at, as planned; the workload says the same of the source."""
    operations = planned(workload).totals.operations
    assert workload.origin is not None
    assert workload.origin.observed is not None
    seen = workload.origin.observed.operations
    both = operations["read_dir"], operations["stat"]
    assert (seen["read_dir"], seen.get("stat", 0)) == both, to_yaml(workload)
    return both


@pytest.mark.parametrize("looks", [0, 1, 2])
def test_a_run_that_only_looks_is_a_tree(looks: int) -> None:
    run = TracedRun(1)
    walk(run, 0, "top", 20, 50, looks)
    found = derived(run)
    assert counts(found) == (21, 20 * 50 * looks)
    [spec] = found.files.values()
    assert spec.tree is not None
    assert (spec.tree.items, spec.tree.branch) == (50, 20)
    assert len(to_yaml(found.model_copy(update={"origin": None})).splitlines()) <= 25


def test_one_folder_that_is_listed_often_is_a_loop() -> None:
    run = TracedRun(1)
    for _ in range(30):
        run.call(0, Kind.LIST, "mail", size=502)
        run.meet(5 * MS)
    found = derived(run)
    assert counts(found) == (30, 0)
    assert [step.in_ for step in steps_of(found) if step.for_] == [30]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_walk_stands_where_it_was(is_first: bool) -> None:
    run = TracedRun(1)
    if is_first:
        walk(run, 0, "top", 10, 30)
    for number in range(5):
        run.open(0, f"dump{number}")
        run.move(0, Kind.WRITE, f"dump{number}", [(0, 2**20), (2**20, 2**20)])
        run.close(0, f"dump{number}")
    if not is_first:
        walk(run, 0, "top", 10, 30)
    found = derived(run)
    check_exact(run, found)
    assert counts(found) == (11, 300)
    phases = [step.phase for step in steps_of(found) if step.phase]
    assert phases.index("walk") == (0 if is_first else len(phases) - 1)
    assert found.origin is not None
    assert not [said for said in found.origin.assumed if "no word" in said]


def test_folders_of_files_that_the_program_reads_are_those_of_its_tree() -> None:
    run = TracedRun(1)
    for folder in range(4):
        run.call(0, Kind.LIST, f"in/{folder}", size=27)
        for name in range(25):
            path = f"in/{folder}/{name}"
            run.open(0, path, REOPEN)
            run.move(0, Kind.READ, path, [(0, 3000)])
            run.close(0, path)
    run.call(0, Kind.LIST, "in", size=6)
    found = derived(run)
    check_exact(run, found)
    assert len(found.files) == 1
    assert planned(found).totals.operations["read_dir"] == 5


@pytest.mark.parametrize("is_own", [True, False])
def test_ranks_list_folders_of_their_own_or_the_same(is_own: bool) -> None:
    run = TracedRun(3)
    for rank in range(3):
        walk(run, rank, f"top{rank}" if is_own else "top", 6, 40)
    found = derived(run)
    listed, looked_at = counts(found)
    assert looked_at == 3 * 6 * 40
    assert listed == 3 * 7
    [spec] = found.files.values()
    assert spec.tree is not None
    assert (spec.shared == "rank") == is_own
    assert (spec.tree.owner is ItemOwner.SHARED) != is_own


def test_one_rank_that_lists_for_all_does_it_alone() -> None:
    run = TracedRun(3)
    walk(run, 0, "top", 10, 30)
    for rank in range(3):
        run.open(rank, f"out{rank}")
        run.move(rank, Kind.WRITE, f"out{rank}", [(0, 2**20)])
        run.close(rank, f"out{rank}")
    found = derived(run)
    assert counts(found) == (11, 300)
    assert "rank == 0" in [step.when for step in steps_of(found)]


def test_a_look_at_a_folder_or_two_is_a_programs_start() -> None:
    run = TracedRun(1)
    run.call(0, Kind.LIST, "home", size=12)
    run.open(0, "out")
    run.move(0, Kind.WRITE, "out", [(0, 2**20)])
    run.close(0, "out")
    assert "read_dir" not in planned(derived(run)).totals.operations


def test_nothing_but_a_look_is_no_workload() -> None:
    run = TracedRun(1)
    run.call(0, Kind.LIST, "home", size=12)
    with pytest.raises(UserError):
        derived(run)


def test_raw_calls_that_read_a_folder_are_one_pass() -> None:
    run = TracedRun(1)
    for folder in range(20):
        for _ in range(3):
            run.call(0, Kind.LIST, f"top/{folder}")
        for name in range(30):
            run.call(0, Kind.STAT, f"top/{folder}/name{name}")
    assert derived(run).origin is not None
    listed, looked_at = counts(derived(run))
    assert (listed, looked_at) == (20, 600)


def test_what_is_walked_over_is_known_by_its_name() -> None:
    run = TracedRun(1)
    walk(run, 0, "top", 10, 30)
    captured = run.captured()
    known = known_streams(captured).streams
    assert all(known)
    [spec] = derived(run).files.values()
    assert set(known) == {spec.about}
