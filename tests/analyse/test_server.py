"""Which servers are called slow."""

from __future__ import annotations

from venturi.analyse.server import slow_servers_of
from venturi.model.event import ServerShare


def share(name: str, mb_per_s: float, ranks: int = 2, mb: float = 20.0) -> ServerShare:
    """Ranks that write at once, and share what the server gives."""
    span_s = mb / mb_per_s
    moved = round(mb * 1e6)
    return ServerShare(
        server=name, ranks=ranks, files=ranks, bytes=moved, sum_s=ranks * span_s, span_s=span_s
    )


def test_the_slow_one_is_named() -> None:
    [slow] = slow_servers_of([share("a", 10), share("b", 9), share("c", 2), share("d", 11)])
    assert slow.server == "c"
    assert slow.bytes_per_second == 2e6
    assert slow.median_bytes_per_second == 9.5e6
    assert slow.servers == 4


def test_fewer_ranks_make_no_slow_server() -> None:
    """One rank cannot ask for more: a server gives it as much as it gives each of the others."""
    full = [share(name, 12, ranks=4) for name in "abc"]
    assert slow_servers_of([*full, share("d", 3, ranks=1, mb=60)]) == []


def test_more_ranks_make_no_slow_server() -> None:
    """Each of them gets less, all of them as much as elsewhere."""
    few = [share(name, 12, ranks=1) for name in "abc"]
    assert slow_servers_of([*few, share("d", 12, ranks=6)]) == []


def test_small_differences_and_few_servers_say_nothing() -> None:
    assert slow_servers_of([share("a", 10), share("b", 8), share("c", 7)]) == []
    assert slow_servers_of([share("a", 10), share("b", 1)]) == []
    assert (
        slow_servers_of([share(name, 2000, mb=1) for name in "ab"] + [share("c", 200, mb=1)]) == []
    )


def test_ranks_that_come_in_turn_are_not_counted_at_once() -> None:
    """Between two files on it they were elsewhere: the span holds time in which nobody came."""
    turns = ServerShare(server="a", ranks=1, files=5, bytes=10_000_000, sum_s=2.0, span_s=9.0)
    assert turns.bytes_per_second == 5e6


def test_a_slow_one_among_files_of_all_is_named() -> None:
    """Ranks come back to the fast ones between the slow one's files, so that all last as long."""

    def visited(name: str, sum_s: float) -> ServerShare:
        return ServerShare(
            server=name, ranks=3, files=9, bytes=7_000_000, sum_s=sum_s, span_s=3.0 + sum_s / 10
        )

    shares = [visited("a", 0.14), visited("b", 0.16), visited("c", 0.17), visited("d", 2.9)]
    assert [one.server for one in slow_servers_of(shares)] == ["d"]
    shares[3] = shares[3].model_copy(update={"span_s": 3.0})
    assert [one.server for one in slow_servers_of(shares)] == ["d"]
