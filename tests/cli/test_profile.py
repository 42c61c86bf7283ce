"""`venturi profile` and `venturi predict --on` as typed: a small machine, its pages, bad input."""

from __future__ import annotations

import json
import signal
import tempfile
from pathlib import Path

import pytest

from cli.conftest import Cli, wait_for
from profile_factory import curve, data, profile
from venturi.model.document import parse_json
from venturi.model.machine import Machine
from venturi.model.yaml_text import load_yaml
from venturi.profile.machine_file import write_machine

SHORT = ("--budget", "6s", "-n", "1", "--interfaces", "posix")


@pytest.fixture
def shm(tmp_path: Path) -> Path:
    """A directory in memory: a profile of it is quick."""
    place = Path(tempfile.mkdtemp(prefix="venturi-test-", dir="/dev/shm"))
    yield place
    for path in sorted(place.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    place.rmdir()


def test_a_machine_is_measured_and_drawn(cli: Cli, shm: Path, tmp_path: Path) -> None:
    machine = tmp_path / "machine.yaml"
    done = cli("profile", str(shm), "-o", str(machine), *SHORT)
    assert done.returncode == 0, done.stderr
    assert "coarse grid 1 of 5" in done.stderr
    measured = load_yaml(machine, Machine).profile
    assert measured is not None
    # How far it comes in this time depends on what else the machine does.
    assert measured.complete or "the budget ended before" in measured.notes[0]
    assert measured.file_system.type == "tmpfs"
    assert {"write", "read", "sync"} <= {c.access.operation.value for c in measured.curves}
    assert all(p.low <= p.seconds <= p.high for c in measured.curves for p in c.points)
    assert all(p.n >= 2 for c in measured.curves for p in c.points)
    assert list(shm.iterdir()) == []
    assert not machine.with_name("machine.yaml.journal").exists()
    page = tmp_path / "machine.html"
    assert cli("report", str(machine), "-o", str(page)).returncode == 0
    assert "The surface of this machine" in page.read_text()
    assert "<svg" in page.read_text()


@pytest.fixture
def known(tmp_path: Path) -> Path:
    """A machine file whose points follow a law."""
    calls = (curve(name, lambda size, ranks: 1e-6, sizes=(0,)) for name in ("create", "open"))
    law = profile(
        data("write", lambda size, ranks: 1e-6 + 1e-9 * size, "new"),
        data("read", lambda size, ranks: 1e-6 + 1e-9 * size, "cached"),
        *calls,
        curve("close", lambda size, ranks: 1e-6, sizes=(0,)),
    )
    path = tmp_path / "known.yaml"
    write_machine(path, law, None)
    return path


def test_a_forecast_is_read_from_a_machine_file(cli: Cli, known: Path, tmp_path: Path) -> None:
    words = ("predict", "ior", "-n", "2", "--set", "per_process=1", "--on", str(known))
    found = cli.json(*words)
    assert found["schema"] == "venturi.forecast/1"
    assert found["unknown"] == []
    calls = 16 * 2**20 // 2**18
    assert found["phases"][0]["path"] == "write-own"
    assert found["phases"][0]["seconds"]["median"] == pytest.approx(
        calls * (1e-6 + 1e-9 * 2**18) + 2e-6
    )
    kept = tmp_path / "forecast.json"
    assert "I/O TIME" in cli(*words, "-o", str(kept)).stdout
    page = tmp_path / "forecast.html"
    assert cli("report", str(kept), "-o", str(page)).returncode == 0
    assert "I/O time by phase" in page.read_text()
    assert "<svg" in page.read_text()


def test_more_ranks_than_profiled_want_a_word(cli: Cli, known: Path) -> None:
    many = cli("predict", "ior", "-n", "8", "--on", str(known))
    assert many.returncode == 2
    assert "--scale-ranks" in many.stderr
    scaled = cli.json("predict", "ior", "-n", "8", "--scale-ranks", "--on", str(known))
    assert scaled["extrapolated"] == ["8 ranks, measured were at most 2"]


def test_a_kill_loses_no_matrix_and_resume_goes_on(cli: Cli, shm: Path, tmp_path: Path) -> None:
    machine = tmp_path / "machine.yaml"
    journal = tmp_path / "machine.yaml.journal"
    words = ("profile", str(shm), "-o", str(machine), "--budget", "60s", "-n", "1")
    running = cli.start(*words)
    matrices = journal / "matrices.jsonl"
    wait_for(lambda: matrices.is_file() and matrices.read_text().count("\n") >= 1)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert not machine.exists()
    before = len(matrices.read_text().splitlines())

    again = cli(*words)
    assert again.returncode == 2
    assert "--resume" in again.stderr
    done = cli("profile", str(shm), "-o", str(machine), "--budget", "3s", "-n", "1", "--resume")
    assert done.returncode == 0, done.stderr
    assert before >= 1
    assert not journal.exists()
    assert load_yaml(machine, Machine).profile is not None
    assert list(shm.iterdir()) == []


@pytest.mark.needs("mpich", "openmpi")
def test_ranks_under_mpi_and_the_interfaces_that_need_it(
    cli: Cli, shm: Path, tmp_path: Path
) -> None:
    machine = tmp_path / "machine.yaml"
    words = ("profile", str(shm), "-o", str(machine), "-n", "1", "--interfaces", "mpiio")
    running = cli.start(*words, "--on", "openmpi", "--budget", "60s")
    matrices = tmp_path / "machine.yaml.journal" / "matrices.jsonl"
    wait_for(lambda: matrices.is_file() and matrices.read_text().count("\n") >= 1)
    running.send_signal(signal.SIGINT)
    running.communicate()
    other = cli(*words, "--on", "mpich", "--budget", "1s", "--resume")
    assert other.returncode == 2
    assert "begun on openmpi" in other.stderr
    done = cli(*words, "--on", "openmpi", "--budget", "1s", "--resume")
    assert done.returncode == 0, done.stderr
    measured = load_yaml(machine, Machine).profile
    assert measured is not None
    assert measured.started_by == "openmpi"


def test_ctrl_c_keeps_what_there_is(cli: Cli, shm: Path, tmp_path: Path) -> None:
    machine = tmp_path / "machine.yaml"
    running = cli.start(
        "profile", str(shm), "-o", str(machine), "--budget", "60s", "-n", "1", "--json"
    )
    matrices = tmp_path / "machine.yaml.journal" / "matrices.jsonl"
    wait_for(lambda: matrices.is_file() and matrices.read_text().count("\n") >= 1)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=600)
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
        (("predict", "ior"), 2, "one of --against"),
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
    theirs.write_text("schema: venturi.machine/2\nname: theirs  # with care\n")
    done = cli("profile", str(cli.target), "-o", str(theirs))
    assert done.returncode == 2
    assert "with care" in theirs.read_text()


def test_staged_input_is_in_memory_unless_caches_are_dropped(
    cli: Cli, known: Path, tmp_path: Path
) -> None:
    workload = tmp_path / "w.yaml"
    workload.write_text(
        "workload: 1\nname: w\ngroups: {g: {ranks: 1}}\n"
        "files: {f: {path: f, shared: rank, prestage: 4 MiB}}\n"
        "program: {g: [{phase: look, do: [{open: f}, {read: {from: f, transfer: 1 MiB,"
        " size: 4 MiB}}, {close: f}]}]}\n"
    )
    words = ("predict", str(workload), "--on", str(known))
    kept, dropped = cli.json(*words), cli.json(*words, "--cache", "drop")
    assert kept["unknown"] == []
    assert any("--cache drop" in word for word in kept["assumed"])
    assert any(word.startswith("read cold") for word in dropped["unknown"])
