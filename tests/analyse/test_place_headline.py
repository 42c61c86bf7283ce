"""Which of two places is faster, from rows with a known answer."""

from __future__ import annotations

import pytest

from venturi.analyse.contrast_row import MetricPair, rows_of
from venturi.analyse.place_headline import place_headline
from venturi.model.comparison import ComparisonRow, faster_side, times_faster
from venturi.model.output import Better

PLACES = ("/a", "/b")
RATES = [100.0, 101.0, 99.0, 102.0, 98.0, 100.5]
TWICE = [2 * value for value in RATES]
WILD = [1.0, 100.0, 10.0, 1000.0, 3.0, 500.0]
WILD_TOO = [2.0, 300.0, 8.0, 700.0, 5.0, 100.0]


def rows(**metrics: tuple[str, list[float], list[float]]) -> list[ComparisonRow]:
    """Rows of metrics by their unit and the values in both places."""
    better = {"B/s": Better.HIGHER, "s": Better.LOWER, "": Better.NONE}
    pairs = {
        name: MetricPair(unit, better[unit], first, second)
        for name, (unit, first, second) in metrics.items()
    }
    return rows_of([pairs]).rows[0]


def test_higher_rates_and_shorter_times_are_faster() -> None:
    found = rows(rate=("B/s", RATES, TWICE), time=("s", RATES, TWICE), count=("", RATES, TWICE))
    assert [faster_side(row) for row in found] == [1, 0, None]
    for row in found[:2]:
        times = times_faster(row)
        assert times is not None
        assert times[0] == pytest.approx(2.0)
        assert times[1] < times[0] < times[2]
    assert place_headline(found, PLACES, {}) == (
        "/a is faster in 1 of 3 metrics, most in time (2 times as fast); "
        "/b is faster in 1 of 3 metrics, most in rate (2 times as fast)."
    )


def test_how_a_number_was_made_stays_with_it() -> None:
    labels = {"rate": "cached in /a", "other": "cold in /a"}
    text = place_headline(rows(rate=("B/s", RATES, TWICE)), PLACES, labels)
    assert text == ("/b is faster in 1 of 1 metrics, most in rate (2 times as fast, cached in /a).")


def test_equal_places_are_not_told_apart() -> None:
    text = place_headline(rows(rate=("B/s", RATES, RATES[::-1])), PLACES, {})
    assert text.startswith("Neither place is faster: they do not differ significantly;")
    assert "could have detected changes of at least" in text


def test_runs_that_vary_much_say_so_as_a_factor() -> None:
    text = place_headline(
        rows(wild=("B/s", WILD, WILD_TOO), rate=("B/s", RATES, RATES)), PLACES, {}
    )
    assert "a factor of 100 could have been missed" in text
    assert "in the steadiest metric, of 1.1" in text


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (RATES[:1], TWICE[:1], "Not decided: 1 and 1 runs are too few"),
        (RATES[:3], TWICE[:3], "Not decided: 3 and 3 runs are too few"),
        (RATES, [1.01 * value for value in RATES], "Neither place is faster"),
    ],
)
def test_what_is_not_known_is_not_claimed(
    first: list[float], second: list[float], said: str
) -> None:
    assert place_headline(rows(rate=("B/s", first, second)), PLACES, {}).startswith(said)
