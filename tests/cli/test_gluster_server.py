"""Which brick of GlusterFS did what, and which one is slow, by the ranks' own times."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Cli
from cli.gluster import Brick, Layout, Volume, volume_in_memory

WORKLOAD = """
workload: 1
name: many
parameters: {np: {default: 3, role: ranks}}
groups: {tasks: {ranks: np}}
files: {own: {path: "f{rank}.{i}", shared: rank, keep: true}}
program:
  tasks:
    - phase: write
      do:
        - for: i
          in: 12
          do:
            - create: own
            - write: {to: own, transfer: 256 KiB, size: 768 KiB}
            - sync: fsync
            - close: own
"""


@pytest.fixture
def volume() -> Iterator[Volume]:
    with volume_in_memory() as made:
        yield made


def record_of(cli: Cli, volume: Volume, tmp_path: Path) -> Any:
    workload = tmp_path / "many.yaml"
    workload.write_text(WORKLOAD)
    return cli.json("run", str(workload), "-d", str(volume.mount), "-n", "3", "--repeat", "1")


def held_by(brick: Brick) -> int:
    """Files with data; an empty one may be a link to where a file is."""
    return sum(path.stat().st_size > 0 for path in brick.data.glob("venturi-*/f*"))


def test_the_slow_brick_is_named(cli: Cli, volume: Volume, tmp_path: Path) -> None:
    """It has so little of what a machine can do that a busy one shows it, too."""
    volume.start(4, mbit=[400, 400, 400, 12])
    record = record_of(cli, volume, tmp_path)
    [row] = record["phases"]
    found = {one["server"].split(":", 1)[1]: one for one in row["servers"]}
    held = {str(b.data): held_by(b) for b in volume.bricks}
    told = {name: one["files"] for name, one in found.items()}
    assert told == {name: files for name, files in held.items() if files}
    assert sum(one["bytes"] for one in found.values()) == row["bytes"]
    assert row["slow_servers"][0]["server"].endswith(str(volume.bricks[3].data))
    page = cli("report", record["id"], "--format", "md").stdout.replace("\\", "")
    assert f"{volume.bricks[3].data} gave" in page
    said = cli("results", "show", record["id"]).stdout
    assert "brick3" in said.replace("\n", "").replace(" ", "")


def test_nothing_is_said_of_files_in_pieces(cli: Cli, volume: Volume, tmp_path: Path) -> None:
    """The file system knows but the brick of a file's first piece."""
    volume.start(2, layout=Layout.SHARDED)
    [row] = record_of(cli, volume, tmp_path)["phases"]
    assert row["servers"] == row["slow_servers"] == []


def test_copies_are_on_several_servers(cli: Cli, volume: Volume, tmp_path: Path) -> None:
    volume.start(2, layout=Layout.TWOFOLD)
    [row] = record_of(cli, volume, tmp_path)["phases"]
    [both] = row["servers"]
    assert [f"brick{i}" in both["server"] for i in range(2)] == [True, True]
    assert " and " in both["server"]
