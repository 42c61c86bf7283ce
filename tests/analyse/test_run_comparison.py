"""Two runs of one workload: what differs significantly is said, and unlike runs are refused."""

from __future__ import annotations

import math
import random
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
from venturi.report.comparison import page_of
from venturi.report.quantity import Units
from venturi.report.run_comparison import verdict


def metric(values: Sequence[float], unit: str = "B/s") -> MetricValue:
    """A metric of these repetitions."""
    found = median_interval(values)
    return MetricValue(
        value=found.median,
        unit=unit,
        median=found.median,
        low=found.low,
        high=found.high,
        n=len(values),
        coverage=found.coverage,
        values=list(values),
    )


IN_NO_ORDER = (3, 0, 5, 1, 4, 2)
"""Repetitions that rise from one to the next would be serially dependent."""


def run(
    values: Sequence[float] = (), name: str = "first", unit: str = "B/s", **more: Any
) -> Record:
    """A run whose checkpoint phase had these rates."""
    rates = values or [100.0 + i for i in IN_NO_ORDER]
    return record(id=name, metrics={"checkpoint": metric(rates, unit)}, **more)


@pytest.mark.parametrize(
    ("factor", "unit", "change", "is_worse"),
    [
        (1.0, "B/s", MetricChange.SAME, False),
        (0.9, "B/s", MetricChange.LOWER, True),
        (0.5, "B/s", MetricChange.LOWER, True),
        (2.0, "B/s", MetricChange.HIGHER, False),
        (0.99, "B/s", MetricChange.SAME, False),
        (0.952, "B/s", MetricChange.SMALL, False),
        (2.0, "s", MetricChange.HIGHER, True),
        (0.5, "s", MetricChange.LOWER, False),
    ],
)
def test_intervals_decide(factor: float, unit: str, change: MetricChange, is_worse: bool) -> None:
    values = [100.0 + i for i in IN_NO_ORDER]
    comparison = compared_runs(
        run(values, unit=unit), run([v * factor for v in values], "second", unit)
    )
    [row] = comparison.rows
    assert (row.change, row.is_worse) == (change, is_worse)
    assert row.ratio == pytest.approx(factor)
    assert row.low is not None
    assert row.high is not None
    assert row.low < factor < row.high
    say = {
        MetricChange.SAME: "checkpoint does not differ significantly; this comparison could have "
        f"detected changes of at least {100 * (row.detectable or 0):.0f} %.",
        MetricChange.SMALL: f"by 5 % or more; checkpoint is {row.ratio:.3g} times the first",
    }
    significantly = f"checkpoint is significantly {change.value}"
    assert say.get(change, significantly) in comparison.headline
    assert row.detectable == pytest.approx(0.085, abs=0.02)
    assert comparison.judged == 1
    assert parse_json(RunComparison, comparison.to_json()) == comparison


def test_few_repetitions_say_what_they_can_tell() -> None:
    comparison = compared_runs(run([1.0, 2.0, 3.0]), run([2.5, 1.5, 3.5], "second"))
    assert comparison.rows[0].change is MetricChange.UNSURE
    assert comparison.headline == (
        "Too few repetitions (3 and 3): no difference can be significant; four each can."
    )
    comparison = compared_runs(run([1.0, 2.0, 3.0]), run([100.0, 200.0, 300.0], "second"))
    assert comparison.rows[0].change is MetricChange.APART
    assert comparison.headline == (
        "All values of checkpoint in the second run are above all of the first (100 times); with 3 "
        "and 3 repetitions of one metric this is not significant. Repeat both runs more often."
    )
    assert verdict(comparison.rows[0]) == (
        "all values are higher, but not significantly (by chance in 2 of 20 metrics); repeat more "
        "often"
    )


def many(factor: float, repetitions: int, name: str, count: int = 38) -> Record:
    """A run with so many metrics, a third of them counts that never vary."""
    chance = random.Random(name)
    metrics = {
        f"rate{n}": metric([factor * math.exp(chance.gauss(0, 0.02)) for _ in range(repetitions)])
        for n in range(count - count // 3)
    }
    metrics |= {f"bytes{n}": metric([7.0 + n] * repetitions, "B") for n in range(count // 3)}
    return record(id=name, metrics=metrics)


@pytest.mark.parametrize("repetitions", [(6, 6), (4, 6), (6, 3), (4, 4), (10, 5)])
def test_ten_times_slower_in_38_metrics_is_found(repetitions: tuple[int, int]) -> None:
    comparison = compared_runs(
        many(1e9, repetitions[0], "first"), many(1e8, repetitions[1], "second")
    )
    found = {row.change for row in comparison.rows if row.name.startswith("rate")}
    assert found == {MetricChange.LOWER}
    assert {row.change for row in comparison.rows if row.unit == "B"} == {MetricChange.EQUAL}
    assert "significantly lower in the second run" in comparison.headline
    assert comparison.headline.endswith("26 of 38 metrics differ.")


def test_disjoint_values_of_a_large_ratio_are_never_no_evidence() -> None:
    chance = random.Random(5)
    for _ in range(60):
        sizes = [chance.randint(2, 8) for _ in range(2)]
        spread = chance.choice([0.01, 0.3, 2.0])
        first = [math.exp(chance.gauss(0, spread)) for _ in range(sizes[0])]
        second = [max(first) * math.exp(abs(chance.gauss(1, spread))) for _ in range(sizes[1])]
        others = {f"m{n}": metric([chance.random() + 1 for _ in first]) for n in range(20)}
        runs = [
            record(id=name, metrics={"checkpoint": metric(values), **others})
            for name, values in (("first", first), ("second", second))
        ]
        row = compared_runs(*runs).rows[0]
        assert row.change in (MetricChange.HIGHER, MetricChange.APART)


def test_two_runs_on_two_file_systems_are_told_apart() -> None:
    first, second = run(), run(name="second")
    system = second.environment.file_system.model_copy(update={"type": "tmpfs"})
    other = second.environment.model_copy(update={"directory": "/dev/shm/x", "file_system": system})
    comparison = compared_runs(first, second.model_copy(update={"environment": other}))
    assert comparison.second_on == "tmpfs at /dev/shm/x"
    assert comparison.first_on != comparison.second_on
    page = page_of(comparison, Units.IEC)
    assert comparison.first_on in page.title
    assert "tmpfs at /dev/shm/x" in page.title


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


def test_rates_of_different_things_are_not_compared() -> None:
    """Bytes a second beside opens a second, or a phase that only one run came to."""
    of_opens = metric([9e3 + i for i in range(6)], "1/s").model_copy(update={"of": "open"})
    found = compared_runs(
        run().model_copy(update={"metrics": {"w": metric([1e9] * 6), "r": metric([2e9] * 6)}}),
        run(name="second").model_copy(update={"metrics": {"w": metric([1e9] * 6), "r": of_opens}}),
    )
    assert [row.name for row in found.rows] == ["w"]
    assert ("r, not compared", "B/s", "1/s (open)") in [
        (d.what, d.first, d.second) for d in found.differences
    ]
    cut = run(name="second").model_copy(update={"metrics": {"w": metric([1e9] * 6)}})
    both = run().model_copy(update={"metrics": {"w": metric([1e9] * 6), "r": of_opens}})
    assert ("r, not compared", "1/s (open)", "not measured") in [
        (d.what, d.first, d.second) for d in compared_runs(both, cut).differences
    ]
    with pytest.raises(UserError, match="no metric in common"):
        compared_runs(
            run().model_copy(update={"metrics": {"r": metric([2e9] * 6)}}),
            run(name="second").model_copy(update={"metrics": {"r": of_opens}}),
        )
