"""What is the same again is said once: equal steps, sizes that come again, files seen first."""

from __future__ import annotations

import pytest
from traced_run import MS, REOPEN, TracedRun, check_exact, derived, moves_of, steps_of

from venturi.derive.yaml_text import to_yaml
from venturi.model.operation import Kind
from venturi.model.workload import (
    FileSpec,
    GroupSpec,
    Parameter,
    StepSpec,
    TruncateStep,
    Workload,
)
from venturi.model.yaml_text import parse_yaml


def of_steps(*steps: StepSpec) -> Workload:
    return Workload(
        workload=1,
        name="steps",
        parameters={"np": Parameter(default=1, role="ranks")},
        groups={"all": GroupSpec(ranks="np")},
        files={"data": FileSpec(path="data")},
        program={"all": list(steps)},
    )


def test_steps_that_only_name_a_file_stand_within_a_line() -> None:
    named = [StepSpec(open="data"), StepSpec(stat="data"), StepSpec(close="data")]
    cut = StepSpec(truncate=TruncateStep(on="data", size=5))
    workload = of_steps(
        StepSpec(phase="look", do=named[:1]),
        StepSpec(phase="again", do=[StepSpec(for_="i", in_=9, do=named)]),
        StepSpec(phase="cut", do=[cut, *named[2:]]),
        StepSpec(phase="more", do=[*named, *named]),
    )
    text = to_yaml(workload)
    assert parse_yaml(text, "text", Workload) == workload
    lines = [line.strip() for line in text.splitlines()]
    assert lines[lines.index("- phase: look") + 1] == "do: [{open: data}]"
    assert "- {for: i, in: 9, do: [{open: data}, {stat: data}, {close: data}]}" in lines
    assert "- truncate: {on: data, size: 5}" in lines
    assert lines.count("- stat: data") == 2


def test_calls_on_a_name_beside_those_of_its_opening_are_one_loop() -> None:
    run = TracedRun(1)
    for name in ("one", "other"):
        run.open(0, name)
        run.move(0, Kind.WRITE, name, [(0, 4096)])
        run.call(0, Kind.STAT, name)
        run.close(0, name)
        for _ in range(5):
            run.call(0, Kind.STAT, name)
    found = derived(run)
    check_exact(run, found, files=2)
    stats = [step for step in steps_of(found) if step.stat]
    turns = [step.in_ for step in steps_of(found) if step.for_ and step.do and step.do[0] in stats]
    assert turns == [5, 5] or len(stats) == 4


def unpacked(folders: int, files: int, odd: int) -> TracedRun:
    """Who unpacks looks at a folder before each file that goes there, and reads on at times."""
    run = TracedRun(1)
    run.open(0, "input", REOPEN)
    run.meet(200 * MS)
    run.call(0, Kind.MKDIR, "out")
    for folder in range(folders):
        run.call(0, Kind.STAT, "out")
        run.call(0, Kind.MKDIR, f"out/d{folder}")
        for number in range(files):
            path = f"out/d{folder}/f{number}"
            run.call(0, Kind.STAT, f"out/d{folder}")
            if folder == odd and not number:
                run.move(0, Kind.READ, "input", [(k * 4096, 4096) for k in range(9)])
            run.open(0, path)
            run.move(0, Kind.WRITE, path, [(0, 3000 * (number + 1))])
            run.close(0, path)
    run.close(0, "input")
    return run


@pytest.mark.parametrize(("folders", "files", "odd"), [(24, 8, 0), (12, 6, 7), (30, 5, 29)])
def test_a_look_before_each_file_belongs_to_its_turn(folders: int, files: int, odd: int) -> None:
    run = unpacked(folders, files, odd)
    found = derived(run)
    made = check_exact(run, found)
    text = to_yaml(found.model_copy(update={"origin": None}))
    assert made.totals.operations["stat"] == folders * (files + 1)
    assert [step.in_ for step in steps_of(found) if step.for_] == [folders, files], text
    assert [step.when for step in steps_of(found) if step.when] == [f"i == {odd}"]
    assert len(found.files) == 4
    assert len(text.splitlines()) < 50, text


@pytest.mark.parametrize("turns", [40, 192])
@pytest.mark.parametrize("way", [Kind.READ, Kind.WRITE])
def test_sizes_that_come_again_keep_their_order(turns: int, way: Kind) -> None:
    run = TracedRun(1)
    for number in range(turns):
        path = f"f{number}"
        run.open(0, path, REOPEN if way is Kind.READ else 0o1102)
        run.move(0, way, path, [(0, 3000 * (1 + number % 8))])
        run.call(0, Kind.SYNC, path)
        run.call(0, Kind.STAT, path)
        run.close(0, path)
    run.open(0, "log")
    for number in range(3):
        run.move(0, Kind.WRITE, "log", [(number * 9, 9)])
    run.close(0, "log")
    found = derived(run)
    check_exact(run, found)
    sizes = [str(move.size) for move in moves_of(found)]
    trees = [spec for spec in found.files.values() if spec.tree]
    exact = {"3 kB + 3 kB * (i % 8)", "3000 + 3000 * j"}
    assert exact.intersection(sizes) or trees, to_yaml(found)


@pytest.mark.parametrize("looks", [1, 2])
def test_files_that_are_looked_at_and_then_read_are_the_same(looks: int) -> None:
    run = TracedRun(1)
    for _ in range(looks):
        for number in range(48):
            run.call(0, Kind.STAT, f"f{number}")
    run.open(0, "out")
    run.move(0, Kind.WRITE, "out", [(k * 65536, 65536) for k in range(40)])
    run.close(0, "out")
    for number in range(48):
        path = f"f{number}"
        run.open(0, path, REOPEN)
        run.move(0, Kind.READ, path, [(0, 5000 + 5000 * (number % 4))])
        run.close(0, path)
    found = derived(run)
    check_exact(run, found, files=49)
    assert {spec.about for spec in found.files.values()} == {"/scratch/f#", "/scratch/out"}


def test_small_sizes_of_what_hardly_counts_are_one() -> None:
    run = TracedRun(1)
    run.open(0, "data")
    run.move(0, Kind.WRITE, "data", [(k * 2**20, 2**20) for k in range(8)])
    run.close(0, "data")
    for turn in range(7):
        run.open(0, "notes", 0o102)
        at = 0
        for size in run.p_value.sample([7, 17, 31, 60, 101, 209], 2 + turn % 4):
            run.move(0, Kind.WRITE, "notes", [(at, size)])
            at += size
        run.close(0, "notes")
    found = derived(run)
    check_exact(run, found)
    notes = [move for move in moves_of(found) if "2" in str(move.to)]
    assert len(notes) <= 2, to_yaml(found)
