"""The wheel as it is made, and as people without a compiler meet it. Takes minutes."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.nightly
ROOT = Path(__file__).parents[2]
MOST_INSTALLED_MB = 150


def run(*command: str, **environment: str) -> str:
    """What a command prints, errors included; fails where it does."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def make_wheel() -> Path:
    return ROOT / run("packaging/wheel/build").splitlines()[-1]


@pytest.fixture(scope="module")
def wheel() -> Path:
    """As `make wheel` makes it."""
    return make_wheel()


def test_the_same_sources_give_the_same_bytes(wheel: Path) -> None:
    before = hashlib.sha256(wheel.read_bytes()).hexdigest()
    shutil.rmtree(next((ROOT / "build").glob("wheel-*/build")))
    assert hashlib.sha256(make_wheel().read_bytes()).hexdigest() == before


@pytest.mark.needs("root", "debootstrap")
@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
def test_a_user_without_rights_or_compiler_gets_a_report(wheel: Path, suite: str) -> None:
    printed = run("packaging/wheel/stranger", str(wheel), suite)
    assert printed.splitlines()[-1] == "whole", printed[-4000:]
    match = re.search(r"installed are (\d+) MB", printed)
    assert match is not None, printed[-4000:]
    assert int(match[1]) <= MOST_INSTALLED_MB


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_the_engine_for_an_mpi_is_built_and_runs(mpi: str, tmp_path: Path) -> None:
    data = {"XDG_DATA_HOME": str(tmp_path), "VENTURI_STORE": str(tmp_path / "store")}
    printed = run("venturi", "build-engine", "--mpi", mpi, **data)
    engine = Path(printed.splitlines()[0])
    assert engine.is_relative_to(tmp_path)
    words = ["venturi", "run", "quick", "-d", str(tmp_path), "--repeat", "3", "-n", "2"]
    ran = run(*words, "--on", mpi, "--set", "interface=mpiio", **data)
    assert "FAILED" not in ran
    line = run("venturi", "results", "show", "@last", "--json", **data)
    assert str(engine) in line


def test_the_sources_are_an_archive_that_holds_examples_and_tests(tmp_path: Path) -> None:
    run("build/wheel-tools/bin/python", "-m", "build", "--sdist", "--outdir", str(tmp_path))
    [archive] = tmp_path.glob("venturi-*.tar.gz")
    listed = run("tar", "-tf", str(archive)).splitlines()
    inside = {line.split("/", 1)[1] for line in listed}
    tracked = run("git", "ls-files", "src", "engine", "tracer", "tests", "examples").splitlines()
    assert set(tracked) <= inside
