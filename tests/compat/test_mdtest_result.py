"""mdtest's figures from records: rates, times, spreads, tables and what the shell is told."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat.tool_output import mdtest_tables
from report import record_factory
from report.record_factory import Shape
from venturi.compat.mdtest_csv import rank_csv
from venturi.compat.mdtest_option import read_arguments
from venturi.compat.mdtest_result import MdtestPhase, MdtestRow, measured, spread
from venturi.compat.mdtest_text import mdtest_text
from venturi.compat.perform import exit_code_of
from venturi.model.error import ExitCode
from venturi.model.record import Record

MOMENT = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
STAT = Shape(MdtestRow.FILE_STAT.value, "stat", 100, 1, 1e4, names=())


def record(**changes: object) -> Record:
    return record_factory.record("mdtest", (STAT,), repetitions=3, ranks=4, **changes)


def test_a_rate_is_all_items_by_the_longest_time() -> None:
    one = MdtestPhase(items=30, seconds=2.0, rank_items=(10, 20), rank_seconds=(1.0, 2.0))
    assert one.rate == 15
    assert one.rank_rates == [10, 10]
    assert one.ms_per_item == pytest.approx(1e3 * 2.0 / 15)


def test_nothing_done_is_no_division_by_zero() -> None:
    none = MdtestPhase(0, 0.0, (0,), (0.0,))
    assert (none.rate, none.rank_rates, none.ms_per_item) == (0, [0], 0)
    assert spread([]).mean == 0


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=20))
def test_a_spread_holds_its_values(values: list[float]) -> None:
    found = spread(values)
    assert found.smallest == min(values)
    assert found.largest == max(values)
    assert min(values) * (1 - 1e-9) <= found.mean <= max(values) * (1 + 1e-9)
    assert found.deviation >= 0


def test_the_deviation_is_the_samples() -> None:
    assert spread([1.0, 3.0]).deviation == pytest.approx(2**0.5)


def test_tables_hold_what_was_measured() -> None:
    made = record()
    rates = [one.rate for one in measured(made, MdtestRow.FILE_STAT)]
    arguments = read_arguments(["-n", "100", "-F", "-P"])
    tables = mdtest_tables(mdtest_text([made], arguments, ["-n", "100"], MOMENT))
    found = tables["rate"]["File stat"]
    assert found == pytest.approx(
        (max(rates), min(rates), sum(rates) / 3, spread(rates).deviation), abs=1e-3
    )
    assert tables["rate"]["File creation"] == (0, 0, 0, 0)
    assert "Directory stat" not in tables["rate"]


def test_each_rank_has_a_row_in_each_iteration() -> None:
    made = record()
    lines = rank_csv(made).splitlines()
    assert len(lines) == 1 + 1 + 3 * 4
    assert {line.count(",") for line in lines} == {1 + 2 * 11}
    one = measured(made, MdtestRow.FILE_STAT)[1]
    place = lines[0].split(",").index("rate-File stat")
    assert float(lines[2 + 4 + 2].split(",")[place]) == pytest.approx(one.rank_rates[2])


def test_what_the_shell_is_told() -> None:
    fine, warned = record(), record(warnings=["odd"])
    assert exit_code_of([fine, warned]) is ExitCode.FINE
    assert exit_code_of([fine, warned], warnings_are_errors=True) is ExitCode.MEASUREMENT
    assert exit_code_of([record(interrupted=True), fine]) is ExitCode.INTERRUPTED
    assert exit_code_of([fine, record_factory.invalid()]) is ExitCode.MEASUREMENT
