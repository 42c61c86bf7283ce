"""Latency histograms: merging, percentiles and the distribution as points of a curve."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from venturi.model.event import Histogram
from venturi.model.statistic import bucket_bounds_ns, bucket_of, percentile_ns

_FINEST_BITS = 10
_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999}


@dataclass(frozen=True)
class Latency:
    """The latencies of many operations: counts by bucket, ascending, and the exact extremes."""

    counts: tuple[tuple[int, int], ...]
    min_ns: int
    max_ns: int
    bits: int
    """How fine the buckets are (see `Histogram`)."""

    @cached_property
    def histogram(self) -> Histogram:
        """The same as a document's part."""
        buckets = [bucket for bucket, _ in self.counts]
        counts = [count for _, count in self.counts]
        return Histogram(
            bits=self.bits, bucket=buckets, count=counts, min_ns=self.min_ns, max_ns=self.max_ns
        )

    @property
    def operations(self) -> int:
        """How many operations were timed."""
        return sum(count for _, count in self.counts)

    @property
    def sum_s(self) -> float:
        """All latencies together, in seconds, each taken for its bucket's middle."""
        middles = ((sum(bucket_bounds_ns(b, self.bits)) - 1) / 2 for b, _ in self.counts)
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
            high = min(bucket_bounds_ns(bucket, self.bits)[1] - 1, self.max_ns)
            points.append((float(max(high, 1)), seen / total))
        if len(points) <= most_points:
            return points
        last = len(points) - 1
        picked = sorted({round(i * last / (most_points - 1)) for i in range(most_points)})
        return [points[i] for i in picked]


def merge(histograms: Iterable[Histogram]) -> Latency:
    """One distribution from several, as fine as the coarsest of them; empty ones do not count."""
    filled = [histogram for histogram in histograms if histogram.bucket]
    bits = min((histogram.bits for histogram in filled), default=_FINEST_BITS)
    counts: dict[int, int] = {}
    for histogram in filled:
        places: Iterable[int] = histogram.bucket
        if histogram.bits != bits:
            places = (bucket_of(bucket_bounds_ns(b, histogram.bits)[0], bits) for b in places)
        for place, count in zip(places, histogram.count, strict=False):
            counts[place] = counts.get(place, 0) + count
    return Latency(
        tuple(sorted(counts.items())),
        min((histogram.min_ns for histogram in filled), default=0),
        max((histogram.max_ns for histogram in filled), default=0),
        bits,
    )
