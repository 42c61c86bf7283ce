"""Two samples: chances by counting every arrangement, intervals by what they promise."""

from __future__ import annotations

import math
import random
from itertools import combinations
from statistics import median

import pytest

from venturi.analyse.two_samples import contrast, holm, mann_whitney


def counted(first: list[float], second: list[float]) -> float:
    """The chance by trying all ways to deal the values to the two samples."""
    values = [*first, *second]

    def u_of(chosen: tuple[int, ...]) -> float:
        inside = set(chosen)
        others = [v for i, v in enumerate(values) if i not in inside]
        return sum((values[i] > o) + 0.5 * (values[i] == o) for i in chosen for o in others)

    middle = len(first) * len(second) / 2
    found = abs(u_of(tuple(range(len(first)))) - middle)
    ways = list(combinations(range(len(values)), len(first)))
    return sum(abs(u_of(way) - middle) >= found for way in ways) / len(ways)


@pytest.mark.parametrize("sizes", [(1, 1), (3, 3), (4, 4), (5, 5), (6, 6), (2, 7), (7, 3)])
def test_chances_are_counted(sizes: tuple[int, int]) -> None:
    chance = random.Random(sum(sizes))
    for levels in (1000, 4):
        for _ in range(3):
            first = [float(chance.randrange(levels)) for _ in range(sizes[0])]
            second = [float(chance.randrange(levels)) for _ in range(sizes[1])]
            assert mann_whitney(first, second) == pytest.approx(counted(first, second))


def test_known_least_chances() -> None:
    """Three values a side reach 0.10 at best, four 0.029, five 0.008, six 0.002."""
    for n, least in ((3, 0.1), (4, 0.0286), (5, 0.0079), (6, 0.0022)):
        low, high = [float(i + 1) for i in range(n)], [float(i + 100) for i in range(n)]
        assert mann_whitney(low, high) == pytest.approx(least, abs=1e-4)
        assert contrast(low, high).least_p_value == pytest.approx(least, abs=1e-4)


def test_large_samples_are_approximated() -> None:
    """On both sides of the limit of counting the chances agree."""
    chance = random.Random(5)
    values = [chance.gauss(0, 1) for _ in range(60)]
    for shift in (0.2, 0.5, 0.8):
        first, second = values[:30], [value + shift for value in values[30:]]
        exact = mann_whitney(first, second)
        doubled = mann_whitney([*first, shift / 2], second)
        assert doubled == pytest.approx(exact, rel=0.15, abs=0.01)


def test_the_interval_of_the_ratio_holds_as_often_as_it_says() -> None:
    chance = random.Random(3)
    held = 0
    for _ in range(600):
        first = [math.exp(chance.gauss(0, 0.2)) for _ in range(6)]
        second = [1.3 * math.exp(chance.gauss(0, 0.2)) for _ in range(6)]
        found = contrast(first, second)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 1.3 <= found.high
    assert found.coverage == pytest.approx(1 - 2 * 19 / 924)
    assert held / 600 == pytest.approx(found.coverage, abs=0.02)
    pairs = [b / a for a in first for b in second]
    assert found.ratio == pytest.approx(math.exp(median(map(math.log, pairs))))


def test_what_could_be_detected_would_be_four_times_out_of_five() -> None:
    chance = random.Random(4)
    said = median(
        contrast(*[[math.exp(chance.gauss(0, 0.1)) for _ in range(10)] for _ in "ab"]).detectable
        or 0.0
        for _ in range(200)
    )
    seen = 0
    for _ in range(400):
        first = [math.exp(chance.gauss(0, 0.1)) for _ in range(10)]
        second = [(1 + said) * math.exp(chance.gauss(0, 0.1)) for _ in range(10)]
        seen += mann_whitney(first, second) <= 0.05
    assert 0.12 < said < 0.16
    assert 0.7 < seen / 400 < 0.88


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_values_that_have_no_ratio() -> None:
    found = contrast([0.0, 1.0, 2.0], [3.0, 4.0, 5.0])
    assert (found.ratio, found.low, found.detectable) == (None, None, None)
    assert found.superiority == 1.0
