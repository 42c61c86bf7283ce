"""`venturi predict FOLDER --on`: all workloads of a folder in one table, and what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Cli
from profile_factory import curve, data, profile
from venturi.profile.machine_file import write_machine

WORKLOAD = """
workload: 1
name: {name}
groups: {{g: {{ranks: 1}}}}
files: {{f: {{path: f, shared: rank}}}}
program:
  g:
    - phase: dump
      do:
        - create: f
        - write: {{to: f, transfer: 1 MiB, size: {size}}}
        - close: f
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Each call takes 1 µs, each written byte 1 ns."""
    law = profile(
        data("write", lambda size, ranks: 1e-6 + 1e-9 * size, "new"),
        *(curve(name, lambda size, ranks: 1e-6, sizes=(0,)) for name in ("create", "close")),
    )
    path = tmp_path / "machine.yaml"
    write_machine(path, law, None)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two workloads, one of them a folder of its own, and what is no workload."""
    place = tmp_path / "mine"
    (place / "inner").mkdir(parents=True)
    (place / "a.yaml").write_text(WORKLOAD.format(name="a", size="8 MiB"))
    (place / "inner" / "workload.yaml").write_text(WORKLOAD.format(name="b", size="64 MiB"))
    (place / "notes.txt").write_text("nothing to run\n")
    (place / "site.yaml").write_text("schema: venturi.machine/2\nname: site\n")
    return place


def test_every_workload_of_a_folder_is_forecast(
    cli: Cli, machine: Path, folder: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "all.json"
    words = ("predict", str(folder), "--on", str(machine))
    found = cli.json(*words, "-o", str(kept))
    assert [row["source"] for row in found["rows"]] == ["a.yaml", "inner"]
    assert found["left_out"] == ["notes.txt", "site.yaml"]
    seconds = [row["forecast"]["seconds"]["median"] for row in found["rows"]]
    calls = [1e-6 * (n + 2) + 1e-9 * n * 2**20 for n in (8, 64)]
    assert seconds == pytest.approx(calls)
    done = cli(*words)
    assert done.returncode == 0, done.stderr
    assert "2 of 2: inner" in done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[0] for row in rows if row[-1:] == ["dump"]] == ["a.yaml", "inner"]
    page = tmp_path / "all.html"
    assert cli("report", str(kept), "-o", str(page)).returncode == 0
    assert "I/O time of each workload" in page.read_text()
    assert "<svg" in page.read_text()


def test_one_that_is_wrong_is_named_and_the_others_go_on(
    cli: Cli, machine: Path, folder: Path
) -> None:
    (folder / "broken.yaml").write_text(WORKLOAD.format(name="c", size="8 MiB") + "        - huh\n")
    done = cli("predict", str(folder), "--on", str(machine), "--json")
    assert done.returncode == 2
    assert "1 of 3 workloads have no forecast" in done.stderr
    assert '"source": "inner"' in done.stdout
    shown = cli("predict", str(folder), "--on", str(machine)).stdout
    assert "- broken.yaml: no forecast: " in shown
    assert "program.g[0].do[3]" in shown


def test_a_folder_without_workloads_is_refused(cli: Cli, machine: Path, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    done = cli("predict", str(tmp_path / "none"), "--on", str(machine))
    assert done.returncode == 2
    assert "without a capture" in done.stderr
