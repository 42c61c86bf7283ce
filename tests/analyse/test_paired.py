"""Interleaved series: order, drift, intervals that hold what they promise."""

import random
from collections import Counter

import pytest

from venturi.analyse.paired import interleaved, signed_error, spread_of


def test_order_is_there_and_back() -> None:
    assert interleaved(4) == [0, 1, 1, 0, 1, 0, 0, 1]
    assert interleaved(3, 3) == [0, 1, 2, 2, 1, 0, 2, 1, 0]
    assert interleaved(0) == []


@pytest.mark.parametrize("period", [2, 4])
def test_what_comes_round_again_hits_both_alike(period: int) -> None:
    at = Counter((which, place % period) for place, which in enumerate(interleaved(8)))
    assert set(at.values()) == {8 // period}


@pytest.mark.parametrize("rounds", [2, 4, 6])
def test_linear_drift_hits_both_alike(rounds: int) -> None:
    at: dict[int, list[int]] = {0: [], 1: []}
    for place, which in enumerate(interleaved(rounds)):
        at[which].append(place)
    assert sum(at[0]) == sum(at[1])


def test_error_is_of_medians_and_signed() -> None:
    error = signed_error([1.0, 2.0, 9.0], [1.0, 1.5, 1.6])
    assert error.signed == pytest.approx(-0.25)
    assert error.low <= error.signed <= error.high
    assert signed_error([1.0, 2.0, 9.0], [1.0, 1.5, 1.6]) == error


def test_drift_of_both_leaves_a_narrow_interval() -> None:
    base = [1.0, 1.5, 2.0, 2.5, 3.0, 3.5]
    error = signed_error(base, [1.1 * value for value in base])
    assert (error.low, error.high) == (pytest.approx(0.1), pytest.approx(0.1))
    assert error.excludes_zero


def test_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    source = random.Random(3)
    truth, hits, trials = 0.2, 0, 150
    for _ in range(trials):
        base = [source.lognormvariate(0.0, 0.2) for _ in range(6)]
        other = [1.2 * source.lognormvariate(0.0, 0.2) for _ in range(6)]
        error = signed_error(base, other)
        hits += error.low <= truth <= error.high
    assert 0.92 * trials <= hits < trials


def test_more_confidence_is_wider() -> None:
    source = random.Random(5)
    base = [source.uniform(1, 2) for _ in range(12)]
    other = [source.uniform(1, 2) for _ in range(12)]
    usual, sure = signed_error(base, other), signed_error(base, other, 0.99)
    assert sure.low < usual.low < usual.high < sure.high


def test_one_pair_has_no_interval() -> None:
    error = signed_error([2.0], [3.0])
    assert (error.signed, error.low, error.high, error.confidence) == (0.5, 0.5, 0.5, 0.0)


@pytest.mark.parametrize(("base", "other"), [([], []), ([1.0], [1.0, 2.0]), ([0.0], [1.0])])
def test_what_is_no_pair_is_refused(base: list[float], other: list[float]) -> None:
    with pytest.raises(ValueError, match=r"pairs|above 0"):
        signed_error(base, other)


def test_spread_is_relative() -> None:
    assert spread_of([9.0, 10.0, 11.0]) == pytest.approx(0.1)
    assert spread_of([5.0]) == spread_of([5.0, 5.0]) == 0.0
