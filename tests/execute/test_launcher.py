"""Launch lines for machines, built in or from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from venturi.execute.launcher import launch_line, machine_named
from venturi.model.error import UserError
from venturi.model.machine import Machine


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
        "schema: venturi.machine/1\nname: m\nmost_ranks: 8\n"
        "launcher: {kind: mpirun, mpi: mpich, command: [env, A=1, mpirun.mpich, -np, '{ranks}']}\n"
    )
    line = launch_line(machine_named(str(path)), 5, Path("p"))
    assert line[:5] == ["env", "A=1", "mpirun.mpich", "-np", "5"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema: venturi.machine/1\n", "name: is missing"),
        ("schema: venturi.machine/2\nname: m\n", "schema"),
        ("schema: venturi.machine/1\nname: m\nlauncher: {kind: ssh}\n", "launcher.kind"),
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
        '{"schema": "venturi.machine/1", "name": "m", "launcher": {"kind": "mpirun"}}'
    )
    with pytest.raises(UserError, match="needs 'mpi'"):
        launch_line(machine, 2, Path("p"))
