"""The field's command lines as their users type them, with a store and a target of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import warm_start

Finished = subprocess.CompletedProcess[str]
TOOLS = ("ior", "mdtest", "md-workbench", "fio")

_CALL = re.compile(r"^(?P<pid>\d+) +(?P<name>pwrite64|pread64|fsync|openat|close)\((?P<rest>.*)$")
_RESUMED = re.compile(r"^(?P<pid>\d+) +<\.\.\. (?P<name>\w+) resumed>(?P<rest>.*)$")


@dataclass
class Calls:
    """System calls of one process on the files of a run, in order."""

    names: list[str] = field(default_factory=list)
    """Files that were opened."""
    writes: list[tuple[int, int]] = field(default_factory=list)
    """Offset and bytes."""
    reads: list[tuple[int, int]] = field(default_factory=list)
    syncs: int = 0


@dataclass
class Tool:
    """`venturi` with a store of its own and a directory to work in."""

    store: Path
    target: Path

    def line(self, *words: str) -> list[str]:
        """A command line; that of a tool stands below `compat`."""
        own = ["compat"] if words[0] in TOOLS else []
        return [sys.executable, "-m", "venturi", *own, *words]

    def variables(self) -> dict[str, str]:
        """The store, and paths that hold in the directory of the target as well."""
        found = {"VENTURI_STORE": str(self.store)}
        for name in ("PYTHONPATH", "VENTURI_ENGINE_DIR"):
            if name in os.environ:
                parts = os.environ[name].split(os.pathsep)
                found[name] = os.pathsep.join(os.path.abspath(part) for part in parts)
        return found

    def run(self, line: Sequence[str], limit_s: float = 600) -> Finished:
        return warm_start.run(
            line,
            capture_output=True,
            text=True,
            timeout=limit_s,
            cwd=self.target,
            env={**os.environ, **self.variables(), "NO_COLOR": "1"},
            check=False,
        )

    def __call__(self, *words: str) -> Finished:
        return self.run(self.line(*words))

    def traced(self, *words: str) -> list[Calls]:
        """The calls of each process that touched a file of the run, ranks in order of their pid."""
        path = self.store.parent / "calls.txt"
        calls = "trace=pwrite64,pread64,fsync,openat,close"
        strace = ["strace", "-f", "--seccomp-bpf", "-s", "0", "-o", str(path), "-e", calls]
        done = self.run([*strace, *self.line(*words)])
        assert done.returncode == 0, done.stderr
        return read_calls(path.read_text("utf-8", "replace"))


def read_calls(text: str) -> list[Calls]:
    """The data calls of each process that wrote or read a file of the run's directory."""
    by_process: dict[str, Calls] = {}
    unfinished: dict[str, str] = {}
    directories: dict[str, set[str]] = {}
    for line in _whole_lines(text, unfinished):
        match = _CALL.match(line)
        if match is None or " = -1" in line:
            continue
        calls = by_process.setdefault(match["pid"], Calls())
        below = directories.setdefault(match["pid"], set())
        _note(match["name"], match["rest"], calls, below)
    found = [calls for calls in by_process.values() if calls.names]
    return [calls for calls in found if calls.writes or calls.reads]


def _whole_lines(text: str, unfinished: dict[str, str]) -> list[str]:
    lines = []
    for line in text.splitlines():
        if line.endswith("<unfinished ...>"):
            unfinished[line.split()[0]] = line.removesuffix("<unfinished ...>")
            continue
        resumed = _RESUMED.match(line)
        if resumed is not None and resumed["pid"] in unfinished:
            lines.append(unfinished.pop(resumed["pid"]) + resumed["rest"])
        else:
            lines.append(line)
    return lines


def _note(name: str, rest: str, calls: Calls, files: set[str]) -> None:
    given, _, result = rest.rpartition(" = ")
    words = [word.strip(" )") for word in given.split(",")]
    if name == "openat":
        is_file = "O_RDWR" in words[2] and "O_NOFOLLOW" in words[2]
        if is_file and not words[0].startswith("AT_"):
            files.add(result.split()[0])
            calls.names.append(words[1].strip('"'))
        else:
            files.discard(result.split()[0])
    elif name == "close":
        files.discard(words[0])
    elif words[0] in files:
        if name == "fsync":
            calls.syncs += 1
        else:
            moved = calls.writes if name == "pwrite64" else calls.reads
            moved.append((int(words[-1]), int(words[-2])))


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    target = tmp_path / "target"
    target.mkdir()
    return Tool(tmp_path / "store", target)
