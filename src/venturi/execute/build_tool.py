"""What building an engine needs on this machine: CMake, Ninja or make, a compiler, an MPI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from venturi.model.error import UserError
from venturi.model.machine import MpiLibrary

LEAST_CMAKE = (3, 20)
LEAST_MPI = (3, 0)
MPI_NAMES = {MpiLibrary.OPENMPI: "Open MPI", MpiLibrary.MPICH: "MPICH"}
MPI_PACKAGES = {
    MpiLibrary.OPENMPI: "openmpi-bin libopenmpi-dev",
    MpiLibrary.MPICH: "mpich libmpich-dev",
}
"""Debian's, for programs and for building."""
_COMPILERS = ("g++", "clang++", "c++")
_ANSWER_LIMIT_S = 60
_CMAKE_HINT = "pip install cmake ninja, or load the site's module of CMake"
_COMPILER_HINT = "load the site's module of a compiler: GCC 11, Clang 16 or newer (Debian: g++)"
_ASK_MPI = """#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#ifdef OPEN_MPI
venturi_answer openmpi MPI_VERSION MPI_SUBVERSION
#else
venturi_answer mpich MPI_VERSION MPI_SUBVERSION
#endif
"""
_CXX20 = """#include <bit>
#include <charconv>
#include <span>
#include <string_view>
template <class T> concept Number = requires(T a) { a + a; };
double read(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::span<double>(&value, 1)[0] + std::popcount(1U);
}
struct Point { int x = 0; int y = 0; bool operator==(const Point&) const = default; };
int main() { return read("0") == 0 && Point{.x = 1} == Point{.x = 1} ? 0 : 1; }
"""


@dataclass(frozen=True)
class Generator:
    """What CMake writes for, and its program."""

    name: str
    program: Path


@dataclass(frozen=True)
class Wrapper:
    """An MPI's compiler wrapper."""

    path: Path
    mpi: MpiLibrary
    version: tuple[int, int]
    """Of the MPI standard."""


def how_to_build(mpi: MpiLibrary | None) -> str:
    """What brings the engine for an MPI library (None: without MPI) to this machine."""
    if mpi is None:
        return "build it here: venturi build-engine"
    return (
        f"load or install {MPI_NAMES[mpi]} (Debian: {MPI_PACKAGES[mpi]}), "
        f"then: venturi build-engine --mpi {mpi.value}"
    )


def find_cmake() -> Path:
    """CMake from PATH or from PyPI. Raises UserError where there is none that is new enough."""
    found = _programs("cmake")
    versions = {path: _version_of(path) for path in found}
    for path, version in versions.items():
        if version >= LEAST_CMAKE:
            return path
    least = ".".join(map(str, LEAST_CMAKE))
    if not found:
        raise UserError(f"building an engine needs CMake {least} or newer: none found", _CMAKE_HINT)
    old = ".".join(map(str, versions[found[0]]))
    raise UserError(f"building an engine needs CMake {least}: {found[0]} is {old}", _CMAKE_HINT)


def find_generator() -> Generator:
    """Ninja, else make. Raises UserError where there is neither."""
    for program, name in (("ninja", "Ninja"), ("make", "Unix Makefiles")):
        for path in _programs(program):
            return Generator(name, path)
    raise UserError("building an engine needs Ninja or make: none found", "pip install ninja")


def _programs(name: str) -> list[Path]:
    """A program in PATH, and the one beside the Python that runs."""
    found = [shutil.which(name), shutil.which(name, path=sysconfig.get_path("scripts"))]
    return [Path(path) for path in dict.fromkeys(found) if path]


def _version_of(cmake: Path) -> tuple[int, ...]:
    match = re.search(r"version (\d+)\.(\d+)", _output([str(cmake), "--version"]).stdout)
    return tuple(map(int, match.groups())) if match else (0, 0)


def find_wrapper(mpi: MpiLibrary, place: Path) -> Wrapper:
    """The MPI's mpicxx; a file is written into `place` to ask it.

    Raises UserError where there is none, where it belongs to another MPI, does not compile, or is
    too old.
    """
    others = []
    for name in (f"mpicxx.{mpi.value}", "mpicxx"):
        path = shutil.which(name)
        if path is None:
            continue
        wrapper = _ask(Path(path), place)
        if wrapper.mpi is not mpi:
            others.append(wrapper)
        elif wrapper.version < LEAST_MPI:
            least, own = (".".join(map(str, v)) for v in (LEAST_MPI, wrapper.version))
            raise UserError(
                f"the engine needs MPI {least} or newer: {path} has MPI {own}",
                f"load a newer {MPI_NAMES[mpi]}",
            )
        else:
            return wrapper
    load = f"load the site's module of {MPI_NAMES[mpi]} (Debian: {MPI_PACKAGES[mpi]})"
    if others:
        [other, *_] = others
        raise UserError(
            f"{other.path} belongs to {MPI_NAMES[other.mpi]}, not to {MPI_NAMES[mpi]}",
            f"{load}, or say --mpi {other.mpi.value}",
        )
    raise UserError(f"no compiler wrapper of {MPI_NAMES[mpi]} (mpicxx) was found in PATH", load)


def _ask(path: Path, place: Path) -> Wrapper:
    """Which MPI a wrapper is of, by its preprocessor."""
    file = place / "mpi.cpp"
    file.write_text(_ASK_MPI, "utf-8")
    asked = _output([str(path), "-E", str(file)])
    match = re.search(r"^venturi_answer (\w+) (\d+) (\d+)", asked.stdout, re.MULTILINE)
    if match is None:
        raise UserError(f"{path} does not compile: {_reason(asked)}", _COMPILER_HINT)
    return Wrapper(path, MpiLibrary(match[1]), (int(match[2]), int(match[3])))


def find_compiler(wrapper: Wrapper | None, place: Path) -> Path:
    """The compiler that a wrapper calls, else $CXX or the first in PATH; it knows C++20.

    A file is written into `place`. Raises UserError where there is none, or it is too old.
    """
    path = _compiler_of(wrapper) if wrapper else _first_compiler()
    file = place / "standard.cpp"
    file.write_text(_CXX20, "utf-8")
    tried = _output([str(path), "-std=c++20", "-fsyntax-only", str(file)])
    if tried.returncode:
        lines = _output([str(path), "--version"]).stdout.splitlines()
        named = f"{path} ({lines[0]})" if lines else str(path)
        raise UserError(f"{named} does not compile C++20: {_reason(tried)}", _COMPILER_HINT)
    return path


def _first_compiler() -> Path:
    chosen = os.environ.get("CXX")
    for name in [chosen] if chosen else _COMPILERS:
        if path := shutil.which(name):
            return Path(path)
    what = f"$CXX is {chosen}, which is no program" if chosen else "no C++ compiler was found"
    raise UserError(f"{what}: an engine is compiled", _COMPILER_HINT)


def _compiler_of(wrapper: Wrapper) -> Path:
    words = _output([str(wrapper.path), "-show"]).stdout.split()
    path = shutil.which(words[0]) if words else None
    if path is None:
        called = words[0] if words else "no compiler"
        raise UserError(f"{wrapper.path} calls {called}, which is not there", _COMPILER_HINT)
    return Path(path)


def _output(command: list[str]) -> subprocess.CompletedProcess[str]:
    """What a command prints; a command that does not start or end fails with the reason."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_ANSWER_LIMIT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 127, "", f"{error}")


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """The first error that a compiler prints, else its last line."""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line]
    return (errors or lines[-1:] or [f"it ends with {done.returncode} and says nothing"])[0]
