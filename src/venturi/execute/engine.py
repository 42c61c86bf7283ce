"""The engine's executables: where they are, what they can do, and cleaning up after them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from venturi.execute.build_tool import how_to_build
from venturi.execute.installed import installed_folders
from venturi.model.error import UserError, VenturiError
from venturi.model.limit import is_exhausted
from venturi.model.machine import MpiLibrary

PLAIN = "venturi-engine"
_DESCRIBE_LIMIT_S = 30
_LAST_RANK_LIMIT_S = 15
_CLEAN_LIMIT_S = 600


def executable_name(mpi: MpiLibrary | None) -> str:
    """The name of the engine for an MPI library; None means without MPI."""
    return PLAIN if mpi is None else f"{PLAIN}-{mpi.value}"


def find_engine(mpi: MpiLibrary | None = None) -> Path:
    """The engine's path; UserError if this installation has none for that MPI.

    Looked for in the folders of this installation, and in `PATH`.
    """
    name = executable_name(mpi)
    for folder in installed_folders():
        if os.access(folder / name, os.X_OK):
            return (folder / name).resolve()
    found = shutil.which(name)
    if found is None:
        library = mpi.value if mpi else "no MPI"
        raise UserError(
            f"this installation has no engine for {library} ({name} not found)",
            f"{how_to_build(mpi)}; 'venturi doctor' shows what is built",
        )
    return Path(found).resolve()


def first_mpi() -> MpiLibrary:
    """The first MPI library that there is an engine for; Open MPI where there is none."""
    for mpi in MpiLibrary:
        try:
            find_engine(mpi)
        except VenturiError:
            continue
        return mpi
    return MpiLibrary.OPENMPI


@lru_cache(maxsize=4)
def describe(engine: Path) -> dict[str, Any]:
    """What an engine says about itself: version, interfaces, options, clock."""
    described: dict[str, Any] = _answer(engine, [])
    return described


@lru_cache(maxsize=4)
def describe_interfaces(engine: Path, names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """What an engine says about some interfaces, by name; one that it does not know is left out.

    Takes a tenth of the time of `describe`: no other library is loaded, no clock is calibrated.
    """
    return {row["name"]: row for row in _answer(engine, names)}


def _answer(engine: Path, names: Sequence[str]) -> Any:
    try:
        done = subprocess.run(
            [str(engine), "describe", *names],
            capture_output=True,
            timeout=_DESCRIBE_LIMIT_S,
            check=True,
        )
        return json.loads(done.stdout)
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip().splitlines()
        how = said[-1] if said else f"it ends with {error.returncode} and says nothing"
        raise VenturiError(f"{engine} does not work here: {how}") from None
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        if is_exhausted(error):
            raise
        raise VenturiError(f"{engine} does not answer: {error}") from None


@dataclass(frozen=True)
class Left:
    """What is still below a run's directory after its files were removed."""

    names: list[str]
    """Relative to that directory, at most 100."""
    count: int = 0
    """Of all of them."""
    refused: int = 0
    """Names of the run that could not be removed."""
    why: str = ""
    """The reason for the first of them."""
    doubt: str = ""
    """Why nothing was removed: the directory may be somebody else's by now; else empty."""
    removed: int = 0
    """Names of the run that were there and are removed."""


def clean(folder: Path, with_kept: bool = False) -> Left:
    """Remove the files that a run made, by the manifests in `folder`; what is left.

    Only entries of the manifest that are still the same inode are removed; those that the plan
    keeps, only `with_kept`. Paths are relative to the run's directory. Raises VenturiError where
    that could not be looked at.
    """
    words = ["clean", "--kept"] if with_kept else ["clean"]
    end = time.monotonic() + _LAST_RANK_LIMIT_S
    while True:
        try:
            done = subprocess.run(
                [str(find_engine()), *words, str(folder)],
                capture_output=True,
                check=False,
                timeout=_CLEAN_LIMIT_S,
            )
            answer = json.loads(done.stdout)
        except subprocess.TimeoutExpired:
            raise VenturiError(
                f"cleaning by {folder} takes longer than {_CLEAN_LIMIT_S} s: the storage hangs"
            ) from None
        except (OSError, ValueError) as error:
            raise VenturiError(f"cleaning by {folder} failed: {error}") from None
        if "left" in answer:
            _check_answers(folder)
            names = [str(path) for path in answer["left"]]
            return Left(
                names,
                answer["left_count"],
                answer.get("refused", 0),
                answer.get("why", ""),
                answer.get("doubt", ""),
                answer.get("removed", 0),
            )
        # Ranks may live a little longer than what started them.
        if "still alive" not in str(answer.get("message")) or time.monotonic() > end:
            raise VenturiError(f"cleaning by {folder} failed: {answer.get('message')}")
        time.sleep(0.1)


def _check_answers(folder: Path) -> None:
    """VenturiError where the run's directory may still be there, but cannot be looked at."""
    directory = json.loads((folder / "plan.json").read_text("utf-8"))["directory"]
    try:
        os.stat(directory)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise VenturiError(f"{directory} does not answer: {error.strerror}") from None
