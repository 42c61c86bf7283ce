"""Where the installation puts the manual pages; no engine is compiled for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("is_environment", [True, False])
def test_pages_lie_where_man_looks(tmp_path: Path, is_environment: bool) -> None:
    prefix = tmp_path / "prefix"
    setting = [f"-DSKBUILD_DATA_DIR={prefix}"] if is_environment else []
    build = tmp_path / "build"
    configure = ["cmake", "-S", str(ROOT), "-B", str(build), "-DVENTURI_MPI=OFF", *setting]
    install = ["cmake", "--install", str(build), "--component", "manual"]
    for command in (configure, install if is_environment else [*install, "--prefix", str(prefix)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    installed = {path.name: path.read_text() for path in (prefix / "share/man/man1").iterdir()}
    assert installed == {path.name: path.read_text() for path in ROOT.glob("packaging/man/*.1")}
