"""Two runs of one workload: what surely differs is said, and unlike runs are refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from report.record_factory import SHAPES, record
from venturi.analyse.run_comparison import compared_runs
from venturi.model.comparison import MetricChange, RunComparison
from venturi.model.document import parse_json
from venturi.model.error import UserError
from venturi.model.event import CacheState
from venturi.model.record import Level, MetricValue, Record, Verdict
from venturi.model.statistic import median_interval


def metric(values: Sequence[float], unit: str = "B/s") -> MetricValue:
    """A metric of these repetitions."""
    found = median_interval(values)
    return MetricValue(
        value=found.median, unit=unit, median=found.median, low=found.low, high=found.high,
        n=len(values), coverage=found.coverage, values=list(values),
    )  # fmt: skip


def run(
    values: Sequence[float] = (), name: str = "first", unit: str = "B/s", **more: Any
) -> Record:
    """A run whose checkpoint phase had these rates."""
    rates = values or [100.0 + i for i in range(6)]
    return record(id=name, metrics={"checkpoint": metric(rates, unit)}, **more)


@pytest.mark.parametrize(
    ("factor", "unit", "change", "is_worse"),
    [
        (1.0, "B/s", MetricChange.SAME, False),
        (0.5, "B/s", MetricChange.LOWER, True),
        (2.0, "B/s", MetricChange.HIGHER, False),
        (0.99, "B/s", MetricChange.SAME, False),
        (0.96, "B/s", MetricChange.SMALL, False),
        (2.0, "s", MetricChange.HIGHER, True),
        (0.5, "s", MetricChange.LOWER, False),
    ],
)
def test_intervals_decide(factor: float, unit: str, change: MetricChange, is_worse: bool) -> None:
    values = [100.0 + i for i in range(6)]
    comparison = compared_runs(
        run(values, unit=unit), run([v * factor for v in values], "second", unit)
    )
    [row] = comparison.rows
    assert (row.change, row.is_worse) == (change, is_worse)
    assert row.ratio == pytest.approx(factor)
    assert row.low is not None
    assert row.high is not None
    assert row.low < factor < row.high
    say = "surely differs" if change is MetricChange.SAME else f"checkpoint is {change.value}"
    assert row.detectable == pytest.approx(0.034, abs=0.001)
    assert say in comparison.headline
    assert parse_json(RunComparison, comparison.to_json()) == comparison


def test_few_repetitions_decide_nothing() -> None:
    comparison = compared_runs(run([1.0, 2.0, 3.0]), run([100.0, 200.0, 300.0], "second"))
    assert comparison.rows[0].change is MetricChange.UNSURE
    assert "too few repetitions" in comparison.headline


def test_unlike_caches_are_said_and_not_judged() -> None:
    warm = tuple(shape.__class__(**vars(shape) | {"cache": CacheState.WARM}) for shape in SHAPES)
    rates = [metric([value + i for i in range(6)]) for value in (100.0, 1.0)]
    first = record(id="first", metrics={"restart": rates[0]})
    second = record(id="second", metrics={"restart": rates[1]}, shapes=warm)
    [row] = compared_runs(first, second).rows
    assert row.change is MetricChange.UNLIKE
    assert row.why == "it is cold in the first and cached in the second"


def test_other_surroundings_are_listed() -> None:
    first, second = run(), run(name="second")
    other = second.environment.model_copy(update={"host": "node18", "variables": {"OMPI_X": "1"}})
    comparison = compared_runs(first, second.model_copy(update={"environment": other}))
    assert [(d.what, d.first, d.second) for d in comparison.differences] == [
        ("host", "node17", "node18"),
        ("OMPI_X", "unset", "1"),
    ]


def test_unlike_runs_are_refused_by_name() -> None:
    one = run()
    deeper = dict(one.workload) | {"files": {"stream1": {"path": "stream1", "shared": "none"}}}
    cases = [
        ({"ranks": 8, "parameters": one.parameters}, "the number of ranks is 4 in the first and 8"),
        ({"parameters": {"np": 4, "transfer": "1 MiB"}}, "parameter 'transfer' is absent"),
        ({"workload": deeper}, "files.stream1.shared is all in the first and none in the second"),
        ({"verdict": Verdict(level=Level.INVALID, reasons=["ENOSPC"])}, "INVALID.*ENOSPC"),
    ]
    for change, say in cases:
        with pytest.raises(UserError, match=say):
            compared_runs(one, run(name="second").model_copy(update=change))
