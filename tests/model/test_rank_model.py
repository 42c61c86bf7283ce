"""A slow rank is named, healthy ranks are not, and a burst of others is no slow rank."""

from __future__ import annotations

import random

import pytest

from venturi.model.rank_model import FEWEST_BEFORE, RankSamples, judged_ranks

SEEDS = range(40)


def ranks(
    count: int,
    seed: int,
    slow: dict[int, float] | None = None,
    per_node: int = 4,
    share_processor: int = 1,
    spread: float = 0.03,
    burst: float = 0.0,
) -> list[RankSamples]:
    """20 ms of work with noise between ranks and samples; bursts of others double some samples."""
    noise = random.Random(seed)
    found = []
    for rank in range(count):
        own = 0.02 * (slow or {}).get(rank, 1.0) * noise.lognormvariate(0.0, spread)
        taken = tuple(
            own * noise.lognormvariate(0.0, spread) * (2.0 if noise.random() < burst else 1.0)
            for _ in range(30)
        )
        where = rank % per_node // share_processor
        found.append(RankSamples(rank, taken, (), f"node{rank // per_node}", str(where)))
    return found


@pytest.mark.parametrize("count", [2, 3, 4, 8, 64])
def test_healthy_ranks_are_not_called_slow(count: int) -> None:
    for seed in SEEDS:
        found = judged_ranks(ranks(count, seed))
        assert found.compared == count
        assert not found.slow


@pytest.mark.parametrize("count", [2, 3, 4, 8, 64])
@pytest.mark.parametrize("factor", [1.5, 2.0])
def test_slow_rank_is_named(count: int, factor: float) -> None:
    for seed in SEEDS:
        found = judged_ranks(ranks(count, seed, {1: factor}))
        assert [one.samples.rank for one in found.slow] == [1]
        assert found.slow[0].share == pytest.approx(factor - 1, abs=0.3)
        [text] = found.texts
        assert text.startswith("slow rank 1 (node0, processor 1)")


def test_half_of_the_ranks_may_be_slow() -> None:
    for seed in SEEDS:
        found = judged_ranks(ranks(8, seed, dict.fromkeys((4, 5, 6, 7), 1.5)))
        assert sorted(one.samples.rank for one in found.slow) == [4, 5, 6, 7]
        assert found.nodes == ["node1"]
        [text] = found.texts
        assert text.startswith("slow node node1 (each of its ranks: ")


def test_bursts_of_others_are_no_slow_rank() -> None:
    for seed in SEEDS:
        assert not judged_ranks(ranks(4, seed, burst=0.3)).slow


def test_ranks_that_share_a_processor_are_held_against_their_like() -> None:
    """Of three ranks on two processors, two take twice as long, and none of them is slow."""
    quick, *rest = ranks(3, 1, {1: 2.0, 2: 2.0})
    shared = [RankSamples(one.rank, one.taken_s, (), "node0", "1") for one in rest]
    found = judged_ranks([quick, *shared])
    assert not found.slow
    assert found.compared == 2


def test_rank_is_held_against_its_own_sessions() -> None:
    """With one rank there is no other; where all are slow, none stands out among them."""
    before = {rank: [0.02, 0.0201, 0.0199, 0.02, 0.0202] for rank in range(2)}
    for seed in SEEDS:
        [slow] = judged_ranks(ranks(1, seed, {0: 1.5}), before).slow
        assert "sessions before" in slow.text
        both = judged_ranks(ranks(2, seed, {0: 1.5, 1: 1.5}), before)
        assert sorted(one.samples.rank for one in both.slow) == [0, 1]
        assert not judged_ranks(ranks(2, seed), before).slow
    few = {0: before[0][: FEWEST_BEFORE - 1]}
    assert not judged_ranks(ranks(1, 1, {0: 1.5}), few).slow


def test_cause_is_what_its_processor_did_meanwhile() -> None:
    one, other = ranks(2, 1, {1: 2.0})
    had = RankSamples(1, other.taken_s, tuple(s / 2 for s in other.taken_s), "node0", "1")
    [slow] = judged_ranks([one, had]).slow
    assert "for 50% of that time its processor did other work" in slow.text
    had = RankSamples(1, other.taken_s, other.taken_s, "node0", "1")
    [slow] = judged_ranks([one, had]).slow
    assert slow.text.endswith("with its processor to itself")


def test_few_samples_say_nothing() -> None:
    few = [RankSamples(r.rank, r.taken_s[:4]) for r in ranks(4, 1, {1: 3.0})]
    found = judged_ranks(few)
    assert not found.slow
    assert not found.compared
