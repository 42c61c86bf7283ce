"""Two samples without assuming a distribution: do they differ, by how much, what could be seen.

Order statistics and ranks only; exact where samples are small, as those of benchmarks are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist, fmean

from venturi.analyse.paired import t_quantile

ALPHA = 0.05
_POWER = 0.8
_MOST_EXACT = 60
"""Values of both samples together up to which all arrangements are counted."""
_EFFICIENCY = 3 / math.pi
"""Of ranks beside the t test, for normal logarithms (Lehmann, Nonparametrics, 2.4)."""


@dataclass(frozen=True)
class Contrast:
    """The second sample beside the first."""

    p_value: float
    """How likely ranks so far apart are where nothing differs (Mann-Whitney, two sides)."""
    least_p_value: float
    """The smallest that samples of these sizes can reach."""
    superiority: float
    """The share of pairs in which the second's value is higher; equal ones count half."""
    ratio: float | None
    """The median of all ratios, second to first (Hodges-Lehmann); None unless all are above 0."""
    low: float | None
    """An interval of the ratio; so is `high`. None where the samples are too small for one."""
    high: float | None
    coverage: float
    detectable: float | None
    """The least change, as a share, that samples so spread would show four times out of five."""


def contrast(first: Sequence[float], second: Sequence[float]) -> Contrast:
    """Everything about two samples; neither may be empty."""
    p_value = mann_whitney(first, second)
    above = sum((b > a) + 0.5 * (b == a) for a in first for b in second)
    superiority = above / (len(first) * len(second))
    least = 2.0 / math.comb(len(first) + len(second), len(first))
    if min(*first, *second) <= 0.0:
        return Contrast(p_value, least, superiority, None, None, None, 0.0, None)
    logs = [math.log(value) for value in first], [math.log(value) for value in second]
    shifts = sorted(b - a for a in logs[0] for b in logs[1])
    cut, coverage = _cut(len(first), len(second))
    bounds = (shifts[cut - 1], shifts[-cut]) if cut else None
    return Contrast(
        p_value=p_value,
        least_p_value=least,
        superiority=superiority,
        ratio=math.exp(_middle(shifts)),
        low=math.exp(bounds[0]) if bounds else None,
        high=math.exp(bounds[1]) if bounds else None,
        coverage=coverage,
        detectable=_detectable(*logs),
    )


def mann_whitney(first: Sequence[float], second: Sequence[float]) -> float:
    """The two-sided chance of rank sums so far from their mean, with ties as they are.

    All arrangements are counted for up to 60 values; beyond, the normal approximation with the
    corrections for ties and continuity (Lehmann, Nonparametrics, 1.2 and 1.5).
    """
    m, n = len(first), len(second)
    ranks = _doubled_ranks([*first, *second])
    total = sum(ranks[:m])
    mean = m * (m + n + 1)
    distance = abs(total - mean)
    if distance == 0:
        return 1.0
    if m + n <= _MOST_EXACT:
        counts = _arrangements(tuple(sorted(ranks)), m)
        extreme = sum(count for at, count in counts.items() if abs(at - mean) >= distance)
        return extreme / math.comb(m + n, m)
    ties = sum(count**3 - count for count in Counter(ranks).values())
    size = m + n
    variance = m * n / 12 * (size + 1 - ties / (size * (size - 1)))
    z = max(distance / 2 - 0.5, 0.0) / math.sqrt(variance)
    return 2.0 * (1.0 - NormalDist().cdf(z))


def holm(p_values: Sequence[float]) -> list[float]:
    """The chances of several tests, so that any false alarm at all is no likelier (Holm 1979)."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def _doubled_ranks(values: Sequence[float]) -> list[int]:
    """Twice each value's rank; equal ones share the mean of theirs."""
    counts = Counter(values)
    rank_of, below = {}, 0
    for value in sorted(counts):
        rank_of[value] = 2 * below + counts[value] + 1
        below += counts[value]
    return [rank_of[value] for value in values]


@cache
def _arrangements(ranks: tuple[int, ...], size: int) -> dict[int, int]:
    """How many choices of `size` of the ranks have which sum.

    Sums are the powers of a polynomial, and its coefficients stand side by side in one integer.
    """
    width = math.comb(len(ranks), size).bit_length() + 1
    chosen = [1] + [0] * size
    for rank in ranks:
        for k in range(size, 0, -1):
            chosen[k] += chosen[k - 1] << (width * rank)
    packed, mask, counts, at = chosen[size], (1 << width) - 1, {}, 0
    raw = packed.to_bytes((packed.bit_length() + 7) // 8 or 1, "little")
    while at * width < 8 * len(raw):
        first_byte = at * width // 8
        piece = int.from_bytes(raw[first_byte : first_byte + width // 8 + 2], "little")
        count = (piece >> (at * width % 8)) & mask
        if count:
            counts[at] = count
        at += 1
    return counts


@cache
def _cut(m: int, n: int) -> tuple[int, float]:
    """Which of the ordered differences from either end bounds the shift, and how surely.

    The interval holds the shift with 1 - 2 P(U < k) (Lehmann, Nonparametrics, 2.6).
    """
    if m + n > _MOST_EXACT:
        deviation = math.sqrt(m * n * (m + n + 1) / 12)
        k = max(int(m * n / 2 - NormalDist().inv_cdf(1 - ALPHA / 2) * deviation), 0)
        return k, 1 - ALPHA if k else 0.0
    counts = _arrangements(tuple(range(2, 2 * (m + n) + 1, 2)), m)
    least, every = m * (m + 1), math.comb(m + n, m)
    below = k = 0
    while 2 * (below + counts.get(least + 2 * k, 0)) <= ALPHA * every:
        below += counts.get(least + 2 * k, 0)
        k += 1
    return k, 1.0 - 2.0 * below / every if k else 0.0


def _detectable(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The change that the spread of both leaves room to see, by the power of a rank test."""
    freedom = len(first) + len(second) - 2
    if freedom < 1:
        return None
    squares = sum((x - fmean(own)) ** 2 for own in (first, second) for x in own)
    return least_change(math.sqrt(squares / freedom), len(first), len(second))


def least_change(sigma: float, m: int, n: int) -> float:
    """The least change, as a share, that `m` and `n` values show four times out of five.

    `sigma` is the deviation of the logarithms of each; there are more than two values.
    """
    freedom = m + n - 2
    reach = t_quantile(1 - ALPHA / 2, freedom) + t_quantile(_POWER, freedom)
    return math.expm1(reach * sigma * math.sqrt((1 / m + 1 / n) / _EFFICIENCY))


def _middle(ordered: Sequence[float]) -> float:
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
