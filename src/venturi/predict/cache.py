"""The page cache before a run: the same for both sides, without harm to others on the machine."""

from __future__ import annotations

import os
import subprocess
from enum import StrEnum
from pathlib import Path

from venturi.model.error import TargetProblem


class CachePreparation(StrEnum):
    """What is done before each run."""

    DROP = "drop"
    """Everything is written out, and the pages of the run's own files are dropped."""
    KEEP = "keep"


ABOUT = {
    CachePreparation.DROP: "before each run the file system was synced and the "
    "pages of the run's own files were dropped",
    CachePreparation.KEEP: "left as it was",
}


def write_out(directory: Path) -> None:
    """Waits till nothing of the file system of `directory` is dirty.

    Raises TargetProblem where it cannot be synced.
    """
    done = subprocess.run(
        ["sync", "-f", str(directory)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise TargetProblem(f"{directory}: sync failed: {done.stderr.strip()}", "try --cache keep")


def forget(folder: Path) -> None:
    """Drops the pages of all files below `folder`; they must have been written out."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if path.is_symlink() or not path.is_file():
                continue
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)
