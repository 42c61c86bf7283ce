"""Times at several numbers of processors: medians of logarithms, and how well they are known.

What follows from them (a law's fit, the best number, the knee) are weighted sums of these
logarithms. Such a sum is tested by Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist, fmean

from venturi.analyse.detectable import ALPHA, LEAST_SPREAD, t_of
from venturi.model.statistic import median

_MEDIAN_FACTOR = math.pi / 2
"""Variance of a median over that of a mean, of many normal values; of few it is less."""


@dataclass(frozen=True)
class SizeSample:
    """The repetitions at one number of processors."""

    size: float
    """Over that of the base."""
    log_time: float
    """Logarithm of the median time, or of 1 / rate; any unit."""
    variance: float
    """Of that, from the spread of repetitions."""
    freedom: float
    """Degrees of freedom of `variance`: those of all sizes together."""

    @property
    def total(self) -> float:
        """The variance with what repetitions share: placement and layout."""
        return self.variance + LEAST_SPREAD**2


def samples_of(sizes: Sequence[float], times: Sequence[Sequence[float]]) -> list[SizeSample]:
    """The samples of `times`, all above 0, at `sizes`; each has two repetitions or more.

    Few repetitions may by chance lie close together. So no spread is taken to be smaller than that
    of all sizes together; a size with a larger one keeps its own.
    """
    logs = [[math.log(time) for time in own] for own in times]
    squares = [sum((value - fmean(own)) ** 2 for value in own) for own in logs]
    freedom = [len(own) - 1 for own in logs]
    common = sum(squares) / sum(freedom)
    return [
        SizeSample(
            size,
            median(own),
            _MEDIAN_FACTOR * max(square / free, common) / len(own),
            sum(freedom),
        )
        for size, own, square, free in zip(sizes, logs, squares, freedom, strict=True)
    ]


@dataclass(frozen=True)
class WeightedSum:
    """A weighted sum of independent logarithms."""

    value: float
    error: float
    """Its standard error."""
    freedom: float

    def limit(self, tests: int = 1) -> float:
        """How far chance alone takes the sum, in `tests` such sums at once, 95 times of 100."""
        return self.error * _critical(self.freedom, tests)

    def differs(self, tests: int = 1) -> bool:
        """Whether the sum is not 0."""
        return abs(self.value) > self.limit(tests)


def weighted_sum(
    values: Sequence[float], samples: Sequence[SizeSample], weights: Sequence[float]
) -> WeightedSum:
    """The sum of `values`, which vary as `samples` do."""
    pairs = list(zip(weights, samples, strict=True))
    whole = sum(weight**2 * sample.total for weight, sample in pairs)
    estimated = sum(weight**2 * sample.variance for weight, sample in pairs)
    freedom = samples[0].freedom * (whole / estimated) ** 2 if estimated > 0.0 else math.inf
    value = sum(weight * one for weight, one in zip(weights, values, strict=True))
    return WeightedSum(value, math.sqrt(whole), freedom)


_MANY = 1000


def _critical(freedom: float, tests: int) -> float:
    """Student's t that is exceeded to either side with ALPHA over the number of tests."""
    return _t_critical(round(min(max(freedom, 1.0), _MANY), 1), tests)


@cache
def _t_critical(freedom: float, tests: int) -> float:
    return t_of(NormalDist().inv_cdf(1.0 - ALPHA / (2 * tests)), freedom)
