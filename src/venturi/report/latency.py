"""Latency histograms: merging, percentiles and the distribution as points of a curve."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from venturi.model.event import Histogram

_SUB_BUCKETS = 16
_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999}


def bucket_bounds_ns(bucket: int) -> tuple[int, int]:
    """First value of a bucket and first value behind it, in nanoseconds (`event.Histogram`)."""
    if bucket < _SUB_BUCKETS:
        return bucket, bucket + 1
    shift = bucket // _SUB_BUCKETS - 1
    start = _SUB_BUCKETS + bucket % _SUB_BUCKETS
    return start << shift, (start + 1) << shift


@dataclass(frozen=True)
class Latency:
    """The latencies of many operations: counts by bucket, ascending, and the exact extremes."""

    counts: tuple[tuple[int, int], ...]
    min_ns: int
    max_ns: int

    @property
    def operations(self) -> int:
        """How many operations were timed."""
        return sum(count for _, count in self.counts)

    @property
    def sum_s(self) -> float:
        """All latencies together, in seconds, each taken for its bucket's middle (within 3 %)."""
        middles = ((sum(bucket_bounds_ns(bucket)) - 1) / 2 for bucket, _ in self.counts)
        return sum(m * n for m, (_, n) in zip(middles, self.counts, strict=True)) / 1e9

    def quantile_ns(self, share: float) -> int:
        """The latency that `share` of the operations do not exceed: the middle of its bucket."""
        wanted = max(1, math.ceil(share * self.operations))
        seen = 0
        for bucket, count in self.counts:
            seen += count
            if seen >= wanted:
                low, high = bucket_bounds_ns(bucket)
                return min(max((low + high - 1) // 2, self.min_ns), self.max_ns)
        return self.max_ns

    def percentiles_ns(self) -> dict[str, int]:
        """`min`, `p50`, `p90`, `p99`, `p99_9` and `max`."""
        middle = {name: self.quantile_ns(share) for name, share in _PERCENTILES.items()}
        return {"min": self.min_ns, **middle, "max": self.max_ns}

    def curve(self, most_points: int = 120) -> list[tuple[float, float]]:
        """(latency in ns, share of operations at or below it), ascending, thinned evenly."""
        total = self.operations
        if total == 0:
            return []
        points = [(float(max(self.min_ns, 1)), 0.0)]
        seen = 0
        for bucket, count in self.counts:
            seen += count
            high = min(bucket_bounds_ns(bucket)[1] - 1, self.max_ns)
            points.append((float(max(high, 1)), seen / total))
        if len(points) <= most_points:
            return points
        last = len(points) - 1
        picked = sorted({round(i * last / (most_points - 1)) for i in range(most_points)})
        return [points[i] for i in picked]


def merge(histograms: Iterable[Histogram]) -> Latency:
    """One distribution from several; empty ones do not count."""
    counts: dict[int, int] = {}
    low: list[int] = []
    high: list[int] = []
    for histogram in histograms:
        if not histogram.bucket:
            continue
        low.append(histogram.min_ns)
        high.append(histogram.max_ns)
        for bucket, count in zip(histogram.bucket, histogram.count, strict=False):
            counts[bucket] = counts.get(bucket, 0) + count
    return Latency(tuple(sorted(counts.items())), min(low, default=0), max(high, default=0))
