"""Which sizes of requests there were: counts by size that add up to what was counted.

Darshan keeps four frequent sizes of a file for both directions together, and ten buckets for
each. Sizes and buckets are matched; what no known size explains gets the mean size that its
bucket allows, so that bytes and requests of the mix are exactly the counted ones.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from venturi.derive.counts import BUCKETS, Counts
from venturi.model.workload import request_class

OPEN_BUCKET_BYTES = 2**40
"""Taken as the upper edge of the bucket for requests over 1 GiB."""


@dataclass(frozen=True)
class Mix:
    """Requests of one direction."""

    parts: tuple[tuple[int, int], ...]
    """(bytes of a request, number of requests), the part with most bytes first."""
    empty: int
    """Requests that moved nothing, such as reads at the end of a file."""
    known_share: float
    """Share of the bytes whose request size was counted, and not a mean."""

    @property
    def transfer(self) -> int:
        """The size that moved most bytes."""
        return self.parts[0][0] if self.parts else 0

    @property
    def transfer_share(self) -> float:
        """Share of the bytes that were moved in requests of that size."""
        moved = sum(size * count for size, count in self.parts)
        return self.parts[0][0] * self.parts[0][1] / moved if moved else 0.0


def mix_of(counts: Counts, other: Counts, accesses: Counter[int]) -> Mix:
    """The mix of one direction; `other` are the counts of the other one."""
    if not counts.bytes or not counts.requests:
        return Mix((), counts.requests, 1.0)
    known = _known_sizes(counts, other, accesses)
    known_bytes = sum(size * count for size, count in known.items())
    known_requests = sum(known.values())
    rest = _rest(counts, known, counts.bytes - known_bytes)
    if known_bytes > counts.bytes or known_requests > counts.requests or rest is None:
        known, rest, known_bytes = Counter(), _mean(counts.bytes, counts.requests), 0
    merged = known + rest
    empty = counts.requests - sum(merged.values())
    parts = sorted(merged.items(), key=lambda part: (-part[0] * part[1], -part[0]))
    return Mix(tuple(parts), empty, known_bytes / counts.bytes)


def _known_sizes(counts: Counts, other: Counts, accesses: Counter[int]) -> Counter[int]:
    """The frequent sizes, dealt to the directions as the buckets say."""
    if sum(counts.buckets) != counts.requests:
        is_even = counts.bytes % counts.requests == 0
        mean = counts.bytes // counts.requests
        return Counter({mean: counts.requests}) if is_even and mean in accesses else Counter()
    known: Counter[int] = Counter()
    left = list(counts.buckets)
    for size, count in accesses.most_common():
        bucket = request_class(size)
        mine, theirs = counts.buckets[bucket], other.buckets[bucket]
        if not mine:
            continue
        share = count if not theirs else round(count * mine / (mine + theirs))
        taken = min(share, left[bucket])
        known[size] += taken
        left[bucket] -= taken
    return +known


def _rest(counts: Counts, known: Counter[int], rest_bytes: int) -> Counter[int] | None:
    """Sizes for the requests that `known` does not explain; None where nothing fits."""
    if sum(counts.buckets) != counts.requests:
        requests = counts.requests - sum(known.values())
        return _mean(rest_bytes, requests) if requests else (Counter() if not rest_bytes else None)
    left = list(counts.buckets)
    for size, count in known.items():
        left[request_class(size)] -= count
    lows = [0] + [edge + 1 for _, edge in BUCKETS[:-1]]
    highs = [edge for _, edge in BUCKETS[:-1]] + [OPEN_BUCKET_BYTES]
    least = sum(n * low for n, low in zip(left, lows, strict=True))
    most = sum(n * high for n, high in zip(left, highs, strict=True))
    if not least <= rest_bytes <= most:
        return None
    if rest_bytes == 0:
        return Counter()
    result: Counter[int] = Counter()
    spare = rest_bytes - least
    room = most - least
    for n, low, high in zip(left, lows, highs, strict=True):
        if n:
            extra = spare * n * (high - low) // room if room else 0
            spare -= extra
            room -= n * (high - low)
            result += _mean(n * low + extra, n)
    return result


def _mean(moved: int, requests: int) -> Counter[int]:
    """Two neighbouring sizes that add up exactly; requests of 0 bytes are left out."""
    size, longer = divmod(moved, requests)
    return +Counter({size + 1: longer, **({size: requests - longer} if size else {})})
