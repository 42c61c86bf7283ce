"""`venturi profile` and `venturi predict --on` as typed: a small machine, its pages, bad input."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from cli.conftest import Cli, wait_for
from venturi.model.document import parse_json
from venturi.model.machine import Machine
from venturi.model.yaml_text import load_yaml

SHORT = ("--budget", "6s", "-n", "1", "--interfaces", "posix")


@pytest.fixture
def shm(tmp_path: Path) -> Path:
    """A directory in memory: a profile of it is quick."""
    memory = Path("/dev/shm")
    place = memory / f"venturi-test-{os.getpid()}-{time.monotonic_ns()}"
    place.mkdir()
    yield place
    for path in sorted(place.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    place.rmdir()


def test_a_machine_is_measured_drawn_and_predicted_from(
    cli: Cli, shm: Path, tmp_path: Path
) -> None:
    machine = tmp_path / "machine.yaml"
    done = cli("profile", str(shm), "-o", str(machine), *SHORT)
    assert done.returncode == 0, done.stderr
    assert "coarse grid 1 of 3" in done.stderr
    profile = load_yaml(machine, Machine).profile
    assert profile is not None
    assert profile.complete
    assert profile.file_system.type == "tmpfs"
    assert {"write", "read", "sync", "create", "stat", "unlink", "rename", "mkdir"} <= {
        curve.manner.operation.value for curve in profile.curves
    }
    assert all(0 < p.low <= p.seconds <= p.high for c in profile.curves for p in c.points)
    assert list(shm.iterdir()) == []
    assert not machine.with_name("machine.yaml.journal").exists()

    found = cli.json("predict", "ior", "-n", "1", "--on", str(machine))
    assert found["schema"] == "venturi.forecast/1"
    assert {phase["path"] for phase in found["phases"]} == {"write", "read"}
    assert found["seconds"]["median"] > 0
    assert found["unknown"] == []

    kept = tmp_path / "forecast.json"
    text = cli("predict", "ior", "-n", "1", "--on", str(machine), "-o", str(kept)).stdout
    assert "I/O TIME" in text
    for document, word in ((machine, "The surface"), (kept, "I/O time by phase")):
        page = tmp_path / f"{document.stem}.html"
        assert cli("report", str(document), "-o", str(page)).returncode == 0
        assert word in page.read_text()
        assert "<svg" in page.read_text()

    many = cli("predict", "ior", "-n", "8", "--on", str(machine))
    assert many.returncode == 2
    assert "--scale-ranks" in many.stderr
    scaled = cli.json("predict", "ior", "-n", "8", "--scale-ranks", "--on", str(machine))
    assert scaled["extrapolated"]


def test_a_kill_loses_no_sheet_and_resume_goes_on(cli: Cli, shm: Path, tmp_path: Path) -> None:
    machine = tmp_path / "machine.yaml"
    journal = tmp_path / "machine.yaml.journal"
    words = ("profile", str(shm), "-o", str(machine), "--budget", "60s", "-n", "1")
    running = cli.start(*words)
    sheets = journal / "sheets.jsonl"
    wait_for(lambda: sheets.is_file() and sheets.read_text().count("\n") >= 1, 60)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert not machine.exists()
    before = len(sheets.read_text().splitlines())

    again = cli(*words)
    assert again.returncode == 2
    assert "--resume" in again.stderr
    done = cli("profile", str(shm), "-o", str(machine), "--budget", "3s", "-n", "1", "--resume")
    assert done.returncode == 0, done.stderr
    assert before >= 1
    assert not journal.exists()
    assert load_yaml(machine, Machine).profile is not None
    assert list(shm.iterdir()) == []


def test_ctrl_c_keeps_what_there_is(cli: Cli, shm: Path, tmp_path: Path) -> None:
    machine = tmp_path / "machine.yaml"
    running = cli.start(
        "profile", str(shm), "-o", str(machine), "--budget", "60s", "-n", "1", "--json"
    )
    sheets = tmp_path / "machine.yaml.journal" / "sheets.jsonl"
    wait_for(lambda: sheets.is_file() and sheets.read_text().count("\n") >= 1, 60)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 130
    assert parse_json(Machine, json.dumps(json.loads(out))).profile is not None
    assert load_yaml(machine, Machine).profile is not None
    assert list(shm.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("profile", "nowhere"), 5, "no such directory"),
        (("profile", ".", "--budget", "soon"), 2, "a time"),
        (("profile", ".", "--interfaces", "mpiio"), 2, "MPI"),
        (("profile", ".", "--resume"), 2, "nothing to go on with"),
        (("predict", "ior"), 2, "one of --against and --on"),
        (("predict", "ior", "--on", "mpich", "--repeat", "3"), 2, "--repeat belongs to --against"),
        (("predict", "ior", "--on", "mpich"), 2, "not measured"),
    ],
)
def test_bad_input_is_one_sentence(
    cli: Cli, tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    place = {".": str(cli.target), "nowhere": str(tmp_path / "nowhere")}
    output = ("-o", str(tmp_path / "m.yaml")) if words[0] == "profile" else ()
    done = cli(*(place.get(word, word) for word in words), *output)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert not list(tmp_path.glob("m.yaml*"))


def test_a_machine_file_of_people_is_not_written_over(cli: Cli, tmp_path: Path) -> None:
    theirs = tmp_path / "machine.yaml"
    theirs.write_text("schema: venturi.machine/1\nname: theirs  # with care\n")
    done = cli("profile", str(cli.target), "-o", str(theirs))
    assert done.returncode == 2
    assert "with care" in theirs.read_text()
