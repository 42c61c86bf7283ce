"""What is written compresses and repeats as the plan says: zlib and zstd are asked."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

from engine.plans import (
    RANK,
    Content,
    Tree,
    file,
    items,
    manage,
    nest,
    number,
    phase,
    plan,
    times,
    write,
)
from engine.running import Engine, size_of_group
from venturi.model.plan import CopyWay, Plan

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


def zstd_bytes(blob: bytes, *options: str) -> int:
    if shutil.which("zstd") is None:
        pytest.skip("zstd is not installed (package zstd)")
    words = ["zstd", "-c", *options]
    return len(subprocess.run(words, input=blob, capture_output=True, check=True).stdout)


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


SIZES = [512, 1000, 4096, 47008, 65536, MIB, 16 * MIB]


@pytest.mark.parametrize("verify", [False, True], ids=["plain", "verified"])
@pytest.mark.parametrize("size", SIZES)
def test_nothing_compresses_and_no_block_returns(
    engine: Engine, tmp_path: Path, size: int, verify: bool
) -> None:
    total = max(4 * MIB, 2 * size)
    blob = written(engine, tmp_path, Content(verify=verify), size, total // size)
    assert duplicate_share(blob) == 0
    assert zstd_bytes(blob, "-3", "--long=27") <= 1.01 * len(blob)
    if total <= 4 * MIB:
        assert zstd_bytes(blob, "-19", "--long=27") <= 1.01 * len(blob)


def kept(made: Plan) -> list[bytes]:
    """The contents of all files that a run left."""
    paths = sorted(Path(made.directory).rglob("*"))
    return [path.read_bytes() for path in paths if path.is_file() and path.name[0] != "."]


@pytest.mark.parametrize("interface", ["posix", "uring", "mmap", "stdio"])
def test_no_block_returns_over_ranks_files_and_rewrites(
    engine: Engine, tmp_path: Path, comm: str, interface: str
) -> None:
    ranks, size, count = size_of_group(comm), 8192, 64
    block = nest(times(RANK, size * count), (count, size))
    deep = {"depth": 8} if interface == "uring" else {}
    files = [
        file("shared", interface=interface, keep=True),
        file("own", interface=interface, per_rank=True, keep=True),
        file("staged", interface=interface, prestage=number(size * count), keep=True),
        file("before", interface=interface, keep=True),
    ]
    own = write(size, nest(0, (count, size)), index=1)
    # A copy keeps what the second phase writes over.
    copies = [manage("copy", to=3, way=CopyWay.RANGE)] if interface == "posix" else []
    program = [
        phase("first", manage("create"), write(size, block), manage("close"), *copies),
        phase("again", manage("open"), write(size, block, **deep), manage("close")),
        phase("own", manage("create", 1), own),
        phase("staged", manage("open", 2), manage("close", 2)),
    ]
    made = plan(tmp_path, files if copies else files[:3], program, ranks=ranks)
    outcome = engine.run(made, comm)
    assert outcome.code == 0, (outcome.events[-1], outcome.stderr)
    blob = b"".join(kept(made))
    assert len(blob) == (3 + len(copies)) * ranks * size * count
    assert duplicate_share(blob) == 0


def test_two_runs_of_one_seed_share_no_block(engine: Engine, tmp_path: Path) -> None:
    blobs = []
    for run in ("r1", "r2"):
        place = tmp_path / run
        place.mkdir()
        step = phase("w", manage("create"), write(4096, nest(0, (64, 4096))))
        made = plan(place, [file(keep=True)], [step], run=run)
        assert engine.run(made, "alone").code == 0
        blobs += kept(made)
    assert duplicate_share(b"".join(blobs)) == 0


@pytest.mark.parametrize("size", [3901, 8192])
def test_the_items_of_a_tree_differ(engine: Engine, tmp_path: Path, size: int) -> None:
    tree = Tree(depth=1, branch=2, items=number(20), size=number(size))
    made = plan(
        tmp_path,
        [file(tree=tree, per_rank=True, keep=True)],
        [phase("w", items("create", "write", "close"))],
        ranks=2,
    )
    assert engine.run(made).code == 0
    blobs = kept(made)
    assert len(blobs) == 2 * 3 * 20
    assert len({blob[:512] for blob in blobs}) == len(blobs)
    assert zstd_bytes(b"".join(blobs), "--long=27") > 0.99 * sum(map(len, blobs))


def test_requests_repeat_where_they_should(engine: Engine, tmp_path: Path) -> None:
    blob = written(engine, tmp_path, Content(repeats=True), MIB, 4)
    assert blob[:MIB] == blob[MIB : 2 * MIB]
    assert duplicate_share(blob) == 0.75


@pytest.mark.parametrize("memory", [65_536, 4 * MIB])
def test_data_that_lie_in_much_memory_do_not_return(
    engine: Engine, tmp_path: Path, memory: int
) -> None:
    step = write(MIB // 16, nest(0, (256, MIB // 16)), memory_bytes=memory)
    made = plan(tmp_path, [file(keep=True)], [phase("w", manage("create"), step)])
    assert engine.run(made, "alone").code == 0
    (blob,) = kept(made)
    assert duplicate_share(blob) == 0
    assert zstd_bytes(blob, "--zstd=wlog=20") > 0.99 * len(blob)
