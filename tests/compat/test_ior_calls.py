"""What the engine really does for a test of IOR, call by call, against IOR's own arithmetic."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest

from compat.conftest import Calls, Tool

KIB = 1024


@dataclass(frozen=True)
class Shape:
    """P tasks, B bytes of a block, T of a transfer, S segments."""

    ranks: int
    block: int
    transfer: int
    segments: int
    per_process: bool = False

    @property
    def words(self) -> list[str]:
        words = ["-b", str(self.block), "-t", str(self.transfer), "-s", str(self.segments)]
        return [*words, "-F"] if self.per_process else words

    def offsets(self, rank: int) -> list[int]:
        """offset(i, j) = i P B + p B + j T shared, i B + j T for a file each (i < S, j < B/T)."""
        sharers, place = (1, 0) if self.per_process else (self.ranks, rank)
        return [
            i * sharers * self.block + place * self.block + j * self.transfer
            for i in range(self.segments)
            for j in range(self.block // self.transfer)
        ]

    def requests(self, rank: int) -> list[tuple[int, int]]:
        return [(offset, self.transfer) for offset in self.offsets(rank)]


SHAPES = [
    Shape(1, 64 * KIB, 64 * KIB, 1),
    Shape(2, 128 * KIB, 32 * KIB, 2),
    Shape(3, 48 * KIB, 16 * KIB, 3),
    Shape(2, 47008 * 2, 47008, 4),
    Shape(2, 128 * KIB, 32 * KIB, 2, per_process=True),
    Shape(4, 20 * KIB, 4 * KIB, 5, per_process=True),
]


def ior(tool: Tool, shape: Shape, *words: str) -> list[Calls]:
    line = ["ior", "-q", "-n", str(shape.ranks), "--", *shape.words, "-o", "./f", *words]
    return tool.traced(*line)


def in_order_of_ranks(calls: list[Calls]) -> list[Calls]:
    """Processes by the first offset and the file that they wrote."""
    return sorted(calls, key=lambda one: (one.names[0], one.writes[:1] or one.reads[:1]))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_offsets_order_and_names_are_iors(tool: Tool, shape: Shape) -> None:
    ranks = in_order_of_ranks(ior(tool, shape, "-w", "-r"))
    assert len(ranks) == shape.ranks
    for rank, calls in enumerate(ranks):
        assert calls.writes == shape.requests(rank)
        assert calls.reads == shape.requests(rank)
        name = f"f.{rank:08d}" if shape.per_process else "f"
        assert set(calls.names) == {name}
        assert calls.syncs == 0


def test_one_call_and_one_fsync_for_a_transfer(tool: Tool) -> None:
    shape = Shape(2, 64 * KIB, 16 * KIB, 2)
    for rank, calls in enumerate(in_order_of_ranks(ior(tool, shape, "-w", "-Y"))):
        assert calls.writes == shape.requests(rank)
        assert calls.syncs == len(calls.writes)
    assert [calls.syncs for calls in ior(tool, shape, "-w", "-e")] == [1, 1]


def test_only_the_first_transfers(tool: Tool) -> None:
    shape = Shape(2, 64 * KIB, 16 * KIB, 3)
    words = ("-w", "-r", "-O", "stoneWallingWearOutIterations=6")
    for rank, calls in enumerate(in_order_of_ranks(ior(tool, shape, *words))):
        assert calls.writes == shape.requests(rank)[:6]
        assert calls.reads == shape.requests(rank)[:6]


def test_names_of_directories_and_repetitions(tool: Tool) -> None:
    shape = Shape(2, 16 * KIB, 16 * KIB, 1, per_process=True)
    ranks = in_order_of_ranks(ior(tool, shape, "-w", "-m", "-u", "-i", "2"))
    for rank, calls in enumerate(ranks):
        assert calls.names == [f"{rank}/f.{rank:08d}.0", f"{rank}/f.{rank:08d}.1"]


def test_several_files_go_to_the_ranks_in_turn(tool: Tool) -> None:
    done = tool.traced(
        "ior", "-q", "-n", "3", "--", "-w", "-F", "-b", "4k", "-t", "4k", "-o", "./a@./b"
    )
    assert sorted(name for calls in done for name in calls.names) == [
        "a.00000000",
        "a.00000002",
        "b.00000001",
    ]


def test_random_places_of_a_shared_file_are_each_taken_once(tool: Tool) -> None:
    shape = Shape(4, 64 * KIB, 4 * KIB, 2)
    ranks = ior(tool, shape, "-w", "-r", "-z")
    everything = Counter(r for rank in range(shape.ranks) for r in shape.requests(rank))
    assert sum((Counter(calls.writes) for calls in ranks), Counter()) == everything
    assert sum((Counter(calls.reads) for calls in ranks), Counter()) == everything
    assert len({len(calls.writes) for calls in ranks}) == 1
    assert any(calls.writes != sorted(calls.writes) for calls in ranks)
    segment = shape.ranks * shape.block
    for calls in ranks:
        half = len(calls.writes) // 2
        assert all(offset < segment for offset, _ in calls.writes[:half])
        assert all(offset >= segment for offset, _ in calls.writes[half:])


def test_random_places_of_own_files_keep_their_segments(tool: Tool) -> None:
    shape = Shape(2, 64 * KIB, 4 * KIB, 2, per_process=True)
    for calls in ior(tool, shape, "-w", "-z"):
        assert sorted(calls.writes) == sorted(shape.requests(0))
        half = len(calls.writes) // 2
        first, second = calls.writes[:half], calls.writes[half:]
        assert [offset + shape.block for offset, _ in first] == [offset for offset, _ in second]


def test_blocks_by_chance_lie_where_blocks_do_and_are_moved_in_order(tool: Tool) -> None:
    shape = Shape(2, 16 * KIB, 4 * KIB, 8)
    for calls in ior(tool, shape, "-w", "-r", "-zz"):
        assert calls.writes == calls.reads
        assert len(calls.writes) == shape.segments * 4
        firsts = [offset for offset, _ in calls.writes[::4]]
        assert all(offset % shape.block == 0 for offset in firsts)
        assert all(offset < shape.ranks * shape.block * shape.segments for offset in firsts)
        within = [
            (offset + j * shape.transfer, shape.transfer) for offset in firsts for j in range(4)
        ]
        assert calls.writes == within
        assert firsts != sorted(firsts)


def test_transfers_begin_again_until_the_phase_is_old_enough(tool: Tool) -> None:
    shape = Shape(1, 64 * KIB, 16 * KIB, 1)
    (calls,) = ior(tool, shape, "-w", "-O", "minTimeDuration=1,interIODelay=5000")
    turns, rest = divmod(len(calls.writes), 4)
    assert rest == 0
    assert turns >= 2
    assert calls.writes == shape.requests(0) * turns
