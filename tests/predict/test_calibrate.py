"""Forecasts held to later runs: which runs test one, and what of them is compared."""

from __future__ import annotations

import statistics
from typing import Any

import pytest

from report.record_factory import record
from venturi.model.calibration import KeptForecast
from venturi.model.forecast import Forecast, ForecastLimit, PhaseForecast, Range
from venturi.model.record import Level, Record
from venturi.predict.calibrate import forecast_for, trials_of
from venturi.store.result import result_of, work_of


def io_seconds(run: Record, *paths: str) -> float:
    """The median over repetitions of the seconds in I/O of these phases together."""
    sums: dict[int, float] = {}
    for row in run.phases:
        if row.path in paths:
            own = sum(done.seconds for done in row.by_operation.values())
            sums[row.repetition] = sums.get(row.repetition, 0.0) + own
    return statistics.median(sums.values())


def around(seconds: float, factor: float = 1.5) -> Range:
    return Range(median=seconds, low=seconds / factor, high=seconds * factor)


def phase(path: str, seconds: Range, **more: Any) -> PhaseForecast:
    fields: dict[str, Any] = {
        "group": "application", "ranks": 4, "computing_s": 0.0, "bytes": 0, "operations": 1,
        "limit": ForecastLimit.CALLS, "limit_share": 1.0, "parts": [],
    }  # fmt: skip
    return PhaseForecast(path=path, seconds=seconds, **(fields | more))


def kept_for(run: Record, *phases: PhaseForecast, **more: Any) -> KeptForecast:
    """A forecast that a run tests, unless `more` says otherwise."""
    total = Range(median=0.0, low=0.0, high=0.0)
    for one in phases:
        total = total.plus(one.seconds)
    here = run.environment
    forecast = Forecast(
        schema_="venturi.forecast/1", name=run.name, machine=here.host, profiled="2026-11-01",
        directory=here.directory, file_system=here.file_system.type,
        ranks=more.pop("ranks", run.ranks),
        seconds=total, computing_s=0.0, bytes=0, phases=list(phases),
    )  # fmt: skip
    fields: dict[str, Any] = {
        "id": "20261101-000000-f-0001", "made": "2026-11-01T00:00:00+00:00", "venturi": "0.1.0",
        "work": work_of(run.workload, {}), "parameters": dict(run.parameters),
        "host": here.host, "source": here.file_system.source, "forecast": forecast,
    }  # fmt: skip
    return KeptForecast(schema_="venturi.kept-forecast/1", **(fields | more))


@pytest.fixture(scope="module")
def run() -> Record:
    return record()


def test_phases_and_the_whole_are_compared_with_the_median_repetition(run: Record) -> None:
    paths = ("checkpoint", "restart", "items")
    kept = kept_for(run, *(phase(path, around(io_seconds(run, path))) for path in paths))
    found = {one.phase: one for one in trials_of(kept, run)}
    assert set(found) == {"", *paths}
    for path in paths:
        assert found[path].measured == pytest.approx(io_seconds(run, path))
        assert found[path].is_inside
        assert found[path].ratio == pytest.approx(1.0)
    assert found[""].measured == pytest.approx(io_seconds(run, *paths))
    assert found[""].repetitions == 6


@pytest.mark.parametrize(("factor", "is_inside"), [(0.5, False), (0.9, True), (2.0, False)])
def test_what_lies_beyond_the_interval_is_outside(
    run: Record, factor: float, is_inside: bool
) -> None:
    kept = kept_for(run, phase("restart", around(factor * io_seconds(run, "restart"))))
    whole, own = trials_of(kept, run)
    assert whole.phase == ""
    assert own.is_inside is is_inside
    assert own.ratio == pytest.approx(1 / factor)


def test_what_the_forecast_does_not_know_is_left_out(run: Record) -> None:
    unknown = phase("items", around(1.0), unknown=["stat: not measured"])
    kept = kept_for(run, phase("restart", around(1.0)), unknown)
    assert [one.phase for one in trials_of(kept, run)] == ["restart"]


def test_groups_at_the_same_time_count_by_the_longest(run: Record) -> None:
    rows = [
        row.model_copy(update={"group": "other" if row.path == "restart" else "application"})
        for row in run.phases
    ]
    two = run.model_copy(update={"phases": rows})
    kept = kept_for(two, *(phase(path, around(1.0)) for path in ("checkpoint", "restart")))
    whole = next(one for one in trials_of(kept, two) if not one.phase)
    both = [io_seconds(two, path) for path in ("checkpoint", "restart")]
    assert max(both) <= whole.measured < sum(both)


def test_a_phase_that_time_ends_is_compared_for_the_same_work(run: Record) -> None:
    row = next(row for row in run.phases if row.path == "restart")
    limited = phase("restart", around(1.0), done_share=0.5, operations=2 * row.operations)
    (only,) = trials_of(kept_for(run, limited), run)
    assert only.by_work
    assert only.measured == pytest.approx(2 * io_seconds(run, "restart"))


def test_phases_too_short_to_measure_are_left_out(run: Record) -> None:
    rows = [
        row.model_copy(
            update={
                "by_operation": {
                    name: done.model_copy(update={"seconds": 1e-6})
                    for name, done in row.by_operation.items()
                }
            }
        )
        for row in run.phases
    ]
    short = run.model_copy(update={"phases": rows})
    assert not list(trials_of(kept_for(short, phase("restart", around(1e-6))), short))


def test_a_run_tests_the_newest_forecast_before_it(run: Record) -> None:
    result = result_of(run)
    days = {"a": "2026-11-01", "b": "2026-11-19", "c": "2026-11-21"}
    kept = [
        kept_for(run, phase("restart", around(1.0)), id=name, made=f"{day}T00:00:00+00:00")
        for name, day in days.items()
    ]
    found = forecast_for(kept, result)
    assert found is not None
    assert found.id == "b"
    assert forecast_for(kept[2:], result) is None


@pytest.mark.parametrize(
    "other",
    [
        {"host": "node18"},
        {"source": "/dev/sdb"},
        {"work": "0" * 16},
        {"parameters": {"np": 8}},
        {"parameters": {"np": 4, "more": 1}},
        {"ranks": 8},
    ],
)
def test_a_run_elsewhere_or_of_other_work_tests_nothing(run: Record, other: dict[str, Any]) -> None:
    result = result_of(run)
    restart = phase("restart", around(1.0))
    assert forecast_for([kept_for(run, restart)], result) is not None
    assert forecast_for([kept_for(run, restart, **other)], result) is None


def test_an_invalid_run_tests_nothing(run: Record) -> None:
    result = result_of(run).model_copy(update={"level": Level.INVALID.value})
    assert forecast_for([kept_for(run, phase("restart", around(1.0)))], result) is None
