"""How much of the processors other processes had while something was measured."""

from __future__ import annotations

import os
from pathlib import Path

_IDLE = (3, 4)
"""Columns of /proc/stat in which nobody computes: idle, and waiting for a device."""
_COLUMNS = 8
"""Those that add up to all time; guests' is in the first two."""


class Others:
    """Counts ticks of the processors between `begin` and `end`, over several such spans."""

    def __init__(self) -> None:
        self._all = self._ours = self._busy = 0.0
        self._before = _ticks()

    def begin(self) -> None:
        """From here on it counts."""
        self._before = _ticks()

    def end(self) -> None:
        """Up to here it counts."""
        now = _ticks()
        if now is None or self._before is None:
            return
        whole, busy, ours = (
            after - before for after, before in zip(now, self._before, strict=True)
        )
        self._all, self._busy, self._ours = self._all + whole, self._busy + busy, self._ours + ours

    def share(self) -> float | None:
        """Of all processors' time, from 0 to 1; None where the system does not tell."""
        if self._all <= 0:
            return None
        return round(min(1.0, max(0.0, self._busy - self._ours) / self._all), 3)


def _ticks() -> tuple[float, float, float] | None:
    """All, busy, and this process's with the children that it waited for; None: not known."""
    try:
        words = Path("/proc/stat").read_text().splitlines()[0].split()[1 : 1 + _COLUMNS]
        columns = [int(word) for word in words]
        whole = sum(columns)
        busy = whole - sum(columns[at] for at in _IDLE)
    except (OSError, ValueError, IndexError):
        return None
    ours = sum(os.times()[:4]) * os.sysconf("SC_CLK_TCK")
    return float(whole), float(busy), ours
