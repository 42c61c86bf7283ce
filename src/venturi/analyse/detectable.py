"""The change that a comparison of two runs detects, from the spread of their repetitions."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

ALPHA = 0.05
"""The share of comparisons of equal runs in which any metric at all is called different."""
ALLOWANCE = 1.5
"""How much larger standard errors are taken than repetitions that are independent make them.

Repetitions of one run resemble each other: with an autocorrelation of 0.3 from one to the next,
this keeps false alarms at ALPHA (bench/comparison_power.py).
"""
SERIAL_ALLOWANCE = 3.0
"""The same where the order of repetitions shows that they depend on each other
(`serial_dependence`). Then false alarms stay below ALPHA up to an autocorrelation of
0.5 (bench/comparison_power.py)."""
FEWEST_IN_ORDER = 3
"""Repetitions whose order can show that; two have one order and its mirror image, which are alike.
"""
LEAST_SPREAD = 0.01
"""Added in quadrature to the spread of a metric: placement and layout, which repetitions share,
make runs differ by about as much."""
MATTERS = 0.05
"""The least change that is called one, as a share."""
_POWER_Z = 2.0
"""Normal deviate of the power. It is above that of 90 % (1.28), because the approximations here
and a critical value that is itself an estimate may cost a part."""
_LARGEST_LOG = 700.0
_MANY, _MANY_WAYS = 40, 10**12
"""Repetitions of both runs from which on the number of relabellings makes no difference."""
_SCATTER = 0.4
"""Standard deviation of the largest of some hundred normal deviates."""
_PAIR_RANK = 0.44
"""Position of the k-th largest of n values in their distribution: about 1 - (k - 0.44) / n."""


def score_of(t: float, freedom: float) -> float:
    """Return the normal deviate as rare as Student's `t` (Wallace 1959, formula 4.3)."""
    return _scale(freedom) * math.sqrt(freedom * math.log1p(t * t / freedom))


def t_of(score: float, freedom: float) -> float:
    """Return Student's t as rare as a normal deviate: the inverse of `score_of`."""
    return math.sqrt(freedom * math.expm1((score / _scale(freedom)) ** 2 / freedom))


def _scale(freedom: float) -> float:
    return (8 * freedom + 1) / (8 * freedom + 3)


def least_change(
    spread: float,
    first: int,
    second: int,
    metrics: int = 1,
    critical: float | None = None,
    loss: float = 0.0,
    allowance: float = ALLOWANCE,
) -> float | None:
    """Return the least change, as a share, that at least nine of ten comparisons find.

    `spread` is the standard deviation of the logarithms of `first` and of `second` repetitions,
    `metrics` how many are judged together, `critical` the normal deviate that must be exceeded
    (default: what independent metrics need), `loss` the logarithm by which the estimate of a
    change falls short, `allowance` the factor of standard errors. None where so few repetitions
    show nothing.
    """
    if critical is None:
        critical = _critical(first, second, metrics)
    if critical is None:
        return None
    freedom = first + second - 2
    limit = allowance * max(t_of(critical, freedom), _mixed_t(first, second))
    error = math.hypot(spread, LEAST_SPREAD) * math.sqrt(1 / first + 1 / second)
    mean = _mean_of_spread(freedom)
    # The estimate varies by `error`, the limit with the spread as it is estimated.
    reach = limit * mean + _POWER_Z * math.sqrt(1.0 + limit**2 * (1.0 - mean**2))
    change = max(reach * error / mean, -math.log1p(-MATTERS) + _POWER_Z * error)
    return math.expm1(min(change + loss, _LARGEST_LOG))


def with_scatter(critical: float, place: float) -> float:
    """Return the score that a repeated comparison seldom exceeds as its critical one.

    A critical score is that of one relabelling, the `place`-th from the top, and differs from
    comparison to comparison: the fewer relabellings are above it, the more.
    """
    return critical + _SCATTER / math.sqrt(max(place, 1.0))


@cache
def _critical(first: int, second: int, metrics: int) -> float | None:
    """Return the normal deviate that an effect exceeds where `metrics` are independent.

    Of all relabellings, ALPHA may be as extreme as what was measured. What was measured is itself
    one of them, so few relabellings leave no room for others.
    """
    if first + second < 3:
        return None
    own = 2 if first == second else 1
    ways = math.comb(first + second, first) if first + second <= _MANY else _MANY_WAYS
    room = int(ALPHA * ways + 1e-9) // own
    if room < 1:
        return None
    tail = (room - _PAIR_RANK) / max(ways // own - 1, 1)
    return with_scatter(NormalDist().inv_cdf(1.0 - min(tail / metrics, 1.0) / 2.0), room)


@cache
def _mixed_t(first: int, second: int) -> float:
    """Return the t that relabellings of two distant groups exceed in ALPHA of all cases.

    A large change spreads the relabelled groups, too: those that swap few repetitions have a t
    that depends on nothing but their number. Of many values it is below that of equal runs.
    """
    size = first + second
    if size > _MANY:
        return 0.0
    ways = []
    for swapped in range(min(first, second) + 1):
        p, q = swapped / first, swapped / second
        within = (first * p * (1 - p) + second * q * (1 - q)) / (size - 2)
        error = math.sqrt(within * (1 / first + 1 / second))
        t = abs(1 - p - q) / error if error else math.inf
        ways.append((t, math.comb(first, swapped) * math.comb(second, swapped)))
    seen = 0
    for t, count in sorted(ways, reverse=True):
        seen += count
        if seen > ALPHA * math.comb(size, first):
            return 0.0 if math.isinf(t) else t
    return 0.0


@cache
def _mean_of_spread(freedom: int) -> float:
    """Return the mean of an estimated standard deviation, as a share of the true one."""
    return math.sqrt(2 / freedom) * math.exp(
        math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    )
