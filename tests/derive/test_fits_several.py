"""Counters that fit several pairs of block and segments are said to fit several."""

from __future__ import annotations

from simulated_log import RankLog, trace_of_files

from venturi.derive.workload import derive
from venturi.model.workload import Confidence


def block_of(requests: dict[int, list[tuple[int, int]]]) -> Confidence:
    """Return what is said of the block of a shared file that ranks write so."""
    logs = {}
    for rank, own in requests.items():
        logs[rank] = RankLog()
        logs[rank].open(1.0)
        logs[rank].run("write", own, 1.0)
    origin = derive(trace_of_files([("data", logs)], len(logs)), "several").origin
    assert origin is not None
    return next(entry for entry in origin.confidence if entry.field == "block")


def strided(blocks: list[int], rank: int) -> list[tuple[int, int]]:
    """Return requests of 1000 bytes of one of two ranks that write such blocks in turns."""
    found, place = [], 0
    for block in blocks:
        found += [(place + rank * block + at, 1000) for at in range(0, block, 1000)]
        place += 2 * block
    return found


def test_one_gap_fits_one_block() -> None:
    said = block_of({rank: strided([1000] * 12, rank) for rank in range(2)})
    assert (said.value, said.confidence) == ("1 kB", 0.95)
    assert "fit" not in said.rule


def test_gaps_of_two_blocks_are_both_named() -> None:
    said = block_of({rank: strided([1000] * 8 + [2000] * 6, rank) for rank in range(2)})
    assert "other gaps fit blocks of" in said.rule
    assert said.confidence == 0.5


def test_a_file_of_one_rank_fits_every_block() -> None:
    said = block_of({0: [(at * 1000, 1000) for at in range(12)]})
    assert "every block of whole requests that divides 12 kB fits" in said.rule
