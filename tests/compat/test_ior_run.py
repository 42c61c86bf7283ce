"""What IOR's options want done around a run: time limits of tests, outliers, warnings, layouts."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from venturi.compat import ior_run
from venturi.compat.ior_lower import TaskLayout
from venturi.compat.ior_result import IorRun
from venturi.compat.ior_run import (
    Choices,
    complaints,
    exit_code,
    layout_of,
    make_ready,
    plan_of,
    run_test,
)
from venturi.compat.ior_script import read_command_line
from venturi.compat.ior_test import IorTest
from venturi.execute.launcher import machine_named
from venturi.model.error import ExitCode, UserError, VenturiError
from venturi.model.event import Event
from venturi.plan.make import PlanResult


def silent(made: PlanResult) -> ior_run.Feed:
    def feed(event: Event) -> None:
        assert event.event

    return feed


@pytest.fixture
def choices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Choices:
    (tmp_path / "target").mkdir()
    monkeypatch.chdir(tmp_path / "target")
    return Choices(machine_named("local"), tmp_path / "store", ["venturi"], ["ior"], ranks=2)


def run(choices: Choices, words: str) -> IorRun:
    (test,) = read_command_line([*shlex.split(words), "-o", "./f"])
    return run_test(make_ready(test, choices), choices, silent)


def test_no_repetition_begins_after_the_time_of_a_test(
    choices: Choices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ior_run, "MINUTE_S", 0.3)
    done = run(choices, "-w -T 1 -i 1000 -d 1 -b 4k -t 4k")
    assert 1 <= done.record.repetitions < 5
    assert done.record.partial
    assert len({row.repetition for row in done.record.phases}) == done.record.repetitions


def test_outliers_and_short_transfers_are_told(choices: Choices) -> None:
    done = run(choices, "-w -j 1 -x -b 64k -t 4k")
    assert exit_code(done) is ExitCode.FINE
    assert complaints(done, shown=True) == []
    row = done.record.phases[0]
    late = row.per_rank.model_copy(update={"close_s": [0.001, 5.0]})
    odd = row.model_copy(update={"per_rank": late, "short_transfers": 2})
    changed = replace(done, record=done.record.model_copy(update={"phases": [odd]}))
    assert exit_code(changed) is ExitCode.MEASUREMENT
    told = complaints(changed, shown=True)
    assert any("short transfers" in line for line in told)
    assert any("rank 1: close 5 s" in line for line in told)


@pytest.mark.parametrize(
    ("words", "ranks", "nodes", "expected"),
    [
        ("-w", None, 1, TaskLayout(1, 1)),
        ("-w", 8, 2, TaskLayout(8, 2)),
        ("-w -N 4", 8, 1, TaskLayout(4, 1)),
        ("-w -N 4", None, 1, TaskLayout(4, 1)),
        ("-w -O numTasksOnNode0=4,numNodes=2", 8, 2, TaskLayout(8, 2)),
    ],
)
def test_layouts(
    choices: Choices, words: str, ranks: int | None, nodes: int, expected: TaskLayout
) -> None:
    (test,) = read_command_line(shlex.split(words))
    assert layout_of(test, replace(choices, ranks=ranks, nodes=nodes)) == expected


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (IorTest(tasks=9), "-N 9"),
        (IorTest(nodes=3), "numNodes=3"),
        (IorTest(tasks_on_node=3), "numTasksOnNode0=3"),
    ],
)
def test_layouts_that_the_command_does_not_have(
    choices: Choices, test: IorTest, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        layout_of(test, choices)


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
@pytest.mark.parametrize("words", ["-V", "-V -c", "--mpiio.useFileView -F", "-V -D 30"])
def test_bytes_go_through_file_views_to_their_places(
    choices: Choices, mpi: str, words: str
) -> None:
    """What is read is checked where it stands, and the last byte stands where it should."""
    under_mpi = replace(choices, machine=machine_named(mpi), ranks=3)
    done = run(under_mpi, f"-a MPIIO {words} -w -r -R -k -t 4k -b 8k -s 3")
    assert exit_code(done) is ExitCode.FINE
    assert [row.bytes for row in done.record.phases] == [3 * 3 * 8 << 10] * 2
    assert sum(row.errors for row in done.record.phases) == 0
    sizes = [path.stat().st_size for path in Path.cwd().rglob("f*") if path.is_file()]
    assert sizes == ([3 * 8 << 10] * 3 if "-F" in words else [9 * 8 << 10])


@pytest.mark.parametrize(
    ("words", "machine"),
    [
        ("", "local"),
        ("-F", "local"),
        ("-a MMAP", "local"),
        ("-a AIO", "local"),
        ("-z -t 4k", "local"),
        ("-c -a MPIIO", "mpich"),
        ("-F -a MPIIO", "openmpi"),
    ],
)
def test_a_file_of_an_earlier_run_is_checked_by_its_own_stamps(
    choices: Choices, words: str, machine: str
) -> None:
    there = replace(choices, machine=machine_named(machine))
    sizes = "-b 64k -t 8k -s 2"
    assert exit_code(run(there, f"{words} {sizes} -w -R -k")) is ExitCode.FINE
    again = run(there, f"{words} {sizes} -r -R")
    assert exit_code(again) is ExitCode.FINE
    assert [row.errors for row in again.record.phases] == [0]
    (warning,) = [line for line in again.record.warnings if "its first 4 KiB" in line]
    assert warning.startswith("foreign file read:")

    path = max(path for path in Path.cwd().rglob("f*") if path.is_file())
    data = bytearray(path.read_bytes())
    data[8192:16384], data[24576:32768] = data[24576:32768], data[8192:16384]
    data[40_000] ^= 4
    path.write_bytes(data)
    spoilt = run(there, f"{words} {sizes} -r -R")
    assert exit_code(spoilt) is ExitCode.MEASUREMENT
    found = [detail.what.split(":")[0] for row in spoilt.record.phases for detail in row.details]
    assert set(found) == {"misplaced", "flipped bit"}
    if "-t 4k" not in words:
        assert sorted(found) == ["flipped bit", "misplaced", "misplaced"]


def test_a_plan_warns_once_of_each_phase(choices: Choices) -> None:
    (test,) = read_command_line(shlex.split("-w -r -W -Z -b 64k -t 4k -o ./f"))
    warnings = plan_of(make_ready(test, choices)).warnings
    assert [line.partition(":")[0] for line in warnings] == ["check", "read"]


def test_a_file_without_stamps_cannot_be_checked(choices: Choices) -> None:
    run(choices, "-w -k -b 64k -t 8k")
    done = run(choices, "-r -R -b 64k -t 8k")
    assert exit_code(done) is ExitCode.MEASUREMENT
    assert "bear no stamps" in (done.record.failure or "")


def test_stripes_are_refused_where_the_file_system_has_none(choices: Choices) -> None:
    with pytest.raises(VenturiError) as caught:
        run(choices, "-w -b 64k -t 4k --lustre.stripecount 2")
    assert "'stripe' is not possible on" in caught.value.message
    assert caught.value.exit_code is ExitCode.TARGET


@pytest.mark.parametrize(
    ("words", "machine"),
    [
        ("-g", "local"),
        ("-g -O stoneWallingWearOut=1", "local"),
        ("-c -a MPIIO", "openmpi"),
        ("-c -g -a MPIIO -O stoneWallingWearOut=1", "mpich"),
    ],
)
def test_a_deadline_with_barriers_and_calls_together(
    choices: Choices, words: str, machine: str
) -> None:
    """All end soon after it, and what was written is what is read."""
    on = replace(choices, machine=machine_named(machine), ranks=3)
    done = run(on, f"{words} -w -r -R -D 1 -O interIODelay=1000 -t 4k -b 4k -s 60000")
    assert exit_code(done) is ExitCode.FINE
    write, read = done.record.phases
    assert write.stopped_by.value in ("limit", "deadline")
    assert 0 < write.bytes < 3 * 60000 * 4096
    assert (write.errors, read.errors) == (0, 0)
    assert 0 < read.bytes <= write.bytes
    if "stoneWallingWearOut=1" in words and write.stopped_by.value == "limit":
        assert len(set(write.per_rank.bytes)) == 1  # else a task had not caught up in time


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
@pytest.mark.parametrize("words", ["-V -S", "-V -S -c", "-V -S -F", "-V -S -c -D 30"])
def test_one_call_moves_a_transfer_of_every_segment(choices: Choices, mpi: str, words: str) -> None:
    """Call j is the j-th transfer of all segments; a plain read finds each at its own offset."""
    under_mpi = replace(choices, machine=machine_named(mpi), ranks=3)
    sizes = "-t 4k -b 8k -s 5"
    done = run(under_mpi, f"-a MPIIO {words} -w -r -R -k {sizes}")
    assert exit_code(done) is ExitCode.FINE
    for row, kind in zip(done.record.phases, ("write", "read"), strict=True):
        assert row.bytes == 3 * 5 * 8 << 10
        assert row.by_operation[kind].operations == 3 * 2
        assert [(size.bytes, size.count) for size in row.request_sizes] == [(5 * 4 << 10, 6)]
    alone = "-F" if "-F" in words else ""
    plain = run(replace(choices, ranks=3), f"{alone} -r -R {sizes}")
    assert exit_code(plain) is ExitCode.FINE
    assert [row.errors for row in plain.record.phases] == [0]
