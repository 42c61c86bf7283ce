"""What a command reads is not replaced by what it writes: it may be the only copy."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from cli.conftest import Cli
from cli.conftest import cli as cli  # noqa: PLC0414

LOG = Path(__file__).parents[2] / "examples" / "darshan" / "ior_small_4k" / "ior_small_4k.darshan"


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """A folder with an only copy of everything that commands read."""
    folder = tmp_path / "inputs"
    folder.mkdir()
    for name in ("a.darshan", "b.darshan", "c.json"):
        shutil.copy(LOG, folder / name)
    os.link(folder / "a.darshan", folder / "hard")
    (folder / "link").symlink_to("a.darshan")
    (folder / "known.json").write_text("known: []\n")
    step = {"workload": "ior", "set": {"interface": "simulated"}}
    campaign = {"campaign": 1, "name": "c", "steps": {"s": step}}
    (folder / "campaign.yaml").write_text(json.dumps(campaign))
    return folder


@pytest.mark.parametrize(
    "line",
    [
        "derive {0}/a.darshan -o {0}/a.darshan",
        "derive {0}/a.darshan -o {0}/hard",
        "derive {0}/a.darshan -o {0}/link",
        "derive {0}/a.darshan --scale-ranks {0}/b.darshan -o {0}/b.darshan",
        "compare {0}/a.darshan {0}/b.darshan -o {0}/a.darshan",
        "compare {0}/a.darshan {0}/b.darshan -o {0}/b.darshan",
        "report {0}/c.json -o {0}/c.json",
        "report {0}/a.darshan --proxy {0}/c.json -o {0}/c.json",
        "results history --known {0}/known.json -o {0}/known.json",
        "campaign run {0}/campaign.yaml -d {0} -o {0}/out --junit {0}/campaign.yaml",
        "campaign run {0}/campaign.yaml -d {0} -o {0}/out --metrics {0}/campaign.yaml",
    ],
)
def test_nothing_that_is_read_is_replaced(cli: Cli, inputs: Path, line: str) -> None:
    before = {path.name: path.read_bytes() for path in inputs.iterdir()}
    done = cli(*line.format(inputs).split())
    assert (done.returncode, done.stdout) == (2, "")
    assert "this is read here, and would be lost" in done.stderr
    assert {path.name: path.read_bytes() for path in inputs.iterdir()} == before


def test_an_earlier_output_is_replaced(cli: Cli, inputs: Path) -> None:
    for _ in range(2):
        done = cli("derive", str(inputs / "a.darshan"), "-o", str(inputs / "a.yaml"))
        assert done.returncode == 0, done.stderr


def test_no_page_is_put_into_a_run(cli: Cli) -> None:
    cli("run", "ior", "-d", str(cli.target), "--repeat", "1", "--set", "interface=simulated")
    (run,) = cli.store.glob("runs/*")
    for name in ("record.json", "page.html"):
        done = cli("report", str(run), "-o", str(run / name))
        assert done.returncode == 2
        assert "is a run, which never changes" in done.stderr
    assert cli.json("results", "verify") == {"runs": 1, "unsealed": 0, "changed": {}}
