"""A figure fails by its baseline alone, never before five quiet sessions, and never in noise."""

from __future__ import annotations

import random

import pytest

from venturi.health.judge import (
    FEWEST_SESSIONS,
    PartFaults,
    learned,
    parts_of,
    rows_of,
    worst,
)
from venturi.health.load import noise_of
from venturi.model.health import (
    Health,
    HealthReference,
    HealthRow,
    HealthState,
    LoadSample,
    NamedFault,
)
from venturi.model.output import Better
from venturi.model.record import MetricValue, Record

NAME = "triad: triad"


def record(value: float, name: str = NAME, unit: str = "B/s") -> Record:
    metric = MetricValue(
        value=value, unit=unit, median=value, low=value, high=value, n=1, coverage=0, values=[value]
    )
    return Record.model_construct(metrics={name: metric})


def before(
    values: list[float], noise: str = "", name: str = NAME, unit: str = "B/s"
) -> list[Health]:
    rows = [
        HealthRow(
            metric=name,
            part="memory",
            unit=unit,
            better=Better.HIGHER,
            value=value,
            values=[value],
            before=[],
            state=HealthState.NEW,
            says="",
        )
        for value in values
    ]
    return [Health.model_construct(rows=[row], noise=noise) for row in rows]


def state(value: float, earlier: list[Health], noise: str = "") -> HealthState:
    [row] = rows_of(record(value), earlier, {}, noise)
    return row.state


def test_nothing_fails_before_five_sessions() -> None:
    for count in range(FEWEST_SESSIONS):
        assert state(1.0, before([100.0] * count)) is HealthState.NEW
    assert state(1.0, before([100.0] * FEWEST_SESSIONS)) is HealthState.FAIL


def test_worse_half_of_the_band_is_to_be_watched() -> None:
    earlier = before([100.0] * FEWEST_SESSIONS)
    assert state(98.0, earlier) is HealthState.OK
    assert state(93.0, earlier) is HealthState.WATCH
    assert state(89.0, earlier) is HealthState.FAIL
    assert state(200.0, earlier) is HealthState.OK


def test_time_is_worse_when_it_is_longer() -> None:
    earlier = before([1e-6] * 5, name="chase: load", unit="s")
    [slow] = rows_of(record(2e-6, "chase: load", "s"), earlier, {}, "")
    [quick] = rows_of(record(0.5e-6, "chase: load", "s"), earlier, {}, "")
    assert (slow.state, quick.state) == (HealthState.FAIL, HealthState.OK)


def test_noise_takes_the_place_of_a_verdict() -> None:
    assert state(1.0, before([100.0] * 9), "others") is HealthState.NOISY
    assert state(1.0, before([100.0] * 9, noise="others")) is HealthState.NEW


def test_reference_by_hand_is_used() -> None:
    given = {NAME: HealthReference(value=100.0, lower=-0.5, upper=0.5, unit="B/s")}
    [row] = rows_of(record(60.0), [], given, "")
    assert row.state is HealthState.WATCH
    [row] = rows_of(record(40.0), [], given, "")
    assert row.state is HealthState.FAIL


@pytest.mark.parametrize("spread", [0.01, 0.05, 0.1])
def test_healthy_sessions_do_not_fail(spread: float) -> None:
    """40 sessions of a machine that does not change; a real fault of 60 % is found in each."""
    noise = random.Random(7)
    values = [100.0 * noise.lognormvariate(0.0, spread) for _ in range(40)]
    for index in range(20, 40):
        assert state(values[index], before(values[:index])) is not HealthState.FAIL
        assert state(0.4 * values[index], before(values[:index])) is HealthState.FAIL


def test_band_is_at_least_a_tenth() -> None:
    assert learned([5.0] * 9, "s").upper == pytest.approx(0.1)


def test_parts_say_what_is_worst_and_what_was_left_out() -> None:
    rows = rows_of(record(1.0), before([100.0] * 5), {}, "")
    parts = {
        part.name: part for part in parts_of(rows, PartFaults({"messages": "needs MPI ranks"}))
    }
    assert parts["memory"].state is HealthState.FAIL
    assert NAME in parts["memory"].says
    assert (parts["messages"].state, parts["messages"].says) == (
        HealthState.NOT_RUN,
        "needs MPI ranks",
    )
    assert worst([HealthState.OK, HealthState.WATCH]) is HealthState.WATCH


def test_failed_kernel_leaves_the_other_parts_their_state() -> None:
    rows = rows_of(record(100.0), before([100.0] * 5), {}, "")
    faults = PartFaults(failed=["equations: compute_lu FAILED: the residual is 99"])
    parts = {part.name: part for part in parts_of(rows, faults)}
    assert (parts["memory"].state, parts["solvers"].state) == (HealthState.OK, HealthState.FAILED)
    assert "the residual is 99" in parts["solvers"].says
    assert worst([part.state for part in parts.values()]) is HealthState.FAILED


def test_slow_rank_fails_its_part_and_is_named_in_noise() -> None:
    rows = rows_of(record(100.0), before([100.0] * 5), {}, "")
    slow = [NamedFault(part="memory", phase="triad", says="slow rank 3: 2 times the others")]
    for noise, state in (("", HealthState.FAIL), ("others kept 1 CPU busy", HealthState.NOISY)):
        parts = {part.name: part for part in parts_of(rows, PartFaults(slow=slow, noise=noise))}
        assert parts["memory"].state is state
        assert "slow rank 3" in parts["memory"].says


def test_load_of_others_is_noise() -> None:
    quiet = LoadSample(busy_cpus=0.1, cpus=2, load_average=9.0)
    assert noise_of(quiet, "before") == ""
    busy = LoadSample(busy_cpus=1.5, cpus=2, load_average=0.0)
    assert "1.50 of 2 CPUs" in noise_of(busy, "before")
