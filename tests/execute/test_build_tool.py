"""What building an engine says where something for it is missing, with stand-ins for the tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from venturi.execute.build_tool import (
    find_cmake,
    find_compiler,
    find_generator,
    find_wrapper,
    how_to_build,
)
from venturi.model.error import ExitCode, UserError
from venturi.model.machine import MpiLibrary

GOOD_CXX = "exit 0"


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH."""
    (tmp_path / "tools").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "tools"))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / "none"))
    return tmp_path / "tools"


def program(tools: Path, name: str, text: str) -> Path:
    file = tools / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def wrapper(tools: Path, name: str, mpi: str, version: str) -> Path:
    text = f"if [ $1 = -show ]; then echo g++ -I/x -lmpi; else echo venturi_answer {mpi} {version}"
    return program(tools, name, f"{text}; fi")


def test_without_cmake(tools: Path) -> None:
    with pytest.raises(UserError, match=r"needs CMake 3\.20 or newer: none found") as failed:
        find_cmake()
    assert "pip install cmake ninja" in failed.value.hint
    assert failed.value.exit_code == ExitCode.USAGE


def test_an_old_cmake(tools: Path) -> None:
    program(tools, "cmake", "echo cmake version 3.18.4")
    with pytest.raises(UserError, match=r"needs CMake 3\.20: .*/cmake is 3\.18"):
        find_cmake()


def test_a_new_cmake(tools: Path) -> None:
    assert find_cmake_of(tools, "3.20.0") == tools / "cmake"
    assert find_cmake_of(tools, "4.1.0") == tools / "cmake"


def find_cmake_of(tools: Path, version: str) -> Path:
    program(tools, "cmake", f"echo cmake version {version}")
    return find_cmake()


def test_ninja_comes_before_make_and_one_of_them_must_be_there(tools: Path) -> None:
    with pytest.raises(UserError, match="Ninja or make: none found"):
        find_generator()
    program(tools, "make", "")
    assert find_generator().name == "Unix Makefiles"
    program(tools, "ninja", "")
    assert find_generator().name == "Ninja"


def test_without_an_mpi(tools: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no compiler wrapper of Open MPI") as failed:
        find_wrapper(MpiLibrary.OPENMPI, tmp_path)
    assert "module of Open MPI (Debian: openmpi-bin libopenmpi-dev)" in failed.value.hint


def test_the_wrapper_of_another_mpi(tools: Path, tmp_path: Path) -> None:
    wrapper(tools, "mpicxx", "mpich", "4 0")
    with pytest.raises(UserError, match="mpicxx belongs to MPICH, not to Open MPI") as failed:
        find_wrapper(MpiLibrary.OPENMPI, tmp_path)
    assert failed.value.hint.endswith("or say --mpi mpich")
    assert find_wrapper(MpiLibrary.MPICH, tmp_path).version == (4, 0)


def test_of_two_mpis_each_is_found_by_its_own_wrapper(tools: Path, tmp_path: Path) -> None:
    wrapper(tools, "mpicxx", "openmpi", "3 1")
    own = wrapper(tools, "mpicxx.mpich", "mpich", "4 0")
    assert find_wrapper(MpiLibrary.OPENMPI, tmp_path).path == tools / "mpicxx"
    assert find_wrapper(MpiLibrary.MPICH, tmp_path).path == own


def test_an_mpi_that_is_too_old(tools: Path, tmp_path: Path) -> None:
    wrapper(tools, "mpicxx", "mpich", "2 2")
    with pytest.raises(UserError, match=r"needs MPI 3\.0 or newer: .*/mpicxx has MPI 2\.2"):
        find_wrapper(MpiLibrary.MPICH, tmp_path)


def test_a_wrapper_whose_compiler_is_gone(tools: Path, tmp_path: Path) -> None:
    program(tools, "mpicxx", "echo 'mpicxx: g++: not found' >&2; exit 127")
    with pytest.raises(UserError, match=r"does not compile: mpicxx: g\+\+: not found"):
        find_wrapper(MpiLibrary.OPENMPI, tmp_path)
    wrapper(tools, "mpicxx", "openmpi", "3 1")
    with pytest.raises(UserError, match=r"mpicxx calls g\+\+, which is not there"):
        find_compiler(find_wrapper(MpiLibrary.OPENMPI, tmp_path), tmp_path)


def test_the_compiler_is_the_one_of_the_wrapper(tools: Path, tmp_path: Path) -> None:
    wrapper(tools, "mpicxx", "openmpi", "3 1")
    program(tools, "g++", GOOD_CXX)
    found = find_compiler(find_wrapper(MpiLibrary.OPENMPI, tmp_path), tmp_path)
    assert found == tools / "g++"


def test_without_a_compiler(tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"no C\+\+ compiler was found"):
        find_compiler(None, tmp_path)
    monkeypatch.setenv("CXX", "icpx")
    with pytest.raises(UserError, match=r"\$CXX is icpx, which is no program"):
        find_compiler(None, tmp_path)


def test_a_compiler_that_is_too_old(tools: Path, tmp_path: Path) -> None:
    text = "if [ $1 = --version ]; then echo g++ 8.5.0; else echo 'error: no c++20' >&2; exit 1; fi"
    program(tools, "g++", text)
    with pytest.raises(UserError, match=r"g\+\+ \(g\+\+ 8\.5\.0\) does not compile C\+\+20: error"):
        find_compiler(None, tmp_path)


def test_what_is_missing_is_said_with_what_to_do() -> None:
    assert how_to_build(None).endswith("venturi build-engine")
    assert how_to_build(MpiLibrary.MPICH).endswith("venturi build-engine --mpi mpich")
