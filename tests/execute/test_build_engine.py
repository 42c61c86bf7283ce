"""What building an engine leaves behind and says, with stand-ins for CMake and the compiler."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from venturi.execute import build_engine as module
from venturi.execute.build_engine import build_engine
from venturi.model.error import ExitCode, UserError, VenturiError

DESCRIBED = json.dumps({"version": "1", "mpi": None, "backends": [{"name": "null", "built": True}]})


def cmake(tools: Path, build: str) -> None:
    """A CMake that configures all, and builds by a line of the shell; $2 is the folder."""
    text = f"""#!/bin/sh
case $1 in
--version) echo cmake version 3.25.1 ;;
--build) {build} ;;
esac
"""
    (tools / "cmake").write_text(text)
    (tools / "cmake").chmod(0o755)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that comes first in PATH, with a compiler and Ninja; building is in tmp_path/tmp."""
    for name in ("tools", "tmp"):
        (tmp_path / name).mkdir()
    for name in ("g++", "ninja"):
        (tmp_path / "tools" / name).write_text("#!/bin/sh\n")
        (tmp_path / "tools" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("VENTURI_ENGINE_DIR", raising=False)
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return tmp_path / "tools"


def files_below(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_an_engine_is_put_where_it_is_found(tools: Path, tmp_path: Path) -> None:
    engine = f"printf \"#!/bin/sh\\necho '%s'\\n\" '{DESCRIBED}' >$2/venturi-engine"
    cmake(tools, f"echo '[1/2] one'; {engine}; chmod +x $2/venturi-engine; echo '[2/2] two'")
    parts: list[float] = []
    built = build_engine(None, None, 1, parts.append)
    assert parts == [0.5, 1.0]
    assert built.is_found
    assert built.interfaces == ["null"]
    assert files_below(tmp_path / "data") == ["venturi-engine"]
    assert os.listdir(tmp_path / "tmp") == []


def test_what_does_not_compile_leaves_its_log_alone(tools: Path, tmp_path: Path) -> None:
    cmake(tools, "echo one; echo 'main.cpp:3:1: error: expected ;'; exit 1")
    with pytest.raises(
        VenturiError, match=r"does not compile here: main\.cpp:3:1: error"
    ) as failed:
        build_engine(None, tmp_path / "prefix", 1, lambda _: None)
    log = tmp_path / "prefix" / "bin" / "build.log"
    assert str(log) in failed.value.hint
    assert log.read_text().startswith("one\n")
    assert files_below(tmp_path / "prefix") == ["build.log"]
    assert os.listdir(tmp_path / "tmp") == []


@pytest.mark.parametrize("sign", ["No space left on device", "Disk quota exceeded"])
def test_a_disk_that_fills_while_building(tools: Path, tmp_path: Path, sign: str) -> None:
    cmake(tools, f"echo 'fatal error: error writing to a.o: {sign}'; exit 1")
    with pytest.raises(UserError, match=r"no space left in .* while building") as failed:
        build_engine(None, None, 1, lambda _: None)
    assert failed.value.exit_code == ExitCode.USAGE
    assert os.listdir(tmp_path / "data" / "venturi" / "engines") == []


def test_a_disk_that_is_too_full_from_the_start(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUILD_BYTES", 1 << 62)
    with pytest.raises(UserError, match="MiB free: an engine needs"):
        build_engine(None, None, 1, lambda _: None)
    assert not (tmp_path / "data").exists()
