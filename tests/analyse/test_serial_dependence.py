"""The order of repetitions: what shows dependence, what does not, and what follows from it."""

from __future__ import annotations

import math
import random
from itertools import pairwise, permutations
from statistics import fmean

import pytest

from analyse.test_comparison_power import COUNT, most
from venturi.analyse.contrast_row import MetricPair, rows_of
from venturi.analyse.serial_dependence import SEEN_P, serial_dependence
from venturi.model.output import Better


def series(chance: random.Random, count: int, share: float, spread: float = 0.1) -> list[float]:
    """Values whose logarithms have the autocorrelation `share`."""
    state = chance.gauss(0, 1)
    found = []
    for _ in range(count):
        found.append(math.exp(spread * state))
        state = share * state + math.sqrt(1 - share**2) * chance.gauss(0, 1)
    return found


def drawn(
    seed: int, metrics: int, count: int, share: float, spread: float = 0.1
) -> dict[str, tuple[list[float], list[float]]]:
    chance = random.Random(seed)
    return {
        f"m{index}": (series(chance, count, share, spread), series(chance, count, share, spread))
        for index in range(metrics)
    }


@pytest.mark.parametrize("count", [4, 6, 10])
@pytest.mark.parametrize("metrics", [1, 9])
def test_independent_repetitions_seldom_show_dependence(metrics: int, count: int) -> None:
    seen = [serial_dependence([drawn(n, metrics, count, 0.0)]) for n in range(COUNT)]
    assert sum(one is not None for one in seen) <= most(SEEN_P, COUNT) * COUNT


@pytest.mark.parametrize(("metrics", "count", "least"), [(9, 6, 0.6), (1, 20, 0.6), (9, 20, 0.95)])
def test_dependence_is_seen_where_there_is_enough_to_see(
    metrics: int, count: int, least: float
) -> None:
    seen = [serial_dependence([drawn(n, metrics, count, 0.5)]) for n in range(COUNT)]
    assert sum(one is not None for one in seen) >= least * COUNT


def autocorrelation(values: list[float]) -> float:
    logs = [math.log(value) for value in values]
    own = [one - fmean(logs) for one in logs]
    return sum(a * b for a, b in pairwise(own)) / sum(one * one for one in own)


def test_p_and_figure_are_those_of_all_orders() -> None:
    """All orders of seven repetitions, by hand, against the shuffles."""
    chance = random.Random(5)
    values = [math.exp(0.1 * (n + chance.gauss(0, 0.5))) for n in range(7)]
    found = serial_dependence([{"only": (values,)}])
    assert found is not None
    own = autocorrelation(values)
    every = [autocorrelation(list(order)) for order in permutations(values)]
    exact = sum(one >= own - 1e-9 for one in every) / len(every)
    assert found.p == pytest.approx(exact, abs=4 * math.sqrt(exact / 1000) + 0.002)
    assert found.excess == pytest.approx(own - fmean(every), abs=0.05)
    assert (found.metric, found.metrics) == ("only", 1)


def test_a_metric_that_drifts_alone_is_named() -> None:
    part = drawn(3, 9, 10, 0.0)
    part["fills"] = tuple([math.exp(-0.1 * n) for n in range(10)] for _ in range(2))
    found = serial_dependence([part])
    assert found is not None
    assert (found.metric, found.metrics) == ("fills", 10)


def test_a_difference_between_runs_is_no_dependence() -> None:
    """Each run is centred by itself; a step between them is what a comparison looks for."""
    seen = 0
    for seed in range(COUNT):
        part = {
            name: (first, [10 * value for value in second])
            for name, (first, second) in drawn(seed, 1, 6, 0.0).items()
        }
        seen += serial_dependence([part]) is not None
    assert seen <= most(SEEN_P, COUNT) * COUNT


def test_what_hardly_varies_or_is_short_says_nothing() -> None:
    steady = [1e9 + 1e5 * n for n in range(20)]
    assert serial_dependence([{"steady": (steady, steady)}]) is None
    assert serial_dependence([{"short": ([1.0, 2.0], [3.0, 4.0])}]) is None
    assert (
        serial_dependence([{"equal": ([7.0] * 9, [7.0] * 9), "zero": ([0.0] * 9, [0.0] * 9)}])
        is None
    )
    assert serial_dependence([{}]) is None
    assert serial_dependence([]) is None


def test_values_that_are_missing_at_the_end_or_not_above_zero_are_judged() -> None:
    part = {
        "all": ([float(n) for n in range(12)], [float(n) for n in range(12)]),
        "fewer": ([float(n - 5) for n in range(9)], [float(n) for n in range(12)]),
    }
    found = serial_dependence([part])
    assert found is not None
    assert found.excess > 0.5


def judged(part: dict[str, tuple[list[float], list[float]]]) -> bool:
    pairs = {
        name: MetricPair("B/s", Better.HIGHER, first, second)
        for name, (first, second) in part.items()
    }
    found = rows_of([pairs])
    return any(row.is_significant for row in found.rows[0])


@pytest.mark.parametrize("count", [6, 10])
def test_equal_runs_of_many_metrics_that_depend_on_their_order_are_not_called_different(
    count: int,
) -> None:
    """An autocorrelation of 0.5 in 20 metrics: 15 to 25 % of false alarms without the look."""
    alarms = sum(judged(drawn(seed, 20, count, 0.5)) for seed in range(COUNT))
    assert alarms <= most(0.05, COUNT) * COUNT


def test_a_large_change_is_still_found() -> None:
    part = drawn(8, 20, 10, 0.5)
    part["m3"] = (part["m3"][0], [3 * value for value in part["m3"][1]])
    assert judged(part)
