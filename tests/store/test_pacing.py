"""Ending a run after the repetition with which enough is known: event by event, exactly."""

from __future__ import annotations

import json

from venturi import library
from venturi.model.aim import Aim
from venturi.model.event import Event, EventLine
from venturi.store.pacing import Pacing, Patience

MIB = 1 << 20


class Clock:
    """Time that passes when it is told to."""

    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def phase_of(repetition: int, path: str, seconds: float) -> Event:
    """A phase in which one rank wrote 1 MiB in one request."""
    latency = {"bits": 10, "bucket": [4096], "count": [1], "min_ns": 8192, "max_ns": 8192}
    moved = {"bytes": MIB, "operations": 1, "errors": 0}
    columns = (
        "open_s",
        "transfer_s",
        "close_s",
        "total_s",
        "start_s",
        "first_s",
        "last_s",
        "longest_s",
    )
    parts = ("open", "transfer", "close", "compute", "wait", "serving")
    data = {
        "event": "phase_finished",
        "path": path,
        "group": "g",
        "instance": 0,
        "iteration": [],
        "repetition": repetition,
        "at_s": 0.0,
        **moved,
        "ranks": 1,
        "seconds": {**dict.fromkeys(parts, 0.0), "total": seconds},
        "by_operation": [{"kind": "write", **moved, "seconds": seconds, "latency": latency}],
        "request_sizes": [],
        "other_requests": 0,
        "per_rank": {"bytes": [MIB], "operations": [1], **{name: [0.0] for name in columns}},
        "time_line": {"bin_s": 1.0, "bytes_written": [], "bytes_read": [], "operations": []},
        "stopped_by": "work",
        "cache": "none",
        "cache_reason": "",
        "cached_share": None,
        "flushed": "none",
        "bytes_durable": 0,
        "bytes_saved": 0,
        "short_transfers": 0,
        "corrupt_operations": 0,
        "corrupt_bytes": 0,
        "details": [],
    }
    return EventLine.model_validate_json(json.dumps(data)).root


def test_a_repetition_counts_with_its_last_phase() -> None:
    pacing = Pacing(Aim(), library.load("ior"), {}, Clock())
    said = []
    for repetition in range(7):
        for path in ("write", "read"):
            said.append(pacing.why_enough(phase_of(repetition, path, 1.0 + repetition / 1000)))
    assert [bool(why) for why in said] == [False] * 11 + [True, False, True]


def test_the_budget_counts_from_the_first_event() -> None:
    clock = Clock()
    pacing = Pacing(Aim(budget_s=10), library.load("ior"), {}, clock)
    assert not pacing.why_enough(phase_of(0, "write", 1.0))
    clock.now_s += 9
    assert not pacing.why_enough(phase_of(1, "write", 1.0))
    clock.now_s += 1
    assert pacing.why_enough(phase_of(2, "write", 1.0)).startswith("the 10 s for repetitions")


def test_patience_ends_with_the_first_phase_that_is_late() -> None:
    clock = Clock()
    patience = Patience(60, clock)
    assert not patience.why_enough(phase_of(0, "write", 1.0))
    clock.now_s += 60
    assert "60 s time budget reached" in patience.why_enough(phase_of(0, "read", 1.0))
