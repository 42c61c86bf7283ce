"""Where a test's files are: its directory, and existing files that a test only reads."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from venturi.compat.ior_key import TOOL
from venturi.compat.ior_lower import WITHOUT_STORAGE, Existing, file_names
from venturi.compat.ior_test import IorTest
from venturi.model.error import TargetProblem, UserError

_MARKER = ".venturi"
_OURS = "venturi-*"


def directory_of(test: IorTest, wanted: str | None) -> Path:
    """Where the test does its I/O: `-d`, else the directory part of `-o`."""
    return Path(wanted).absolute() if wanted else Path(test.directory)


def existing_files(test: IorTest, ranks: int, directory: Path) -> Existing:
    """The files that a test without a write phase reads; nothing for a test that writes.

    They are looked for in the directory itself, then in what earlier runs kept below it (-k),
    the latest first. Raises TargetProblem if they are nowhere.
    """
    if test.writes or test.interface in WITHOUT_STORAGE:
        return Existing()
    names = file_names(test, ranks)
    for place in (directory, *_kept_places(directory)):
        found = {name: _size(place / name) for name in names}
        sizes = {name: size for name, size in found.items() if size is not None}
        if len(sizes) == len(names):
            return Existing(str(place), sizes)
    raise TargetProblem(
        f"{directory / names[0]}: there is no such file to read",
        f"write it first with -w -k; files that a run kept in {directory}/{_OURS} are found",
    )


def _kept_places(directory: Path) -> Iterable[Path]:
    """Directories of earlier runs, the latest first."""
    places = [path for path in directory.glob(_OURS) if (path / _MARKER).is_file()]
    return sorted(places, key=lambda path: path.stat().st_mtime_ns, reverse=True)


def _size(path: Path) -> int | None:
    return os.stat(path).st_size if path.is_file() else None


def read_status(test: IorTest) -> int:
    """The number of transfers that an earlier write noted; UserError if there is none."""
    path = Path(test.status_file)
    try:
        return int(path.read_text("ascii").split()[0])
    except (OSError, ValueError, IndexError):
        raise UserError(
            f"{TOOL}: stoneWallingStatusFile={path}: there is no number of transfers in it",
            "a test with -w -k -D and stoneWallingWearOut=1 writes it",
        ) from None


def write_status(test: IorTest, transfers: int) -> None:
    """Note for a later test how many transfers each task did."""
    Path(test.status_file).write_text(f"{transfers}\n", "ascii")
