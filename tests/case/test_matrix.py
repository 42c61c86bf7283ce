"""Every interface under every way to start ranks: it runs, or is refused with its reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from cli.conftest import Cli, cli  # noqa: F401
from venturi.model.plan import Interface

MATRIX = yaml.safe_load((Path(__file__).parent / "matrix.yaml").read_text("utf-8"))
CELLS = [(interface, machine) for interface, row in MATRIX.items() for machine in row]
PART = {"transfer": "4 KiB", "size": "64 KiB"}
WORKLOAD = {
    "workload": 1,
    "name": "cell",
    "parameters": {"np": {"default": 1, "role": "ranks"}},
    "groups": {"g": {"ranks": "np"}},
    "files": {"f": {"path": "f", "content": {"verify": True}}},
    "program": {
        "g": [
            {
                "phase": "write",
                "do": [{"create": "f"}, {"write": {"to": "f", **PART}}, {"close": "f"}],
            },
            {"phase": "read", "do": [{"read": {"from": "f", **PART}, "from": "shift 1"}]},
        ]
    },
}


def test_every_interface_has_a_row() -> None:
    assert list(MATRIX) == [interface.value for interface in Interface]
    assert all(set(row) == {"local", "openmpi", "mpich"} for row in MATRIX.values())


def test_the_page_says_what_is_tested() -> None:
    page = (Path(__file__).parents[2] / "docs" / "interfaces.md").read_text("utf-8")
    said = {}
    for line in page.splitlines():
        names, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        words = [cell.split()[0].strip(",:;") if cell else "" for cell in cells]
        if line.startswith("| `") and len(cells) == 3 and {*words} <= {"runs", "refused"}:
            said |= {name: words for name in names.split()}
    tested = {
        f"`{interface}`": ["runs" if cell == "runs" else "refused" for cell in row.values()]
        for interface, row in MATRIX.items()
    }
    assert said == tested


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(("interface", "machine"), CELLS)
def test_cell(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    interface: str,
    machine: str,
    ranks: int,
) -> None:
    file = tmp_path / "workload.yaml"
    file.write_text(json.dumps(WORKLOAD), "utf-8")
    words = ["run", str(file), "-d", str(cli.target), "-n", str(ranks), "--repeat", "1"]
    words += ["--on", machine, "--set", f"interface={interface}"]
    expected = MATRIX[interface][machine]
    if expected != "runs":
        done = cli(*words)
        assert done.returncode == 2, done.stdout + done.stderr
        assert expected in " ".join((done.stdout + done.stderr).split())
    else:
        record = cli.json(*words)
        for row in record["phases"]:
            assert row["errors"] == 0
            assert row["bytes"] == ranks * 64 * 1024
    assert not list(cli.target.iterdir())
