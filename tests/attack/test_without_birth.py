"""File systems that know no times of birth: an inode that is used again is another file, too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from attack.test_planted_manifests import TEXT, birth_of, cleaned, work
from cli.gluster import Volume, volume_in_memory
from engine.plans import Plan
from engine.running import Engine, end, held


def mounted(place: Path, *words: str) -> Iterator[Path]:
    """A pass-through over a folder, mounted."""
    if os.geteuid() != 0 or not Path("/dev/fuse").exists():
        pytest.fail("missing: FUSE needs root and /dev/fuse")
    below, mount = place / "below", place / "mount"
    below.mkdir()
    mount.mkdir()
    script = Path(__file__).with_name("pass_through.py")
    process = subprocess.Popen([sys.executable, str(script), str(below), str(mount), *words])
    try:
        until_s = time.monotonic() + 60
        while not os.path.ismount(mount):
            assert process.poll() is None
            assert time.monotonic() < until_s, "nothing was mounted"
            time.sleep(0.02)
        yield mount
    finally:
        subprocess.run(["umount", "-l", str(mount)], check=False)
        process.terminate()
        process.wait(timeout=60)


@pytest.fixture(params=["attributes", "no-attributes", "in-parts"])
def fuse(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A directory on FUSE."""
    yield from mounted(tmp_path, request.param)


@pytest.fixture(scope="module")
def volume() -> Iterator[Volume]:
    """A volume of GlusterFS."""
    with volume_in_memory() as made:
        made.start(1)
        yield made


def on(place: Path, journal: Path) -> Plan:
    """The plan of `work` with its directory on another file system than its journal."""
    made = work(journal).model_copy(update={"directory": str(place / "run")})
    (Path(made.journal) / "plan.json").write_text(made.to_json())
    return made


def replaced_and_cleaned(engine: Engine, made: Plan) -> Path:
    """Kills a run, puts another file under the name of its file, and cleans."""
    process = engine.start(made)
    try:
        held(made)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=600)
    finally:
        end(process)
    name = Path(made.directory) / "d" / "own"
    assert birth_of(name) == 0
    name.unlink()
    name.write_text(TEXT)
    cleaned(engine, made)
    return name


def test_on_fuse_a_file_that_took_a_name_stays(engine: Engine, fuse: Path, tmp_path: Path) -> None:
    made = on(fuse, tmp_path)
    name = replaced_and_cleaned(engine, made)
    assert name.read_text() == TEXT
    assert not (Path(made.directory) / "t").exists()


def test_on_fuse_a_whole_run_leaves_nothing(engine: Engine, fuse: Path, tmp_path: Path) -> None:
    made = on(fuse, tmp_path)
    process = engine.start(made)
    try:
        held(made).touch()
        assert process.wait(timeout=600) == 0
    finally:
        end(process)
    assert list(fuse.iterdir()) == []


def test_on_fuse_what_a_killed_run_left_goes(engine: Engine, fuse: Path, tmp_path: Path) -> None:
    made = on(fuse, tmp_path)
    process = engine.start(made)
    try:
        held(made)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=600)
    finally:
        end(process)
    cleaned(engine, made)
    assert list(fuse.iterdir()) == []


def test_on_glusterfs_a_file_that_took_a_name_stays(
    engine: Engine, volume: Volume, tmp_path: Path
) -> None:
    made = on(volume.mount, tmp_path)
    name = replaced_and_cleaned(engine, made)
    assert name.read_text() == TEXT
    assert not (Path(made.directory) / "t").exists()
