"""Many metrics of two runs at once: exact relabellings, intervals, odd values, what is promised."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import combinations
from statistics import median

import numpy as np
import pytest

from venturi.analyse.contrast import contrasts
from venturi.analyse.detectable import least_change, score_of, t_of
from venturi.analyse.relabelling import MOST_ENUMERATED, extremes, least_p, relabellings

Sides = tuple[list[float], list[float]]


def drawn(chance: random.Random, n: int, spread: float = 0.1, level: float = 1.0) -> list[float]:
    return [level * math.exp(chance.gauss(0, spread)) for _ in range(n)]


def pairs(seed: int, metrics: int, first: int, second: int, factor: float = 1.0) -> list[Sides]:
    """Metrics of two equal runs; the first of them differs by a factor."""
    chance = random.Random(seed)
    found = [(drawn(chance, first), drawn(chance, second)) for _ in range(metrics)]
    found[0] = (found[0][0], [factor * value for value in found[0][1]])
    return found


@pytest.mark.parametrize("sizes", [(1, 3), (2, 2), (4, 4), (3, 6), (6, 3)])
def test_relabellings_are_all_choices_and_begin_with_what_was_measured(
    sizes: tuple[int, int],
) -> None:
    labels = relabellings(*sizes)
    found = {tuple(np.flatnonzero(row)) for row in labels}
    assert found == set(combinations(range(sum(sizes)), sizes[0]))
    assert labels[0].tolist() == [1.0] * sizes[0] + [0.0] * sizes[1]
    assert extremes(labels).sum() == (2 if sizes[0] == sizes[1] else 1)


def test_many_relabellings_are_drawn_and_always_the_same() -> None:
    labels = relabellings(15, 15)
    assert labels.shape == (MOST_ENUMERATED, 30)
    assert set(labels.sum(axis=1)) == {15.0}
    assert labels[0, :15].all()
    found = [contrasts([pairs(1, 3, 15, 15)]) for _ in range(2)]
    assert found[0] == found[1]


def largest_t(values: np.ndarray, first: Sequence[int]) -> float:
    """The largest t of the columns' logarithms with 1 % in quadrature, without any clamping."""
    logs = np.log(values)
    inside = np.zeros(len(logs), dtype=bool)
    inside[list(first)] = True
    found = []
    for own in logs.T:
        one, other = own[inside], own[~inside]
        squares = ((one - one.mean()) ** 2).sum() + ((other - other.mean()) ** 2).sum()
        spread = math.sqrt(squares / (len(own) - 2) + 0.01**2)
        found.append(
            abs(one.mean() - other.mean()) / (spread * math.sqrt(1 / len(one) + 1 / len(other)))
        )
    return max(found)


@pytest.mark.parametrize("seed", range(8))
def test_p_is_the_share_of_relabellings_counted_one_by_one(seed: int) -> None:
    """With three and four values nothing is clamped; the allowance divides what was measured."""
    metrics = pairs(seed, 5, 3, 4, factor=1.0 + seed / 4)
    table = np.array([[*one, *other] for one, other in metrics]).T
    spread = [largest_t(table, ways) for ways in combinations(range(7), 3)]
    own = [largest_t(table[:, [index]], range(3)) / 1.5 for index in range(5)]
    found = contrasts([metrics])[0]
    for t, what in zip(own, found, strict=True):
        whole = sum(other >= t * (1 - 1e-6) for other in spread) / len(spread)
        assert what.p <= whole + 1e-9
        if not any(one.is_significant for one in found):
            assert what.p == pytest.approx(whole)


@pytest.mark.parametrize(
    ("first", "second", "least"), [(3, 3, 0.1), (4, 4, 2 / 70), (6, 6, 2 / 924)]
)
def test_known_least_p(first: int, second: int, least: float) -> None:
    assert least_p(first, second) == pytest.approx(least)


@pytest.mark.parametrize("metrics", [1, 7, 38, 200])
@pytest.mark.parametrize("sizes", [(4, 4), (4, 6), (6, 6), (12, 5)])
def test_ten_times_is_found_among_any_number_of_metrics(
    metrics: int, sizes: tuple[int, int]
) -> None:
    """Ranks with Holm's correction allow 23 metrics with six repetitions, five with 4 and 6."""
    chance = random.Random(metrics)
    found = contrasts(
        [
            [
                (drawn(chance, sizes[0], 0.05), drawn(chance, sizes[1], 0.05, 0.1))
                for _ in range(metrics)
            ]
        ]
    )[0]
    assert all(what.is_significant and not what.is_higher for what in found)


@pytest.mark.parametrize("points", [2, 5, 40])
def test_ten_times_at_every_point_is_found(points: int) -> None:
    """Each point has a relabelling that is what was measured: that is no reason to ask for more."""
    chance = random.Random(points)
    parts = [[(drawn(chance, 4), drawn(chance, 4, level=10.0))] for _ in range(points)]
    assert all(what.is_significant for [what] in contrasts(parts))


def test_three_repetitions_show_nothing_and_do_not_hide_others() -> None:
    few: Sides = ([1.0, 1.1, 0.9], [10.0, 11.0, 9.0])
    [[what]] = contrasts([[few]])
    assert (what.is_judged, what.is_significant, what.is_apart) == (False, False, True)
    assert (what.low, what.detectable) == (None, None)
    enough = pairs(3, 1, 6, 6, 3.0)[0]
    found = contrasts([[few], [enough]])
    assert [one.is_significant for [one] in found] == [False, True]


def test_a_metric_that_lacks_repetitions_is_judged_by_those_it_has() -> None:
    metrics = pairs(5, 4, 6, 8, 3.0)
    metrics[0] = (metrics[0][0][:4], metrics[0][1])
    metrics[1] = (metrics[1][0][:2], metrics[1][1][:2])
    found = contrasts([metrics])[0]
    assert found[0].is_significant
    assert [what.is_judged for what in found] == [True, False, True, True]


ODD: list[Sides] = [
    ([7.0] * 6, [7.0] * 6),
    ([0.0] * 6, [0.0] * 6),
    ([0.0] * 6, [3.0] * 6),
    ([-1.0, 2.0, 0.0, 1.0, 5.0, -3.0], [0.5] * 6),
    ([5.0] * 6, [5.0, 5.0, 5.0, 5.0, 5.0, 5.0000001]),
    ([1e-300] * 6, [1e300] * 6),
    ([1.0, 2.0, 3.0, 4.0, 5.0, 1e9], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
]


def test_odd_values_break_nothing() -> None:
    found = contrasts([ODD])[0]
    assert [what.is_significant for what in found] == [
        False,
        False,
        True,
        False,
        False,
        True,
        False,
    ]
    for what in found:
        for number in (what.p, what.ratio, what.low, what.high, what.detectable):
            assert number is None or math.isfinite(number)
    assert found[0].ratio == 1.0
    assert found[2].ratio is None


def test_metrics_without_spread_differ_by_any_change_that_matters() -> None:
    """Counts of bytes, and rates on a simulated clock."""
    metrics = [([100.0] * 6, [94.0] * 6)] + [([n + 1.0] * 6, [n + 1.0] * 6) for n in range(99)]
    found = contrasts([metrics])[0]
    assert [what.is_significant for what in found] == [True] + [False] * 99


def test_one_wild_repetition_hides_nothing() -> None:
    chance = random.Random(6)
    for _ in range(20):
        first, second = drawn(chance, 6, 0.05), drawn(chance, 6, 0.05, 2.0)
        first[chance.randrange(6)] /= chance.choice([5, 50, 1000])
        metrics = [(first, second), *pairs(chance.randrange(10**6), 37, 6, 6)]
        assert contrasts([metrics])[0][0].is_significant


@pytest.mark.parametrize("seed", range(40))
def test_interval_ratio_and_verdict_agree(seed: int) -> None:
    chance = random.Random(seed)
    sizes = chance.randint(2, 12), chance.randint(2, 12)
    metrics = []
    for _ in range(chance.choice([1, 3, 20])):
        spread = chance.choice([0.0, 0.01, 0.1, 1.0])
        level = chance.choice([1.0, 1.0, 1.06, 1.5, 10.0, 0.2])
        metrics.append((drawn(chance, sizes[0], spread), drawn(chance, sizes[1], spread, level)))
    for what in contrasts([metrics])[0]:
        if not what.is_judged:
            assert what.low is None
            continue
        assert what.ratio is not None
        assert what.low is not None
        assert what.high is not None
        assert what.low <= what.ratio <= what.high
        assert what.is_significant == (not what.low <= 1.0 <= what.high)
        if what.is_significant:
            assert what.is_higher == (what.low > 1.0)


@pytest.mark.parametrize("seed", range(10))
def test_sides_may_be_swapped(seed: int) -> None:
    metrics = pairs(seed, 6, 5, 7, 1.7)
    forth = contrasts([metrics])[0]
    back = contrasts([[(second, first) for first, second in metrics]])[0]
    for one, other in zip(forth, back, strict=True):
        assert one.p == pytest.approx(other.p)
        assert one.detectable == pytest.approx(other.detectable, rel=0.2)
        assert one.ratio is not None
        assert other.ratio == pytest.approx(1 / one.ratio)


def test_units_do_not_matter() -> None:
    metrics = pairs(9, 6, 6, 6, 1.7)
    scaled = [([1e9 * v for v in one], [1e9 * v for v in other]) for one, other in metrics]
    for one, other in zip(contrasts([metrics])[0], contrasts([scaled])[0], strict=True):
        assert (one.p, one.low) == (pytest.approx(other.p), pytest.approx(other.low))


def test_the_ratio_is_the_median_of_all_pairs() -> None:
    [[what]] = contrasts([pairs(2, 1, 5, 6, 1.3)])
    [(first, second)] = pairs(2, 1, 5, 6, 1.3)
    logs = [math.log(b / a) for a in first for b in second]
    assert what.ratio == pytest.approx(math.exp(median(logs)))


def test_scores_are_as_rare_as_t() -> None:
    """Quantiles of Student's t (tables): 97.5 % and 99.95 %."""
    for freedom, t, normal in ((6, 2.4469, 1.96), (10, 2.2281, 1.96), (10, 4.5869, 3.2905)):
        assert score_of(t, freedom) == pytest.approx(normal, rel=0.005)
        assert t_of(score_of(t, freedom), freedom) == pytest.approx(t)


def test_what_is_detectable_falls_with_repetitions_and_rises_with_spread_and_metrics() -> None:
    counts = [least_change(0.1, n, n, 38) for n in (4, 5, 6, 8, 10, 20, 50)]
    assert counts == sorted(counts, key=lambda change: -(change or 0.0))
    spreads = [least_change(s, 6, 6, 38) for s in (0.0, 0.02, 0.1, 0.3)]
    assert spreads == sorted(spreads, key=lambda change: change or 0.0)
    metrics = [least_change(0.1, 6, 6, m) for m in (1, 7, 38, 200)]
    assert metrics == sorted(metrics, key=lambda change: change or 0.0)
    assert least_change(0.1, 3, 3) is None
    assert least_change(0.0, 50, 50) == pytest.approx(0.057, abs=0.005)
