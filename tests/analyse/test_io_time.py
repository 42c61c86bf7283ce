"""The I/O time of a repetition: the slowest rank's sum over all phases, nothing counted twice."""

from __future__ import annotations

import pytest
from phase import phase

from venturi.analyse.io_time import io_seconds
from venturi.model.event import RankTimes
from venturi.model.record import PhaseRow


def of_ranks(path: str, transfer_s: list[float], **changes: object) -> PhaseRow:
    """A phase whose ranks moved data for so long, and closed for a second each."""
    n = len(transfer_s)
    times = RankTimes(
        bytes=[0] * n,
        operations=[1] * n,
        open_s=[0.0] * n,
        transfer_s=transfer_s,
        close_s=[1.0] * n,
        total_s=[9.0] * n,
        start_s=[0.0] * n,
    )
    return phase(path, 9.0, ranks=n, per_rank=times, **changes)


def test_the_slowest_rank_is_the_one_with_the_largest_sum() -> None:
    rows = [of_ranks("a", [5.0, 1.0]), of_ranks("b", [1.0, 4.0])]
    assert io_seconds(rows) == pytest.approx(5 + 1 + 1 + 1)


def test_a_phase_inside_of_another_is_part_of_it() -> None:
    assert io_seconds([of_ranks("a/b", [5.0]), of_ranks("a", [6.0])]) == pytest.approx(7)


def test_calls_on_names_are_added() -> None:
    row = phase("a", 2.0, kinds={"stat": (100, 0), "unlink": (10, 0)})
    assert io_seconds([row]) == pytest.approx(2 + 2 + 2)
    assert io_seconds([phase("a", 2.0, kinds={"write": (100, 10)})]) == pytest.approx(2)


def test_groups_and_instances_act_for_themselves() -> None:
    rows = [of_ranks("a", [3.0], group=group, instance=i) for group, i in (("g", 0), ("g", 1))]
    assert io_seconds([*rows, of_ranks("b", [2.0], group="h")]) == pytest.approx(4)


def test_nothing_takes_no_time() -> None:
    assert io_seconds([]) == 0.0
