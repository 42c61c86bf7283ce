"""Each row of docs/compatibility that says it runs, really run by the engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from compat.compatibility import Row, rows_of
from venturi.compat import ior_run, md_workbench_option, mdtest_option
from venturi.compat.fio_command import read_command
from venturi.compat.fio_workload import fio_run
from venturi.compat.ior_run import Choices, exit_code, make_ready, run_test
from venturi.compat.ior_script import read_command_line
from venturi.compat.md_workbench_workload import workbench_trial
from venturi.compat.mdtest_workload import MdtestRunSettings, trials_of
from venturi.compat.perform import PlannedRun, RunContext, exit_code_of, perform_trials
from venturi.execute.launcher import machine_named
from venturi.model.error import ExitCode, TargetProblem

RANKS = 4
HERE = Path(__file__).parent
WANT_MPI = ("MPIIO", "NCMPI", "collectiveMetadata", "hintsFileName")
STRIPES = ("lustre", "beegfs")
TOO_LARGE = ("-M", "memoryPerNode")
"""They take 80 % of the memory of the machine; tests/engine/test_cache_pressure.py takes less."""
WANT_CLUSTER = "RADOS"
"""tests/cli/test_rados.py runs them on a cluster of its own."""
WANT_POLLING = "hipri"
"""It needs a device with queues that are polled."""


def running(tool: str) -> list[Row]:
    """What the tables run; help lists the options and runs nothing (test_drop_in.py)."""
    return [
        row
        for row in rows_of(tool)
        if row.verdict != "refused" and row.option != "-h" and WANT_CLUSTER not in str(row)
    ]


def is_effective(row: Row) -> bool:
    """Whether an option of fio changes anything."""
    return not row.note.startswith(("no effect", "the default, and the only value"))


@pytest.fixture
def choices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Choices:
    """A place where the files of the examples are, and one that a read without a write wants."""
    place = tmp_path / "target"
    place.mkdir()
    for name in ("two-tests.ior", "hints.txt"):
        (place / name).write_text((HERE / name).read_text("utf-8"), "utf-8")
    monkeypatch.chdir(place)
    return Choices(machine_named("local"), tmp_path / "store", ["venturi"], ["ior"], ranks=RANKS)


def machine_of(row: Row) -> str:
    return "openmpi" if any(word in str(row) for word in WANT_MPI) else "local"


@pytest.mark.needs("openmpi")
@pytest.mark.parametrize(
    "row", [row for row in running("ior") if row.option not in TOO_LARGE], ids=str
)
def test_iors(choices: Choices, monkeypatch: pytest.MonkeyPatch, row: Row) -> None:
    choices = replace(choices, machine=machine_named(machine_of(row)))
    monkeypatch.setattr(ior_run, "MINUTE_S", 1.0)
    tests = read_command_line(row.words)
    if not any(test.writes for test in tests):
        (before,) = read_command_line(["-w", "-W", "-k"])
        assert exit_code(run_test(make_ready(before, choices), choices, _silent)) is ExitCode.FINE
    for test in tests:
        if test.dry_run:
            assert ior_run.plan_of(make_ready(test, choices)).totals.phases
            continue
        if row.option.lstrip("-").startswith(STRIPES):
            with pytest.raises(TargetProblem, match="striped"):
                run_test(make_ready(test, choices), choices, _silent)
            continue
        run = run_test(make_ready(test, choices), choices, _silent)
        assert exit_code(run) is ExitCode.FINE, run.record.verdict
        assert sum(phase.errors for phase in run.record.phases) == 0
        assert all(phase.operations for phase in run.record.phases)


def _silent(made: object) -> ior_run.Feed:
    return lambda event: None


def run_all(trials: list[PlannedRun], tmp_path: Path) -> None:
    target = tmp_path / "small"
    target.mkdir()
    stage = RunContext(target, tmp_path / "store", machine_named("local"), 1, ["venturi"])
    records = perform_trials(trials, stage)
    assert exit_code_of(records) is ExitCode.FINE, [record.verdict for record in records]
    for record in records:
        assert sum(phase.errors for phase in record.phases) == 0
        assert all(phase.operations for phase in record.phases)


@pytest.mark.parametrize("row", running("mdtest"), ids=str)
def test_mdtests(tmp_path: Path, row: Row) -> None:
    run_all(trials_of(mdtest_option.read_arguments(row.words), MdtestRunSettings(RANKS)), tmp_path)


@pytest.mark.parametrize("row", running("md-workbench"), ids=str)
def test_md_workbenchs(tmp_path: Path, row: Row) -> None:
    arguments = md_workbench_option.read_arguments(row.words)
    run_all([workbench_trial(arguments, ranks=2)], tmp_path)


@pytest.mark.parametrize(
    "row",
    [row for row in running("fio") if row.option != WANT_POLLING and is_effective(row)],
    ids=str,
)
def test_fios(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: Row) -> None:
    monkeypatch.chdir(tmp_path)
    run_all([fio_run(read_command(row.words)).trial], tmp_path)
