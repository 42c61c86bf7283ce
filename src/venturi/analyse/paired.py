"""Interleaved series: their order, and the signed error of one against another with an interval.

The i-th values of all series were measured next to each other, so what drifts (a disk that
fills, a machine that warms up, a neighbour) moves both of a pair and leaves their ratio.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

import numpy as np

from venturi.model.statistic import median

RESAMPLES = 10_000
_SEED = 1


@dataclass(frozen=True)
class PairedError:
    """(other - base) / base of the medians, and an interval of it."""

    signed: float
    low: float
    high: float
    confidence: float

    @property
    def excludes_zero(self) -> bool:
        """Whether the two differ by more than chance would bring."""
        return self.low > 0.0 or self.high < 0.0


def interleaved(rounds: int, series: int = 2) -> list[int]:
    """Which series is measured when: there and back, then back and there, ABBA BAAB ... for two.

    Each series comes once in each of `rounds`; a linear drift hits all alike where `rounds` is
    even, and to within half a step where it is odd. A round is turned round where its number has an
    odd count of ones in binary (Thue and Morse), because storage has periods, too: XFS puts new
    directories into its 4 allocation groups in turn, and ABBA ABBA gives each series the same two.
    """
    forth = list(range(series))
    return [which for n in range(rounds) for which in (forth[::-1] if n.bit_count() % 2 else forth)]


def signed_error(
    base: Sequence[float], other: Sequence[float], confidence: float = 0.95
) -> PairedError:
    """How far the median of `other` lies above that of `base`, as a share of the latter.

    The interval comes from 10 000 resamples of the pairs (always the same ones: two calls give
    one answer), between percentiles that are widened for few pairs (expanded percentiles,
    Hesterberg 2015, What Teachers Should Know About the Bootstrap, section 5.3). One pair has no
    interval: it reaches from the value to itself. Raises ValueError for series of different
    lengths, without values, or with a base that is not above 0.
    """
    if len(base) != len(other) or not base:
        raise ValueError(f"{len(base)} and {len(other)} values are no pairs")
    if min(base) <= 0.0:
        raise ValueError("a relative error needs a base above 0")
    n = len(base)
    signed = median(other) / median(base) - 1.0
    if n == 1:
        return PairedError(signed, signed, signed, 0.0)
    chosen = np.random.default_rng(_SEED).integers(0, n, (RESAMPLES, n))
    below = np.median(np.asarray(base, float)[chosen], axis=1)
    above = np.median(np.asarray(other, float)[chosen], axis=1)
    tail = _expanded_tail(n, confidence)
    low, high = np.quantile(above / below - 1.0, (tail, 1.0 - tail))
    return PairedError(signed, float(low), float(high), confidence)


def spread_of(values: Sequence[float]) -> float:
    """Run-to-run spread: the standard deviation as a share of the mean; 0 of a single value."""
    mean = fmean(values)
    return stdev(values) / mean if len(values) > 1 and mean > 0.0 else 0.0


def _expanded_tail(n: int, confidence: float) -> float:
    """The share of resamples beyond each end of the interval.

    Student's t in place of the normal quantile, and the n - 1 of the standard error.
    """
    t = t_quantile(0.5 + confidence / 2.0, n - 1)
    return NormalDist().cdf(-math.sqrt(n / (n - 1)) * t)


def t_quantile(share: float, freedom: int) -> float:
    """The quantile of Student's t (Abramowitz and Stegun, 26.7.5)."""
    z = NormalDist().inv_cdf(share)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + math.fsum(term / freedom**power for power, term in enumerate(terms, 1))
