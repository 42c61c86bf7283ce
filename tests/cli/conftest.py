"""The command line as its user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import warm_start

Finished = subprocess.CompletedProcess[str]


@dataclass
class Cli:
    """`venturi` with a store of its own and a directory to work in."""

    store: Path
    target: Path

    def environment(self) -> dict[str, str]:
        return {**os.environ, "VENTURI_STORE": str(self.store), "NO_COLOR": "1"}

    def line(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "venturi", *words]

    def __call__(self, *words: str, limit_s: float = 600) -> Finished:
        return warm_start.run(
            self.line(*words),
            capture_output=True,
            text=True,
            timeout=limit_s,
            env=self.environment(),
            check=False,
        )

    def json(self, *words: str, code: int = 0) -> Any:
        """The one JSON document on stdout of a command that must exit with `code`."""
        done = self(*words, "--json")
        assert done.returncode == code, told(done)
        return json.loads(done.stdout)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A command in the background."""
        return subprocess.Popen(
            self.line(*words),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment(),
        )

    def journal(self, limit_s: float = 600) -> Path:
        """The folder of the run under way, once its engine has finished a phase."""
        return wait_for(lambda: next(iter(self._measured()), None), limit_s)

    def _measured(self) -> list[Path]:
        return [
            path.parent
            for path in self.store.glob("running/*/events.jsonl")
            if "phase_finished" in path.read_text()
        ]

    def records(self) -> list[dict[str, Any]]:
        """All records of the store, as they were made; ids tell that by the second only."""
        made = sorted(self.store.glob("runs/*/record.json"), key=lambda p: p.stat().st_mtime_ns)
        return [json.loads(path.read_text()) for path in made]


def told(done: Finished) -> str:
    """What a command said of why it did not end as it should: its record's own words, if any."""
    try:
        record = json.loads(done.stdout)
        said = [record["failure"], record["verdict"], *record["warnings"]]
        errors = [row["details"] for row in record["phases"] if row["errors"]]
    except (ValueError, LookupError, TypeError):
        return f"{done.stderr}\n{done.stdout[:500]}"
    return "\n".join([f"exit code {done.returncode}", done.stderr, *map(str, said + errors)])


def settings_beside(small: Mapping[str, object], words: Sequence[str]) -> list[str]:
    """`--set` for each of these settings but those that `words` set themselves."""
    own = [word for before, word in pairwise(["", *words]) if before == "--set"]
    own += [word.removeprefix("--set=") for word in words if word.startswith("--set=")]
    names = {word.partition("=")[0] for word in own}
    return [f"--set={name}={value}" for name, value in small.items() if name not in names]


def wait_for(look: Callable[[], Any], limit_s: float = 600) -> Any:
    """What `look` finds, as soon as it finds something."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    pytest.fail("what was waited for did not happen")


def descendants(pid: int) -> list[int]:
    """Processes below one, nearest first."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    below = [int(child) for child in children]
    return below + [pid for child in below for pid in descendants(child)]


def engines_of(pid: int) -> list[int]:
    """Engine processes below one: the one that was started first, then its ranks."""
    return [p for p in descendants(pid) if "venturi-engine" in _command_of(p)]


def _command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    target = tmp_path / "target"
    target.mkdir()
    return Cli(tmp_path / "store", target)


@pytest.fixture
def slow_workload(tmp_path: Path) -> Path:
    """A short phase, then one that lasts long: time to kill somebody in its middle."""
    path = tmp_path / "slow.yaml"
    path.write_text(
        "workload: 1\nname: slow\nparameters: {np: {default: 2, role: ranks}}\n"
        "groups: {g: {ranks: np}}\nfiles:\n  f: {path: f, shared: rank}\n"
        "program:\n  g:\n"
        "    - phase: first\n      do:\n        - create: f\n"
        "        - write: {to: f, transfer: 4 KiB, count: 8}\n        - close: f\n"
        "    - phase: second\n      do:\n        - open: f\n"
        "        - write: {to: f, transfer: 4 KiB, count: 3000, think: 10 ms}\n"
    )
    return path
