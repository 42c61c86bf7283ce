"""Each row of docs/compatibility/ior.md: planned if it says so, else refused with its reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compat.compatibility import Row, rows_of
from venturi.compat.ior_interface import INTERFACES, STORES
from venturi.compat.ior_key import BACKEND_OPTIONS, KEYS, LEGACY_KEYS
from venturi.compat.ior_print import form_of
from venturi.compat.ior_run import Choices, make_ready, plan_of
from venturi.compat.ior_script import read_command_line
from venturi.execute.engine import describe, find_engine
from venturi.execute.launcher import machine_named
from venturi.model.error import ExitCode, TargetProblem, UserError
from venturi.model.machine import MpiLibrary

ROWS = rows_of("ior")
RANKS = 4
NOT_IN_THE_PROGRAM = {
    "-A",
    "-j",
    "-v",
    "-x",
    "-X",
    "-T",
    "-Q",
    "-l",
    "--warningAsErrors",
    "--dryRun",
    "--random-offset-seed",
    "--aio.granularity",
    "--mpiio.showHints",
    "--hdf5.showHints",
    "--ncmpi.showHints",
    "-K",
    "refnum",
    "outlierThreshold",
    "verbose",
    "singleXferAttempt",
    "reorderTasksRandomSeed",
    "maxTimeDuration",
    "taskPerNodeOffset",
    "dataPacketType",
    "warningAsErrors",
    "dryRun",
    "random-offset-seed",
    "summaryFormat",
    "summaryFile",
    "summaryAlways",
    "platform",
    "debug",
    "quitOnError",
    "saveRankPerformanceDetailsCSV",
    "stoneWallingStatusFile",
    "numNodes",
    "numTasksOnNode0",
    "reorderTasks",
    "reorderTasksConstant",
    "-C",
    "showHints",
}
"""What steers the run, its settings or its output, or has no effect on one node."""


def choices() -> Choices:
    return Choices(
        machine=machine_named("local"),
        store=Path("/nonexistent"),
        command=["venturi"],
        arguments=["ior"],
        ranks=RANKS,
    )


def planned(words: list[str]) -> list[Any]:
    """The workloads of a command line, once each was planned."""
    workloads = []
    for test in read_command_line(words):
        form_of(test, None)
        ready = make_ready(test, choices())
        made = plan_of(ready)
        assert made.totals.phases
        workloads.append(ready.lowered.workload)
    return workloads


@pytest.fixture(autouse=True)
def where_the_examples_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent)


@pytest.fixture
def existing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file to read, and no trace of it beside the tests."""
    for name in ("two-tests.ior", "hints.txt"):
        (tmp_path / name).write_text(Path(name).read_text("utf-8"), "utf-8")
    (tmp_path / "testFile").write_bytes(bytes(RANKS << 20))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "row", [r for r in ROWS if r.verdict != "refused" and r.option != "-h"], ids=str
)
@pytest.mark.usefixtures("existing")
def test_what_the_table_runs_is_planned_and_has_its_effect(row: Row) -> None:
    workloads = planned(row.words)
    assert workloads
    assert read_command_line(row.words) != read_command_line(row.base)
    if row.option in NOT_IN_THE_PROGRAM:
        return
    try:
        base = planned(row.base)
    except (UserError, TargetProblem):
        return  # the option is what makes the command line whole
    assert workloads != base


@pytest.mark.parametrize("row", [r for r in ROWS if r.verdict == "refused"], ids=str)
@pytest.mark.usefixtures("existing")
def test_what_the_table_refuses_is_refused_with_its_reason(row: Row) -> None:
    with pytest.raises(UserError) as caught:
        planned(row.words)
    assert row.reason in caught.value.message
    assert caught.value.exit_code is ExitCode.USAGE


@pytest.fixture(scope="module")
def options_built() -> dict[str, set[str]]:
    """By interface, what the engines that are built here take for it."""
    found: dict[str, set[str]] = {}
    for mpi in (None, *MpiLibrary):
        try:
            described = describe(find_engine(mpi))
        except UserError:
            continue
        for backend in described["backends"]:
            if backend["built"]:
                names = {option["name"] for option in backend["options"]}
                found.setdefault(backend["name"], set()).update(names)
    return found


@pytest.mark.parametrize(
    "row", [r for r in ROWS if r.verdict != "refused" and r.option.startswith("--")], ids=str
)
@pytest.mark.usefixtures("existing")
def test_options_of_interfaces_are_those_of_the_engine(
    row: Row, options_built: dict[str, set[str]]
) -> None:
    for workload in planned(row.words):
        for file in workload.files.values():
            if file.interface.value not in options_built:
                pytest.skip(f"missing: {file.interface.value} is not built here")
            assert set(file.options) <= options_built[file.interface.value]


def test_every_option_and_key_has_a_row() -> None:
    spelled = {row.option for row in ROWS}
    wanted = {f"-{key.short}" for key in KEYS if key.short}
    wanted |= {word for key in KEYS for word in key.keys}
    wanted |= {f"--{long}" for key in KEYS if not key.short for long in key.longs}
    wanted |= {f"--{name}" for name in BACKEND_OPTIONS} | set(LEGACY_KEYS)
    assert not wanted - spelled
    shown = {tuple(row.example) for row in ROWS}
    assert {("-a", api) for api in (*(name.upper() for name in INTERFACES), *STORES)} <= shown


@pytest.mark.parametrize("key", [k for k in KEYS if k.short], ids=lambda key: key.short)
def test_an_option_and_its_keys_mean_the_same(key: Any) -> None:
    texts = {"text": "./x", "number": "4k", "flag": "1", "real": "0.5"}
    special = {"-l": "random", "-a": "POSIX", "-N": "2", "-s": "2", "-b": "8m", "-t": "4k"}
    text = special.get(f"-{key.short}", texts[key.kind.value])
    base = ["-w", "-F"] if key.short != "w" else ["-r", "-F"]
    line = [*base, f"-{key.short}={text}"]
    by_option = read_command_line(line)
    for word in key.keys:
        assert read_command_line([*base, "-O", f"{word}={text}"]) == by_option


def test_a_script_is_the_tests_that_its_lines_say() -> None:
    tests = read_command_line(["-k", "-f", "two-tests.ior"])
    assert [test.number for test in tests] == [0, 1, 2, 3]
    first, second, third, last = tests
    assert (first.transfer_bytes, first.block_bytes, first.file) == (65536, 1 << 20, "./g")
    assert not first.file_per_process
    assert second.file_per_process
    assert second.transfer_bytes == 1 << 20
    assert second.backend == {"posix.odirect": 1}
    assert replace(third, number=1) == second
    assert (last.segments, last.backend) == (2, {"posix.odirect": 0})
    assert all(test.keep for test in tests)
