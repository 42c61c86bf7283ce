"""Intervals of medians, histograms and percentiles."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venturi.model.event import Histogram
from venturi.model.statistic import bucket_bounds_ns, median_interval, percentile_ns


def bucket_of(value_ns: int) -> int:
    """The definition in `Histogram`, inverted."""
    if value_ns < 16:
        return value_ns
    shift = value_ns.bit_length() - 5
    return 16 * (shift + 1) + (value_ns >> shift) - 16


def histogram_of(values: list[int]) -> Histogram:
    counts: dict[int, int] = {}
    for value in values:
        counts[bucket_of(value)] = counts.get(bucket_of(value), 0) + 1
    buckets = sorted(counts)
    return Histogram(
        bucket=buckets,
        count=[counts[b] for b in buckets],
        min_ns=min(values),
        max_ns=max(values),
    )


@given(st.integers(0, 2**40))
def test_every_value_lies_in_its_bucket(value: int) -> None:
    low, high = bucket_bounds_ns(bucket_of(value))
    assert low <= value < high
    assert high - low <= max(1, value / 16)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=300), st.floats(0.01, 1))
def test_percentiles_are_within_a_sixteenth(values: list[int], share: float) -> None:
    ordered = sorted(values)
    import math

    exact = ordered[max(1, math.ceil(share * len(ordered))) - 1]
    assert percentile_ns(histogram_of(values), share) == pytest.approx(exact, rel=1 / 16, abs=1)


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
