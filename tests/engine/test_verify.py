"""Verification finds everything that was spoiled, says where and what, and nothing else.

`VENTURI_CORRUPTIONS` and `VENTURI_CLEAN_BLOCKS` set the numbers of the two large tests; the
defaults are small enough for every day.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.corruption import BLOCK, Spoiled, Spoiler
from engine.plans import (
    LOOP,
    Content,
    Plan,
    Tree,
    fault,
    file,
    hold,
    items,
    loop,
    manage,
    nest,
    number,
    phase,
    plan,
    read,
    slot,
    times,
    write,
)
from engine.running import Engine, Outcome, meddled

CORRUPTIONS = int(os.environ.get("VENTURI_CORRUPTIONS", "1000"))
CLEAN_BLOCKS = int(os.environ.get("VENTURI_CLEAN_BLOCKS", "100000"))
RANKS = 2
VERIFIED = Content(verify=True)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A directory in memory, where there is one; verification does not care."""
    shared = Path("/dev/shm")
    place = Path(tempfile.mkdtemp(dir=shared if shared.is_dir() else tmp_path))
    yield place
    shutil.rmtree(place)


def in_memory(made: Plan, memory: Path) -> Plan:
    made = made.model_copy(update={"directory": str(memory / "run")})
    (Path(made.journal) / "plan.json").write_text(made.to_json())
    return made


def spoiled_run(engine: Engine, made: Plan, spoiler: Spoiler, blocks: int, count: int) -> Outcome:
    """Spoils files between the phases while the engine is held."""
    names = [f"data.{rank:04d}" for rank in range(RANKS)]
    return meddled(
        engine,
        made,
        '"event":"phase_finished","path":"w"',
        lambda: spoiler.many(names, blocks, count),
    )


def found_damage(made: Plan) -> list[tuple[str, int, int, str]]:
    """Path, offset, bytes and damage of every wrong read, as the ranks wrote them."""
    result = []
    for part in sorted(Path(made.journal).glob("damage.*")):
        for line in part.read_text().splitlines():
            _, _, path, offset, size, damage = line.split("\t")
            result.append((path, int(offset), int(size), damage))
    return result


def check_found(made: Plan, expected: list[Spoiled]) -> None:
    found = found_damage(made)
    places = Counter((path, offset // BLOCK * BLOCK) for path, offset, _, _ in found)
    assert places == Counter((one.name, one.offset) for one in expected)
    names = {(one.name, one.offset): one.names for one in expected}
    for path, offset, size, damage in found:
        assert damage in names[path, offset // BLOCK * BLOCK], (path, offset, damage)
        assert 0 < size <= BLOCK


@pytest.mark.parametrize("seed", [1, 2])
def test_all_that_was_spoiled_from_outside_is_found(
    engine: Engine, tmp_path: Path, memory: Path, seed: int
) -> None:
    count = max(1, CORRUPTIONS // 4)  # two seeds here make half of all; the other half is below
    blocks = max(64, count)
    pattern = nest(0, (blocks, BLOCK))
    made = plan(
        tmp_path,
        [file(per_rank=True, content=VERIFIED)],
        [
            phase("w", manage("create"), write(BLOCK, pattern), manage("close")),
            hold(),
            phase("r", manage("open"), read(BLOCK, pattern), manage("close")),
        ],
        ranks=RANKS,
    )
    spoiler = Spoiler(memory / "run", seed)
    made = in_memory(made, memory)
    outcome = spoiled_run(engine, made, spoiler, blocks, count)
    assert outcome.code == 3, outcome.stderr
    expected = spoiler.done
    assert len(expected) == count
    event = outcome.phase("r")
    assert event["errors"] == event["corrupt_operations"] == count
    check_found(made, expected)
    assert event["corrupt_bytes"] == sum(size for _, _, size, _ in found_damage(made))
    for detail in event["details"]:
        assert detail["damage"] in {name for one in expected for name in one.names}
        assert detail["bytes"] > 0
        assert detail["path"] == f"data.{detail['rank']:04d}"
    assert outcome.of("finished")[0]["errors"] == count


@pytest.mark.parametrize("comm", ["alone", "forked"])
def test_all_that_the_storage_flips_is_found(
    engine: Engine, tmp_path: Path, memory: Path, comm: str
) -> None:
    """The other half: bits that the storage loses on the way, one in every so many writes."""
    count = max(1, CORRUPTIONS // 4)
    ranks = 1 if comm == "alone" else RANKS
    blocks = 7 * count
    pattern = nest(times(slot(0), blocks * BLOCK), (blocks, BLOCK))
    flips = [fault("flip", "write", nth=3, every=7, rank=0)]
    made = plan(
        tmp_path,
        [file(content=VERIFIED, faults=flips)],
        [phase("w", manage("create"), write(BLOCK, pattern)), phase("r", read(BLOCK, pattern))],
        ranks=ranks,
    )
    made = in_memory(made, memory)
    outcome = engine.run(made, comm)
    assert outcome.code == 3
    event = outcome.phase("r")
    assert event["corrupt_operations"] == event["corrupt_bytes"] == count
    found = found_damage(made)
    assert [damage for _, _, _, damage in found] == ["flipped"] * count
    assert sorted(at // BLOCK for _, at, _, _ in found) == list(range(2, blocks, 7))[:count]


def test_clean_blocks_raise_no_alarm(engine: Engine, tmp_path: Path, memory: Path) -> None:
    passes, blocks = 20, max(1, CLEAN_BLOCKS // 20 // RANKS)
    pattern = nest(0, (blocks, BLOCK))
    made = plan(
        tmp_path,
        [file(per_rank=True, content=VERIFIED)],
        [
            phase("w", manage("create"), write(BLOCK, pattern)),
            phase("r", loop(LOOP, passes, read(BLOCK, pattern))),
        ],
        ranks=RANKS,
        loops=["turn"],
    )
    outcome = engine.run(in_memory(made, memory))
    assert outcome.code == 0, outcome.events
    event = outcome.phase("r")
    reads = [kind for kind in event["by_operation"] if kind["kind"] == "read"]
    assert reads[0]["operations"] == passes * blocks * RANKS
    assert (event["errors"], event["corrupt_bytes"]) == (0, 0)
    assert found_damage(made) == []


def test_data_of_another_run_is_no_valid_data(engine: Engine, tmp_path: Path) -> None:
    """The same plan with another run id writes other bytes, so what is left cannot pass."""
    pattern = nest(0, (4, BLOCK))
    blobs = []
    for run in ("r1", "r2"):
        place = tmp_path / run
        place.mkdir()
        kept = file(content=VERIFIED, keep=True)
        made = plan(place, [kept], [phase("w", manage("create"), write(BLOCK, pattern))], run=run)
        assert engine.run(made, "alone").code == 0
        blobs.append((Path(made.directory) / "data").read_bytes())
    assert len(blobs[0]) == len(blobs[1]) == 4 * BLOCK
    assert blobs[0] != blobs[1]


def test_wrong_items_are_located(engine: Engine, tmp_path: Path) -> None:
    tree = Tree(items=number(8), size=number(3901))
    made = plan(
        tmp_path,
        [file("tree", tree=tree, content=VERIFIED)],
        [
            phase("w", items("create", "write", "close")),
            hold(),
            phase("r", items("open", "read", "close")),
        ],
    )

    victims = []

    def spoil() -> None:
        victim = sorted((Path(made.directory) / "tree").iterdir())[3]
        victims.append(victim.name)
        blob = bytearray(victim.read_bytes())
        blob[1000] ^= 0x10
        victim.write_bytes(blob)

    outcome = meddled(engine, made, '"event":"phase_finished","path":"w"', spoil, "alone")
    assert outcome.code == 3
    event = outcome.phase("r")
    detail = event["details"][0]
    assert (event["corrupt_operations"], event["corrupt_bytes"]) == (1, 1)
    assert (detail["damage"], detail["offset"], detail["bytes"]) == ("flipped", 1000, 1)
    assert detail["path"] == f"tree/{victims[0]}"
