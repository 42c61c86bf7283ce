"""Finds the engines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.running import ROOT, Engine


@pytest.fixture(scope="session")
def engine() -> Engine:
    """Those of VENTURI_ENGINE_DIR, else the ones that were built last, in build/ or installed."""
    if "VENTURI_ENGINE_DIR" in os.environ:
        return Engine(Path(os.environ["VENTURI_ENGINE_DIR"]))
    places = [ROOT / "build" / "release", ROOT / "build" / "dev", Path(sys.prefix) / "bin"]
    built = [place for place in places if (place / "venturi-engine").exists()]
    return Engine(
        max(built, key=lambda place: (place / "venturi-engine").stat().st_mtime, default=places[0])
    )


@pytest.fixture(params=["alone", "forked", "openmpi", "mpich"])
def comm(request: pytest.FixtureRequest) -> str:
    """Every kind of group."""
    kind: str = request.param
    return kind


@pytest.fixture(params=["openmpi", "mpich"])
def mpi(request: pytest.FixtureRequest) -> str:
    """Every MPI."""
    kind: str = request.param
    return kind


@pytest.fixture(params=["posix", "uring", "mmap", "stdio"])
def interface(request: pytest.FixtureRequest) -> str:
    """Every interface that moves the bytes of real files at an offset."""
    kind: str = request.param
    return kind


@pytest.fixture(scope="session")
def mpi_spies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A library for each MPI that, preloaded, writes down which calls are made."""
    made = {}
    for mpi in ("openmpi", "mpich"):
        made[mpi] = tmp_path_factory.mktemp("spy") / f"{mpi}.so"
        source = Path(__file__).with_name("mpi_spy.c")
        words = [f"mpicc.{mpi}", "-shared", "-fPIC", "-o", str(made[mpi]), str(source)]
        subprocess.run(words, check=True)
    return made
