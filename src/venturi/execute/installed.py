"""Where the programs of this installation are: its engines and the tracer's library."""

from __future__ import annotations

import hashlib
import os
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import venturi

_SOURCES = ("CMakeLists.txt", "cmake", "engine")
_DIGEST_DIGITS = 12


def installed_folders() -> Iterator[Path]:
    """The folders in which engines and the tracer are looked for; the first that has one counts.

    `$VENTURI_ENGINE_DIR`, the engines that `venturi build-engine` built from these very sources,
    the Python's folder of scripts, the one that the record of the installation names (`--user`,
    `--prefix`), and the one beside the package (`--target`).
    """
    named = os.environ.get("VENTURI_ENGINE_DIR", "")
    if named:
        yield Path(named)
    own = own_engines()
    if own is not None and own.is_dir():
        yield own
    yield Path(sysconfig.get_path("scripts"))
    recorded = _recorded_folder()
    if recorded is not None:
        yield recorded
    yield Path(venturi.__file__).resolve().parents[1] / "bin"


def user_data() -> Path | None:
    """The user's folder of data; None for a user without a home, as in many containers."""
    try:
        data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    except RuntimeError:
        return None
    return Path(data, "venturi").absolute()


def own_engines() -> Path | None:
    """Where the user's own engines for this version of the sources are, or would be.

    None where there is no place for them, or none of them at all and so nothing to look for.
    """
    data = user_data()
    if data is None or not (data / "engines").is_dir():
        return None
    sources = source_folder()
    return None if sources is None else engines_of(data, sources)


def engines_of(data: Path, sources: Path) -> Path:
    """The folder of the engines built from `sources`: other sources and processors have another."""
    name = f"{venturi.__version__}-{os.uname().machine}-{_digest(sources)}"
    return data / "engines" / name


def source_folder() -> Path | None:
    """The engine's sources: those that the wheel carries, or the checkout; None without any."""
    package = Path(venturi.__file__).resolve().parent
    for folder in (package / "source", package.parents[1]):
        if (folder / "engine").is_dir() and (folder / "CMakeLists.txt").is_file():
            return folder
    return None


@cache
def _digest(sources: Path) -> str:
    """What tells one state of the sources from another."""
    found = hashlib.sha256()
    for name in _SOURCES:
        place = sources / name
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        for file in files:
            if file.is_file():
                found.update(f"{file.relative_to(sources)}\0{file.stat().st_size}\0".encode())
                found.update(file.read_bytes())
    return found.hexdigest()[:_DIGEST_DIGITS]


@cache
def _recorded_folder() -> Path | None:
    """The folder that the installation's record names for the engine without MPI."""
    try:
        files = metadata.distribution("venturi").files or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == "venturi-engine":
            return Path(str(file.locate())).resolve().parent
    return None
