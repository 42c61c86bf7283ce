"""Caches: what was in memory before a phase is counted, and room in memory can be taken away."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from engine.plans import CachePolicy, Plan, file, hold, manage, nest, phase, plan, read, write
from engine.running import (
    Engine,
    children,
    end,
    file_system,
    held,
    is_gone,
    meddled,
    size_of_group,
)
from venturi.model.plan import Exec

BLOCK = 4096
MIB = 1 << 20
PATTERN = nest(0, (16, MIB))


def write_then_read(place: Path, ranks: int, *between: Exec, **reading: Any) -> Plan:
    body = [manage("create"), write(MIB, PATTERN), manage("close")]
    again = [manage("open"), read(MIB, PATTERN), manage("close")]
    return plan(
        place,
        [file(per_rank=True)],
        [phase("w", *body), *between, phase("r", *again, **reading)],
        ranks=ranks,
    )


def is_on_disk(place: Path) -> bool:
    return file_system(place / "x") not in ("tmpfs", "ramfs", "overlay")


def test_what_was_just_written_is_warm(engine: Engine, tmp_path: Path, comm: str) -> None:
    outcome = engine.run(write_then_read(tmp_path, size_of_group(comm)), comm)
    event = outcome.phase("r")
    assert event["cached_share"] > 0.9
    assert event["cache"] == "warm"
    assert "% of the pages were in this node's memory" in event["cache_reason"]
    assert outcome.phase("w")["cached_share"] is None


def test_what_was_dropped_is_cold(engine: Engine, tmp_path: Path) -> None:
    if not is_on_disk(tmp_path):
        pytest.skip("dropping pages needs a directory on a disk")
    outcome = engine.run(write_then_read(tmp_path, 2, cache=CachePolicy.DROP))
    event = outcome.phase("r")
    assert event["cached_share"] <= 0.01
    assert event["cache"] == "cold"


def test_a_half_that_somebody_read_is_mixed(engine: Engine, tmp_path: Path) -> None:
    """Somebody drops one of the two files behind the engine's back: it sees that."""
    if not is_on_disk(tmp_path):
        pytest.skip("dropping pages needs a directory on a disk")
    made = write_then_read(tmp_path, 2, hold())

    def drop() -> None:
        descriptor = os.open(Path(made.directory) / "data.0001", os.O_RDWR)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)

    outcome = meddled(engine, made, '"phase_finished","path":"w"', drop)
    assert outcome.code == 0
    event = outcome.phase("r")
    assert event["cache"] == "mixed"
    assert event["cached_share"] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_a_phase_that_also_writes_is_warm_where_nearly_all_was_in_memory(
    engine: Engine, tmp_path: Path, share: float
) -> None:
    """What it writes itself cannot be counted before, and adds to what is in memory."""
    if not is_on_disk(tmp_path):
        pytest.skip("dropping pages needs a directory on a disk")
    cold = nest(0, (max(1, int(share * 16)), MIB))
    first = [
        manage("create"),
        write(MIB, PATTERN),
        manage("close"),
        manage("create", 1),
        write(MIB, cold, index=1),
        manage("close", 1),
    ]
    both = [
        manage("open"),
        read(MIB, PATTERN),
        manage("close"),
        manage("open", 1),
        read(MIB, cold, index=1),
        manage("close", 1),
        manage("create", 2),
        write(MIB, PATTERN, index=2),
        manage("close", 2),
    ]
    made = plan(
        tmp_path,
        [file("warm"), file("cold"), file("own")],
        [phase("w", *first), hold(), phase("r", *both)],
    )

    def drop() -> None:
        descriptor = os.open(Path(made.directory) / "cold", os.O_RDWR)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)

    event = meddled(engine, made, '"phase_finished","path":"w"', drop).phase("r")
    assert event["cached_share"] == pytest.approx(1 / (1 + share), abs=0.04)
    assert event["cache"] == ("warm" if share < 0.1 else "mixed")


def locked_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmLck:"):
            return int(line.split()[1])
    return 0


@pytest.mark.unsanitized("the address sanitizer ignores mlock")
def test_memory_is_occupied_while_the_phase_runs(engine: Engine, tmp_path: Path) -> None:
    total_kib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1024
    body = [manage("create"), write(BLOCK, nest(0, (1, 0))), hold()]
    steps = [phase("p", *body, occupy_share=0.02), hold()]
    made = plan(tmp_path, [file(per_rank=True)], steps, ranks=2)
    process = engine.start(made)
    locked = []
    try:
        for _ in range(2):
            go_on = held(made)
            locked.append([locked_kib(pid) for pid in children(process.pid)[:2]])
            go_on.touch()
        process.communicate(timeout=600)
    finally:
        end(process)
    assert process.returncode == 0
    during, after = locked
    assert sum(during) == pytest.approx(0.02 * total_kib, rel=0.15)
    assert during[0] == during[1]
    assert after == [0, 0]


def test_too_much_memory_is_refused(engine: Engine, tmp_path: Path) -> None:
    body = [manage("create"), write(BLOCK, nest(0, (1, 0)))]
    made = plan(tmp_path, [file()], [phase("p", *body, occupy_share=0.999)], ranks=2)
    outcome = engine.run(made)
    assert outcome.code == 5
    assert "would be swapped or killed" in outcome.failed["message"]
    assert is_gone(made)


def test_caches_are_overfilled(engine: Engine, tmp_path: Path, comm: str) -> None:
    ranks = size_of_group(comm)
    made = write_then_read(tmp_path, ranks, overfill_bytes=8 * MIB + 1)
    assert engine.run(made, comm).code == 0
    assert is_gone(made), "the scratch files are gone, too"


def test_overfilling_needs_room(engine: Engine, tmp_path: Path) -> None:
    made = write_then_read(tmp_path, 2, overfill_bytes=1 << 60)
    outcome = engine.run(made)
    assert outcome.code == 3
    assert "overfilling caches needs" in outcome.failed["message"]
    assert is_gone(made)
