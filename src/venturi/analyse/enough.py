"""When repetitions are enough: by how well their medians are known, never by what these are."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from statistics import stdev

from venturi.analyse.detectable import MATTERS, least_change
from venturi.analyse.verdict import ENOUGH_REPETITIONS
from venturi.model.aim import Aim
from venturi.model.output import Better
from venturi.model.statistic import median_interval

Values = Mapping[str, Sequence[float]]
_MOST_TOLD = 10_000


def followed(
    measured: Mapping[str, tuple[Better, Sequence[float]]], own: Collection[str]
) -> dict[str, Sequence[float]]:
    """The metrics that must be known well: those of `own` with a direction, or else all others.

    Those with a value that is not above 0 are left out: no share of them can be told.
    """
    fit = {
        name: values
        for name, (better, values) in measured.items()
        if better is not Better.NONE and values and min(values) > 0.0
    }
    return {name: fit[name] for name in fit if name in own} or fit


def why_enough(aim: Aim, spent_s: float, values: Values) -> str:
    """Why these repetitions are enough, in words; empty where more are wanted."""
    if not values:
        return "nothing that was measured is better high or low, so nothing says how many it takes"
    count = min(len(own) for own in values.values())
    reached = told = ""
    if count >= ENOUGH_REPETITIONS:
        reached, told = _detection(aim.detect, values) if aim.detect else _width(aim.within, values)
    if reached:
        return reached
    if count >= aim.most:
        return f"as many as may be; {told}" if told else "as many as may be"
    if spent_s >= aim.budget_s:
        return f"the {aim.budget_s:g} s for repetitions were over" + (f"; {told}" if told else "")
    return ""


def least_detected(values: Sequence[float], metrics: int = 1) -> float:
    """Return the least change, as a share, that two such runs of `metrics` metrics detect.

    It is found in at least nine of ten comparisons; infinite where so few values show nothing.
    """
    found = least_change(_deviation(values), len(values), len(values), metrics)
    return math.inf if found is None else found


def needed(values: Sequence[float], share: float, metrics: int = 1) -> int:
    """Return how many repetitions with such a spread, in both runs, detect a change of `share`."""
    spread = _deviation(values)

    def is_enough(count: int) -> bool:
        found = least_change(spread, count, count, metrics)
        return found is not None and found <= share

    return bisect_left(range(_MOST_TOLD), True, ENOUGH_REPETITIONS, key=is_enough)


def _detection(share: float, values: Values) -> tuple[str, str]:
    """The words for a change that would be seen, or else those for what would."""
    found = {name: least_detected(own, len(values)) for name, own in values.items()}
    name = max(found, key=lambda name: found[name])
    text = f"two such runs detect a change of {100 * found[name]:.1f} % in {name}"
    if found[name] <= share:
        return text, ""
    if share <= MATTERS:
        return "", f"{text}; changes of {100 * MATTERS:.0f} % or less never count as one"
    count = needed(values[name], share, len(values))
    about = f"about {count}" if count < _MOST_TOLD else f"more than {_MOST_TOLD}"
    return "", f"{text}; {100 * share:.3g} % takes {about} repetitions"


def _width(share: float, values: Values) -> tuple[str, str]:
    """The words for intervals that are narrow enough, or else those for the widest."""
    name, reach = max(((n, _reach(own)) for n, own in values.items()), key=lambda p: p[1])
    text = f"the interval of {name} reaches {reach:.1%} from its median"
    return (text, "") if reach <= share else ("", text)


def _reach(values: Sequence[float]) -> float:
    """How far the interval reaches from the median at most, as a share of it."""
    interval = median_interval(values)
    return max(interval.high - interval.median, interval.median - interval.low) / interval.median


def _deviation(values: Sequence[float]) -> float:
    return stdev(math.log(value) for value in values)
