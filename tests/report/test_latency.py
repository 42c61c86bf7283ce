"""Latency histograms: the buckets of the event's definition, merging, percentiles, curves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from record_factory import histogram

from venturi.model.event import Histogram
from venturi.model.statistic import bucket_of
from venturi.report.latency import merge

LATENCIES = st.lists(st.integers(0, 10**12), min_size=1, max_size=300)


@given(LATENCIES, st.sampled_from([0.5, 0.9, 0.99, 0.999]))
def test_quantiles_are_within_a_bucket(values: list[int], share: float) -> None:
    found = merge([histogram(values)]).quantile_ns(share)
    ordered = sorted(values)
    exact = next(v for i, v in enumerate(ordered) if i + 1 >= share * len(ordered))
    assert bucket_of(found, 10) == bucket_of(exact, 10)
    assert ordered[0] <= found <= ordered[-1]


@given(LATENCIES, LATENCIES)
def test_merging_is_the_histogram_of_all(left: list[int], right: list[int]) -> None:
    both = merge([histogram(left), Histogram(), histogram(right)])
    assert both == merge([histogram(left + right)])
    assert both.operations == len(left) + len(right)


@given(LATENCIES, LATENCIES)
def test_what_is_merged_with_an_early_record_is_as_coarse(
    left: list[int], right: list[int]
) -> None:
    both = merge([histogram(left), histogram(right, bits=4)])
    assert both == merge([histogram(left + right, bits=4)])


@given(LATENCIES)
def test_the_curve_rises_from_nothing_to_all(values: list[int]) -> None:
    curve = merge([histogram(values)]).curve(most_points=20)
    assert len(curve) <= 20
    assert curve[0][1] == 0
    assert curve[-1][1] == 1
    assert curve == sorted(curve)


def test_nothing_timed_has_no_curve() -> None:
    empty = merge([Histogram()])
    assert empty.operations == 0
    assert empty.curve() == []
    assert empty.quantile_ns(0.5) == 0
