"""The bound by which shuffles are passed over: it is one, and no answer depends on it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from venturi.analyse import change_point
from venturi.analyse.change_point import change_points


def series(seed: int, count: int, step: float, digits: int) -> np.ndarray:
    """Values with a step somewhere; few digits give ties."""
    chance = np.random.default_rng(seed)
    values = chance.normal(0, 0.03, count)
    values[int(chance.integers(3, count - 3)) :] += step
    return np.round(values, digits)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(8, 160), st.floats(-0.3, 0.3), st.sampled_from([1, 2, 9]))
def test_no_order_is_stronger_than_its_bound(
    seed: int, count: int, step: float, digits: int
) -> None:
    values = series(seed, count, step, digits)
    orders = np.argsort(np.random.default_rng(seed).random((20, count)), axis=1)
    orders = np.concatenate((orders, np.arange(count)[None]))
    strength = change_point._strongest(values, orders, change_point.SHORTEST)[0]
    for grid in change_point._GRIDS:
        bound = change_point._StrengthBound(values, change_point.SHORTEST, grid).of(orders)
        assert (bound >= strength * (1 - 1e-5) - 1e-9).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(7, 160), st.sampled_from([1, 2, 9]))
def test_distances_to_earlier_values_are_summed_as_one_by_one(
    seed: int, count: int, digits: int
) -> None:
    values = series(seed, count, 0.1, digits) + 20.0
    orders = np.argsort(np.random.default_rng(seed).random((3, count)), axis=1)
    wanted = [
        [sum(abs(values[i] - values[j]) for j in order[:at]) for at, i in enumerate(order)]
        for order in orders
    ]
    for way in (change_point._to_earlier, change_point._to_earlier_of_few):
        assert way(values, orders) == pytest.approx(np.array(wanted), abs=1e-10)
    everything = [sum(abs(value - other) for other in values) for value in values]
    assert change_point._to_all(values) == pytest.approx(np.array(everything), abs=1e-10)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32), st.integers(70, 130), st.sampled_from([0.0, 0.02, 0.05, 0.3]))
def test_the_same_changes_are_found_without_the_bound(seed: int, count: int, step: float) -> None:
    values = list(series(seed, count, step, 9))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(change_point, "_MANY", 10**9)
        patch.setattr(change_point, "_FIRST", change_point._BATCH)
        plain = change_points(values, 0.01)
    assert change_points(values, 0.01) == plain


def test_a_clean_step_leaves_hardly_a_shuffle_to_compute() -> None:
    values = series(1, 400, 0.3, 9)
    strength = change_point._strongest(values, np.arange(400)[None], change_point.SHORTEST)[0][0]
    orders = np.argsort(np.random.default_rng(2).random((200, 400)), axis=1)
    finest = change_point._GRIDS[-1]
    bound = change_point._StrengthBound(values, change_point.SHORTEST, finest).of(orders)
    assert (bound >= strength).mean() < 0.05


def test_a_high_step_in_the_middle_is_told_by_the_few_places_of_the_coarsest_bound() -> None:
    values = np.random.default_rng(1).normal(0, 0.03, 500)
    values[300:] -= 0.2
    strength = change_point._strongest(values, np.arange(500)[None], change_point.SHORTEST)[0][0]
    orders = np.argsort(np.random.default_rng(2).random((200, 500)), axis=1)
    coarsest = change_point._GRIDS[0]
    bound = change_point._StrengthBound(values, change_point.SHORTEST, coarsest).of(orders)
    assert (bound >= strength).mean() < 0.05
