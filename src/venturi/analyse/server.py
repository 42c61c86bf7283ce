"""Servers of the file system that were much slower in a phase than most."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.model.event import ServerShare
from venturi.model.record import SlowServer
from venturi.model.statistic import median

MUCH_SLOWER = 1.5
"""Times below the median of all servers."""
LEAST_EXCESS_S = 0.01
"""Less time than this above the median says more of the scheduler than of a server."""
FEWEST = 3
"""Of two nobody can say which one is as it should be."""


def slow_servers_of(shares: Sequence[ServerShare]) -> list[SlowServer]:
    """The slow servers, slowest first.

    Servers with more ranks at work on them give more in all and less to each, so a slow one is
    below the others in both: in all that it gave, and in what a rank got from it.
    """
    moved = [share for share in shares if share.bytes_per_second > 0]
    if len(moved) < FEWEST:
        return []
    whole = median([share.bytes_per_second for share in moved])
    each = median([share.bytes / share.sum_s for share in moved])
    usual_s = median([share.bytes / share.bytes_per_second for share in moved])
    slow = [
        SlowServer(
            server=share.server,
            bytes_per_second=share.bytes_per_second,
            median_bytes_per_second=whole,
            servers=len(moved),
        )
        for share in moved
        if share.bytes_per_second * MUCH_SLOWER < whole
        and share.bytes / share.sum_s * MUCH_SLOWER < each
        and share.bytes / share.bytes_per_second > usual_s + LEAST_EXCESS_S
    ]
    return sorted(slow, key=lambda one: one.bytes_per_second)
