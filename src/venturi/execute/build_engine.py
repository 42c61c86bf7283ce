"""Building an engine on this machine, from the sources that Venturi carries."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from venturi.execute.build_tool import find_cmake, find_compiler, find_generator, find_wrapper
from venturi.execute.engine import describe, executable_name, find_engine
from venturi.execute.installed import engines_of, source_folder, user_data
from venturi.model.error import UserError, VenturiError
from venturi.model.machine import MpiLibrary

BUILD_BYTES = 150 << 20
"""Free space for building; the objects and programs of one engine take less than 100 MiB."""
ENGINE_BYTES = 30 << 20
"""Free space for the engine with its modules, which are less than 15 MiB."""
_FULL = ("No space left on device", "Disk quota exceeded")
_LOG = "build.log"
_STEP = re.compile(r"^\[\s*(\d+)(?:/(\d+)|%)\]")
"""How Ninja and make begin a line: [12/197], or [ 6%]."""

Progress = Callable[[float], None]
"""Is told which part of the work is done, from 0 to 1."""


@dataclass(frozen=True)
class BuiltEngine:
    """An engine that was built and answers."""

    path: Path
    is_found: bool
    """Whether runs use it; otherwise its folder must be in PATH or $VENTURI_ENGINE_DIR."""
    mpi: str
    """What its MPI library says of itself; empty without."""
    interfaces: list[str]
    """Those that it has."""


def build_engine(
    mpi: MpiLibrary | None, prefix: Path | None, jobs: int, progress: Progress
) -> BuiltEngine:
    """Build the engine for an MPI library (None: without), into `prefix`/bin or the user's data.

    Raises UserError where this machine lacks what that needs, VenturiError where the engine does
    not compile or does not answer. Nothing is left behind then but the build's log.
    """
    sources = source_folder()
    if sources is None:
        raise UserError(
            "this installation carries no sources of the engine",
            "install Venturi's wheel, or build in a checkout: pip install .",
        )
    target = _target(sources, prefix)
    with tempfile.TemporaryDirectory(prefix="venturi-engine-") as made:
        place = Path(made)
        _check_space(place.parent, BUILD_BYTES, "TMPDIR=DIR")
        _check_space(_nearest(target), ENGINE_BYTES, "--prefix DIR")
        configure = _configuration(sources, place, mpi)
        _make_folder(target)
        log = target / _LOG
        try:
            lines = _run(configure, lambda _: None)
            build = [configure[0], "--build", made, "--target", executable_name(mpi)]
            lines += _run([*build, "--parallel", str(jobs)], progress)
            engine = _install(place, target, mpi)
        except _BuildError as error:
            raise _failure(error.lines, place, log) from None
        finally:
            with suppress(OSError):
                target.rmdir()  # only where nothing is in it
    return _checked(engine, mpi)


def _target(sources: Path, prefix: Path | None) -> Path:
    """The folder that the engine goes to."""
    if prefix is not None:
        return prefix.absolute() / "bin"
    data = user_data()
    if data is None:
        raise UserError(
            "this user has no home directory to keep an engine in", "say where: --prefix DIR"
        )
    return engines_of(data, sources)


def _make_folder(target: Path) -> None:
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{target} cannot be made: {error.strerror}", "choose another with --prefix DIR"
        ) from None


def _nearest(folder: Path) -> Path:
    """The folder, or the first above it that is there."""
    return next(place for place in (folder, *folder.parents) if place.is_dir())


def _check_space(folder: Path, needed: int, other: str) -> None:
    """Raise UserError where a folder's file system has less free; `other` chooses another."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise UserError(
            f"{folder} has {free >> 20} MiB free: an engine needs {needed >> 20} MiB there",
            f"make room, or choose another folder with {other}",
        )


def _configuration(sources: Path, place: Path, mpi: MpiLibrary | None) -> list[str]:
    """The command that configures the build; UserError where something is missing for it."""
    wrapper = find_wrapper(mpi, place) if mpi else None
    compiler = find_compiler(wrapper, place)
    cmake, generator = find_cmake(), find_generator()
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_CXX_COMPILER": str(compiler),
        "CMAKE_MAKE_PROGRAM": str(generator.program),
        "VENTURI_MPI": "ON" if wrapper else "OFF",
    }
    if wrapper:
        settings[f"VENTURI_{wrapper.mpi.name}_WRAPPER"] = str(wrapper.path)
    words = [f"-D{name}={value}" for name, value in settings.items()]
    return [str(cmake), "-S", str(sources), "-B", str(place), "-G", generator.name, *words]


class _BuildError(Exception):
    """A command of the build failed; what it printed."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__()
        self.lines = lines


def _run(command: Sequence[str], progress: Progress) -> list[str]:
    """What a command prints, line by line; its processes end with this one."""
    lines: list[str] = []
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            lines.append(line)
            if match := _STEP.match(line):
                progress(int(match[1]) / int(match[2] or 100))
        code = process.wait()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    if code:
        raise _BuildError(lines)
    return lines


def _failure(lines: Sequence[str], place: Path, log: Path) -> VenturiError:
    """What went wrong, by what the build printed."""
    if any(sign in line for line in lines for sign in _FULL):
        return UserError(
            f"no space left in {place.parent} while building", "make room, or set TMPDIR"
        )
    errors = [line.strip() for line in lines if re.search(r"\berror\b|Error at", line)]
    first = (errors or [line.strip() for line in lines[-1:]] or ["it says nothing"])[0]
    log.write_text("".join(lines), "utf-8")
    return VenturiError(f"the engine does not compile here: {first}", f"all of it: {log}")


def _install(place: Path, target: Path, mpi: MpiLibrary | None) -> Path:
    """Put the engine and its modules into their folder, each whole or not at all."""
    label = mpi.value if mpi else "plain"
    modules = sorted(place.glob(f"venturi-*-{label}.so"))
    for file in [*modules, place / executable_name(mpi)]:
        part = target / f".{file.name}.part"
        try:
            shutil.copy2(file, part)
            part.replace(target / file.name)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise UserError(
                f"{target / file.name} cannot be written: {error.strerror}",
                "make room, or choose another folder with --prefix DIR",
            ) from None
    (target / _LOG).unlink(missing_ok=True)
    return target / executable_name(mpi)


def _checked(engine: Path, mpi: MpiLibrary | None) -> BuiltEngine:
    """What the engine says about itself; VenturiError where it does not answer."""
    described = describe(engine)
    return BuiltEngine(
        path=engine,
        is_found=find_engine(mpi) == engine.resolve(),
        mpi=" ".join(str(described.get("mpi") or "").split()),
        interfaces=[row["name"] for row in described["backends"] if row["built"]],
    )
