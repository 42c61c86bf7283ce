"""Ranks that take much longer over a phase than most, and the hosts that they are on."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.model.event import RankTimes
from venturi.model.record import Straggler
from venturi.model.statistic import median

MUCH_LONGER = 1.5
"""Times the median of all ranks."""
LEAST_EXCESS_S = 0.01
"""Less than this above the median says more of the scheduler than of storage."""
MOST_NAMED = 16


def stragglers_of(times: RankTimes, hosts: Sequence[str]) -> list[Straggler]:
    """The slowest ranks, slowest first; `hosts` is the host of each rank.

    Ranks that all wait for each other at the end still differ in the time of their own work, so
    `total_s` (up to the end of a rank's own work) is compared.
    """
    if len(times.total_s) < 3:
        return []
    middle = median(times.total_s)
    limit = max(MUCH_LONGER * middle, middle + LEAST_EXCESS_S)
    slow = [(total, rank) for rank, total in enumerate(times.total_s) if total > limit]
    return [
        Straggler(
            rank=rank,
            host=hosts[rank] if rank < len(hosts) else "unknown",
            total_s=total,
            median_s=middle,
        )
        for total, rank in sorted(slow, reverse=True)[:MOST_NAMED]
    ]
