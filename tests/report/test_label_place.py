"""Labels beside levels: never over each other, and no further off than that takes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venturi.report.figure.label_place import apart


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ([], []),
        ([40.0], [40.0]),
        ([10.0, 60.0], [10.0, 60.0]),
        ([50.0, 50.0], [45.0, 55.0]),
        ([54.0, 50.0], [57.0, 47.0]),
        ([50.0, 50.0, 50.0], [40.0, 50.0, 60.0]),
        ([30.0, 50.0, 51.0], [30.0, 45.5, 55.5]),
        ([38.0, 50.0, 50.0], [36.0, 46.0, 56.0]),
        ([0.0, 1.0], [0.0, 10.0]),
        ([99.0, 100.0], [90.0, 100.0]),
    ],
)
def test_labels_that_would_overlap_move_evenly_and_stay_inside(
    wanted: list[float], found: list[float]
) -> None:
    assert apart(wanted, 10.0, 0.0, 100.0) == pytest.approx(found)


@given(st.lists(st.floats(0.0, 320.0), max_size=40))
def test_no_two_are_nearer_than_the_gap_and_the_order_stays(wanted: list[float]) -> None:
    found = apart(wanted, 13.0, 0.0, 320.0)
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    for before, after in pairwise(order):
        assert found[after] - found[before] >= 13.0 - 1e-6
    assert all(place >= 0.0 for place in found)
    if len(wanted) <= 320 // 13:
        assert all(place <= 320.0 + 1e-6 for place in found)


@given(st.lists(st.integers(0, 20), max_size=20, unique=True))
def test_labels_that_are_apart_stay(slots: list[int]) -> None:
    wanted = [13.0 * slot for slot in slots]
    assert apart(wanted, 13.0, 0.0, 320.0) == pytest.approx(wanted)
