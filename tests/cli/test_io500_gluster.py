"""The suite of IO500 on GlusterFS: whole, with a brick killed in the middle, with a brick full."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Cli, wait_for
from cli.gluster import Brick, Layout, Volume, volume_in_memory

FEW_ITEMS = ["--set=easy_items=60", "--set=hard_items=110"]
SMALL = [*FEW_ITEMS, "--set=easy_block=4 MiB", "--set=hard_segments=40"]
LONG = [*FEW_ITEMS, "--set=easy_block=4 MiB", "--set=hard_segments=400000"]
"""One whose ior-hard-write lasts until something ends it."""
NOT_REMOVED = r"(not be removed|was removed( from \S+)?): \S"
"""The client may say of a name on a dead brick that it is not there, instead of an error."""


@pytest.fixture
def volume() -> Iterator[Volume]:
    with volume_in_memory() as made:
        yield made


def words(target: Path, *more: str) -> list[str]:
    return ["run", "io500", "-d", str(target), "-n", "2", *more]


def assert_removed_at_last(cli: Cli, volume: Volume, run: str) -> None:
    """A run's files can be removed once the brick is back, which the client notices at a moment
    of its own, perhaps in the middle of this."""

    def gone() -> bool:
        cli("results", "rm", "--files", run)
        try:
            return not list(volume.mount.iterdir())
        except OSError:  # the client is not there again yet
            return False

    assert wait_for(gone)


def test_the_suite_on_a_volume_of_two_bricks(cli: Cli, volume: Volume) -> None:
    volume.start(2)
    line = words(volume.mount, "--stonewall", "20", *SMALL)
    record = cli.json(*line)
    assert record["environment"]["file_system"]["type"] == "fuse.glusterfs"
    assert len(record["phases"]) == 14
    assert not any(row["errors"] for row in record["phases"])
    assert record["metrics"]["score"]["value"] > 0
    assert record["verdict"]["level"] == "INDICATIVE"
    [use] = [use for use in record["verdict"]["use"] if use["what"] == "rank"]
    reasons = "\n".join(use["broken"])
    for reason in ("the stonewall was 20 s", "one node: what is read", "1 of the 10 client nodes"):
        assert reason in reasons
    assert "could not be removed" not in "".join(record["warnings"])
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
        assert process.poll() is None, process.communicate()
        return next(
            (
                path.parent
                for path in cli.store.glob("running/*/events.jsonl")
                if f'"phase_started","path":"{phase}"' in path.read_text().replace(" ", "")
            ),
            None,
        )

    wait_for(within)
    return process


def holds_hard_file(brick: Brick) -> bool:
    """Whether data of the shared file is on a brick; the other has at most a link to it."""
    found = next(brick.data.glob("venturi-*/ior-hard/file"), None)
    return found is not None and found.stat().st_size > 0


def test_a_brick_killed_in_the_middle(cli: Cli, volume: Volume) -> None:
    volume.start(2)
    line = words(volume.mount, "--stonewall", "30", *LONG)
    process = started(cli, line, "ior-hard-write")
    hit = wait_for(lambda: next((b for b in volume.bricks if holds_hard_file(b)), None))
    hit.kill()
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 3, out[-500:]
    record = cli.records()[0]
    assert [row["path"] for row in record["phases"]][:3] == [
        "ior-easy-write",
        "mdtest-easy-write",
        "timestamp",
    ]
    assert record["partial"]
    assert record["verdict"]["level"] == "INVALID"
    assert "Transport endpoint is not connected" in record["failure"]
    assert "ior-hard/file" in record["failure"]
    warnings = "\n".join(record["warnings"])
    assert "not of this run" not in warnings
    assert re.search(NOT_REMOVED, warnings)
    assert record["left"]
    assert record["left_command"] == f"venturi results rm --files {record['id']}"
    # As long as the brick is dead they stay; once it is back they go.
    refused = cli("results", "rm", "--files", record["id"])
    assert refused.returncode == 5
    assert re.search(NOT_REMOVED, refused.stderr)
    hit.start()
    assert_removed_at_last(cli, volume, record["id"])


def test_a_brick_that_is_full(cli: Cli, volume: Volume) -> None:
    volume.start(2, image_bytes=24 << 20)
    line = words(
        volume.mount,
        "--stonewall",
        "30",
        "--set=easy_block=100 MiB",
        "--set=hard_segments=40",
        *FEW_ITEMS,
    )
    process = cli.start(*line, "--json")
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 3, out[-500:]
    record = cli.records()[0]
    assert "No space left on device" in record["failure"]
    assert "ior-easy" in record["failure"]
    assert record["left"] == []
    assert not list(volume.mount.iterdir())


def folders_on(brick: Brick) -> set[str]:
    """Names of the folders of files and of their pieces."""
    return {name for place, names, _ in os.walk(brick.data) for name in names if ours(place, name)}


def files_on(brick: Brick) -> list[str]:
    """Files and pieces of files on a brick."""
    return [name for place, _, names in os.walk(brick.data) for name in names if ours(place, name)]


def ours(place: str, name: str) -> bool:
    """Whether it is none of what a brick keeps for itself."""
    return ".glusterfs" not in (*Path(place).parts, name)


@pytest.mark.parametrize("layout", [Layout.SHARDED, Layout.TWOFOLD])
def test_other_layouts(cli: Cli, volume: Volume, layout: Layout) -> None:
    """All phases, every byte read back right, nothing left on any brick."""
    volume.start(4, layout=layout)
    record = cli.json(
        *words(
            volume.mount,
            "--stonewall",
            "20",
            "--set=hard_segments=40",
            *FEW_ITEMS,
            "--set=easy_block=10 MiB",
        )
    )
    assert len(record["phases"]) == 14
    assert not any(row["errors"] for row in record["phases"])
    assert record["left"] == []
    assert not list(volume.mount.iterdir())
    # What a file in pieces leaves is removed in the background.
    assert wait_for(lambda: not any(files_on(brick) for brick in volume.bricks))
    for brick in volume.bricks:
        assert folders_on(brick) <= {".shard", ".remove_me"}


def test_a_brick_of_a_pair_dies(cli: Cli, volume: Volume) -> None:
    """The other one serves: no error reaches the run."""
    volume.start(2, layout=Layout.TWOFOLD)
    line = words(volume.mount, "--stonewall", "2", *FEW_ITEMS, "--set=hard_segments=4000")
    process = started(cli, line, "ior-hard-write")
    volume.bricks[0].kill()
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 0, out[-500:]
    record = cli.records()[0]
    assert not any(row["errors"] for row in record["phases"])
    assert record["left"] == []


def test_a_brick_that_stops_answering(cli: Cli, volume: Volume) -> None:
    """The run ends with the storage's own reason; what is left is named, and can be removed."""
    volume.start(1, ping_s=8)
    line = words(volume.mount, "--stonewall", "30", *LONG)
    process = started(cli, line, "ior-hard-write")
    # A file whose creation is on its way would be there in the end, and not the run's by its word.
    wait_for(lambda: holds_hard_file(volume.bricks[0]))
    volume.bricks[0].halt()
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 3, out[-500:]
    record = cli.records()[0]
    assert record["partial"]
    assert "ior-hard/file" in record["failure"]
    assert "Transport endpoint is not connected" in record["failure"]
    assert "ior-easy-write" in [row["path"] for row in record["phases"]]
    assert f"venturi results rm --files {record['id']} removes" in record["warnings"][-1].replace(
        "`", ""
    )
    assert any("without an answer" in reason for reason in record["verdict"]["reasons"])
    # Nothing else is begun there as long as nobody answers.
    refused = cli(*line)
    assert refused.returncode == 5
    assert "does not answer" in refused.stderr
    volume.bricks[0].go_on()
    assert_removed_at_last(cli, volume, record["id"])


def test_a_pause_of_a_brick_is_in_the_latencies(cli: Cli, volume: Volume) -> None:
    """Shorter than what the client takes for a death, it fails nothing."""
    volume.start(1)
    line = words(volume.mount, "--stonewall", "4", *LONG)
    process = started(cli, line, "ior-hard-write")
    # In the middle of its writes, not in what nobody times between two phases.
    assert wait_for(lambda: holds_hard_file(volume.bricks[0]))
    volume.bricks[0].halt()
    time.sleep(1.2)
    volume.bricks[0].go_on()
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 0, out[-500:]
    rows = cli.records()[0]["phases"]
    assert not any(row["errors"] for row in rows)
    kinds = [kind for row in rows for kind in row["by_operation"].values()]
    assert max(kind["latency_ns"]["max"] for kind in kinds) > 1e9
