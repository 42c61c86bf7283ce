"""Finds the engines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.running import ROOT, Engine


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engines of VENTURI_ENGINE_DIR, else those of build/ that were built last."""
    if "VENTURI_ENGINE_DIR" in os.environ:
        return Engine(Path(os.environ["VENTURI_ENGINE_DIR"]))
    places = [ROOT / "build" / preset for preset in ("release", "dev")]
    built = [place for place in places if (place / "venturi-engine").exists()]
    return Engine(
        max(built, key=lambda place: (place / "venturi-engine").stat().st_mtime, default=places[0])
    )


@pytest.fixture(params=["alone", "forked", "openmpi", "mpich"])
def comm(request: pytest.FixtureRequest) -> str:
    """Every kind of group."""
    kind: str = request.param
    return kind


@pytest.fixture(params=["posix", "uring", "mmap", "stdio"])
def interface(request: pytest.FixtureRequest) -> str:
    """Every interface that moves the bytes of real files at an offset."""
    kind: str = request.param
    return kind
