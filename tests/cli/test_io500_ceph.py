"""The suite of IO500 on CephFS, in a directory whose files are striped by its attributes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.ceph import OF_FILES, Ceph, refuse_where_missing
from cli.conftest import Cli


@pytest.fixture
def file_cluster() -> Iterator[Ceph]:
    refuse_where_missing(OF_FILES)
    made = Ceph(Path(tempfile.mkdtemp(prefix="ceph")))
    try:
        made.start()
        made.start_files()
        yield made
    finally:
        made.stop()


@pytest.mark.nightly
def test_the_suite_on_striped_files(cli: Cli, file_cluster: Ceph) -> None:
    """All phases, every byte read back right, nothing left."""
    place = file_cluster.mount / "striped"
    place.mkdir()
    file_cluster.stripe(place, count=3, unit_bytes=1 << 20)
    probe = place / "probe"
    probe.write_bytes(b"x")
    assert b"stripe_count=3" in os.getxattr(probe, "ceph.file.layout")
    probe.unlink()
    small = [
        "--set=easy_items=60",
        "--set=hard_items=110",
        "--set=hard_segments=200",
        "--set=easy_block=32 MiB",
    ]
    record = cli.json("run", "io500", "-d", str(place), "-n", "2", "--stonewall", "30", *small)
    assert record["environment"]["file_system"]["type"] == "fuse.ceph-fuse"
    assert len(record["phases"]) == 14
    assert not any(row["errors"] or row["corrupt_operations"] for row in record["phases"])
    assert record["metrics"]["score"]["value"] > 0
    assert record["verdict"]["level"] == "INDICATIVE"
    assert record["left"] == []
    assert not list(place.iterdir())
