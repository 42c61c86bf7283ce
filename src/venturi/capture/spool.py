"""The folder that the processes of a job write into: told what the job is, claimed, removed.

Whoever makes a trace of it holds a lock on its job file, so a folder whose capture was killed is
known by a lock that nobody holds.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any

from venturi.capture.clock import Beginning
from venturi.capture.merge import LaunchFacts
from venturi.capture.process_file import SUFFIX as PROCESS_SUFFIX
from venturi.capture.process_file import ProcessFile, read_process_file
from venturi.capture.tracer import CONFIGURATION, TracerSettings
from venturi.model.error import UserError, VenturiError
from venturi.sources.open import SPOOL_JOB

JOB = SPOOL_JOB
CALLS = "strace"
"""The folder of strace's files, where it is strace that records."""

_MARK = ".spool."
_SCHEMA = "venturi.capture-job/1"
_OWN = (JOB, CONFIGURATION, CALLS)


@dataclass(frozen=True)
class SpoolJob:
    """What a capture knows before the application runs."""

    facts: LaunchFacts
    folder: Path
    """Where the trace is to go."""
    settings: TracerSettings
    is_strace: bool


@contextlib.contextmanager
def spool_for(job: SpoolJob, place: Path | None = None) -> Iterator[Path]:
    """A new folder for what processes write, below `place` or beside the trace; removed at the end.

    Where making the trace fails, it stays, and the error says where it is. Raises UserError where
    it cannot be made.
    """
    within = job.folder.parent if place is None else place
    try:
        spool = Path(tempfile.mkdtemp(prefix=f".{job.folder.name}{_MARK}", dir=within))
    except OSError as error:
        raise UserError(f"'{within}' cannot be written: {error.strerror}") from None
    try:
        file = _tell(spool, job)
    except OSError as error:
        shutil.rmtree(spool, ignore_errors=True)
        raise UserError(f"'{spool}' cannot be written: {error.strerror}") from None
    try:
        with file:
            yield spool
    except VenturiError as error:
        if any(path.name not in _OWN for path in spool.iterdir()):
            error.hint = f"{error.hint}; what was recorded is in '{spool}'".lstrip("; ")
            raise
        shutil.rmtree(spool, ignore_errors=True)
        raise
    shutil.rmtree(spool, ignore_errors=True)


def _tell(spool: Path, job: SpoolJob) -> IO[str]:
    """The job file, written and locked; closing it gives the lock back."""
    facts = job.facts
    text = {
        "schema": _SCHEMA,
        "folder": str(job.folder),
        "command": facts.command,
        "started": facts.started,
        "beginning": asdict(facts.beginning),
        "settings": asdict(job.settings),
        "is_strace": job.is_strace,
    }
    file = (spool / JOB).open("w", encoding="utf-8")
    _lock(file)
    json.dump(text, file)
    file.flush()
    return file


def _lock(file: IO[str]) -> bool:
    """Whether the lock is ours now; file systems without locks give it to everybody."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


@contextlib.contextmanager
def claim(spool: Path) -> Iterator[SpoolJob]:
    """The job of a folder that a capture left behind; nobody else may claim it meanwhile.

    Raises UserError where it is no such folder, or its capture still runs.
    """
    with contextlib.ExitStack() as held:
        try:
            file = held.enter_context((spool / JOB).open(encoding="utf-8"))
            is_ours = _lock(file)
            job = _job(json.load(file)) if is_ours else None
        except (OSError, ValueError, KeyError, TypeError):
            raise UserError(
                f"'{spool}' is no folder that a capture left behind",
                f"such a folder is called '.NAME.trace{_MARK}...' and holds a '{JOB}'",
            ) from None
        if job is None:
            raise UserError(
                f"the capture that writes into '{spool}' still runs",
                "end it, and it makes the trace itself",
            )
        yield job


def _job(text: dict[str, Any]) -> SpoolJob:
    if text["schema"] != _SCHEMA:
        raise ValueError(text["schema"])
    known = {field.name for field in fields(TracerSettings)}
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in text["settings"].items()
        if name in known
    }
    beginning = Beginning(**text["beginning"])
    facts = LaunchFacts(beginning, str(text["started"]), 0.0, tuple(map(str, text["command"])))
    return SpoolJob(
        facts, Path(text["folder"]), TracerSettings(**settings), bool(text["is_strace"])
    )


def left_behind(place: Path) -> list[Path]:
    """Folders in `place` that captures left behind because they were killed."""
    found = []
    for spool in sorted(place.glob(f".*{_MARK}*")):
        with contextlib.suppress(UserError, OSError), claim(spool):
            found.append(spool)
    return found


def read_all(spool: Path) -> tuple[list[ProcessFile], list[str]]:
    """What the processes recorded, and what is wrong with files that cannot be used."""
    files, broken = [], []
    for path in sorted(spool.glob(f"*{PROCESS_SUFFIX}")):
        try:
            file = read_process_file(path)
        except (OSError, ValueError) as error:
            broken.append(f"what a process recorded cannot be read: {error}")
            continue
        if file is not None:
            files.append(file)
    return files, broken


def writers(spool: Path) -> int:
    """How many processes of this host still write into the folder."""
    count = 0
    for path in spool.glob(f"*{PROCESS_SUFFIX}"):
        with contextlib.suppress(OSError):
            maps = Path("/proc", path.name.split(".")[0], "maps").read_text("utf-8", "replace")
            count += f"/{path.name}" in maps
    if (spool / CALLS).is_dir():
        processes = Path("/proc").glob("[0-9]*")
        count += sum(_has_open(process, spool / CALLS) for process in processes)
    return count


def _has_open(process: Path, folder: Path) -> bool:
    with contextlib.suppress(OSError):
        for link in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                if os.readlink(link).startswith(f"{folder}/"):
                    return True
    return False
