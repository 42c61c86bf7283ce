"""Latency histograms: merging, percentiles and the distribution as points of a curve."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from venturi.model.event import Histogram
from venturi.model.statistic import bucket_bounds_ns, percentile_ns

_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999}


@dataclass(frozen=True)
class Latency:
    """The latencies of many operations: counts by bucket, ascending, and the exact extremes."""

    counts: tuple[tuple[int, int], ...]
    min_ns: int
    max_ns: int

    @cached_property
    def histogram(self) -> Histogram:
        """The same as a document's part."""
        buckets = [bucket for bucket, _ in self.counts]
        counts = [count for _, count in self.counts]
        return Histogram(bucket=buckets, count=counts, min_ns=self.min_ns, max_ns=self.max_ns)

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
        return percentile_ns(self.histogram, share)

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
