"""What fio itself does for a job, and what our engine does: the calls on data of each process."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_TRACED = (
    "pwrite64,pread64,write,read,lseek,fsync,fdatasync,openat,close,ftruncate,fallocate,unlink"
)
_CALL = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\d+)")
_DATA = {"pwrite64": "write", "pread64": "read"}
KINDS = ("write", "read", "fsync", "fdatasync")
"""Kinds of calls that are compared."""


@dataclass(frozen=True, order=True)
class FileCall:
    """One call on a file of the job."""

    kind: str
    file: str
    offset: int = 0
    bytes: int = 0


@dataclass
class OpenNames:
    """What the descriptors of a process are open on, and their positions."""

    names: dict[str, str] = field(default_factory=dict)
    positions: dict[str, int] = field(default_factory=dict)


def trace(line: Sequence[str], directory: Path, log: Path, variables: dict[str, str]) -> str:
    """Run a command line under strace, and return its calls as text."""
    strace = ["strace", "-f", "-qq", "--seccomp-bpf", "-s", "0", "-o", str(log)]
    done = subprocess.run(
        [*strace, "-e", f"trace={_TRACED}", *line],
        capture_output=True,
        text=True,
        cwd=directory,
        env={**os.environ, **variables},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return log.read_text("utf-8", "replace")


def calls_of(text: str, is_file: re.Pattern[str]) -> dict[str, list[FileCall]]:
    """The calls on files whose path matches, by process; group 1 of the match is the name."""
    found: dict[str, list[FileCall]] = {}
    states: dict[str, OpenNames] = {}
    for pid, name, given, result in _whole(text):
        if int(result) < 0:
            continue
        words = [word.strip() for word in given.split(",")]
        call = _call(name, words, result, states.setdefault(pid, OpenNames()), is_file)
        if call is not None:
            found.setdefault(pid, []).append(call)
    return found


def moved(calls: Sequence[FileCall]) -> list[FileCall]:
    """The transfers and syncs among calls."""
    return [call for call in calls if call.kind in KINDS]


def _whole(text: str) -> Iterator[tuple[str, str, str, str]]:
    begun: dict[str, str] = {}
    for raw in text.splitlines():
        pid, _, rest = raw.partition(" ")
        line = raw
        if rest.endswith("<unfinished ...>"):
            begun[pid] = raw.removesuffix("<unfinished ...>")
            continue
        resumed = re.match(r"\s*<\.\.\. \w+ resumed>", rest)
        if resumed and pid in begun:
            line = begun.pop(pid).rstrip() + rest[resumed.end() :]
        match = _CALL.match(line)
        if match:
            yield match[1], match[2], match[3], match[4]


def _call(
    name: str, words: list[str], result: str, state: OpenNames, is_file: re.Pattern[str]
) -> FileCall | None:
    if name == "openat":
        return _opened(words, result, state, is_file)
    file = state.names.get(words[0])
    if file is None:
        return None
    if name == "close":
        del state.names[words[0]]
        return FileCall("close", file)
    if name == "lseek":
        state.positions[words[0]] = int(result)
        return FileCall("lseek", file, int(result))
    if name in ("write", "read"):
        at = state.positions[words[0]]
        state.positions[words[0]] = at + int(result)
        return FileCall(name, file, at, int(result))
    if name in _DATA:
        return FileCall(_DATA[name], file, int(words[-1]), int(result))
    if name == "ftruncate":
        return FileCall(name, file, 0, int(words[1]))
    if name == "fallocate":
        return FileCall(name, file, int(words[2]), int(words[3]))
    return FileCall(name, file)


def _opened(
    words: list[str], result: str, state: OpenNames, is_file: re.Pattern[str]
) -> FileCall | None:
    state.names.pop(result, None)
    path = is_file.search(words[1].strip('"'))
    if path is None or "O_PATH" in words[2] or "O_DIRECTORY" in words[2]:
        return None
    state.names[result], state.positions[result] = path[1], 0
    return FileCall("open", path[1])
