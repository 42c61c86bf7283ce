"""Amdahl's and Gustafson's laws: whether measured times agree with one, and where they leave it.

Amdahl, AFIPS 30 (1967) 483: speed-up = 1 / (s + (1 - s) / n), s a share of the time on the base.
Gustafson, CACM 31 (1988) 532: scaled speed-up = s + (1 - s) n, s a share of the time on n.
Of both the free number is the serial share s, between 0 and 1.

A law agrees with times if for one s no residual is larger than chance makes the largest of all. So
a law that holds is rejected 5 times of 100 at most. The interval of s are all values at which the
derivative of the weighted squares is not larger than chance makes it (a score test).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from venturi.analyse.scaling_sample import SizeSample, WeightedSum, weighted_sum
from venturi.model.scaling import Law

FEWEST_SIZES = 4
"""A law with two free numbers (the time on the base is the other) runs close to any three."""
WIDEST = 0.5
"""An interval of the serial share that is wider says nothing."""
MOST_LONGER = 4.0
_LEAST_SHARE = 1e-5
_STEPS = 240
_HALVINGS = 30
_FACTOR_HALVINGS = 7


@dataclass(frozen=True)
class SerialShare:
    """The serial share of the law that agrees with the first of some samples."""

    value: float
    low: float
    high: float
    points: int
    """How many samples, the smallest first, the law was fitted to."""
    excess: WeightedSum | None = None
    """Logarithm of the time at the next sample over what the law says there; None: it fits all."""
    contradiction: float | None = None
    """By what factor the time at the largest size would have to be longer to contradict a law that
    fits all; None: even `MOST_LONGER` times does not."""


def log_time_of(law: Law, serial: float, size: float) -> float:
    """The logarithm of the time on `size` over that on 1; a weak study's problem grows."""
    gained = 1.0 - 1.0 / size
    if law is Law.AMDAHL:
        return math.log1p(-gained * (1.0 - serial))
    return -math.log1p(-gained * serial)


def _slope(law: Law, serial: float, size: float) -> float:
    """The derivative of `log_time_of` by the serial share."""
    gained = 1.0 - 1.0 / size
    if law is Law.AMDAHL:
        return gained / (1.0 - gained * (1.0 - serial))
    return gained / (1.0 - gained * serial)


def serial_share(law: Law, samples: Sequence[SizeSample]) -> SerialShare | None:
    """The serial share where the law agrees with at least four sizes from the smallest on.

    `samples` ascend in size and have two repetitions or more. None: no share from 0 to 1 agrees.
    """
    if len(samples) < FEWEST_SIZES:
        return None
    if _agrees(law, samples, len(samples)):
        whole = _fitted(law, samples, len(samples))
        return whole and replace(whole, contradiction=_contradiction(law, samples))
    left: SerialShare | None = None
    for points in range(FEWEST_SIZES, len(samples)):
        if not _agrees(law, samples, points):
            break
        found = _fitted(law, samples, points)
        if found is not None:
            left = found
            assert found.excess is not None
            if found.excess.differs(len(samples) - FEWEST_SIZES):
                break
    return left


def _contradiction(law: Law, samples: Sequence[SizeSample]) -> float | None:
    """By what factor the last time would have to be longer so that the law does not agree."""
    *first, last = samples

    def agrees(longer: float) -> bool:
        changed = replace(last, log_time=last.log_time + longer)
        return _agrees(law, [*first, changed], len(samples))

    low, high = 0.0, math.log(MOST_LONGER)
    if agrees(high):
        return None
    for _ in range(_FACTOR_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if agrees(middle) else (low, middle)
    return math.exp(high)


def _agrees(law: Law, samples: Sequence[SizeSample], points: int) -> bool:
    """Whether one share brings all residuals of the first `points` below what chance explains."""
    own = samples[:points]
    _, weights = _residuals(law, 0.0, own)
    limits = []
    for index in range(points):
        parts = [float(other == index) - weight for other, weight in enumerate(weights)]
        limits.append(weighted_sum([0.0] * points, own, parts).limit(len(samples)))
    logs = [sample.log_time for sample in own]
    share = _root(law, own)
    best = tuple(log_time_of(law, share, sample.size) for sample in own)
    for row in (best, *_rows(law, tuple(sample.size for sample in own))):
        residuals = [one - value for one, value in zip(logs, row, strict=True)]
        middle = sum(w * one for w, one in zip(weights, residuals, strict=True))
        pairs = zip(residuals, limits, strict=True)
        if all(abs(one - middle) <= limit for one, limit in pairs):
            return True
    return False


@lru_cache(maxsize=64)
def _rows(law: Law, sizes: tuple[float, ...]) -> list[tuple[float, ...]]:
    """What the law says at all sizes, for each of many shares."""
    return [tuple(log_time_of(law, share, size) for size in sizes) for share in _SHARES]


def _residuals(
    law: Law, serial: float, samples: Sequence[SizeSample]
) -> tuple[list[float], list[float]]:
    """Logarithms of times over those of the law, and the weights of their mean, which sum to 1."""
    precision = [1.0 / sample.total for sample in samples]
    weights = [one / sum(precision) for one in precision]
    residuals = [sample.log_time - log_time_of(law, serial, sample.size) for sample in samples]
    return residuals, weights


def _score(law: Law, serial: float, samples: Sequence[SizeSample]) -> WeightedSum:
    """The derivative of the weighted squares; above 0: a larger share fits better."""
    residuals, weights = _residuals(law, serial, samples)
    slopes = [_slope(law, serial, sample.size) for sample in samples]
    middle = sum(w * slope for w, slope in zip(weights, slopes, strict=True))
    own = [w * (slope - middle) for w, slope in zip(weights, slopes, strict=True)]
    return weighted_sum(residuals, samples, own)


def _shares() -> list[float]:
    """Shares from 0 to 1, close together near 0 and near 1."""
    low = math.log(_LEAST_SHARE)
    lower = [math.exp(low + (math.log(0.5) - low) * i / _STEPS) for i in range(_STEPS + 1)]
    return [0.0, *lower, *(1.0 - share for share in reversed(lower[:-1])), 1.0]


_SHARES = _shares()


def _fitted(law: Law, samples: Sequence[SizeSample], points: int) -> SerialShare | None:
    """The share that fits the first `points` best; None where its interval says nothing.

    None, too, where all of the interval is outside of 0 to 1.
    """
    own = samples[:points]
    value = _root(law, own)
    if not _is_inside(law, value, own):
        return None
    low, high = _edge(law, own, value, 0.0), _edge(law, own, value, 1.0)
    if high - low > WIDEST:
        return None
    return SerialShare(value, low, high, points, _excess(law, value, samples, points))


def _is_inside(law: Law, serial: float, samples: Sequence[SizeSample]) -> bool:
    """Whether a share belongs to the interval."""
    score = _score(law, serial, samples)
    return abs(score.value) <= score.limit()


def _edge(law: Law, samples: Sequence[SizeSample], inside: float, outside: float) -> float:
    """The end of an interval that begins at `inside` and ends at `outside` at the latest."""
    if _is_inside(law, outside, samples):
        return outside
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if _is_inside(law, middle, samples):
            inside = middle
        else:
            outside = middle
    return inside


def _root(law: Law, samples: Sequence[SizeSample]) -> float:
    """The share with the least weighted squares; 0 or 1 where that lies beyond."""
    low, high = 0.0, 1.0
    if _score(law, low, samples).value <= 0.0:
        return low
    if _score(law, high, samples).value >= 0.0:
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _score(law, middle, samples).value > 0.0 else (low, middle)
    return (low + high) / 2


def _excess(
    law: Law, serial: float, samples: Sequence[SizeSample], points: int
) -> WeightedSum | None:
    """How far the time at the next size is from the law that was fitted to those before it.

    Its error has that of the fit, linear in the share.
    """
    if points == len(samples):
        return None
    own, following = samples[:points], samples[points]
    residuals, weights = _residuals(law, serial, own)
    slopes = [_slope(law, serial, sample.size) for sample in own]
    middle = sum(w * slope for w, slope in zip(weights, slopes, strict=True))
    squares = sum(w * (slope - middle) ** 2 for w, slope in zip(weights, slopes, strict=True))
    reach = (_slope(law, serial, following.size) - middle) / squares
    parts = [-w - reach * w * (slope - middle) for w, slope in zip(weights, slopes, strict=True)]
    last = following.log_time - log_time_of(law, serial, following.size)
    return weighted_sum([*residuals, last], samples[: points + 1], [*parts, 1.0])
