"""Campaigns on this host: order, steps, kills, what is wrong with a file."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import warm_start

SWEEP = """
campaign: 1
name: sweep
space:
  product: {size: [64 KiB, 1 MiB], ranks: [1, 2]}
repeat: 2
steps:
  build:
    command: "echo {size} > made; echo once >> {dir}/builds"
  run:
    workload: ior
    ranks: ranks
    repeat: 1
    set: {transfer: "{size}", block: 1 MiB, interface: simulated}
  check:
    after: [build, run]
    command: "cat {folder_build}/made; echo {ranks} >> {dir}/order; echo n=3"
    metrics:
      n: {regex: "n=(\\\\d+)", unit: op/s, better: lower}
"""
SLOW = """
campaign: 1
name: slow
space: {product: {n: [1, 2, 3]}}
repeat: 1
steps:
  run:
    command: |
      echo x >> {dir}/ran-{n}
      mkdir {dir}/first 2>/dev/null || until test -e {dir}/go; do sleep 0.05; done
      echo v={n}
    metrics: {v: {regex: "v=(.*)"}}
"""


class Place:
    """A folder with a campaign's file, and the command in it."""

    def __init__(self, folder: Path, text: str) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.data.mkdir()
        (folder / "c.yaml").write_text(text)

        self._environment = {**os.environ, "VENTURI_STORE": str(folder / "store")}

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "venturi", "campaign", *words],
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return warm_start.venturi(
            "campaign", *words, folder=self.folder, environment=self._environment
        )

    def json(self, *words: str, code: int = 0) -> dict[str, Any]:
        done = self.run(*words, "--json")
        assert done.returncode == code, done.stderr + done.stdout
        result: dict[str, Any] = json.loads(done.stdout)
        return result


def test_steps_at_points(tmp_path: Path) -> None:
    """A workload and two commands: each as often as its own parameters differ, metrics of both."""
    place = Place(tmp_path, SWEEP)
    estimate = place.json("run", "c.yaml", "-d", "data", "--dry-run")
    assert (estimate["points"], estimate["runs"]) == (4, 2 + 4 + 8)
    assert estimate["bytes_written"] == 2 * (1 + 2) * 2**20
    assert not list(tmp_path.glob("*.campaign"))
    result = place.json("run", "c.yaml", "-d", "data", "-q")
    assert result["states"] == {"done": 14}
    assert (place.data / "builds").read_text().split() == ["once"] * 2
    rows = {(row["step"], *row["parameters"].values()): row for row in result["rows"]}
    assert set(rows) == {
        ("build", "64 KiB"),
        ("build", "1 MiB"),
        *(
            (step, size, n)
            for step in ("run", "check")
            for size in ("64 KiB", "1 MiB")
            for n in (1, 2)
        ),
    }
    assert rows["check", "1 MiB", 2]["metrics"][0]["values"] == [3.0, 3.0]
    names = {metric["name"] for metric in rows["run", "1 MiB", 2]["metrics"]}
    assert {"write.rate", "read.rate", "write.seconds"} <= names
    assert sorted(map(int, (place.data / "order").read_text().split())) == [1] * 4 + [2] * 4
    assert place.json("status", "c.yaml") == result
    page = _reported(place)
    assert "Best write of run" in page
    assert "n over size" in page


def test_what_goes_with_a_named_parameter_names_the_point_too(tmp_path: Path) -> None:
    """Of a zipped group, a step that names one of it bears all, as long as that adds no point."""
    text = """
campaign: 1
name: zipped
space: {zip: [{way: [one file, many], own: [0, 1]}, {a: [1, 1, 2], b: [5, 6, 7]}]}
repeat: 1
steps: {run: {command: "echo {own} {a}"}}
"""
    estimate = Place(tmp_path, text).json("run", "c.yaml", "-d", "data", "--dry-run")
    assert [row["parameters"] for row in estimate["rows"]] == [
        {"way": way, "own": own, "a": a}
        for way, own in (("one file", 0), ("many", 1))
        for a in (1, 2)
    ]


def test_the_examples_can_be_planned(tmp_path: Path) -> None:
    """Every campaign that ships has points, bytes and runs."""
    files = [
        path
        for path in (Path(__file__).parents[2] / "examples" / "campaign").glob("*.yaml")
        if path.read_text("utf-8").startswith("campaign:")
    ]
    assert files
    for path in files:
        folder = tmp_path / path.stem
        folder.mkdir()
        place = Place(folder, "")
        estimate = place.json("run", str(path), "-d", "data", "--dry-run")
        assert estimate["runs"] == 6 * estimate["points"] > 0
        assert estimate["bytes_written"] > 0


def test_killed_and_resumed(tmp_path: Path) -> None:
    """kill -9 of the command: its job goes on; a later command attaches; nothing runs twice."""
    place = Place(tmp_path, SLOW)
    first = place.start("run", "c.yaml", "-d", "data", "-q")
    _wait_for(lambda: len(list(place.data.glob("ran-*"))) == 2)
    first.kill()
    first.wait()
    (place.data / "go").touch()
    result = place.json("resume", "c.yaml", "-q")
    assert result["states"] == {"done": 3}
    assert [p.read_text() for p in sorted(place.data.glob("ran-*"))] == ["x\n"] * 3
    assert len(list((tmp_path / "slow.campaign" / "jobs").glob("*.json"))) == 1


def test_interrupted_and_resumed(tmp_path: Path) -> None:
    """Ctrl-C ends the job of this host; what was cut short runs again, the rest once."""
    place = Place(tmp_path, SLOW)
    first = place.start("run", "c.yaml", "-d", "data", "--json", "-q")
    done = tmp_path / "slow.campaign" / "tasks"
    _wait_for(lambda: len(list(done.glob("*/r1/begun.json"))) == 2)
    first.send_signal(signal.SIGINT)
    out, err = first.communicate(timeout=600)
    assert first.returncode == 130, err
    assert json.loads(out)["states"] == {"planned": 2, "done": 1}
    (place.data / "go").touch()
    assert place.json("resume", "slow.campaign", "-q")["states"] == {"done": 3}
    attempts = sorted(p.name for p in done.glob("*/*"))
    assert attempts == ["r1", "r1", "r1", "r1.attempt1"]


def test_a_damaged_word_of_a_job_is_named_and_mended_as_it_says(tmp_path: Path) -> None:
    place = Place(tmp_path, SLOW)
    (place.data / "go").touch()
    place.json("run", "c.yaml", "-d", "data", "-q")
    home = tmp_path / "slow.campaign" / "tasks" / "run-0002" / "r1"
    (home / "ended.json").write_text('{"ending":')
    status = place.run("status", "c.yaml")
    assert status.returncode == 2
    assert "run-0002/r1/ended.json: damaged" in status.stderr
    shutil.rmtree(home)
    assert place.json("resume", "c.yaml", "-q")["states"] == {"done": 3}
    assert (place.data / "ran-2").read_text() == "x\nx\n"


def test_only_one_command_at_a_time(tmp_path: Path) -> None:
    place = Place(tmp_path, SLOW)
    first = place.start("run", "c.yaml", "-d", "data", "-q")
    _wait_for(lambda: bool(list(place.data.glob("ran-*"))))
    second = place.start("resume", "c.yaml")
    assert second.wait(600) == 2
    assert second.stderr is not None
    assert "another command is at work" in second.stderr.read()
    (place.data / "go").touch()
    assert first.wait(600) == 0


def test_what_fails_is_said_and_can_be_retried(tmp_path: Path) -> None:
    """Exit codes, missing metrics, time and blocked steps, each with its reason."""
    text = """
campaign: 1
name: bad
space: {product: {n: [1, 2, 3, 4]}}
repeat: 1
steps:
  first:
    command: "test {n} != 1 || {{ echo broken >&2; exit 7; }}"
  run:
    after: [first]
    time: 60 if n != 3 else 0.3
    command: "case {n} in 2) test -e {dir}/mended && echo v=2;; 3) sleep 60;; 4) echo v=4;; esac"
    metrics: {v: {regex: "v=(.*)"}}
"""
    place = Place(tmp_path, text)
    result = place.json("run", "c.yaml", "-d", "data", "-q", code=3)
    rows = {(row["step"], row["parameters"]["n"]): row for row in result["rows"]}
    assert rows["first", 1]["states"] == {"failed": 1}
    assert rows["first", 1]["reasons"] == ["exit code 7: broken"]
    assert rows["run", 1]["states"] == {"blocked": 1}
    assert rows["run", 2]["states"] == {"failed": 1}
    assert rows["run", 3]["states"] == {"timeout": 1}
    assert rows["run", 3]["reasons"] == ["took longer than its 0.3 s"]
    assert rows["run", 4]["states"] == {"done": 1}
    (place.data / "mended").touch()
    result = place.json("resume", "c.yaml", "--retry", "failed", "-q", code=3)
    rows = {(row["step"], row["parameters"]["n"]): row for row in result["rows"]}
    assert rows["run", 2]["states"] == {"done": 1}
    assert rows["run", 3]["states"] == {"timeout": 1}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("after: [build, run]", "after: [biuld]"), "no step 'biuld'"),
        (('{size}", block', '{siez}", block'), "no parameter 'siez'"),
        (("workload: ior", "workload: ior\n    command: x"), "either a workload or a command"),
        (("repeat: 2", "repaet: 2"), "did you mean 'repeat'"),
        (("    ranks: ranks", "    ranks: ranks / 4"), "not a whole number above 0"),
        (("(\\\\d+)", "(\\\\d+"), "no regular expression"),
        (("workload: ior", "workload: oir"), "oir"),
        (('transfer: "', 'tranfser: "'), "no such parameter"),
        (("repeat: 2", "repeat: 1000000000"), "runs; at most 100,000"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    """Nothing is left of a campaign whose file is wrong."""
    assert change[0] in SWEEP
    place = Place(tmp_path, SWEEP.replace(*change))
    command = place.run("run", "c.yaml", "-d", "data", "-q")
    assert command.returncode == 2
    assert said in command.stderr
    assert "Traceback" not in command.stderr
    assert not list(tmp_path.glob("*campaign*"))
    assert not list(tmp_path.glob(".*"))


def _reported(place: Place) -> str:
    done = warm_start.venturi("report", "sweep.campaign", "-o", "page.html", folder=place.folder)
    assert done.returncode == 0, done.stderr
    return (place.folder / "page.html").read_text("utf-8")


def _wait_for(holds: Callable[[], bool]) -> None:
    until_s = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < until_s
        time.sleep(0.02)
