"""A slow rank is told from a slow link, and healthy links from both."""

from __future__ import annotations

import itertools
import random

import pytest

from venturi.model.link_model import Pair, judged_links, link_rate

SEEDS = range(40)


def links(
    ranks: int, seed: int, slow_rank: float = 1.0, slow_link: float = 1.0
) -> dict[Pair, float]:
    """Times around 10 µs with 3 % of noise; rank 2 and the link 1-4 are so many times as slow."""
    noise = random.Random(seed)
    times = {}
    for pair in itertools.combinations(range(ranks), 2):
        factor = slow_rank if 2 in pair else 1.0
        factor *= slow_link if pair == (1, 4) else 1.0
        times[pair] = 1e-5 * factor * noise.lognormvariate(0.0, 0.03)
    return times


def test_healthy_links_are_not_called_slow() -> None:
    for seed in SEEDS:
        found = judged_links(links(8, seed), {})
        assert found.judged
        assert not found.ranks
        assert not found.links


def test_slow_rank_is_found() -> None:
    for seed in SEEDS:
        found = judged_links(links(8, seed, slow_rank=1.6), {})
        assert list(found.ranks) == [2]
        assert not found.links
        assert found.ranks[2] == pytest.approx(0.6, abs=0.15)


def test_slow_link_is_found_beside_a_slow_rank() -> None:
    for seed in SEEDS:
        found = judged_links(links(8, seed, slow_rank=1.6, slow_link=2.0), {(1, 4): 2e-5})
        assert list(found.ranks) == [2]
        assert list(found.links) == [(1, 4)]


def test_link_that_is_well_alone_had_to_share() -> None:
    found = judged_links(links(8, 1, slow_link=2.0), {(1, 4): 1e-5})
    assert not found.links
    assert list(found.contended) == [(1, 4)]
    assert "1-4" in found.text


def test_three_ranks_are_too_few() -> None:
    assert not judged_links(links(3, 1), {}).judged


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(376.34e-6, 2.5949 * 2**30), (4.9153e-3, 203.45 * 2**20), (7.3305e-3, 136.42 * 2**20)],
)
def test_rates_are_those_of_the_published_page(seconds: float, shown: float) -> None:
    """1 MiB: the three times and rates of the page of LinkTest in the sources."""
    assert link_rate(1 << 20, seconds) == pytest.approx(shown, rel=1e-4)
