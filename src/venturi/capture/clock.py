"""Ticks of the tracer as time since the beginning of the job."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from venturi.capture.process_file import ProcessFile

_SHORTEST_NS = 100_000
"""Two readings that are closer tell nothing about the rate."""


@dataclass(frozen=True)
class Beginning:
    """When the job began, by the clocks of the host that started it."""

    host: str
    monotonic_ns: int
    realtime_ns: int


@dataclass(frozen=True)
class Clock:
    """The clock of a host: ns since the job's beginning = `origin_ns` + (ticks - `ticks`) rate."""

    ticks: int
    origin_ns: int
    rate: float
    """Nanoseconds per tick."""

    def since_start_ns(self, ticks: Any) -> Any:
        """A number or an array of ticks as nanoseconds since the beginning; not below 0."""
        result = self.origin_ns + (ticks - self.ticks) * self.rate
        return max(0.0, result) if isinstance(result, float) else result.clip(0)


def clocks_of(files: Iterable[ProcessFile], beginning: Beginning) -> dict[str, Clock]:
    """For each host its clock, from the two readings that are farthest apart.

    Counters of one host tick together, so one line holds for all of its processes, and the order
    of calls of different processes is kept.
    """
    by_host: dict[str, list[ProcessFile]] = defaultdict(list)
    for file in files:
        by_host[file.host].append(file)
    return {host: _clock(members, beginning) for host, members in by_host.items()}


def _clock(members: list[ProcessFile], beginning: Beginning) -> Clock:
    earliest = min(members, key=lambda file: file.first[1])
    (low, low_ns), (high, high_ns) = earliest.first, max(file.last for file in members)
    rate = 1.0
    if not earliest.ticks_are_ns and high > low and high_ns - low_ns >= _SHORTEST_NS:
        rate = (high_ns - low_ns) / (high - low)
    if earliest.host == beginning.host:
        origin = low_ns - beginning.monotonic_ns
    else:
        origin = earliest.realtime_ns - beginning.realtime_ns
    return Clock(low, origin, rate)
