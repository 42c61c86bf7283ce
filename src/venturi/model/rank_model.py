"""Which rank is slow, from the times that all ranks took for the same work at the same moment.

A processor may be slowed by much and quickened by nothing, so the quickest half of the ranks is
what the others are held against: their median, and the median of the distances from it (MAD). A
rank is slow if its median lies far above that by the robust z of Iglewicz and Hoaglin (0.6745
(x - median) / MAD), by more than a fifth, and in at least three quarters of its samples: a burst of
others is no fault of a rank. Ranks are compared with those that share a processor with as many
others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from venturi.model.link_model import LARGE_SHARE, LARGE_Z
from venturi.model.statistic import median

FEWEST_SAMPLES = 5
FEWEST_BEFORE = 5
"""Sessions that a rank must have to be held against itself."""
LARGE_WAIT = 0.15
"""A rank that waits for longer shares of its time has its processor not to itself."""
_LEAST_SPREAD = 0.01
"""A MAD of logarithms below it is noise of the clock."""
_HELD = 0.75
"""The share of a slow rank's samples that must be slow by half of what is called slow."""


@dataclass(frozen=True)
class RankSamples:
    """What one rank took for each sample."""

    rank: int
    taken_s: tuple[float, ...]
    processor_s: tuple[float, ...] = ()
    """What its thread had of a processor; empty: that was not looked at."""
    host: str = ""
    processor: str = ""

    @property
    def waited(self) -> float:
        """The share of its time in which it had no processor."""
        if not self.processor_s:
            return 0.0
        return min(1.0, max(0.0, 1.0 - sum(self.processor_s) / sum(self.taken_s)))

    @property
    def place(self) -> str:
        """Where it ran, as far as that is known."""
        parts = [self.host, f"processor {self.processor}" if self.processor else ""]
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class SlowRank:
    """One rank that stands out."""

    samples: RankSamples
    share: float
    """How much longer than the others it takes: 0.5 is half as much again."""
    others: str
    """What it was held against."""

    @property
    def text(self) -> str:
        """Its name, how slow it is, and what is known of the cause."""
        place = f" ({self.samples.place})" if self.samples.place else ""
        said = f"slow rank {self.samples.rank}{place}: {1 + self.share:.3g} times {self.others}"
        if not self.samples.processor_s:
            return said
        if self.samples.waited >= LARGE_WAIT:
            return (
                f"{said}; for {self.samples.waited:.0%} of that time its processor did other work"
            )
        return f"{said}, with its processor to itself"


@dataclass(frozen=True)
class RankVerdict:
    """What the model says of the ranks of one kernel."""

    slow: list[SlowRank] = field(default_factory=list)
    """The slowest first."""
    nodes: list[str] = field(default_factory=list)
    """Hosts of which every rank is slow, where there are others."""
    compared: int = 0
    """Ranks that could be held against others or themselves."""

    @property
    def texts(self) -> list[str]:
        """One sentence for each node and each further rank."""
        said = []
        for host in self.nodes:
            own = [one for one in self.slow if one.samples.host == host]
            share = median([one.share for one in own])
            ranks = ", ".join(str(one.samples.rank) for one in own[:8])
            more = ", ..." if len(own) > 8 else ""
            said.append(
                f"slow node {host} (each of its ranks: {ranks}{more}): {1 + share:.3g} times "
                f"{own[0].others}"
            )
        return said + [one.text for one in self.slow if one.samples.host not in self.nodes]


def judged_ranks(
    ranks: Sequence[RankSamples], before: Mapping[int, Sequence[float]] | None = None
) -> RankVerdict:
    """Name the slow ranks; `before` are the medians of each rank in sessions before this one."""
    usable = [one for one in ranks if len(one.taken_s) >= FEWEST_SAMPLES and min(one.taken_s) > 0.0]
    slow: dict[int, SlowRank] = {}
    compared: set[int] = set()
    for group in _alike(usable):
        if len(group) > 1:
            compared |= {one.rank for one in group}
            slow |= {one.samples.rank: one for one in _slow_among(group)}
    for one in usable:
        earlier = (before or {}).get(one.rank, ())
        if len(earlier) >= FEWEST_BEFORE:
            compared.add(one.rank)
            found = _slow_beside_itself(one, earlier)
            if found is not None:
                slow.setdefault(one.rank, found)
    found_slow = sorted(slow.values(), key=lambda one: -one.share)
    return RankVerdict(slow=found_slow, nodes=_nodes(usable, slow), compared=len(compared))


def _alike(ranks: Sequence[RankSamples]) -> list[list[RankSamples]]:
    """The ranks that share a processor with equally many others."""
    counts = Counter((one.host, one.processor) for one in ranks)
    groups: dict[int, list[RankSamples]] = {}
    for one in ranks:
        sharers = counts[one.host, one.processor] if one.processor else 1
        groups.setdefault(sharers, []).append(one)
    return list(groups.values())


def _slow_among(ranks: Sequence[RankSamples]) -> list[SlowRank]:
    middles = {one.rank: math.log(median(one.taken_s)) for one in ranks}
    quick = sorted(middles.values())[: (len(middles) + 1) // 2]
    common = median(quick)
    spread = max(median([abs(value - common) for value in quick]), _LEAST_SPREAD)
    others = "the time of the other rank" if len(ranks) == 2 else "the time of the quicker half"
    found = []
    for one in ranks:
        share = math.expm1(middles[one.rank] - common)
        z = 0.6745 * (middles[one.rank] - common) / spread
        if z > LARGE_Z and share > LARGE_SHARE and _holds(one, math.exp(common)):
            found.append(SlowRank(one, share, others))
    return found


def _holds(one: RankSamples, usual_s: float) -> bool:
    """Whether it is slow in most of its samples."""
    slow = sum(taken > (1 + LARGE_SHARE / 2) * usual_s for taken in one.taken_s)
    return slow >= _HELD * len(one.taken_s)


def _slow_beside_itself(one: RankSamples, earlier: Sequence[float]) -> SlowRank | None:
    usual_s = median(list(earlier))
    spread = median([abs(math.log(value / usual_s)) for value in earlier])
    distance = math.log(median(one.taken_s) / usual_s)
    z = 0.6745 * distance / max(spread, _LEAST_SPREAD)
    share = math.expm1(distance)
    if z > LARGE_Z and share > LARGE_SHARE and _holds(one, usual_s):
        return SlowRank(one, share, "its own time in the sessions before")
    return None


def _nodes(ranks: Sequence[RankSamples], slow: Mapping[int, SlowRank]) -> list[str]:
    hosts = dict.fromkeys(one.host for one in ranks)
    if len(hosts) < 2:
        return []
    whole = [h for h in hosts if all(one.rank in slow for one in ranks if one.host == h)]
    several = [host for host in whole if sum(one.host == host for one in ranks) > 1]
    return several if len(whole) < len(hosts) else []
