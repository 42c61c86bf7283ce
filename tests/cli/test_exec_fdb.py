"""The example that writes the fields of ecmwf into a real FDB and reads them back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import Cli, cli  # noqa: F401

ROOT = Path(__file__).parents[2]
EXAMPLE = str(ROOT / "examples" / "application" / "ecmwf-fdb.yaml")
FIELD = 822_289


@pytest.fixture(autouse=True)
def with_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example's commands begin where `venturi` was started, with the python3 found first."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def test_a_real_fdb_gives_back_what_writers_archived(cli: Cli) -> None:  # noqa: F811
    sizes = {"members": 2, "writers": 2, "readers": 1, "steps": 1, "levels": 3, "fields": 2}
    sets = [word for key, value in sizes.items() for word in ("--set", f"{key}={value}")]
    record = cli.json("run", EXAMPLE, "-d", str(cli.target), "--repeat", "1", *sets)
    metrics = record["metrics"]
    assert metrics["archived"]["values"] == [3 * FIELD]  # a writer has half of a member's six
    assert metrics["retrieved"]["values"] == [2 * 4 * FIELD]  # floor(0.7 * 6) of two members
    begins = [row["at_s"] for row in record["phases"] if row["path"] == "generate"]
    ends = [
        row["at_s"] + row["seconds"]["total"]
        for row in record["phases"]
        if row["path"] == "archive"
    ]
    assert len(begins) == 1
    assert len(ends) == 4
    assert begins[0] >= max(ends)
    assert not list(cli.target.iterdir())


def test_a_step_that_nobody_archived_is_an_error(tmp_path: Path) -> None:
    def said(*words: str) -> subprocess.CompletedProcess[str]:
        script = str(ROOT / "examples" / "application" / "fdb_fields.py")
        call = [sys.executable, script, *words, "--levels", "1", "--fields", "1"]
        return subprocess.run(call, capture_output=True, text=True, cwd=tmp_path, check=False)

    assert json.loads(said("archive", "--step", "0").stdout)["bytes"] == FIELD
    assert said("retrieve", "--step", "0", "--first", "1").returncode == 0
    assert said("retrieve", "--step", "1", "--first", "1").returncode != 0
