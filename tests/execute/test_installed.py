"""Where engines are looked for: in which order, and which of the user's own engines count."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from venturi.execute import installed
from venturi.execute.engine import find_engine
from venturi.execute.installed import engines_of, installed_folders, source_folder
from venturi.model.machine import MpiLibrary


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Sources of an engine."""
    for name in ("CMakeLists.txt", "cmake/mpi.cmake", "engine/app/main.cpp"):
        (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / name).write_text(name)
    return tmp_path / "source"


@pytest.fixture
def data(tmp_path: Path, sources: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder of data, of a user who has these sources."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("VENTURI_ENGINE_DIR", raising=False)
    monkeypatch.setattr(installed, "source_folder", lambda: sources)
    return tmp_path / "data" / "venturi"


def put_engine(folder: Path, mpi: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    engine = folder / f"venturi-engine-{mpi}"
    engine.write_text("#!/bin/sh\n")
    engine.chmod(0o755)
    return engine


def test_the_checkout_is_where_its_sources_are() -> None:
    found = source_folder()
    assert found is not None
    assert (found / "engine" / "app" / "main.cpp").is_file()


def test_an_engine_of_these_sources_comes_before_the_shipped_one(data: Path, sources: Path) -> None:
    own = put_engine(engines_of(data, sources), "openmpi")
    assert find_engine(MpiLibrary.OPENMPI) == own.resolve()


def test_an_engine_of_other_sources_does_not_count(data: Path, sources: Path) -> None:
    own = put_engine(engines_of(data, sources), "openmpi")
    (sources / "engine" / "app" / "main.cpp").write_text("changed")
    installed._digest.cache_clear()
    assert own.parent not in list(installed_folders())


def test_a_folder_that_is_named_comes_first(
    data: Path, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_engine(engines_of(data, sources), "openmpi")
    named = put_engine(tmp_path / "named", "openmpi")
    monkeypatch.setenv("VENTURI_ENGINE_DIR", str(named.parent))
    assert find_engine(MpiLibrary.OPENMPI) == named.resolve()


def test_scripts_elsewhere_are_found_by_the_record_of_the_installation(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    (site / "venturi-1.0.dist-info").mkdir(parents=True)
    (site / "venturi-1.0.dist-info" / "METADATA").write_text("Name: venturi\nVersion: 1.0\n")
    (site / "venturi-1.0.dist-info" / "RECORD").write_text("../bin/venturi-engine,,\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "venturi-engine").touch()
    monkeypatch.syspath_prepend(str(site))
    installed._recorded_folder.cache_clear()
    *_, recorded, beside = installed_folders()
    assert recorded == (tmp_path / "bin").resolve()
    assert beside == Path(installed.__file__).parents[2] / "bin"
    installed._recorded_folder.cache_clear()


def test_sources_of_the_same_name_and_processor_share_a_folder(data: Path, sources: Path) -> None:
    folder = engines_of(data, sources)
    assert folder.parent == data / "engines"
    assert os.uname().machine in folder.name
