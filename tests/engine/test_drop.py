"""Pages of many small files: waiting for them to go ends where the file system keeps them all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.plans import file, items, number, phase, plan
from engine.running import Engine, file_system, traced
from venturi.model.plan import CachePolicy, Tree

FILES = 400
MOST_WAITS = 150
"""32 files with 4 each, and some to spare; 4 for each of them all would be 1600."""


@pytest.fixture
def in_memory() -> Iterator[Path]:
    shm = Path("/dev/shm")
    if file_system(shm / "x") != "tmpfs":
        pytest.fail("/dev/shm is not a tmpfs here")
    place = Path(tempfile.mkdtemp(prefix="venturi-test-", dir=shm))
    try:
        yield place
    finally:
        shutil.rmtree(place)


def test_files_that_stay_in_memory_are_not_waited_for(engine: Engine, in_memory: Path) -> None:
    made = plan(
        in_memory,
        [file("d", tree=Tree(items=number(FILES), size=number(10)))],
        [
            phase("w", items("create", "write", "close")),
            phase("r", items("open", "read", "close"), cache=CachePolicy.DROP),
        ],
    )
    calls = traced(engine, made, "nanosleep,clock_nanosleep,fadvise64")
    assert sum("fadvise64" in line for line in calls) >= FILES
    assert 0 < sum("nanosleep" in line for line in calls) <= MOST_WAITS


def test_files_that_a_limit_left_unmade_are_not_looked_for(engine: Engine, in_memory: Path) -> None:
    many = 1_000_000
    made = plan(
        in_memory,
        [file("d", tree=Tree(items=number(many), size=number(10)))],
        [
            phase("w", items("create", "write", "close"), limit_s=0.1, bound_s=0.1),
            phase("r", items("open", "read", "close"), cache=CachePolicy.DROP),
        ],
    )
    calls = traced(engine, made, "openat,fadvise64")
    dropped = {line.split('"')[1] for line in calls if "O_NONBLOCK" in line and "f.0." in line}
    looked_at = [line for line in calls if "fadvise64" in line]
    assert 0 < len(dropped) <= len(looked_at) < many
    assert not any("ENOENT" in line for line in calls if "f.0." in line)
