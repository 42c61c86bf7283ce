"""What the doctor says of engines that are missing or do not start."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from venturi.execute.doctor import examine

NEEDS_MPI = "works through MPI: start it under mpirun, with --on openmpi or --on mpich"


def engine(place: Path, suffix: str, **reasons: str) -> None:
    """An engine that describes itself; an interface has a reason where it is missing."""
    backends = [
        {
            "name": name,
            "built": not reason,
            "reason": reason,
            "library": f"{name.upper()} Version:    1.2",
            "capabilities": [] if reason else [f"all{suffix}"],
            "options": [] if reason else [{"name": f"of{suffix}", "default": "1"}],
        }
        for name, reason in reasons.items()
    ]
    described = json.dumps({"version": "1", "mpi": None, "backends": backends})
    script(place / f"venturi-engine{suffix}", f"echo '{described}'")


def script(file: Path, text: str) -> None:
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the engines, and of nothing else."""
    monkeypatch.setenv("VENTURI_ENGINE_DIR", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / "none"))
    monkeypatch.setattr("venturi.execute.installed._recorded_folder", lambda: None)
    return tmp_path


def reasons_of(found: dict[str, Any]) -> dict[str, tuple[bool, str]]:
    return {entry["name"]: (entry["built"], entry["reason"]) for entry in found["interfaces"]}


def test_each_interface_says_where_it_is_missing(place: Path) -> None:
    engine(place, "", posix="", hdf5="install libhdf5-dev", mpiio=NEEDS_MPI, pnetcdf=NEEDS_MPI)
    engine(place, "-openmpi", posix="", hdf5="", mpiio="", pnetcdf="")
    engine(place, "-mpich", posix="", hdf5="", mpiio="", pnetcdf="it is for openmpi")
    found = examine(place)
    assert reasons_of(found) == {
        "posix": (True, ""),
        "hdf5": (True, "not without MPI: install libhdf5-dev"),
        "mpiio": (True, "needs MPI ranks: --on openmpi or --on mpich"),
        "pnetcdf": (True, "needs MPI ranks: --on openmpi; not with mpich: it is for openmpi"),
    }
    options = [option["name"] for option in found["interfaces"][0]["options"]]
    assert options == ["of", "of-openmpi", "of-mpich"]
    assert found["engines"][0]["libraries"][0] == "POSIX 1.2"
    assert all(tool["path"] is None and tool["use"] for tool in found["tools"])


def test_without_an_mpi_nothing_is_offered_that_is_not_there(place: Path) -> None:
    engine(place, "", posix="", mpiio=NEEDS_MPI, uring="install liburing-dev")
    found = examine(place)
    assert reasons_of(found) == {
        "posix": (True, ""),
        "mpiio": (False, "needs an engine with MPI"),
        "uring": (False, "install liburing-dev"),
    }
    assert "venturi build-engine --mpi openmpi" in found["engines"][1]["reason"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("echo 'libmpi.so.40: cannot open shared object file' >&2; exit 127", "libmpi.so.40"),
        ("exit 3", "it ends with 3 and says nothing"),
        ("echo no JSON", "does not answer"),
    ],
)
def test_an_engine_that_does_not_start_says_why(place: Path, text: str, told: str) -> None:
    engine(place, "", posix="")
    script(place / "venturi-engine-openmpi", text)
    found = examine(place)
    assert [entry["built"] for entry in found["engines"]] == [True, False, False]
    assert told in found["engines"][1]["reason"]
    assert reasons_of(found) == {"posix": (True, "")}
