"""Requests at a rate: under a simulated clock every latency is known exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.plans import ClockKind, file, manage, nest, phase, plan, read, write
from engine.running import Engine
from venturi.model.event import Histogram
from venturi.model.plan import Arrivals

COUNT = 100
LATENCY_S = 0.01


def bucket_of(ns: int) -> int:
    """The histogram's bucket of a value, by the rule in the event's documentation."""
    if ns < 16:
        return ns
    power = ns.bit_length() - 1
    return 16 * (power - 3) + ((ns >> (power - 4)) & 15)


def simulated() -> dict[str, str]:
    return {"latency_s": str(LATENCY_S), "bandwidth_bytes_per_s": "1e18"}


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
    wanted: dict[int, int] = {}
    for k in range(COUNT):
        bucket = bucket_of(5_000_000 * k + 10_000_000)
        wanted[bucket] = wanted.get(bucket, 0) + 1
    assert dict(zip(latency.bucket, latency.count, strict=True)) == wanted
    assert (latency.min_ns, latency.max_ns) == (10_000_000, 505_000_000)
    # What the rank spent in its calls is what they took, not what they waited.
    assert writes_of(event)["seconds"] == pytest.approx(COUNT * LATENCY_S)
    loop = event["open_loop"]
    assert (loop["requests"], loop["late"]) == (COUNT, COUNT - 1)
    assert loop["most_late_s"] == pytest.approx(5e-3 * (COUNT - 1))
    assert loop["wanted_per_s"] == pytest.approx(200)
    assert loop["achieved_per_s"] == pytest.approx(100)


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


def test_waiting_for_a_start_ends_at_the_limit(engine: Engine, tmp_path: Path) -> None:
    made = plan(
        tmp_path,
        [file()],
        [
            phase("w", manage("create"), write(4096, nest(0, (50, 4096)))),
            phase("r", read(4096, nest(0, (50, 4096)), rate_per_s=2.0), limit_s=0.7, bound_s=0.0),
        ],
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.stderr
    event = outcome.phase("r")
    assert event["stopped_by"] == "limit"
    assert 1 <= event["operations"] <= 3
    assert event["seconds"]["total"] < 3.0
