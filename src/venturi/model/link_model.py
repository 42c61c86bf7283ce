"""Which rank or which link is slow, from the times of messages between each two ranks.

The model is additive in logarithms: log t(i, j) = common + rank(i) + rank(j), fitted by median
polish (Tukey, Exploratory Data Analysis, 1977), so that a few wild links do not move it. A rank is
slow if its effect is an outlier among those of all ranks, a link if what the model leaves of it is
one; both by the robust z of Iglewicz and Hoaglin (0.6745 (x - median) / MAD).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from venturi.model.statistic import median

Pair = tuple[int, int]
Key = TypeVar("Key")

FEWEST_RANKS = 4
"""Of fewer, a slow rank cannot be told from a slow link."""
LARGE_Z = 5.0
LARGE_SHARE = 0.2
"""Only what is slower by more than this share is called slow."""
_LEAST_SPREAD = 0.01
"""A MAD of logarithms below it is noise of the clock."""
_ROUNDS = 20


@dataclass(frozen=True)
class LinkVerdict:
    """What the model says of some links."""

    ranks: dict[int, float] = field(default_factory=dict)
    """Slow ranks: how much slower all their links are, as a share."""
    links: dict[Pair, float] = field(default_factory=dict)
    """Slow links, alone and measured again: how much slower than their ranks explain."""
    contended: dict[Pair, float] = field(default_factory=dict)
    """Links that were slow only while others were at work."""
    judged: bool = False
    """There were enough ranks to tell."""

    @property
    def text(self) -> str:
        """The verdict in one sentence or several."""
        if not self.judged:
            return f"Too few ranks to tell a slow rank from a slow link: {FEWEST_RANKS} are needed."
        said = [f"slow rank {rank}: its links take {_times(s)}" for rank, s in self.ranks.items()]
        said += [f"slow link {i}-{j}: {_times(share)}" for (i, j), share in self.links.items()]
        if self.contended:
            pairs = ", ".join(f"{i}-{j}" for i, j in self.contended)
            said.append(f"slow only while others were at work, not alone: {pairs}")
        return "; ".join(said).capitalize() + "." if said else "No rank and no link stands out."


def _times(share: float) -> str:
    return f"{1 + share:.3g} times as long as the others'"


def judged_links(times: Mapping[Pair, float], retests: Mapping[Pair, float]) -> LinkVerdict:
    """Tell slow ranks from slow links.

    `times` are the seconds of each pair, `retests` those of pairs that were measured again alone.
    """
    ranks = sorted({rank for pair in times for rank in pair})
    if len(ranks) < FEWEST_RANKS or min(times.values()) <= 0.0:
        return LinkVerdict()
    effects, rest = _polished(times, ranks)
    slow_ranks = {rank: s for rank, s in _outliers(effects).items() if s > LARGE_SHARE}
    slow = {pair: share for pair, share in _outliers(rest).items() if share > LARGE_SHARE}
    typical = median(list(times.values()))
    alone = {
        pair: share
        for pair, share in slow.items()
        if pair not in retests or retests[pair] > (1 + LARGE_SHARE) * typical
    }
    return LinkVerdict(
        ranks=slow_ranks,
        links=alone,
        contended={pair: share for pair, share in slow.items() if pair not in alone},
        judged=True,
    )


def _polished(
    times: Mapping[Pair, float], ranks: list[int]
) -> tuple[dict[int, float], dict[Pair, float]]:
    """The effect of each rank and what is left of each pair, in logarithms."""
    rest = {pair: math.log(seconds) for pair, seconds in times.items()}
    common = median(list(rest.values()))
    rest = {pair: value - common for pair, value in rest.items()}
    effects = dict.fromkeys(ranks, 0.0)
    of_rank = {rank: [pair for pair in rest if rank in pair] for rank in ranks}
    for _ in range(_ROUNDS):
        steps = {rank: median([rest[pair] for pair in of_rank[rank]]) / 2 for rank in ranks}
        for rank, step in steps.items():
            effects[rank] += step
        rest = {pair: value - steps[pair[0]] - steps[pair[1]] for pair, value in rest.items()}
    return effects, rest


def _outliers(values: Mapping[Key, float]) -> dict[Key, float]:
    """The values that lie far above the others, as shares of these."""
    middle = median(list(values.values()))
    spread = max(median([abs(value - middle) for value in values.values()]), _LEAST_SPREAD)
    found = {
        key: math.expm1(value - middle)
        for key, value in values.items()
        if 0.6745 * (value - middle) / spread > LARGE_Z
    }
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def link_rate(size_bytes: int, seconds: float) -> float:
    """Bytes per second of one message: the least time is the highest rate (LinkTest)."""
    return size_bytes / seconds
