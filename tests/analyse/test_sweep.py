"""The sweeps of the library on made-up machines: where a rate saturates, where a cache ends."""

from __future__ import annotations

import pytest
from phase import phase

from venturi import library
from venturi.analyse.metric import NODE_MEMORY, check_metrics, measured_in, metrics_of
from venturi.analyse.rule import rules_of
from venturi.model.record import PhaseRow
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

PARTS = ("16th", "8th", "quarter", "half", "all")
SIZES = ("32nd", "16th", "8th", "quarter", "half", "whole")
MIB = 2**20


def rows(kind: str, rates: dict[str, list[float]], operation: str) -> list[PhaseRow]:
    """One phase of each part and repetition, with 1 MiB at so many MiB/s."""
    return [
        phase(f"{kind}_{part}", 1 / rate, repetition, {operation: (1, MIB)})
        for part, series in rates.items()
        for repetition, rate in enumerate(series)
    ]


@pytest.mark.parametrize(
    ("rates", "count"),
    [
        ([100, 200, 400, 800, 1600], 32),
        ([100, 200, 380, 400, 390], 8),
        ([100, 90, 80, 70, 60], 2),
        ([100, 200, 300, 380, 400], 16),
    ],
)
def test_the_smallest_count_that_saturates(rates: list[float], count: int) -> None:
    workload = library.load("saturation")
    made = make_plan(workload, RunSettings(ranks=32))
    check_metrics(workload, made.totals.phases)
    series = {part: [rate] * 6 for part, rate in zip(PARTS, rates, strict=True)}
    own = {part: [100.0] * 6 for part in PARTS}
    found = metrics_of(
        workload, made.parameters, rows("shared", series, "write") + rows("own", own, "write")
    )
    assert found["saturates_shared"].median == count
    assert found["saturates_own"].median == 2
    assert found["best_shared"].median == pytest.approx(max(rates) * MIB)


def test_repetitions_that_disagree_widen_the_interval() -> None:
    workload = library.load("saturation")
    made = make_plan(workload, RunSettings(ranks=16))
    series = {part: [50.0 * (i + 1)] * 6 for i, part in enumerate(PARTS)}
    series["half"] = [240, 100, 240, 100, 240, 100]
    both = rows("shared", series, "write") + rows("own", series, "write")
    found = metrics_of(workload, made.parameters, both)["saturates_shared"]
    assert (found.low, found.high, found.n) == (8, 16, 6)


@pytest.mark.parametrize(
    ("rates", "part"),
    [
        ([100, 101, 99, 100, 100, 101], 32),
        ([3000, 3000, 900, 310, 300, 300], 4),
        ([3000, 3000, 3000, 3000, 3000, 300], 1),
    ],
)
def test_the_size_from_which_no_cache_serves(rates: list[float], part: int) -> None:
    workload = library.load("cache-sweep")
    made = make_plan(workload, RunSettings(assignments={"memory": "1 GiB", "largest": "1 GiB"}))
    check_metrics(workload, made.totals.phases)
    series = {size: [float(rate)] * 6 for size, rate in zip(SIZES, rates, strict=True)}
    found = metrics_of(workload, made.parameters, rows("read", series, "read"))
    assert found["safe_size"].median == 2**30 // part
    assert found["cache_excluded"].median == 1


def test_a_sweep_that_fits_the_memory_excludes_nothing() -> None:
    workload = library.load("cache-sweep")
    read = rows("read", {size: [100.0] for size in SIZES}, "read")
    for memory, node_bytes, excluded in (
        ("0", 1 << 30, 0),
        ("0", 64 * MIB, 1),
        ("0", 64 * MIB + 1, 0),
        ("1 GiB", 1, 0),
    ):
        made = make_plan(workload, RunSettings(assignments={"memory": memory}))
        known = {**made.parameters, NODE_MEMORY: node_bytes}
        metrics, numbers = measured_in(workload, known, read)
        assert metrics["cache_excluded"].median == excluded
        (rule,) = rules_of(workload, numbers, read, 1)
        assert rule.holds == bool(excluded)
        assert rule.holds or rule.says.startswith("a cache is not excluded: the largest files of")
        assert ("twice its memory is 2 GiB" in rule.says) == (
            "1 GiB" in memory or node_bytes > 2**29
        )
