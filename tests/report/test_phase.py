"""The gathering of rows: repetitions, rates, intervals, ranks."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_factory import SHAPES, Shape, phase_row, record

from venturi.model.record import MetricValue
from venturi.report.phase import interval_title, phases, spread, with_coverage
from venturi.report.quantity import Units


def test_six_values_reach_95_percent_with_their_range() -> None:
    found = spread([3, 1, 2, 6, 5, 4])
    assert (found.median, found.low, found.high) == (3.5, 1, 6)
    assert found.coverage == pytest.approx(1 - 2 / 64)
    assert interval_title([found.coverage]) == "95 % interval"
    assert with_coverage("1 to 6", found.coverage) == "1 to 6"


def test_five_values_do_not() -> None:
    found = spread([1, 2, 3, 4, 5])
    assert found.coverage == pytest.approx(1 - 2 / 32)
    assert interval_title([1.0, found.coverage]) == "Interval"
    assert with_coverage("1 to 5", found.coverage) == "1 to 5 (94 %)"


def test_thirty_values_leave_out_the_ends() -> None:
    found = spread(list(range(1, 31)))
    assert (found.low, found.high) == (10, 21)
    below = sum(math.comb(30, i) for i in range(10)) / 2**30
    assert found.coverage == pytest.approx(1 - 2 * below)


@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=40))
def test_the_interval_holds_the_median(values: list[float]) -> None:
    found = spread(values)
    assert found.least <= found.low <= found.median <= found.high <= found.most
    assert found.n == len(values)


def test_phases_keep_their_order_and_repetitions() -> None:
    found = phases(record())
    assert [phase.title for phase in found] == [
        "checkpoint",
        "restart (cold)",
        "items (cache unknown)",
    ]
    assert all(len(phase.samples) == 6 for phase in found)
    assert [phase.in_bytes for phase in found] == [True, True, False]
    assert [phase.main_kind for phase in found] == ["write", "read", "stat"]


def test_rates_are_bytes_over_time() -> None:
    made = record()
    for phase in phases(made)[:2]:
        rows = [row for row in made.phases if row.path == phase.path]
        assert phase.rates == [pytest.approx(row.bytes / row.seconds.total) for row in rows]


def test_iterations_add_up_and_concurrent_instances_count_their_time_once() -> None:
    shape = SHAPES[0]
    first = phase_row(shape, 0, 2, at_s=1.0)
    total = first.seconds.total
    again = first.model_copy(update={"iteration": {"dump": 1}, "at_s": 5.0})
    beside = first.model_copy(update={"instance": 1, "at_s": 1.0 + total / 2})
    [phase] = phases(record(repetitions=0).model_copy(update={"phases": [first, again, beside]}))
    [sample] = phase.samples
    assert sample.bytes == 3 * first.bytes
    assert sample.total_s == pytest.approx(2.5 * total)
    ranks = sample.ranks()
    assert ranks.bytes == [2 * b for b in first.per_rank.bytes] + first.per_rank.bytes
    assert ranks.transfer_s[2:] == pytest.approx(first.per_rank.transfer_s)


def test_the_same_path_in_two_groups_is_two_phases() -> None:
    one = phase_row(SHAPES[0], 0, 2, at_s=0.0)
    other = one.model_copy(update={"group": "reader"})
    found = phases(record(repetitions=0).model_copy(update={"phases": [one, other]}))
    assert [phase.title for phase in found] == ["application: checkpoint", "reader: checkpoint"]


def test_the_records_own_metric_is_the_rate() -> None:
    values = [5.0, 7.0, 6.0]
    metric = MetricValue(
        value=6.0, unit="1/s", median=6.0, low=5.0, high=7.0, n=3, coverage=0.75, values=values
    )
    made = record(repetitions=3, metrics={"checkpoint": metric})
    phase = phases(made)[0]
    assert phase.rates == values
    assert phase.rate.coverage == 0.75
    assert not phase.in_bytes


def test_a_metric_of_fewer_repetitions_is_not_taken_for_the_rate() -> None:
    metric = MetricValue(
        value=6.0, unit="B/s", median=6.0, low=6.0, high=6.0, n=1, coverage=0.0, values=[6.0]
    )
    assert phases(record(metrics={"checkpoint": metric}))[0].rate.n == 6


def test_bounds_stand_in_the_unit_of_the_median() -> None:
    values = [0.9 * 1024**3, 1.1 * 1024**3, 1.2 * 1024**3]
    metric = MetricValue(
        value=values[1],
        unit="B/s",
        median=values[1],
        low=values[0],
        high=values[2],
        n=3,
        coverage=0.75,
        values=values,
    )
    phase = phases(record(repetitions=3, metrics={"checkpoint": metric}))[0]
    assert phase.text(values[1], Units.IEC) == "1.10 GiB/s"
    assert phase.bounds(values[0], values[2], Units.IEC) == "0.900 to 1.20"


def test_many_small_files_are_counted_in_names() -> None:
    shape = Shape("files", "create", 100, 0, 1.0, names=("write", "close"))
    phase = phases(record(shapes=(shape,)))[0]
    assert phase.main_kind == "create"
    assert phase.text(phase.rate.median, Units.IEC).endswith("creates/s")
