"""When the phases of runs went on, in the time of the probes: our own, and how others are told."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from venturi.model.error import UserError
from venturi.model.probe_history import PhaseSource
from venturi.model.record import Record
from venturi.store.archive import find, load_record
from venturi.store.background import hello_s
from venturi.store.index import UNREADABLE, entries

_MOUNTS = Path("/proc/self/mountinfo")
_OCTAL = re.compile(r"\\([0-7]{3})")
_LONGEST_RUN_NS = 2 * 86_400 * 10**9
"""Runs that began earlier than that before a history are not opened."""


@dataclass(frozen=True)
class TimedPhase:
    """A phase in nanoseconds since 1970."""

    path: str
    repetition: int
    begin_ns: int
    end_ns: int


@dataclass(frozen=True)
class TimedRun:
    """A run or a job, on which mount it worked, and its phases in the order of their begin."""

    run: str
    mount: str
    is_named: bool
    """It was asked for by name, so it is shown for every target."""
    phases: Sequence[TimedPhase]
    source: PhaseSource = PhaseSource.RUN


def timed_run(record: Record, is_named: bool = False) -> TimedRun:
    """Return a run's phases; instances that went on together are one."""
    zero_s = hello_s(record.host_samples, record.started)
    found: dict[tuple[object, ...], tuple[float, float]] = {}
    for row in record.phases:
        key = (row.path, row.repetition, *sorted(row.iteration.items()))
        begin_s, end_s = row.at_s, row.at_s + row.seconds.total
        old = found.get(key, (begin_s, end_s))
        found[key] = (min(old[0], begin_s), max(old[1], end_s))
    phases = [
        TimedPhase(
            path=str(key[0]),
            repetition=int(str(key[1])),
            begin_ns=round((zero_s + begin_s) * 1e9),
            end_ns=round((zero_s + end_s) * 1e9),
        )
        for key, (begin_s, end_s) in found.items()
    ]
    phases.sort(key=lambda one: (one.begin_ns, one.path))
    return TimedRun(record.id, record.environment.file_system.mount, is_named, phases)


def runs_between(
    store: Path, begin_ns: int, end_ns: int, names: Sequence[str] = ()
) -> list[TimedRun]:
    """Return the runs of a store that went on in a time, and those that are named in any case.

    Raises UserError for a name that is no run. Runs that cannot be read are left out.
    """
    named = {find(store, name): True for name in names}
    folders = dict.fromkeys(named, True)
    for entry in entries(store) if (store / "runs").is_dir() else ():
        if entry.level == UNREADABLE or not may_touch(entry.started, begin_ns, end_ns):
            continue
        folders.setdefault(store / "runs" / entry.id, False)
    return runs_in(folders, begin_ns, end_ns)


def runs_in(folders: Mapping[Path, bool], begin_ns: int, end_ns: int) -> list[TimedRun]:
    """Return the runs in these folders that went on in a time; True: that one is named.

    Raises UserError for a named one that cannot be read; others are left out.
    """
    found = []
    for folder, is_named in folders.items():
        try:
            found.append(timed_run(load_record(folder), is_named))
        except UserError:
            if is_named:
                raise
    touching = [
        run for run in found if any(one.end_ns > begin_ns and one.begin_ns < end_ns
                                    for one in run.phases)
    ]  # fmt: skip
    return sorted(touching, key=lambda run: run.phases[0].begin_ns)


def may_touch(started: str, begin_ns: int, end_ns: int) -> bool:
    """Whether a run that began then may have gone on in a time."""
    try:
        at_ns = datetime.fromisoformat(started).timestamp() * 1e9
    except ValueError:
        return False
    return begin_ns - _LONGEST_RUN_NS <= at_ns < end_ns


def is_on(run: TimedRun, directory: str, mounts: Path = _MOUNTS) -> bool:
    """Whether a run worked on the file system of a target's directory, or was asked for by name."""
    return run.is_named or run.mount == mount_of(directory, mounts)


def mount_of(directory: str, mounts: Path = _MOUNTS) -> str:
    """Return the mount point of a directory by the names alone: a storage that hangs is not asked.

    Links in the name are not followed.
    """
    best = "/"
    try:
        lines = mounts.read_text("utf-8").splitlines()
    except OSError:
        return best
    path = PurePosixPath(directory)
    for line in lines:
        point = _OCTAL.sub(lambda found: chr(int(found[1], 8)), line.split()[4])
        holds = path == PurePosixPath(point) or PurePosixPath(point) in path.parents
        if holds and len(point) >= len(best):
            best = point
    return best
