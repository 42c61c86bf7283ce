"""Who else worked on the host: others are found, the run itself is never its own neighbour."""

from __future__ import annotations

import random
from typing import Any

import pytest

from analyse.phase import phase
from venturi.analyse.neighbour import (
    QUIET_SHARE,
    ObservedLoad,
    notices,
    suspicions_of,
)
from venturi.model.event import Warning
from venturi.model.host_sample import HostSample
from venturi.model.record import PhaseRow
from venturi.model.verdict import Suspicion, SuspicionCause

WRITE = {"write": (10, 100)}


def sample(at_s: float, **counters: Any) -> HostSample:
    """A sample of a host with 4 CPUs on which nothing happened."""
    quiet = {
        "wall_s": 1e9 + at_s,
        "cpus": 4,
        "user_s": 0.0,
        "system_s": 0.0,
        "io_wait_s": 0.0,
        "steal_s": 0.0,
        "running": 1,
        "own_processes": 3,
        "own_user_s": 0.0,
        "own_system_s": 0.0,
    }
    return HostSample(at_s=at_s, **{**quiet, **counters})


def rows(n: int = 6, seconds: float = 9.0) -> list[PhaseRow]:
    """A phase in repetitions of 10 s."""
    return [phase("w", seconds, i, WRITE, at_s=10.0 * i + 0.5) for i in range(n)]


def judged(
    last: dict[str, Any], half_width: float = 0.02, ranks: int = 2, file_system: str = "xfs"
) -> list[Suspicion]:
    """What is suspected of a minute at whose end the counters stand like this."""
    samples = [
        sample(
            0.0,
            **{
                name: type(value)(0)
                for name, value in last.items()
                if name not in ("own_processes", "cpus")
            },
        ),
        sample(60.0, **last),
    ]
    return suspicions_of(rows(), ObservedLoad(samples, ranks, file_system, {"w": half_width}))


def test_a_quiet_host_is_not_suspected() -> None:
    assert judged({"user_s": 1.0, "own_wait_s": 0.2, "steal_s": 0.5}) == []


@pytest.mark.parametrize("seed", range(50))
def test_a_run_is_never_its_own_neighbour(seed: int) -> None:
    rng = random.Random(seed)
    own, rounding_s = rng.uniform(0, 240), rng.uniform(0, 0.1)
    counters = {
        "user_s": own + rounding_s,
        "system_s": rng.uniform(0, 200),
        "own_user_s": own,
        "own_system_s": rng.uniform(0, 200),
        "io_wait_s": rng.uniform(0, 100),
        "pressure_io_s": rng.uniform(0, 60),
        "pressure_cpu_s": rng.uniform(0, 60),
        "own_read_bytes": 10**9,
        "own_written_bytes": 10**9,
        "device_read_bytes": 10**9,
        "device_written_bytes": rng.randint(0, 3 * 10**9),
    }
    assert judged(counters) == []


@pytest.mark.parametrize("seed", range(50))
def test_others_are_suspected_when_they_explain_more_than_the_interval(seed: int) -> None:
    rng = random.Random(seed)
    share, half_width = rng.uniform(0, 1), rng.uniform(0, 0.25)
    own_s = rng.uniform(0, 60)
    found = judged(
        {"user_s": own_s + share * 4 * 60 + 0.1, "own_user_s": own_s}, half_width=half_width
    )
    bound = max(half_width, QUIET_SHARE)
    if abs(share - bound) > 0.01:
        assert [one.cause for one in found] == [SuspicionCause.NEIGHBOUR] * (share > bound)


def test_waiting_for_a_cpu_counts_where_ranks_have_enough() -> None:
    assert [one.cause for one in judged({"own_wait_s": 30.0})] == [SuspicionCause.NEIGHBOUR]
    assert judged({"own_wait_s": 300.0}, ranks=64) == [], "they waited for each other"
    crowded = judged({"own_wait_s": 3000.0, "user_s": 30.0}, ranks=64)
    assert [one.share for one in crowded] == [pytest.approx(0.498, abs=0.005)]


def test_daemons_of_a_file_system_in_user_space_are_not_told_from_others() -> None:
    assert judged({"user_s": 100.0, "own_wait_s": 30.0}, file_system="fuse.glusterfs") == []


@pytest.mark.parametrize(
    ("counters", "cause"),
    [
        ({"steal_s": 30.0}, SuspicionCause.STEAL),
        ({"pressure_memory_s": 10.0}, SuspicionCause.MEMORY),
        ({"throttled_s": 5.0, "throttled": 50}, SuspicionCause.THROTTLED),
        ({"thermal_throttles": 3}, SuspicionCause.THROTTLED),
        ({"stopped_s": 0.4}, SuspicionCause.STOPPED),
        ({"gap_s": 1.5}, SuspicionCause.GAP),
        ({"clock_step_s": 0.1}, SuspicionCause.CLOCK),
        (
            {
                "own_read_bytes": 10**9,
                "own_written_bytes": 0,
                "device_read_bytes": 3 * 10**9,
                "device_written_bytes": 0,
            },
            SuspicionCause.NEIGHBOUR,
        ),
        (
            {
                "own_read_bytes": 0,
                "own_written_bytes": 10**9,
                "device_read_bytes": 0,
                "device_written_bytes": 6 * 10**9,
            },
            SuspicionCause.NEIGHBOUR,
        ),
    ],
)
def test_each_cause(counters: dict[str, Any], cause: SuspicionCause) -> None:
    assert [one.cause for one in judged(counters)] == [cause]


def test_others_count_only_while_a_phase_ran() -> None:
    busy_before = [
        sample(0.0),
        sample(50.0, user_s=200.0),
        sample(60.0, user_s=200.0),
        sample(70.0, user_s=200.0),
    ]
    late = [phase("late", 9.0, 0, WRITE, at_s=60.5)]
    early = [phase("early", 9.0, 0, WRITE, at_s=0.5)]
    seen = ObservedLoad(busy_before, 2, "xfs", {})
    assert suspicions_of(late, seen) == []
    [found] = suspicions_of([*early, *late], seen)
    assert found.phase == "early"
    assert found.what.startswith("early: ")


def test_without_samples_nothing_is_claimed() -> None:
    assert suspicions_of(rows(), ObservedLoad([sample(0.0)], 2, "xfs", {})) == []


def test_a_pause_that_the_engine_notices_is_a_suspicion() -> None:
    told = [Warning(what="nobody ran for 60 s", stopped_s=60.0), Warning(what="less room")]
    assert [(one.cause, one.what) for one in notices(told)] == [
        (SuspicionCause.GAP, "nobody ran for 60 s")
    ]
