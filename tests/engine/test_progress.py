"""What a run says of its progress while it goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.plans import (
    RANK,
    Operator,
    When,
    binary,
    file,
    manage,
    nest,
    number,
    phase,
    plan,
    write,
)
from engine.running import Engine, end, parse, size_of_group


def test_progress_is_told_while_others_work(engine: Engine, tmp_path: Path, comm: str) -> None:
    """Rank 0 has nothing to do, waits, and still tells what the others do."""
    ranks = size_of_group(comm)
    last = binary(Operator.EQUAL, RANK, number(ranks - 1))
    slow = When(condition=last, body=[write(10, nest(0, (10**6, 0)), think_s=0.05)])
    body = [manage("create"), slow]
    made = plan(tmp_path, [file(per_rank=True)], [phase("p", *body, deadline_s=60.0)], ranks=ranks)
    process = engine.start(made, comm)
    told: list[dict[str, Any]] = []
    try:
        assert process.stdout is not None
        for line in process.stdout:
            found = [event for event in parse(line) if event["event"] == "progress"]
            told += [event for event in found if event["active"] == 1]
            if len(told) == 2:
                break
        process.terminate()
        process.communicate(timeout=600)
    finally:
        end(process)
    first, second = told
    assert ranks < first["operations"] < second["operations"]
    assert first["at_s"] < second["at_s"]
