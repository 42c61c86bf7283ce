"""Where the jobs of a command line work: one directory, their names in it, and files that exist."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from venturi.compat.fio_job import FioJob


@dataclass(frozen=True)
class JobPlace:
    """The files of one job."""

    directory: str
    """The target; absolute."""
    names: tuple[str, ...]
    """Paths of its files below the target; one template with `$jobname` and so on otherwise."""
    existing: str = ""
    """The absolute path of somebody else's file that the job reads."""
    existing_bytes: int | None = None


def place_of(job: FioJob, directory: str | None, problems: list[str]) -> JobPlace:
    """Where a job works; `directory` of the command stands for the job's own.

    Adds a problem for what a run never touches.
    """
    if not job.filenames:
        base = directory or job.directory or "."
        return JobPlace(os.path.abspath(base), (job.name_format,))
    # As fio does, a directory stands before whatever name there is.
    own = [os.path.join(job.directory, name.lstrip("/")) if job.directory else name
           for name in job.filenames]  # fmt: skip
    if any(_is_device(name, job, problems) for name in own):
        return JobPlace(os.path.abspath("."), ("refused",))
    found = _existing(own, job) if directory is None else ""
    if found:
        _check_existing(job, problems)
        size = os.stat(found).st_size
        return JobPlace(os.path.dirname(found), (os.path.basename(found),), found, size)
    if directory is None and job.directory:
        base, names = job.directory, [os.path.normpath(name.lstrip("/")) for name in job.filenames]
    else:
        bases = {os.path.dirname(os.path.abspath(name)) for name in own}
        names = [os.path.basename(name) for name in own]
        base = directory or sorted(bases)[0]
        if len(bases) > 1 and directory is None:
            problems.append(_refusal(job, "a run has one directory"))
    if any(name in ("", ".") or name.startswith("..") for name in names):
        problems.append(_refusal(job, "a run's files lie below its directory"))
    if len(set(names)) < len(names):
        problems.append(_refusal(job, "one name stands there twice"))
    return JobPlace(os.path.abspath(base), tuple(names))


def one_directory(jobs: Sequence[FioJob], places: Sequence[JobPlace], problems: list[str]) -> Path:
    """The target of all jobs."""
    found = sorted({place.directory for place in places if not place.existing})
    if len(found) > 1:
        problems.append(
            f"{jobs[0].where}: directory is refused: a run has one directory, and the jobs have "
            f"{', '.join(found)}; run them one after the other, or choose one with -d before `--`"
        )
    return Path(found[0] if found else places[0].directory)


def can_reserve(directory: Path) -> bool:
    """Whether the file system of a directory reserves space, by trying it in a nameless file.

    True where it cannot be tried: the run itself says then what is wrong.
    """
    place = directory if directory.is_dir() else directory.parent
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            library = ctypes.CDLL(None, use_errno=True)
            done = library.fallocate(
                ctypes.c_int(file.fileno()), ctypes.c_int(0), ctypes.c_int64(0), ctypes.c_int64(1)
            )
            return done == 0 or ctypes.get_errno() not in (errno.EOPNOTSUPP, errno.ENOSYS)
    except OSError:
        return True


def _existing(names: Sequence[str], job: FioJob) -> str:
    """The one existing file of a job that only reads."""
    if job.writes or len(names) > 1:
        return ""
    path = os.path.abspath(names[0])
    return path if os.path.isfile(path) else ""


def _check_existing(job: FioJob, problems: list[str]) -> None:
    """What is asked of somebody else's file and cannot be had."""
    if job.invalidate and not job.direct and job.is_stored:
        problems.append(
            f"{job.where}: filename={job.filenames[0]}: invalidate is refused: the pages of "
            "somebody else's file stay where they are; add invalidate=0, or direct=1"
        )
    if job.verify:
        problems.append(
            f"{job.where}: filename={job.filenames[0]}: verify is refused: somebody else's file "
            "bears no stamps"
        )


def _is_device(name: str, job: FioJob, problems: list[str]) -> bool:
    try:
        mode = os.stat(name).st_mode
    except OSError:
        return False
    if stat.S_ISREG(mode) or (not job.is_stored and stat.S_ISCHR(mode)):
        return False
    problems.append(_refusal(job, f"{name} is no regular file, and a run touches nothing else"))
    return True


def _refusal(job: FioJob, reason: str) -> str:
    return f"{job.where}: filename={':'.join(job.filenames)} is refused: {reason}"
