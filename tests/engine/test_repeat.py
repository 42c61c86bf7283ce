"""Transfers that repeat until their phase is old enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.plans import ClockKind, Content, file, manage, nest, phase, plan, read, write
from engine.running import Engine, kinds
from venturi.model.plan import Repeat

ONE = nest(0, (10, 4096))


def test_transfers_repeat_from_their_beginning(engine: Engine, tmp_path: Path) -> None:
    # 20 requests of 10 ms each: 0.2 s a turn; a turn that began before 0.5 s is finished.
    options = {"latency_s": "0.01", "bandwidth_bytes_per_s": "1e18"}
    body = [write(4096, ONE), read(4096, ONE)]
    made = plan(
        tmp_path,
        [file(interface="simulated", options=options, content=Content(verify=True))],
        [
            phase("w", manage("create"), Repeat(at_least_s=0.5, body=body), manage("close")),
            phase("once", manage("open"), Repeat(at_least_s=0.0, body=body), manage("close")),
        ],
        clock=ClockKind.SIMULATED,
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.stderr
    assert kinds(outcome.phase("w")) == {"create": 1, "write": 30, "read": 30, "close": 1}
    assert outcome.phase("w")["errors"] == 0
    assert outcome.phase("w")["seconds"]["total"] == pytest.approx(0.62, abs=0.02)
    assert kinds(outcome.phase("once")) == {"open": 1, "write": 10, "read": 10, "close": 1}


def test_a_body_without_requests_does_not_repeat_for_ever(engine: Engine, tmp_path: Path) -> None:
    body = [write(4096, nest(0, (0, 4096)))]
    made = plan(
        tmp_path, [file()], [phase("w", manage("create"), Repeat(at_least_s=1e6, body=body))]
    )
    assert engine.run(made).code == 0


@pytest.mark.parametrize("ranks", [1, 3])
def test_real_time_passes(engine: Engine, tmp_path: Path, ranks: int) -> None:
    repeat = Repeat(at_least_s=0.3, body=[write(4096, ONE)])
    made = plan(
        tmp_path,
        [file(per_rank=True)],
        [phase("w", manage("create"), repeat, manage("close"))],
        ranks=ranks,
    )
    outcome = engine.run(made) if ranks == 1 else engine.run(made, comm="forked")
    assert outcome.code == 0, outcome.stderr
    event = outcome.phase("w")
    assert event["seconds"]["total"] >= 0.3
    assert min(event["per_rank"]["total_s"]) >= 0.3
    writes = kinds(event)["write"]
    assert writes % 10 == 0
    assert writes >= 10 * ranks
