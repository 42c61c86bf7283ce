"""Nodes and links between them that are slow by TCP, from the streams of each pair.

The rate of a pair and direction is the best of its samples: others can take from a network, none
can add to it. A pair is as slow as its slower direction. The model of links then tells a slow node
from a slow link, which is slow when it is measured alone, too. What takes less than 1.5 times as
long as the others' is not named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from venturi.model.kernel_value import PointSamples, host_of
from venturi.model.link_model import Pair, judged_links
from venturi.model.statistic import median

_SERIES = "network bandwidth of pair"
_ALONE = "network bandwidth of pair alone"
_LEAST_SHARE = 0.5
"""Only what takes longer by more than this share is called slow."""


def slow_by_tcp(points: Sequence[PointSamples], facts: Mapping[str, str]) -> list[str]:
    """A sentence for each slow node and each slow link of a kernel's streams between nodes."""
    rates = _best(points, _SERIES)
    if not rates:
        return []
    verdict = judged_links(_slower_way(rates), _slower_way(_best(points, _ALONE)))
    said = [
        f"slow node {host_of(rank, facts)} (rank {rank}): streams of TCP {_way(rank, rates)} take "
        f"{1 + share:.3g} times as long as between the others"
        for rank, share in verdict.ranks.items()
        if share > _LEAST_SHARE
    ]
    return said + [
        f"slow link {host_of(one, facts)} to {host_of(other, facts)} (ranks {one} and {other}): "
        f"streams of TCP take {1 + share:.3g} times as long as those two have with others"
        for (one, other), share in verdict.links.items()
        if share > _LEAST_SHARE
    ]


def _best(points: Sequence[PointSamples], series: str) -> dict[Pair, float]:
    """The best rate of each pair and direction in a series."""
    return {(p.at[0], p.at[1]): max(p.samples) for p in points if p.series.name == series}


def _slower_way(rates: Mapping[Pair, float]) -> dict[Pair, float]:
    """The seconds of a byte between each two ranks, in the direction that takes longer."""
    times: dict[Pair, float] = {}
    for (start, to), rate in rates.items():
        pair = (min(start, to), max(start, to))
        times[pair] = max(times.get(pair, 0.0), 1 / rate)
    return times


def _way(rank: int, rates: Mapping[Pair, float]) -> str:
    """In which direction a node is slow."""
    sent = [rate for (start, _), rate in rates.items() if start == rank]
    received = [rate for (_, to), rate in rates.items() if to == rank]
    if not sent or not received:
        return "from or to it"
    share = median(sent) / median(received)
    if share < 1 / (1 + _LEAST_SHARE):
        return "that it sends"
    return "that it receives" if share > 1 + _LEAST_SHARE else "from and to it"
