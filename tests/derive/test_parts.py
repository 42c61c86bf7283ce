"""The small pure parts of derive: mixes of sizes, conditions on ranks, sizes for IOR."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venturi.derive.counts import BUCKETS, Counts
from venturi.derive.ior import ior_size
from venturi.derive.program import rank_condition
from venturi.derive.request import mix_of
from venturi.model.expression import Literal, Tree, bind, tree_of
from venturi.model.workload import request_class


def counts_of_sizes(sizes: list[int]) -> Counts:
    """What Darshan counts for requests of these sizes."""
    buckets = [0] * len(BUCKETS)
    for size in sizes:
        buckets[request_class(size)] += 1
    return Counts(bytes=sum(sizes), requests=len(sizes), buckets=tuple(buckets))


_sizes = st.lists(
    st.sampled_from([0, 1, 99, 100, 101, 1024, 4096, 47008, 2**20, 2**20 + 1, 2**30, 2**31]),
    max_size=60,
)


@given(written=_sizes, read=_sizes, kept=st.integers(0, 4))
def test_mixes_add_up_to_what_was_counted(written: list[int], read: list[int], kept: int) -> None:
    both = frequencies(written + read)
    accesses = Counter(dict(both.most_common(kept)))
    mix = mix_of(counts_of_sizes(written), counts_of_sizes(read), accesses)
    assert sum(size * count for size, count in mix.parts) == sum(written)
    assert sum(count for _, count in mix.parts) + mix.empty == len(written)
    assert all(size > 0 and count > 0 for size, count in mix.parts)


def frequencies(sizes: list[int]) -> Counter[int]:
    """How often each size came; Darshan keeps no size of 0."""
    return Counter(size for size in sizes if size)


def test_frequent_sizes_are_kept_as_they_are() -> None:
    written = [47008] * 30 + [4096] * 5
    read = [2**20] * 7 + [47008] * 10
    accesses = frequencies(written + read)
    mix = mix_of(counts_of_sizes(written), counts_of_sizes(read), accesses)
    assert mix.parts == ((47008, 30), (4096, 5))
    assert (mix.transfer, mix.known_share) == (47008, 1.0)


@given(st.sets(st.integers(0, 11), min_size=1), st.integers(12, 13))
def test_conditions_hold_for_the_owners_and_number_them(owners: set[int], ranks: int) -> None:
    found = rank_condition(tuple(sorted(owners)), ranks)
    if found is None:
        return
    chosen = [rank for rank in range(ranks) if value(found[0], rank)]
    assert chosen == sorted(owners)
    assert [value(found[1], rank) for rank in chosen] == list(range(len(owners)))


def value(text: str, rank: int) -> int:
    """The value of an expression on one rank."""
    known: dict[str, Tree] = {"rank": Literal(rank)}
    tree = bind(tree_of(text), known)
    assert isinstance(tree, Literal)
    return int(tree.value)


@pytest.mark.parametrize(
    ("owners", "condition"),
    [
        ((0,), "rank == 0"),
        ((0, 1), "rank < 2"),
        ((2, 3, 4, 5), "rank >= 2"),
        ((1, 2), "rank >= 1 and rank <= 2"),
        ((1, 4), "rank % 3 == 1"),
    ],
)
def test_conditions_are_short(owners: tuple[int, ...], condition: str) -> None:
    found = rank_condition(owners, 6)
    assert found is not None
    assert found[0] == condition


def test_scattered_ranks_have_no_condition() -> None:
    assert rank_condition((0, 1, 5), 8) is None


@pytest.mark.parametrize(
    ("size", "text"),
    [(47008, "47008"), (2**20, "1m"), (64_000_000, "62500k"), (2**30, "1g"), (1536, "1536")],
)
def test_sizes_for_ior_are_exact(size: int, text: str) -> None:
    assert ior_size(size) == text
