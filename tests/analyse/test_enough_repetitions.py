"""When repetitions are enough: widths, changes that would be seen, and what ends them otherwise."""

from __future__ import annotations

import math
import random

import pytest

from venturi.analyse.enough import followed, least_detected, needed, why_enough
from venturi.analyse.two_samples import contrast
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
    said = why_enough(Aim(budget_s=5, detect=0.01), 5.0, {"read": WIDE})
    assert said.startswith("the 5 s for repetitions were over; two such runs show a change of")
    assert f"takes about {needed(WIDE, 0.01)} repetitions" in said
    assert why_enough(Aim(budget_s=5), 6.0, {"read": WIDE[:2]}).endswith("were over")


def test_without_a_direction_nothing_says_how_many() -> None:
    values = followed({"n": (Better.NONE, WIDE)}, ())
    assert why_enough(Aim(detect=0.1), 0.0, values).startswith("nothing that was measured")


def test_the_most_ends_it() -> None:
    assert why_enough(Aim(most=6), 0.0, {"read": WIDE}).startswith("as many as may be; ")


def test_what_two_such_runs_show_is_what_compare_would_say() -> None:
    assert least_detected(WIDE) == pytest.approx(contrast(WIDE, WIDE).detectable)


def test_as_many_as_needed_show_the_change_and_one_fewer_does_not() -> None:
    count = needed(WIDE, 0.05)
    chance = random.Random(1)
    sigma = [math.log(value) for value in WIDE]
    scale = (sum((x - sum(sigma) / 6) ** 2 for x in sigma) / 5) ** 0.5
    seen = 0
    for _ in range(400):
        first = [math.exp(chance.gauss(0, scale)) for _ in range(count)]
        second = [1.05 * math.exp(chance.gauss(0, scale)) for _ in range(count)]
        seen += contrast(first, second).p_value < 0.05
    assert 0.72 < seen / 400 < 0.88  # four times out of five


def test_own_metrics_with_a_direction_come_before_all_others() -> None:
    measured = {
        "write": (Better.HIGHER, [1.0, 2.0]),
        "best": (Better.HIGHER, [3.0]),
        "saturates": (Better.NONE, [4.0]),
        "waited": (Better.LOWER, [0.0, 1.0]),
    }
    assert list(followed(measured, {"best", "saturates"})) == ["best"]
    assert list(followed(measured, {"saturates", "waited"})) == ["write", "best"]
