"""Launch lines for machines, built in or from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from venturi.execute.launcher import launch_line, machine_named, start_words
from venturi.model.error import UserError
from venturi.model.machine import Launcher, LauncherKind, Machine, MpiLibrary


def test_the_engine_belongs_to_the_mpirun() -> None:
    for name in ("openmpi", "mpich"):
        line = launch_line(machine_named(name), 3, Path("plan.json"))
        assert line[0] == f"mpirun.{name}"
        assert line[line.index("-n") + 1] == "3"
        assert line[-3].endswith(f"venturi-engine-{name}")
        assert line[-2:] == ["run", "plan.json"]


def test_a_machine_file_gives_the_line(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(
        "schema: venturi.machine/2\nname: m\nmost_ranks: 8\n"
        "launcher: {kind: mpirun, mpi: mpich, command: [env, A=1, mpirun.mpich, -np, '{ranks}']}\n"
    )
    line = launch_line(machine_named(str(path)), 5, Path("p"))
    assert line[:5] == ["env", "A=1", "mpirun.mpich", "-np", "5"]


def test_the_machine_file_of_the_docs_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/campaign.md names an MPI and a launch line, and no kind."""
    monkeypatch.setattr("shutil.which", lambda name, **_: f"/usr/bin/{name}")
    path = tmp_path / "m.yaml"
    path.write_text(
        "schema: venturi.machine/2\nname: m\n"
        'launcher: {mpi: openmpi, command: [srun, -n, "{ranks}", -N, "{nodes}"]}\n'
    )
    line = launch_line(machine_named(str(path)), 10, Path("p"), nodes=2)
    assert line[:5] == ["srun", "-n", "10", "-N", "2"]
    assert line[5].endswith("venturi-engine-openmpi")


def test_a_launch_line_that_would_be_ignored_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text("schema: venturi.machine/2\nname: m\nlauncher: {command: [srun, -n, '2']}\n")
    with pytest.raises(UserError, match=r"launcher\.mpi does not say which"):
        launch_line(machine_named(str(path)), 2, Path("p"))
    path.write_text("schema: venturi.machine/2\nname: m\nlauncher: {kind: local, mpi: mpich}\n")
    with pytest.raises(UserError, match="'mpi' would be ignored"):
        machine_named(str(path))


def test_a_partition_is_a_machine_without_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name, **_: f"/usr/bin/{name}")
    machine = machine_named("slurm:fat")
    assert machine.scheduler.queue == "fat"
    line = launch_line(machine, 8, Path("plan.json"), nodes=2)
    assert line[:2] == ["srun", "--partition=fat"]
    assert line[2] in ("--mpi=pmix", "--mpi=pmi2")
    assert line[3:5] == ["--ntasks=8", "--nodes=2"]
    with pytest.raises(UserError, match="partition is missing"):
        machine_named("slurm:")


@pytest.mark.parametrize("start", ["srun", "env"])
def test_only_mpi_s_own_programs_are_told_of_the_superuser(start: str) -> None:
    command = [start, "-n", "{ranks}"]
    launcher = Launcher(kind=LauncherKind.MPIRUN, mpi=MpiLibrary.OPENMPI, command=command)
    assert start_words(Machine(name="m", launcher=launcher), 4, 1) == [start, "-n", "4"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema: venturi.machine/2\n", "name: is missing"),
        (
            "schema: venturi.machine/9\nname: m\n",
            "is 'venturi.machine/9'; it must be 'venturi.machine/2'",
        ),
        ("schema: venturi.machine/2\nname: m\nlauncher: {kind: ssh}\n", "launcher.kind"),
    ],
)
def test_bad_machine_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        machine_named(str(path))
    assert message in caught.value.message


def test_a_launcher_without_its_mpi_is_refused() -> None:
    machine = Machine.model_validate_json(
        '{"schema": "venturi.machine/2", "name": "m", "launcher": {"kind": "mpirun"}}'
    )
    with pytest.raises(UserError, match="needs 'mpi'"):
        launch_line(machine, 2, Path("p"))
