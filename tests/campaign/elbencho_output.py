"""Output of elbencho, written for tests from its documented columns and keys; nothing of it ran.

CSV has one heading and a row for each phase; the JSON file has a document for each phase on a line
of its own, with all numbers as text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

COMMAND = '"elbencho" "--write" "--read" "-t" "8" "-s" "256m" "-b" "1m" "/mnt/scratch/run" '
SETTINGS = {
    "path type": "dir",
    "paths": "1",
    "hosts": "2",
    "threads": "8",
    "dirs": "1",
    "files": "4",
    "file size": "268435456",
    "block size": "1048576",
    "direct IO": "1",
    "random": "0",
    "random aligned": "",
    "IO depth": "4",
    "shared paths": "1",
    "truncate": "0",
}
_HALVES = ("entries/s", "IOPS", "MiB/s", "CPU%", "entries", "MiB")
_MIB = 1 << 20


@dataclass(frozen=True)
class Phase:
    """One phase: milliseconds, and per second until the last thread ended."""

    name: str
    time_ms: int
    entries: int
    operations: int = 0
    bytes: int = 0
    read_bytes: int = 0
    """Of a phase that reads and writes at the same time."""


WRITE = Phase("WRITE", 2784, 11, 2941, 3083862016)
READ = Phase("READ", 905, 35, 9048, 9487515648)
MKDIRS = Phase("MKDIRS", 5, 1466)


def csv_text(*phases: Phase, command: str = COMMAND) -> str:
    """The file of --csvfile."""
    rows = [_row(phase, command) for phase in phases]
    return "".join(f"{','.join(cells)}\n" for cells in [list(rows[0]), *(r.values() for r in rows)])


def _row(phase: Phase, command: str) -> dict[str, str]:
    last = {
        "entries/s": phase.entries,
        "IOPS": phase.operations,
        "MiB/s": phase.bytes // _MIB,
        "CPU%": 8,
        "entries": phase.entries,
        "MiB": phase.bytes // _MIB,
    }
    row = {"ISO date": "2026-05-22T16:09:38", "label": "", **SETTINGS, "operation": phase.name}
    row |= {f"time ms [{which}]": str(phase.time_ms) for which in ("first", "last")}
    for name in _HALVES:
        # The fastest thread's figures are others, so that nobody takes them for the last's.
        row[f"{name} [first]"] = str(2 * last[name]) if last[name] else ""
        row[f"{name} [last]"] = str(last[name]) if last[name] else ""
    row |= {
        f"{kind} lat us [{which}]": "" for kind in ("Ent", "IO") for which in ("min", "avg", "max")
    }
    for name in ("entries/s", "IOPS", "MiB/s"):
        value = str(phase.read_bytes // _MIB) if name == "MiB/s" and phase.read_bytes else ""
        row |= {f"rwmix read {name} [first]": "", f"rwmix read {name} [last]": value}
    return row | {"version": "3.1-1", "command": command}


def json_text(*phases: Phase, command: str = COMMAND) -> str:
    """The file of --jsonfile."""
    return "".join(f"{json.dumps(_document(phase, command))}\n" for phase in phases)


def _document(phase: Phase, command: str) -> dict[str, object]:
    config = {key.replace(" ", "_").lower(): value for key, value in SETTINGS.items() if value}
    config |= {"version": "3.1-1", "command": command}
    last = {"elapsed_time_ms": str(phase.time_ms), "entries/s": str(phase.entries)}
    if phase.bytes:
        last |= {"iops": str(phase.operations), "bytes/s": str(phase.bytes)}
    first = {key: str(2 * int(value)) for key, value in last.items()}
    mixed = {"rwmix_read": {"bytes/s": str(phase.read_bytes)}} if phase.read_bytes else {}
    return {
        "phase_type": phase.name,
        "phase_id": "0c8f7d6a",
        "iso_start_date": "2026-05-22T16:09:38.120+0200",
        "config": config,
        "first_done": first,
        "last_done": {**last, **mixed, "cpu%": "8"},
    }
