"""What is written compresses and repeats as the plan says: zlib and zstd are asked."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

from engine.plans import Content, file, manage, nest, phase, plan, write
from engine.running import Engine

PAGE = 4096
MIB = 1 << 20


def written(
    engine: Engine, place: Path, content: Content, size: int = MIB, count: int = 16
) -> bytes:
    """The bytes of a file that one rank wrote in requests of one size."""
    made = plan(
        place,
        [file(content=content, keep=True)],
        [phase("w", manage("create"), write(size, nest(0, (count, size))))],
    )
    outcome = engine.run(made, "alone")
    assert outcome.code == 0, outcome.stderr
    blob = (Path(made.directory) / "data").read_bytes()
    assert len(blob) == size * count
    return blob


def zstd_bytes(blob: bytes) -> int:
    if shutil.which("zstd") is None:
        pytest.skip("zstd is not installed (package zstd)")
    return len(subprocess.run(["zstd", "-c"], input=blob, capture_output=True, check=True).stdout)


def duplicate_share(blob: bytes) -> float:
    """The share of pages that are equal to another one, counted as storage that finds them does."""
    pages = [hashlib.sha1(blob[at : at + PAGE]).digest() for at in range(0, len(blob), PAGE)]
    return 1 - len(set(pages)) / len(pages)


@pytest.mark.parametrize("verify", [False, True], ids=["plain", "verified"])
@pytest.mark.parametrize(
    ("compressibility", "duplicates"),
    [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.25, 0.5), (0.0, 0.9), (0.9, 0.0)],
)
def test_compressors_confirm_the_content(
    engine: Engine, tmp_path: Path, compressibility: float, duplicates: float, verify: bool
) -> None:
    content = Content(compressibility=compressibility, duplicates=duplicates, verify=verify)
    blob = written(engine, tmp_path, content)
    expected = (1 - compressibility) * (1 - duplicates)
    assert len(zlib.compress(blob, 6)) / len(blob) == pytest.approx(expected, abs=0.03)
    assert zstd_bytes(blob) / len(blob) == pytest.approx(expected, abs=0.03)
    assert duplicate_share(blob) == pytest.approx(duplicates, abs=0.01)


@pytest.mark.parametrize("size", [1024, 4096, 47008, 3 * MIB])
def test_the_size_of_requests_does_not_matter(engine: Engine, tmp_path: Path, size: int) -> None:
    content = Content(duplicates=0.5)
    blob = written(engine, tmp_path, content, size, 16 * MIB // size)
    assert zstd_bytes(blob) / len(blob) == pytest.approx(0.5, abs=0.05)


def test_without_a_share_of_duplicates_requests_are_alike(engine: Engine, tmp_path: Path) -> None:
    blob = written(engine, tmp_path, Content(), MIB, 4)
    assert blob[:MIB] == blob[MIB : 2 * MIB]
    assert duplicate_share(blob) == 0.75
