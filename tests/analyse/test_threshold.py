"""Thresholds: units, intervals, and that no outcome claims more than the values show."""

from __future__ import annotations

import random

import pytest

from venturi.analyse.threshold import Measured, check_threshold, judged, level_of
from venturi.model.error import UserError
from venturi.model.statistic import median_interval
from venturi.model.verdict import Outcome, Threshold


def outcome(threshold: Threshold, values: list[float], unit: str = "B/s", doubt: str = "") -> str:
    """What becomes of one threshold."""
    [row] = judged({"m": threshold}, {"m": Measured(unit, values)}, doubt)
    return row.outcome.value


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1 GB/s", "B/s", 1e9),
        ("1.5 GiB/s", "B/s", 1.5 * 2**30),
        ("500 MiB/s", "MiB/s", 500.0),
        ("1 GiB/s", "MiB/s", 1024.0),
        (" 2 ms ", "s", 0.002),
        ("20k", "k", 20.0),
        ("80 %", "", 0.8),
        ("3 kop/s", "1/s", 3000.0),
        ("1e3", "1/s", 1000.0),
        (7, "whatever", 7.0),
    ],
)
def test_units_are_converted(text: float | str, unit: str, value: float) -> None:
    if text == "20k":
        text = "20 k"
    assert level_of(text, unit) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "unit"), [("1 GB", "B/s"), ("2 s", "B/s"), ("fast", "B/s"), ("1 furlong", "B/s")]
)
def test_units_that_do_not_fit_fail_and_say_so(text: str, unit: str) -> None:
    [row] = judged({"m": Threshold(at_least=text)}, {"m": Measured(unit, [1e12] * 6)})
    assert row.outcome is Outcome.FAIL
    assert text in row.says


def test_a_metric_without_a_value_fails() -> None:
    [row] = judged({"m": Threshold(at_most=1.0)}, {})
    assert row.outcome is Outcome.FAIL
    assert row.says == "m has no value"


@pytest.mark.parametrize("seed", range(200))
def test_any_values_and_limits_are_judged_by_their_interval(seed: int) -> None:
    rng = random.Random(seed)
    values = [rng.lognormvariate(3, 0.5) for _ in range(rng.randint(1, 12))]
    limit = rng.lognormvariate(3, 0.5)
    found = median_interval(values)
    low, high = (found.low, found.high) if found.coverage >= 0.95 else (min(values), max(values))
    least = outcome(Threshold(at_least=limit), values)
    most = outcome(Threshold(at_most=limit), values)
    assert least == ("PASS" if low >= limit else "FAIL" if high < limit else "UNDECIDED")
    assert most == ("PASS" if high <= limit else "FAIL" if low > limit else "UNDECIDED")
    assert {least, most} != {"PASS"} or low == high == limit
    both = outcome(Threshold(at_least=limit, at_most=2 * limit), values)
    assert both == outcome(Threshold(within=[limit, 2 * limit]), values)
    assert outcome(Threshold(at_least=limit), values, doubt="a neighbour") != "PASS"


@pytest.mark.parametrize(
    "threshold",
    [
        Threshold(within=[2, 1]),
        Threshold(at_least=3, at_most=2),
        Threshold(at_least="much"),
        Threshold(at_least="1.2.3 B/s"),
        Threshold(at_least="1e999 B/s"),
        Threshold(at_most="5 s"),
        Threshold(within=["1 B/s", "2 s"]),
    ],
)
def test_thresholds_that_nothing_can_meet_are_refused(threshold: Threshold) -> None:
    with pytest.raises(UserError, match=r"^thresholds\.m: "):
        check_threshold("thresholds.m", threshold, ["B/s", "1/s"])


def test_an_empty_threshold_is_no_threshold() -> None:
    with pytest.raises(ValueError, match="at_least, at_most or within"):
        Threshold()
