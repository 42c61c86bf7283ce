"""The suite of IO500 on GlusterFS: whole, with a brick killed in the middle, with a brick full."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Cli, wait_for
from cli.gluster import Brick, Volume, refuse_where_missing

SMALL = ["--set=easy_items=60", "--set=hard_items=60", "--set=hard_segments=40",
         "--set=easy_block=4 MiB"]  # fmt: skip


@pytest.fixture
def volume() -> Iterator[Volume]:
    refuse_where_missing()
    made = Volume(Path(tempfile.mkdtemp(prefix="gluster")) / "v")
    try:
        yield made
    finally:
        made.stop()
        made.folder.parent.rmdir()


def words(target: Path, *more: str) -> list[str]:
    return ["run", "io500", "-d", str(target), "-n", "2", *more]


def test_the_suite_on_a_volume_of_two_bricks(cli: Cli, volume: Volume) -> None:
    volume.start(2)
    line = words(volume.mount, "--stonewall", "20", *SMALL)
    record = cli.json(*line)
    assert record["environment"]["file_system"]["type"] == "fuse.glusterfs"
    assert len(record["phases"]) == 14
    assert not any(row["errors"] for row in record["phases"])
    assert record["metrics"]["score"]["value"] > 0
    assert record["verdict"]["level"] == "INDICATIVE"
    reasons = "\n".join(record["verdict"]["reasons"])
    for reason in ("the stonewall was 20 s", "one node: what is read", "1 of the 10 client nodes"):
        assert reason in reasons
    assert "did not let" not in "".join(record["warnings"])
    assert record["left"] == []
    assert not list(volume.mount.iterdir())
    # Both bricks had their part, and nothing of the run is left on them.
    for brick in volume.bricks:
        assert [path.name for path in brick.data.iterdir()] == [".glusterfs"]
    done = cli("report", record["id"], "--format", "md")
    assert done.returncode == 0
    create = next(
        row for row in done.stdout.splitlines() if row.startswith("| mdtest-easy-write | ")
    )
    assert create
    limits = [
        line for line in done.stdout.splitlines() if "| network |" in line or "servers" in line
    ]
    assert limits


def started(cli: Cli, line: list[str], phase: str) -> Any:
    """A run, and the folder of its journal once it is in a phase."""
    process = cli.start(*line, "--json")

    def within() -> Any:
        return next(
            (
                path.parent
                for path in cli.store.glob("running/*/events.jsonl")
                if f'"phase_started","path":"{phase}"' in path.read_text().replace(" ", "")
            ),
            None,
        )

    wait_for(within, 30)
    return process


def holds_hard_file(brick: Brick) -> bool:
    """Whether data of the shared file is on a brick; the other has at most a link to it."""
    found = next(brick.data.glob("venturi-*/ior-hard/file"), None)
    return found is not None and found.stat().st_size > 0


def test_a_brick_killed_in_the_middle(cli: Cli, volume: Volume) -> None:
    volume.start(2)
    line = words(volume.mount, "--stonewall", "30", *SMALL, "--set=hard_segments=400000")
    process = started(cli, line, "ior-hard-write")
    hit = wait_for(lambda: next((b for b in volume.bricks if holds_hard_file(b)), None))
    hit.kill()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 3, out[-500:]
    record = cli.records()[0]
    assert [row["path"] for row in record["phases"]][:3] == [
        "ior-easy-write", "mdtest-easy-write", "timestamp",
    ]  # fmt: skip
    assert record["partial"]
    assert record["verdict"]["level"] == "INVALID"
    assert "Transport endpoint is not connected" in record["failure"]
    assert "ior-hard/file" in record["failure"]
    warnings = "\n".join(record["warnings"])
    assert "not of this run" not in warnings
    assert "the storage did not let" in warnings
    assert record["left"]
    assert record["left_command"] == f"venturi results rm --files {record['id']}"
    # As long as the brick is dead they stay; once it is back they go.
    refused = cli("results", "rm", "--files", record["id"])
    assert refused.returncode == 5
    assert "does not let files" in refused.stderr
    hit.start()

    def gone() -> bool:
        # The client meets the brick again at a moment of its own, perhaps in the middle of this.
        cli("results", "rm", "--files", record["id"])
        return not list(volume.mount.iterdir())

    assert wait_for(gone, 30)


def test_a_brick_that_is_full(cli: Cli, volume: Volume) -> None:
    volume.start(2, image_bytes=24 << 20)
    line = words(volume.mount, "--stonewall", "30", "--set=easy_block=100 MiB", *SMALL[:3])
    process = cli.start(*line, "--json")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 3, out[-500:]
    record = cli.records()[0]
    assert "No space left on device" in record["failure"]
    assert "ior-easy" in record["failure"]
    assert record["left"] == []
    assert not list(volume.mount.iterdir())
