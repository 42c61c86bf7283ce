"""Thresholds: whether a metric reaches what was asked for, judged with its interval.

One piece of code for workloads, campaigns and whatever else gates on numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from venturi.model.error import UserError
from venturi.model.statistic import median_interval
from venturi.model.units import BYTES_PER_UNIT, SECONDS_PER_UNIT
from venturi.model.verdict import Outcome, Threshold, ThresholdRow

_LEVEL = re.compile(
    r"^\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)(?![0-9.])\s*(.*?)\s*$"
)
_SURE = 0.95
Level = float | str
"""A number in the metric's unit, or one with a unit."""


@dataclass(frozen=True)
class Bounds:
    """The interval that a threshold is judged by."""

    low: float
    high: float
    n: int
    """Of how many values."""
    how: str
    """What it is, in words."""


@dataclass(frozen=True)
class Measured:
    """A metric as thresholds see it."""

    unit: str
    values: Sequence[float]


def level_of(text: Level, unit: str) -> float:
    """The number of a threshold in the metric's unit; ValueError where the units do not fit."""
    if not isinstance(text, str):
        if not math.isfinite(text):
            raise ValueError(f"{text} is no number that a value can reach")
        return float(text)
    found = _LEVEL.match(text)
    if found is None or not math.isfinite(float(found[1])):
        raise ValueError(f"'{text}' is no number with a unit")
    number, own = float(found[1]), found[2]
    if own in ("", unit):
        return number
    if own == "%" and unit == "":
        return number / 100
    given, wanted = _dimension(own), _dimension(unit)
    if given is None or wanted is None or given[0] != wanted[0]:
        raise ValueError(f"'{text}' does not fit the metric's unit '{unit or 'none'}'")
    return number * given[1] / wanted[1]


def _dimension(unit: str) -> tuple[str, float] | None:
    """What a unit measures and its factor to bytes, seconds and their rates; None: unknown."""
    base, per_second = unit.removesuffix("/s"), unit.endswith("/s")
    tail = "/s" if per_second else ""
    if base in BYTES_PER_UNIT:
        return f"bytes{tail}", float(BYTES_PER_UNIT[base])
    if base in SECONDS_PER_UNIT and not per_second:
        return "seconds", float(SECONDS_PER_UNIT[base])
    if per_second and base in ("1", "op", "k1", "kop"):
        return "count/s", 1000.0 if base.startswith("k") else 1.0
    return None


def check_threshold(where: str, threshold: Threshold, units: Sequence[str]) -> None:
    """Raise UserError for limits that are no numbers, fit no unit, or contradict each other.

    `units`: those that the metric may have, the likeliest first.
    """
    faults = []
    for unit in units:
        try:
            low, high = _limits(threshold, unit)
        except ValueError as error:
            faults.append(error)
            continue
        if low is not None and high is not None and low > high:
            raise UserError(f"{where}: no value is at least {low:g} and at most {high:g}")
        return
    raise UserError(
        f"{where}: {faults[0]}", "write a number in the metric's unit, or one such as '1 GB/s'"
    )


def _limits(threshold: Threshold, unit: str) -> tuple[float | None, float | None]:
    """The smallest and the largest value that is in order."""
    lows = [level_of(x, unit) for x in (threshold.at_least,) if x is not None]
    highs = [level_of(x, unit) for x in (threshold.at_most,) if x is not None]
    if threshold.within is not None:
        lows.append(level_of(threshold.within[0], unit))
        highs.append(level_of(threshold.within[1], unit))
    return max(lows, default=None), min(highs, default=None)


def rule_text(threshold: Threshold, unit: str) -> str:
    """A threshold in words: `at least 1 GB/s`."""

    def said(limit: Level) -> str:
        return limit if isinstance(limit, str) else f"{limit:.6g} {unit}".rstrip()

    parts = []
    if threshold.at_least is not None:
        parts.append(f"at least {said(threshold.at_least)}")
    if threshold.at_most is not None:
        parts.append(f"at most {said(threshold.at_most)}")
    if threshold.within is not None:
        parts.append(f"within {said(threshold.within[0])} and {said(threshold.within[1])}")
    return ", ".join(parts)


def judged(
    thresholds: Mapping[str, Threshold], measured: Mapping[str, Measured], doubt: str = ""
) -> list[ThresholdRow]:
    """What became of each threshold.

    `doubt` says why the values are not valid; then nothing passes. Where no interval of 95 % can
    be had (fewer than six values), all values must lie on one side. A metric without a value fails:
    it does not show what was asked for.
    """
    return [
        _judge(name, threshold, measured.get(name), doubt) for name, threshold in thresholds.items()
    ]


def _judge(name: str, threshold: Threshold, metric: Measured | None, doubt: str) -> ThresholdRow:
    if metric is None or not metric.values:
        rule = rule_text(threshold, "")
        return ThresholdRow(
            metric=name, rule=rule, outcome=Outcome.FAIL, says=f"{name} has no value"
        )
    return judge_bounds(name, threshold, metric.unit, _bounds(metric.values), doubt)


def judge_bounds(
    name: str, threshold: Threshold, unit: str, bounds: Bounds, doubt: str = ""
) -> ThresholdRow:
    """What became of a threshold, by an interval in the metric's unit; `doubt` as in `judged`."""
    rule = rule_text(threshold, unit)
    try:
        least, most = _limits(threshold, unit)
    except ValueError as error:
        return ThresholdRow(metric=name, rule=rule, outcome=Outcome.FAIL, says=str(error))
    low, high, how = bounds.low, bounds.high, bounds.how
    is_met = (least is None or low >= least) and (most is None or high <= most)
    is_missed = (least is not None and high < least) or (most is not None and low > most)
    outcome, says = Outcome.UNDECIDED, f"the interval lies on both sides: {how}"
    if is_missed:
        outcome, says = Outcome.FAIL, f"not met: {how}"
        if doubt:
            says += f"; but {doubt}"
    elif is_met and doubt:
        says = f"the values meet it, but {doubt}"
    elif is_met:
        outcome, says = Outcome.PASS, f"met: {how}"
    return ThresholdRow(
        metric=name, rule=rule, outcome=outcome, low=low, high=high, n=bounds.n, says=says
    )


def _bounds(values: Sequence[float]) -> Bounds:
    """The interval to judge by, and what it is."""
    interval = median_interval(values)
    n = len(values)
    if interval.coverage >= _SURE:
        return Bounds(interval.low, interval.high, n, f"95 % interval of the median, n = {n}")
    if n == 1:
        return Bounds(values[0], values[0], n, "1 value, no interval")
    how = f"all {n} values, too few for an interval of 95 %"
    return Bounds(min(values), max(values), n, how)
