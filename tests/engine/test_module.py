"""Interfaces in modules: loaded when a plan uses them, refused with the loader's reason."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from engine.plans import file, manage, phase, plan
from engine.running import Engine, is_gone


def described(place: Path) -> dict[str, dict[str, Any]]:
    """The interfaces that the plain engine of a folder has, by name."""
    command = [str(place / "venturi-engine"), "describe"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {row["name"]: row for row in json.loads(done.stdout)["backends"]}


@pytest.fixture
def bare_engine(engine: Engine, tmp_path: Path) -> Engine:
    """An engine whose modules are not beside it."""
    place = tmp_path / "bare"
    place.mkdir()
    shutil.copy(engine.path(), place)
    return Engine(place)


@pytest.mark.parametrize("interface", ["hdf5", "netcdf"])
def test_a_module_that_is_missing_is_refused(
    bare_engine: Engine, tmp_path: Path, interface: str
) -> None:
    row = described(bare_engine.place)[interface]
    assert not row["built"]
    name = f"venturi-{interface}-plain.so"
    assert row["reason"].startswith("its module cannot be loaded: ")
    assert f"{name}: cannot open shared object file" in row["reason"]
    made = plan(tmp_path, [file(interface=interface)], [phase("w", manage("create"))])
    outcome = bare_engine.run(made, "alone")
    assert (outcome.code, outcome.failed["where"]) == (2, "files[0].interface")
    assert name in outcome.failed["message"]
    assert is_gone(made)


def test_what_is_no_module_is_refused(bare_engine: Engine) -> None:
    (bare_engine.place / "venturi-hdf5-plain.so").write_text("no library")
    rows = described(bare_engine.place)
    assert "file too short" in rows["hdf5"]["reason"]
    assert rows["posix"]["built"]


def test_only_what_the_plan_uses_is_loaded(engine: Engine, tmp_path: Path) -> None:
    def loaded(interface: str) -> str:
        place = tmp_path / interface
        place.mkdir()
        made = plan(place, [file(interface=interface)], [phase("make", manage("create"))])
        done = subprocess.run(
            engine.command(made, "alone"),
            env=os.environ | {"LD_DEBUG": "files"},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stderr

    assert "libhdf5" not in loaded("posix")
    assert "libhdf5" in loaded("hdf5")
