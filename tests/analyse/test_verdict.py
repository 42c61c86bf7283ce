"""Every reason for a verdict, one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from analyse.phase import phase
from venturi.analyse.verdict import VerdictFacts, verdict_of
from venturi.model.event import CacheState, StoppedBy
from venturi.model.machine import Bound
from venturi.model.record import Level, Seconds4, Substitution

WRITE = {"write": (10, 100)}
GOOD = VerdictFacts(
    phases=[phase("w", 2.0, n, WRITE) for n in range(6)],
    repetitions=6,
    substituted=[],
    interfaces=frozenset({"posix"}),
    clock_resolution_ns=1.0,
)


def test_a_good_run_is_valid() -> None:
    assert verdict_of(GOOD).level is Level.VALID


@pytest.mark.parametrize(
    ("change", "level", "reason"),
    [
        ({"repetitions": 5}, Level.INDICATIVE, "5 repetitions"),
        ({"interfaces": frozenset({"null"})}, Level.INDICATIVE, "no storage I/O"),
        ({"interfaces": frozenset({"simulated"})}, Level.INDICATIVE, "no storage I/O"),
        (
            {"substituted": [Substitution(file="f", wanted="hdf5", used="posix", why="x")]},
            Level.INDICATIVE,
            "posix stood in for hdf5",
        ),
        ({"phases": [phase("w", 0.5, 0, WRITE)]}, Level.INDICATIVE, "shorter than 1 s"),
        (
            {"phases": [phase("w", 2, 0, WRITE, target_change="now it is ext4")]},
            Level.INVALID,
            "now it is ext4",
        ),
        (
            {"phases": [phase("w", 2, 0, WRITE, cache=CacheState.UNKNOWN)]},
            Level.INDICATIVE,
            "cache state unknown",
        ),
        (
            {"phases": [phase("w", 2, 0, WRITE, stopped_by=StoppedBy.DEADLINE)]},
            Level.INDICATIVE,
            "deadline",
        ),
        (
            {
                "phases": [phase("w", 2, 0, WRITE, cache=CacheState.WARM)],
                "cold_wanted": frozenset({"w"}),
            },
            Level.INDICATIVE,
            "to be dropped, but it was warm",
        ),
        (
            {"phases": [phase("w", 2, 0, WRITE, flushed="none")]},
            Level.INDICATIVE,
            "not made persistent in time: w",
        ),
        (
            {
                "phases": [
                    phase("w", 2, 0, WRITE).model_copy(
                        update={
                            "seconds": Seconds4(open=0, transfer=0.1, close=0, compute=1.9, total=2)
                        }
                    )
                ]
            },
            Level.INDICATIVE,
            "shorter than 1 s: w (100 ms)",
        ),
        ({"faults": 1}, Level.INDICATIVE, "injects faults"),
        ({"cores": 2, "ranks": 64}, Level.INDICATIVE, "64 ranks on 2 cores"),
        ({"cores": 2, "load_average": 7.0}, Level.INDICATIVE, "busy before the run"),
        ({"clock_offset_s": 0.1}, Level.INDICATIVE, "clocks of the nodes"),
        ({"phases": []}, Level.INVALID, "no phase"),
        ({"failure": "rank 1 was killed"}, Level.INVALID, "rank 1 was killed"),
        ({"target_changed": "remounted"}, Level.INVALID, "target changed"),
        ({"phases": [phase("w", 2, 0, WRITE, errors=3)]}, Level.INVALID, "3 operations failed"),
        ({"clock_resolution_ns": 1e8}, Level.INVALID, "resolutions of the clock"),
        (
            {"bounds": [Bound(operation="write", bytes_per_second=100.0)]},
            Level.INVALID,
            "above the known bound",
        ),
    ],
)
def test_each_reason(change: dict[str, Any], level: Level, reason: str) -> None:
    verdict = verdict_of(replace(GOOD, **change))
    assert verdict.level is level
    assert any(reason in text for text in verdict.reasons)
