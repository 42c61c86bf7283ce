"""When repetitions are enough: widths, changes that would be seen, and what ends them otherwise."""

from __future__ import annotations

import math
import random
from statistics import median, stdev

import pytest

from venturi.analyse.contrast import contrasts
from venturi.analyse.enough import followed, least_detected, needed, why_enough
from venturi.model.aim import Aim
from venturi.model.output import Better

WIDE = [90.0, 95.0, 100.0, 101.0, 105.0, 110.0]
NARROW = [99.0, 99.5, 100.0, 100.0, 100.5, 101.0]


def test_five_narrow_values_are_not_enough() -> None:
    assert why_enough(Aim(), 0.0, {"write": NARROW[:5]}) == ""
    assert "write reaches 1.0%" in why_enough(Aim(), 0.0, {"write": NARROW})


def test_the_widest_metric_decides() -> None:
    assert why_enough(Aim(), 0.0, {"write": NARROW, "read": WIDE}) == ""
    said = why_enough(Aim(within=0.2), 0.0, {"write": NARROW, "read": WIDE})
    assert said.startswith("the interval of read")


def test_time_ends_it_and_says_how_far_it_came() -> None:
    said = why_enough(Aim(budget_s=5, detect=0.1), 5.0, {"read": WIDE})
    assert said.startswith("the 5 s for repetitions were over; two such runs detect a change of")
    assert f"10 % takes about {needed(WIDE, 0.1)} repetitions" in said
    said = why_enough(Aim(budget_s=5, detect=0.01), 5.0, {"read": WIDE})
    assert said.endswith("changes of 5 % or less never count as one")
    assert why_enough(Aim(budget_s=5), 6.0, {"read": WIDE[:2]}).endswith("were over")


def test_without_a_direction_nothing_says_how_many() -> None:
    values = followed({"n": (Better.NONE, WIDE)}, ())
    assert why_enough(Aim(detect=0.1), 0.0, values).startswith("nothing that was measured")


def test_the_most_ends_it() -> None:
    assert why_enough(Aim(most=6), 0.0, {"read": WIDE}).startswith("as many as may be; ")


@pytest.mark.parametrize("metrics", [1, 5, 38])
def test_what_two_such_runs_detect_is_about_what_compare_says(metrics: int) -> None:
    chance = random.Random(metrics)
    part = [
        tuple([math.exp(chance.gauss(0, 0.1)) for _ in range(6)] for _ in "ab")
        for _ in range(metrics)
    ]
    said = [what.detectable or 0.0 for what in contrasts([part])[0]]
    ahead = [least_detected(first, metrics) for first, _ in part]
    assert median(said) / 2.5 < median(ahead) < 2.5 * median(said)


@pytest.mark.parametrize("metrics", [1, 8])
def test_as_many_as_needed_detect_the_change(metrics: int) -> None:
    """In nine of ten comparisons or more; fewer repetitions would say that they cannot."""
    count = needed(WIDE, 0.2, metrics)
    scale = stdev(math.log(value) for value in WIDE)
    chance = random.Random(1)
    found = 0
    for _ in range(200):
        part = [
            tuple([math.exp(chance.gauss(0, scale)) for _ in range(count)] for _ in "ab")
            for _ in range(metrics)
        ]
        part[0] = part[0][0], [1.2 * value for value in part[0][1]]
        found += contrasts([part])[0][0].is_significant
    assert found / 200 > 0.85
    assert count == 6 or needed(WIDE, 0.19, metrics) >= count


def test_too_few_repetitions_detect_nothing() -> None:
    assert least_detected(WIDE[:3]) == math.inf
    assert needed([1.0, 100.0], 0.001) == 10_000


def test_own_metrics_with_a_direction_come_before_all_others() -> None:
    measured = {
        "write": (Better.HIGHER, [1.0, 2.0]),
        "best": (Better.HIGHER, [3.0]),
        "saturates": (Better.NONE, [4.0]),
        "waited": (Better.LOWER, [0.0, 1.0]),
    }
    assert list(followed(measured, {"best", "saturates"})) == ["best"]
    assert list(followed(measured, {"saturates", "waited"})) == ["write", "best"]
