"""Requests at a rate: under a simulated clock every latency is known exactly."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from engine.plans import (
    RANK,
    ClockKind,
    Operator,
    binary,
    file,
    manage,
    nest,
    number,
    phase,
    plan,
    read,
    times,
    write,
)
from engine.running import Engine, kinds
from venturi.model.event import Histogram
from venturi.model.plan import Arrivals, Content
from venturi.model.statistic import bucket_of

COUNT = 100
LATENCY_S = 0.01


def simulated() -> dict[str, str]:
    return {"latency_s": str(LATENCY_S), "bandwidth_bytes_per_s": "1e18"}


def counted(values_ns: list[int], bits: int) -> dict[int, int]:
    """Values by the bucket of a histogram."""
    return dict(Counter(bucket_of(value, bits) for value in values_ns))


def shown(histogram: dict) -> dict[int, int]:
    """What a histogram of an event holds."""
    return dict(zip(histogram["bucket"], histogram["count"], strict=True))


def run(engine: Engine, place: Path, rate: float, **rest: object) -> dict:
    """The write phase of COUNT requests of 10 ms each."""
    made = plan(
        place,
        [file(interface="simulated", options=simulated())],
        [
            phase(
                "w",
                manage("create"),
                write(1, nest(0, (COUNT, 1)), rate_per_s=rate, **rest),
                manage("close"),
            )
        ],
        clock=ClockKind.SIMULATED,
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.stderr
    return outcome.phase("w")


def writes_of(event: dict) -> dict:
    return next(part for part in event["by_operation"] if part["kind"] == "write")


def test_a_rate_beyond_the_storage_shows_the_queue(engine: Engine, tmp_path: Path) -> None:
    # Request k is due at 5 k ms and ends at 10 (k + 1) ms: its latency is 5 k + 10 ms.
    event = run(engine, tmp_path, 200.0)
    latency = Histogram.model_validate(writes_of(event)["latency"])
    wanted = counted([5_000_000 * k + 10_000_000 for k in range(COUNT)], latency.bits)
    assert shown(writes_of(event)["latency"]) == wanted
    assert (latency.min_ns, latency.max_ns) == (10_000_000, 505_000_000)
    # What the rank spent in its calls is what they took, not what they waited.
    assert writes_of(event)["seconds"] == pytest.approx(COUNT * LATENCY_S)
    loop = event["open_loop"]
    assert shown(loop["response"]) == wanted
    assert shown(loop["service"]) == counted([10_000_000] * COUNT, latency.bits)
    assert (loop["requests"], loop["late"]) == (COUNT, COUNT - 1)
    assert loop["most_late_s"] == pytest.approx(5e-3 * (COUNT - 1))
    assert loop["wanted_per_s"] == pytest.approx(200)
    assert loop["achieved_per_s"] == pytest.approx(100)


@pytest.mark.parametrize(("rate", "depth"), [(500, 2), (500, 4), (500, 5), (500, 6), (150, 2)])
def test_a_rate_with_several_in_flight(
    engine: Engine, tmp_path: Path, rate: int, depth: int
) -> None:
    # A request begins when it is due and one of `depth` places is free; it takes 10 ms.
    taken, gap = 10_000_000, 10**9 // rate
    starts: list[int] = []
    for k in range(COUNT):
        free = starts[k - depth] + taken if k >= depth else 0
        starts.append(max(k * gap, free))
    late = [start - k * gap for k, start in enumerate(starts) if start > k * gap]
    event = run(engine, tmp_path, rate, depth=depth)
    found = event["open_loop"]
    bits = found["response"]["bits"]
    responses = [start + taken - k * gap for k, start in enumerate(starts)]
    assert shown(found["response"]) == counted(responses, bits)
    assert shown(found["service"]) == counted([taken] * COUNT, bits)
    assert found["response"] == writes_of(event)["latency"]
    assert (found["requests"], found["late"]) == (COUNT, len(late))
    assert found["most_late_s"] == pytest.approx(max(late, default=0) / 1e9)
    assert found["wanted_per_s"] == pytest.approx(rate)
    assert found["achieved_per_s"] == pytest.approx(COUNT / (starts[-1] + taken) * 1e9, rel=1e-3)
    # Making and closing the file take as long as a request each.
    assert event["seconds"]["total"] == pytest.approx((starts[-1] + taken) / 1e9 + 2 * LATENCY_S)


def test_places_in_flight_are_empty_between_rare_requests(engine: Engine, tmp_path: Path) -> None:
    event = run(engine, tmp_path, 50.0, depth=4)
    assert event["open_loop"]["late"] == 0
    # Between the end of one and the start of the next nothing is counted as moving.
    assert writes_of(event)["seconds"] == pytest.approx(COUNT * LATENCY_S)


def test_a_real_queue_follows_its_rate(engine: Engine, tmp_path: Path) -> None:
    made = plan(
        tmp_path,
        [file(interface="uring")],
        [
            phase(
                "w",
                manage("create"),
                write(4096, nest(0, (200, 4096)), rate_per_s=1000.0, depth=8),
                manage("close"),
            )
        ],
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.stderr
    event = outcome.phase("w")
    assert event["operations"] == 202
    assert event["seconds"]["total"] > 0.19
    assert event["open_loop"]["requests"] == 200
    response, service = event["open_loop"]["response"], event["open_loop"]["service"]
    assert sum(response["count"]) == sum(service["count"]) == 200
    assert response["min_ns"] >= service["min_ns"]


@pytest.mark.parametrize("depth", [1, 8])
def test_a_queue_waiting_for_a_start_ends_at_the_limit(
    engine: Engine, tmp_path: Path, depth: int
) -> None:
    made = plan(
        tmp_path,
        [file(interface="uring")],
        [
            phase("w", manage("create"), write(4096, nest(0, (50, 4096)))),
            phase(
                "r",
                read(4096, nest(0, (50, 4096)), rate_per_s=0.01, depth=depth),
                limit_s=0.7,
                bound_s=0.0,
            ),
        ],
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.stderr
    event = outcome.phase("r")
    assert event["stopped_by"] == "limit"
    assert event["operations"] <= 1
    assert event["seconds"]["total"] < 100, "it did not wait for the second one's start"


def test_a_rate_below_the_storage_is_kept(engine: Engine, tmp_path: Path) -> None:
    event = run(engine, tmp_path, 50.0)
    latency = writes_of(event)["latency"]
    assert (latency["min_ns"], latency["max_ns"]) == (10_000_000, 10_000_000)
    # The last of them starts after 99 / 50 s.
    assert event["seconds"]["total"] == pytest.approx(99 / 50 + LATENCY_S, abs=0.03)
    loop = event["open_loop"]
    assert (loop["late"], loop["most_late_s"]) == (0, 0.0)
    assert loop["wanted_per_s"] == pytest.approx(50)


def test_poisson_arrivals_bunch_up(engine: Engine, tmp_path: Path) -> None:
    event = run(engine, tmp_path, 50.0, arrivals=Arrivals.POISSON)
    loop = event["open_loop"]
    # Half of the time the storage is idle, so about half of the requests find it so.
    assert 20 < loop["late"] < 80
    assert 0.8 < event["seconds"]["total"] < 4.0
    assert event["seconds"]["total"] != pytest.approx(99 / 50 + LATENCY_S, abs=0.03)


def test_a_closed_loop_has_no_schedule(engine: Engine, tmp_path: Path) -> None:
    event = run(engine, tmp_path, 0.0)
    assert event["open_loop"] is None
    assert writes_of(event)["latency"]["max_ns"] == 10_000_000


@pytest.mark.parametrize("arrivals", list(Arrivals))
def test_calls_together_keep_one_schedule(
    engine: Engine, tmp_path: Path, mpi: str, arrivals: Arrivals
) -> None:
    """The last rank has fewer requests, and takes part in the calls of the others."""
    calls, rate = 60, 150.0
    mine = binary(Operator.SUBTRACT, number(calls), times(RANK, 10))
    pattern = nest(times(RANK, calls * 4096), (mine, 4096))
    target = file(interface="mpiio", content=Content(verify=True))
    step = write(4096, pattern, rate_per_s=rate, collective=True, arrivals=arrivals)
    made = plan(
        tmp_path,
        [target],
        [
            phase("w", manage("create"), step, manage("close")),
            phase("r", manage("open"), read(4096, pattern), manage("close")),
        ],
        ranks=3,
    )
    outcome = engine.run(made, mpi)
    assert outcome.code == 0, outcome.events
    assert outcome.phase("r")["errors"] == 0
    event = outcome.phase("w")
    found = event["open_loop"]
    count = calls + (calls - 10) + (calls - 20)
    assert found["requests"] == count
    assert sum(found["response"]["count"]) == sum(found["service"]["count"]) == count
    assert found["response"]["max_ns"] >= found["service"]["max_ns"]
    if arrivals is Arrivals.FIXED:
        assert event["seconds"]["total"] >= (calls - 1) / rate


def test_a_call_together_that_is_far_away_does_not_keep_a_limit_waiting(
    engine: Engine, tmp_path: Path, mpi: str
) -> None:
    pattern = nest(times(RANK, 10 * 4096), (10, 4096))
    step = write(4096, pattern, rate_per_s=0.02, collective=True)
    made = plan(
        tmp_path,
        [file(interface="mpiio")],
        [phase("w", manage("create"), step, limit_s=2.0, bound_s=0.0)],
        ranks=2,
    )
    outcome = engine.run(made, mpi)
    assert outcome.code == 0, outcome.events
    event = outcome.phase("w")
    assert event["stopped_by"] == "limit"
    assert kinds(event).get("write", 0) <= 2  # a slow start may take all the time
    assert event["seconds"]["total"] < 50
