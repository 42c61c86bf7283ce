"""When an experiment stops: by the width of the error's interval, never by the error."""

from __future__ import annotations

from venturi.predict.enough import MOST_RUNS, Enough

STEADY = [1.0, 1.01, 0.99, 1.0, 1.01, 0.99]
WILD = [1.0, 1.4, 0.7, 1.0, 1.3, 0.8]


def times(values: list[float], count: int, factor: float = 1.0) -> list[float]:
    return [factor * values[at % len(values)] for at in range(count)]


def stops_at(application: list[float], proxy: list[float], enough: Enough) -> int:
    """Runs of each that are made of series that go on like these."""
    for count in range(1, 100):
        if enough.reached(times(application, count), times(proxy, count)):
            return count
    raise AssertionError("never")


def test_steady_runs_stop_at_the_least_however_large_the_error() -> None:
    for factor in (1.0, 3.0):
        enough = Enough(6, 60.0)
        assert stops_at(STEADY, times(STEADY, 6, factor), enough) == 6
        assert "interval" in enough.why


def test_runs_that_vary_go_on_to_the_most_even_where_both_are_equal() -> None:
    enough = Enough(6, 60.0)
    assert stops_at(WILD, WILD[::-1], enough) == MOST_RUNS
    assert str(MOST_RUNS) in enough.why


def test_more_than_the_most_are_made_where_they_are_wanted() -> None:
    assert stops_at(WILD, WILD[::-1], Enough(31, 60.0)) == 31


def test_without_a_budget_there_are_as_many_as_wanted() -> None:
    enough = Enough(3, 0.0)
    assert stops_at(WILD, WILD[::-1], enough) == 3
    assert enough.why == "as many as wanted"


def test_a_budget_that_is_over_ends_it_after_whole_rounds() -> None:
    enough = Enough(3, 1e-9)
    assert stops_at(WILD, WILD[::-1], enough) in (3, 4)
    assert "over" in enough.why
