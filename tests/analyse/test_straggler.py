"""Which ranks are called stragglers."""

from __future__ import annotations

from venturi.analyse.straggler import stragglers_of
from venturi.model.event import RankTimes


def times(*totals: float) -> RankTimes:
    zeros = [0.0] * len(totals)
    return RankTimes(
        bytes=[0] * len(totals),
        operations=[0] * len(totals),
        open_s=zeros,
        transfer_s=zeros,
        close_s=zeros,
        total_s=list(totals),
        start_s=zeros,
    )


def test_the_slow_are_named_with_their_hosts() -> None:
    found = stragglers_of(times(1.0, 4.0, 1.1, 2.0, 0.9), ["a", "b", "a", "b", "a"])
    assert [(one.rank, one.host, one.total_s) for one in found] == [(1, "b", 4.0), (3, "b", 2.0)]
    assert found[0].median_s == 1.1


def test_small_differences_and_few_ranks_say_nothing() -> None:
    assert stragglers_of(times(1.0, 1.4, 1.2), ["a"] * 3) == []
    assert stragglers_of(times(0.001, 0.002, 0.009), ["a"] * 3) == []
    assert stragglers_of(times(1.0, 9.0), ["a"] * 2) == []
