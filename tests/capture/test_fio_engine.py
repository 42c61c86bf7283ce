"""Whatever way fio moves data, the capture has its bytes, or names what it could not see."""

from __future__ import annotations

import shutil
from collections import Counter

import pytest

from capture.conftest import Capture

SIZE_BYTES = 4 << 20
SEEN = ["sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "posixaio", "splice"]
UNSEEN = {"io_uring": "io_uring", "mmap": "mappings"}
"""Engines whose requests need no call, and the word that says so."""


def moved_on(capture: Capture, engine: str, way: str) -> tuple[Counter[str], str]:
    """Bytes that were read and written of fio's file, and all gaps."""
    if shutil.which("fio") is None:
        pytest.fail("fio is missing: packaging/prepare test")
    capture.here.mkdir(exist_ok=True)
    (capture.here / "data").write_bytes(bytes(SIZE_BYTES))
    run = capture(
        "fio",
        "--name=one",
        "--filename=data",
        f"--size={SIZE_BYTES}",
        f"--rw={way}",
        "--bs=64k",
        f"--ioengine={engine}",
        "--iodepth=4",
        "--thread",
        "--invalidate=0",
        "--output=said",
        "--create_on_open=0",
        "--overwrite=1",
        "--fallocate=none",
    )
    moved: Counter[str] = Counter()
    for layer, kind, name, _, size, error in run.rows():
        if layer == "posix" and name == "data" and not error:
            moved[kind] += size
    return moved, "; ".join(gap.what for gap in run.trace.gaps)


@pytest.mark.parametrize("way", ["read", "write"])
@pytest.mark.parametrize("engine", SEEN)
def test_bytes_of_calls_are_there(capture: Capture, engine: str, way: str) -> None:
    moved, gaps = moved_on(capture, engine, way)
    assert moved[way] == SIZE_BYTES
    assert "not seen" not in gaps


@pytest.mark.parametrize("way", ["read", "write"])
@pytest.mark.parametrize("engine", UNSEEN)
def test_what_needs_no_call_is_named(capture: Capture, engine: str, way: str) -> None:
    moved, gaps = moved_on(capture, engine, way)
    if moved[way] + moved["map"] < SIZE_BYTES:
        assert UNSEEN[engine] in gaps
