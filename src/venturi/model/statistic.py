"""Order statistics: medians and intervals that assume no distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from venturi.model.event import Histogram
from venturi.model.record import LatencyNs


@dataclass(frozen=True)
class Interval:
    """A median with an interval for it; `coverage` is how sure the interval is."""

    median: float
    low: float
    high: float
    coverage: float


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def median_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """The median and the narrowest symmetric pair of order statistics that covers it.

    The pair (k-th smallest, k-th largest) of n values covers the median with probability
    1 - 2 * P(Binomial(n, 1/2) < k) (David and Nagaraja, Order Statistics, 7.1). With fewer
    than six values no pair reaches 95 %: then the extremes are given with what they cover.
    """
    ordered = sorted(values)
    n = len(ordered)
    below = term = 1  # of all 2^n outcomes: those below 1, and those that are 0
    best, covered = 1, max(0.0, 1.0 - 2 * below / (1 << n))
    for k in range(2, n // 2 + 1):
        term = term * (n - k + 2) // (k - 1)
        below += term
        wider = 1.0 - 2 * below / (1 << n)
        if wider < confidence:
            break
        best, covered = k, wider
    return Interval(median(ordered), ordered[best - 1], ordered[n - best], covered)


def ratio_interval(
    first: Sequence[float], second: Sequence[float], confidence: float = 0.95
) -> Interval:
    """The median of `first` over that of `second`; all values are above 0.

    On the scale of logarithms, the distances from each median to the ends of its own interval add
    up like errors, in quadrature (MOVER: Zou and Donner, Statistics in Medicine 27, 2008, 1693).
    Both sets are taken to be independent. The sum is an approximation, which tests hold to its
    coverage (the lower one of the two) for normal and long-tailed noise. Raises ValueError for a
    value that is not above 0.
    """
    if min(*first, *second) <= 0.0:
        raise ValueError("a ratio needs values above 0")
    upper, lower = median_interval(first, confidence), median_interval(second, confidence)
    ratio = upper.median / lower.median
    down = math.hypot(math.log(upper.median / upper.low), math.log(lower.high / lower.median))
    up = math.hypot(math.log(upper.high / upper.median), math.log(lower.median / lower.low))
    coverage = min(upper.coverage, lower.coverage)
    return Interval(ratio, ratio * math.exp(-down), ratio * math.exp(up), coverage)


def bucket_bounds_ns(bucket: int, bits: int) -> tuple[int, int]:
    """Lowest value in a histogram's bucket, and the lowest above it (see `Histogram`)."""
    row, place = divmod(bucket, 1 << bits)
    if row == 0:
        return bucket, bucket + 1
    low = ((1 << bits) + place) << (row - 1)
    return low, low + (1 << (row - 1))


def bucket_of(value_ns: int, bits: int) -> int:
    """The bucket of a value (see `Histogram`)."""
    shift = (value_ns | 1 << bits).bit_length() - bits - 1
    return (shift << bits) + (value_ns >> shift)


def percentile_ns(histogram: Histogram, share: float) -> int:
    """The latency that `share` of the operations do not exceed, to within half a bucket.

    It is the middle of the bucket that holds it, and never outside the exact extremes.
    """
    total = sum(histogram.count)
    if total == 0:
        return 0
    wanted = max(1, math.ceil(share * total))
    seen = 0
    for bucket, count in zip(histogram.bucket, histogram.count, strict=True):
        seen += count
        if seen >= wanted:
            low, high = bucket_bounds_ns(bucket, histogram.bits)
            return min(max((low + high - 1) // 2, histogram.min_ns), histogram.max_ns)
    return histogram.max_ns


def latency_of(histogram: Histogram) -> LatencyNs:
    """The percentiles that scripts rely on."""
    return LatencyNs(
        min=histogram.min_ns,
        p50=percentile_ns(histogram, 0.5),
        p90=percentile_ns(histogram, 0.9),
        p99=percentile_ns(histogram, 0.99),
        p99_9=percentile_ns(histogram, 0.999),
        max=histogram.max_ns,
    )
