"""Campaigns under PBS, LSF and Flux, whose commands are stood in for: see batch_stand_in.py."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import batch_stand_in
import pytest

KINDS = ["pbs", "lsf", "flux"]
CAMPAIGN = """
campaign: 1
name: batch
space: {product: {n: [1, 2, 3]}}
seed: 5
repeat: 1
steps:
  run:
    needs: [greeting]
    command: |
      echo x >> {dir}/ran-{n}
      test {n} != 2 || until test -e {dir}/go; do sleep 0.05; done
      echo "v=${{GREETING}}{n}"
    metrics: {v: {regex: "v=7(.*)"}}
"""
MACHINE = """
schema: venturi.machine/2
name: site
targets: [{name: scratch, path: %s}]
software: {greeting: {setup: [export GREETING=7]}}
scheduler: {kind: %s, queue: %s, account: physics, poll_s: 0.2}
"""


class Site:
    """A folder with a campaign, and the command with a stand-in's commands on its path."""

    def __init__(self, folder: Path, kind: str, queue: str = "batch") -> None:
        self.folder = folder
        self.data = folder / "scratch"
        self.jobs = folder / "jobs"
        self.data.mkdir()
        self.jobs.mkdir()
        (folder / "c.yaml").write_text(CAMPAIGN)
        (folder / "site.yaml").write_text(MACHINE % (self.data, kind, queue))
        commands = batch_stand_in.install(folder / "bin")
        self.environment = os.environ | {
            "PATH": f"{commands}:{os.environ['PATH']}",
            "STAND_IN": str(self.jobs),
        }

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "venturi", "campaign", *words],
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self) -> subprocess.Popen[str]:
        return self.start("run", "c.yaml", "-d", "scratch", "--on", "site.yaml", "--json", "-q")

    def end(self, why: str) -> None:
        words = [sys.executable, batch_stand_in.__file__, "end", "1", why]
        subprocess.run(words, env=self.environment, check=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_lost_command_a_lost_number_and_a_cancelled_point(tmp_path: Path, kind: str) -> None:
    """The job is found by its name, its running point is cancelled, and all else is done once."""
    site = Site(tmp_path, kind)
    first = site.run()
    _wait_for((site.data / "ran-2").exists)
    first.send_signal(signal.SIGKILL)
    first.wait()
    journal = tmp_path / "batch.campaign" / "journal.jsonl"
    noted = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [entry["what"] for entry in noted] == ["submitting", "submitted"]
    journal.write_text(json.dumps(noted[0]) + "\n")
    second = site.start("resume", "c.yaml", "--json", "-q")
    _wait_for(lambda: '"submitted"' in journal.read_text())
    assert json.loads(journal.read_text().splitlines()[1])["number"] == noted[1]["number"]
    assert site.start("cancel", "c.yaml", "run-0002").wait(600) == 0
    result = _result(second, 3)
    assert result["states"] == {"done": 2, "cancelled": 1}
    assert {row["metrics"][0]["median"] for row in result["rows"] if row["metrics"]} == {1, 3}
    assert {path.read_text() for path in site.data.glob("ran-*")} == {"x\n"}
    script = next((tmp_path / "batch.campaign" / "jobs").glob("*.sh")).read_text()
    assert "batch" in script
    assert "physics" in script


@pytest.mark.parametrize(
    ("kind", "why", "state"),
    [
        ("pbs", "owner", "cancelled"),
        ("pbs", "time", "timeout"),
        ("lsf", "time", "timeout"),
        ("lsf", "memory", "out of memory"),
        ("flux", "time", "timeout"),
        ("flux", "node", "node failure"),
    ],
)
def test_why_the_site_ended_a_job(tmp_path: Path, kind: str, why: str, state: str) -> None:
    site = Site(tmp_path, kind)
    command = site.run()
    _wait_for((site.data / "ran-2").exists)
    site.end(why)
    if state != "cancelled":  # what had not begun is handed over again
        (site.data / "go").touch()
    result = _result(command, 3)
    rows = {row["parameters"]["n"]: next(iter(row["states"])) for row in result["rows"]}
    assert rows[2] == state


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_job_is_one_sentence(tmp_path: Path, kind: str) -> None:
    command = Site(tmp_path, kind, "nowhere").run()
    _, err = command.communicate(timeout=600)
    assert command.returncode == 2
    assert "did not take job-0001.sh" in err
    assert "queue" in err


def test_software_that_the_site_does_not_have(tmp_path: Path) -> None:
    site = Site(tmp_path, "pbs")
    (tmp_path / "c.yaml").write_text(CAMPAIGN.replace("[greeting]", "[mpi]"))
    command = site.run()
    _, err = command.communicate(timeout=600)
    assert command.returncode == 2
    assert "steps.run.needs: the machine site has no software 'mpi'" in err


def test_commands_have_the_machines_launch_line(tmp_path: Path) -> None:
    """The same campaign runs where ranks are started otherwise."""
    site = Site(tmp_path, "pbs")
    (tmp_path / "c.yaml").write_text(
        "{campaign: 1, name: batch, repeat: 1, steps: {run: {ranks: 6, nodes: 2, "
        'command: "{launch} hello", metrics: {n: {regex: "(.*) hello"}}}}}'
    )
    machine = (tmp_path / "site.yaml").read_text()
    command = "launcher: {command: [echo, '{nodes}0{ranks_per_node}0{ranks}']}"
    (tmp_path / "site.yaml").write_text(f"{machine}{command}\n")
    (row,) = _result(site.run(), 0)["rows"]
    assert row["metrics"][0]["values"] == [20306]
    (tmp_path / "site.yaml").write_text(machine)
    command_without = site.start("run", "c.yaml", "-d", "scratch", "--on", "site.yaml")
    assert "no launch line for 6 ranks" in command_without.communicate(timeout=600)[1]


def _result(command: subprocess.Popen[str], code: int) -> dict[str, Any]:
    out, err = command.communicate(timeout=600)
    assert command.returncode == code, err + out
    result: dict[str, Any] = json.loads(out)
    return result


def _wait_for(holds: Callable[[], bool]) -> None:
    until_s = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < until_s
        time.sleep(0.02)
