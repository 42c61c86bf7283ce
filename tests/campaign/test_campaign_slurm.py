"""A campaign under a real Slurm: every state right, nothing run twice, nothing lost."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from slurm_daemon import SlurmDaemon

_LIMITED = Path("/sys/fs/cgroup/memory")
CAMPAIGN = """
campaign: 1
name: many
space:
  product: {point: [%s]}
pack: 8
steps:
  run:
    time: 300 if point == 5 else 4 if point == 9 else 60
    repeat: 1
    command: |
      echo "$$" >> {dir}/ran-{point}
      case {point} in
        5) sleep 300;;
        9) sleep 300;;
        13) echo "$$" > %s/cgroup.procs; exec %s -c "x = bytearray(2**28); x[::4096] = x[::4096]";;
        17) sleep 2;;
        *) sleep 0.1;;
      esac
      echo "rate: {point}.5"
    metrics:
      rate: {regex: "rate: ([0-9.]+)", unit: MiB/s, better: higher}
"""
MACHINE = """
schema: venturi.machine/2
name: onebox
scheduler: {kind: slurm, queue: debug, most_jobs: 2, poll_s: 0.3}
"""


@pytest.fixture
def small_memory() -> Iterator[Path]:
    """A group of processes whose memory the kernel limits, by killing."""
    home = Path(tempfile.mkdtemp(prefix="venturi-test-", dir=_LIMITED))
    (home / "memory.limit_in_bytes").write_text(str(64 * 2**20))
    yield home
    home.rmdir()


class Commands:
    """The command line in a folder, with a Slurm's environment."""

    def __init__(self, slurm: SlurmDaemon, folder: Path) -> None:
        self.folder = folder
        self.environment = slurm.environment | {"VENTURI_STORE": str(folder / "store")}

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "venturi", "campaign", *words],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def status(self) -> dict[str, Any]:
        command = self.start("status", "many.campaign", "--json")
        out, err = command.communicate(timeout=600)
        assert command.returncode == 0, err
        result: dict[str, Any] = json.loads(out)
        return result


def test_twenty_four_points_through_cancel_timeout_memory_and_restarts(
    slurm: SlurmDaemon, small_memory: Path, tmp_path: Path
) -> None:
    """24 points in 3 jobs: one cancelled, one over its time, one out of memory, all else done."""
    commands = _prepared(slurm, small_memory, tmp_path)
    first = commands.start("run", "many.yaml", "-d", "data", "--on", "machine.yaml", "-q")
    _wait_for("two runs", lambda: len(list((tmp_path / "data").glob("ran-*"))) >= 2)
    first.send_signal(signal.SIGKILL)
    first.wait()
    slurm.stop_controller()
    slurm.start_controller()
    cancelled = _name_of(commands, 5)
    assert commands.start("cancel", "many.campaign", cancelled).wait(600) == 0
    second = commands.start("resume", "many.yaml", "--json", "-q")
    out, err = second.communicate(timeout=600)
    assert second.returncode == 3, err
    result = json.loads(out)
    assert result["states"] == {
        "done": 21,
        "timeout": 1,
        "cancelled": 1,
        "out of memory": 1,
    }
    states = {row["parameters"]["point"]: next(iter(row["states"])) for row in result["rows"]}
    assert (states[5], states[9], states[13]) == ("cancelled", "timeout", "out of memory")
    jobs = [json.loads(path.read_text()) for path in (_home(tmp_path) / "jobs").glob("*.json")]
    assert sorted(len(tasks) for tasks in jobs) == [8, 8, 8]
    ran = {path.name: len(path.read_text().split()) for path in (tmp_path / "data").glob("ran-*")}
    assert set(ran.values()) == {1}, f"ran twice: {ran}"
    assert set(ran) >= {f"ran-{n}" for n in range(24) if n != 5}
    rates = {
        row["parameters"]["point"]: row["metrics"][0]["median"]
        for row in result["rows"]
        if row["metrics"]
    }
    assert rates == {n: n + 0.5 for n in range(24) if n not in (5, 9, 13)}
    assert commands.status()["states"] == result["states"]


def test_a_job_that_the_site_cancels(slurm: SlurmDaemon, tmp_path: Path) -> None:
    """scancel by hand: the running task and those behind it are cancelled; retried on demand."""
    commands = _prepared(slurm, tmp_path, tmp_path)
    text = (tmp_path / "many.yaml").read_text().replace("4 if point == 9", "60 if point == 9")
    (tmp_path / "many.yaml").write_text(text.replace("pack: 8", "pack: 24"))
    first = commands.start("run", "many.yaml", "-d", "data", "--on", "machine.yaml", "--json", "-q")
    long = [tmp_path / "data" / f"ran-{point}" for point in (5, 9)]
    _wait_for("a long run", lambda: any(path.exists() for path in long))
    (number,) = slurm.asked("squeue", "-h", "-o", "%i").split()
    slurm.asked("scancel", number)
    out, err = first.communicate(timeout=600)
    assert first.returncode == 3, err
    rows = {row["parameters"]["point"]: row for row in json.loads(out)["rows"]}
    states = {next(iter(row["states"])) for point, row in rows.items() if point != 13}
    assert states == {"done", "cancelled"}
    begun = next(point for point in (5, 9) if (tmp_path / "data" / f"ran-{point}").exists())
    assert rows[begun]["states"] == {"cancelled": 1}


def test_a_queue_that_is_not_there(slurm: SlurmDaemon, tmp_path: Path) -> None:
    """A refused job is one sentence with Slurm's reason, and the campaign can go on later."""
    commands = _prepared(slurm, tmp_path, tmp_path)
    machine = tmp_path / "machine.yaml"
    machine.write_text(MACHINE.replace("queue: debug", "queue: nowhere"))
    first = commands.start("run", "many.yaml", "-d", "data", "--on", "machine.yaml", "-q")
    _, err = first.communicate(timeout=600)
    assert first.returncode == 2
    assert "invalid partition" in err
    assert commands.status()["states"] == {"planned": 24}


def _prepared(slurm: SlurmDaemon, limited: Path, folder: Path) -> Commands:
    points = ", ".join(map(str, range(24)))
    text = CAMPAIGN % (points, limited, shutil.which("python3"))
    (folder / "many.yaml").write_text(text)
    (folder / "machine.yaml").write_text(MACHINE)
    (folder / "data").mkdir()
    return Commands(slurm, folder)


def _home(folder: Path) -> Path:
    return folder / "many.campaign"


def _name_of(commands: Commands, point: int) -> str:
    rows = commands.status()["rows"]
    return str(next(row["point"] for row in rows if row["parameters"]["point"] == point))


def _wait_for(what: str, holds: Callable[[], bool]) -> None:
    until_s = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < until_s, f"no {what} in a minute"
        time.sleep(0.05)
