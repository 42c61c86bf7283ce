"""Intervals of medians, histograms and percentiles."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venturi.model.event import Histogram
from venturi.model.statistic import (
    bucket_bounds_ns,
    bucket_of,
    median_interval,
    percentile_ns,
    ratio_interval,
)

BITS = st.sampled_from([4, 10])
"""Of the earliest records and of the engine as it is."""


def histogram_of(values: list[int], bits: int) -> Histogram:
    counts: dict[int, int] = {}
    for value in values:
        bucket = bucket_of(value, bits)
        counts[bucket] = counts.get(bucket, 0) + 1
    buckets = sorted(counts)
    return Histogram(
        bits=bits,
        bucket=buckets,
        count=[counts[b] for b in buckets],
        min_ns=min(values),
        max_ns=max(values),
    )


@given(st.integers(0, 2**63), BITS)
def test_every_value_lies_in_its_bucket(value: int, bits: int) -> None:
    low, high = bucket_bounds_ns(bucket_of(value, bits), bits)
    assert low <= value < high
    assert high - low <= max(1, low / 2**bits)


@given(st.integers(0, 10_000), BITS)
def test_buckets_follow_each_other(bucket: int, bits: int) -> None:
    assert bucket_bounds_ns(bucket, bits)[1] == bucket_bounds_ns(bucket + 1, bits)[0]


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=300), st.floats(0.01, 1), BITS)
def test_percentiles_are_within_a_bucket(values: list[int], share: float, bits: int) -> None:
    ordered = sorted(values)
    exact = ordered[max(1, math.ceil(share * len(ordered))) - 1]
    found = percentile_ns(histogram_of(values, bits), share)
    assert found == pytest.approx(exact, rel=1 / 2**bits, abs=1)


def test_a_histogram_without_bits_is_an_early_one() -> None:
    early = Histogram.model_validate_json('{"bucket": [100], "count": [3], "max_ns": 9999}')
    assert early.bits == 4
    assert percentile_ns(early, 0.5) == (20 * 2**5 + 21 * 2**5 - 1) // 2


@pytest.mark.parametrize(
    ("n", "low", "coverage"), [(1, 0, 0.0), (5, 0, 0.9375), (6, 0, 0.96875), (9, 1, 0.9609375)]
)
def test_intervals_of_order_statistics(n: int, low: int, coverage: float) -> None:
    interval = median_interval(list(range(n)))
    assert (interval.low, interval.high) == (low, n - 1 - low)
    assert interval.coverage == pytest.approx(coverage)


def test_the_interval_covers_as_often_as_it_says() -> None:
    generator = random.Random(7)
    hits = 0
    for _ in range(4000):
        interval = median_interval([generator.lognormvariate(0, 1) for _ in range(6)])
        hits += interval.low <= 1.0 <= interval.high
    assert hits / 4000 == pytest.approx(0.96875, abs=0.012)


def normal(chance: random.Random, share: float) -> float:
    """A factor that is as often above 1 as below."""
    return math.exp(chance.gauss(0.0, share))


def spiky(chance: random.Random, share: float) -> float:
    """A factor with a long tail above."""
    return math.exp(share * chance.expovariate(1.0))


@pytest.mark.parametrize("repetitions", [3, 4, 5, 6, 8, 10])
@pytest.mark.parametrize(
    ("first", "second", "noise"),
    [(0.05, 0.05, normal), (0.01, 0.1, normal), (0.1, 0.02, normal), (0.1, 0.1, spiky)],
)
def test_a_ratio_is_in_its_interval_as_often_as_it_says(
    repetitions: int, first: float, second: float, noise: Callable[[random.Random, float], float]
) -> None:
    draws = 1500
    chance = random.Random(f"{repetitions} {first} {second} {noise.__name__}")
    middles = (
        math.exp(share * math.log(2)) if noise is spiky else 1.0 for share in (first, second)
    )
    true = next(middles) * 3.0 / next(middles)
    inside = 0
    for _ in range(draws):
        upper = [3.0 * noise(chance, first) for _ in range(repetitions)]
        lower = [noise(chance, second) for _ in range(repetitions)]
        found = ratio_interval(upper, lower)
        inside += found.low <= true <= found.high
    assert inside / draws >= found.coverage - 3.1 * math.sqrt(
        found.coverage * (1 - found.coverage) / draws
    )


def test_a_ratio_is_one_of_medians_and_refuses_zero() -> None:
    found = ratio_interval([4.0, 5.0, 9.0], [1.0, 2.0, 3.0])
    assert found.median == 2.5
    assert found.low < found.median < found.high
    with pytest.raises(ValueError, match="above 0"):
        ratio_interval([1.0], [0.0])


@pytest.mark.parametrize("count", [1023, 1024, 5000])
def test_thousands_of_values_have_an_interval(count: int) -> None:
    found = median_interval([float(value) for value in range(count)])
    assert found.low < found.median < found.high
    # The normal approximation of the same ranks: n/2 -+ 1.96 sqrt(n)/2.
    assert found.median - found.low == pytest.approx(0.98 * count**0.5, abs=1.5)
    assert 0.95 <= found.coverage < 0.96
