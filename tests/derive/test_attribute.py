"""Modes, owners and times that a program sets: the proxy sets as many, of the same files."""

from __future__ import annotations

from traced_run import REOPEN, TracedRun, check_exact, derived, planned, steps_of

from venturi.model.operation import ATTRIBUTES, Attribute, Kind
from venturi.model.plan import ItemVerb
from venturi.model.workload import Workload


def put(run: TracedRun, path: str, what: Attribute, rank: int = 0) -> None:
    run.call(rank, Kind.ATTRIBUTE, path, detail=1 + ATTRIBUTES.index(what))


def unpacked(run: TracedRun, path: str, rank: int = 0) -> None:
    """A file as an archive's program writes it: times while it is open, the mode afterwards."""
    run.open(rank, path)
    run.move(rank, Kind.WRITE, path, [(0, 5000)])
    put(run, path, Attribute.TIMES, rank)
    run.close(rank, path)
    put(run, path, Attribute.MODE, rank)


def left_out(found: Workload) -> list[str]:
    assert found.origin is not None
    return [said for said in found.origin.assumed if "no word" in said]


def test_many_files_are_items_with_their_attributes() -> None:
    run = TracedRun(1)
    for number in range(20):
        unpacked(run, f"archive/file{number}")
    found = derived(run)
    [step] = [step.each for step in steps_of(found) if step.each is not None]
    assert step.do == [
        ItemVerb.CREATE,
        ItemVerb.WRITE,
        ItemVerb.SET_TIMES,
        ItemVerb.CLOSE,
        ItemVerb.SET_MODE,
    ]
    assert check_exact(run, found).totals.operations["set_attribute"] == 40
    assert found.origin is not None
    assert found.origin.observed is not None
    assert found.origin.observed.operations["set_attribute"] == 40
    assert left_out(found) == []


def test_a_few_files_of_each_rank() -> None:
    run = TracedRun(3)
    for number in range(3):
        for rank in range(3):
            unpacked(run, f"part_{number}_{rank}x", rank)
        run.meet()
    found = derived(run)
    assert check_exact(run, found, files=9).totals.operations["set_attribute"] == 18
    assert left_out(found) == []


def test_files_that_were_there_before() -> None:
    """As `chmod -R` and `chown -R`: each file is looked at, and then changed."""
    run = TracedRun(1)
    for number in range(30):
        run.call(0, Kind.STAT, f"tree/x{number}")
        put(run, f"tree/x{number}", Attribute.OWNER)
    found = derived(run)
    [step] = [step.each for step in steps_of(found) if step.each is not None]
    assert step.do == [ItemVerb.STAT, ItemVerb.SET_OWNER]
    assert found.files[step.on].prestage == 0
    assert planned(found).totals.operations == {"stat": 30, "set_attribute": 30}


def test_folders_are_made_and_get_their_modes() -> None:
    run = TracedRun(1)
    for number in range(12):
        run.call(0, Kind.MKDIR, f"top/folder{number}")
        put(run, f"top/folder{number}", Attribute.MODE)
    found = derived(run)
    assert planned(found).totals.operations == {"mkdir": 12, "set_attribute": 12}


def test_what_a_call_is_about_is_kept() -> None:
    run = TracedRun(1)
    run.open(0, "log")
    run.move(0, Kind.WRITE, "log", [(0, 2**20)])
    for what in (Attribute.MODE, Attribute.OWNER, Attribute.TIMES):
        put(run, "log", what)
    run.close(0, "log")
    said = [step.verb for step in steps_of(derived(run)) if step.verb.startswith("set_")]
    assert said == ["set_mode", "set_owner", "set_times"]


def test_what_is_not_known_is_said_to_be_left_out() -> None:
    run = TracedRun(1)
    run.open(0, "data", REOPEN)
    run.move(0, Kind.READ, "data", [(0, 2**20)])
    run.call(0, Kind.ATTRIBUTE, "data")
    run.close(0, "data")
    assert left_out(derived(run)) == [
        "left out, because the language has no word for it: 1 attribute"
    ]
