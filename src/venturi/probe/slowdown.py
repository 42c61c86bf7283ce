"""The slowdown: a statistic of a window over what is usual, and the word for it.

Kunkel and Betke, Tracking User-Perceived I/O Slowdown via Probing, ISC 2019 workshops, LNCS 11887.
"""

from __future__ import annotations

import numpy as np

from venturi.model.probe import ProbeStatistic
from venturi.probe.columns import Array

WINDOWS_S = (60, 600, 14_400)
STALLED_AFTER_S = 10.0
CACHE_BELOW = 0.8
_CACHED_SHARE = 0.01
_WORDS = ((1.5, "normal"), (3.0, "busy"), (10.0, "slow"), (100.0, "very slow"))


def statistic_ns(values_ns: Array, statistic: ProbeStatistic) -> float | None:
    """Return a statistic of response times; None where there are none."""
    if not len(values_ns):
        return None
    if statistic is ProbeStatistic.MEAN:
        return float(np.mean(values_ns))
    share = 50 if statistic is ProbeStatistic.P50 else 95
    return float(np.percentile(values_ns, share))


def word_of(
    slowdowns: list[float | None],
    in_flight_s: float,
    expected_s: float | None,
    cached: float | None,
) -> str:
    """Return the word for slowdowns of the windows, the shortest first.

    An operation that hangs counts before it has ended. Values below 1 that last mean that a cache
    answers, not that the storage is fast.
    """
    limit_s = STALLED_AFTER_S
    if expected_s:
        limit_s = max(limit_s, 100 * expected_s)
    if in_flight_s > limit_s:
        return "STALLED"
    known = [one for one in slowdowns if one is not None]
    is_low = len(known) == len(slowdowns) and all(one < CACHE_BELOW for one in known[1:])
    if (cached is not None and cached > _CACHED_SHARE) or is_low:
        return "cache?"
    if not known:
        return "learning" if expected_s is None else "no samples"
    return level_of(slowdowns[0] if slowdowns[0] is not None else known[0])


def level_of(slowdown: float) -> str:
    """Return the word for a slowdown that no cache explains."""
    return next((word for limit, word in _WORDS if slowdown < limit), "stalled")
