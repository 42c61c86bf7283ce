"""Requests beyond 2 GiB, whose bytes no `int` counts.

They take 7 GiB of memory and a minute: `pytest -m large tests/engine/test_large_request.py`, with
`--basetemp` on a file system with 3 GiB free.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.plans import Content, Plan, file, manage, nest, phase, plan, read, write
from engine.running import Engine, kinds

LARGE_BYTES = (2 << 30) + (200 << 20) + 12345


def large_plan(place: Path, interface: str, step: dict, **options: str) -> Plan:
    """One request of one rank, written and read back."""
    target = file(interface=interface, options=options, content=Content(verify=True))
    pattern = nest(4096, (1, 0))
    return plan(
        place,
        [target],
        [
            phase("w", manage("create"), write(LARGE_BYTES, pattern, **step), manage("close")),
            phase("r", manage("open"), read(LARGE_BYTES, pattern, **step), manage("close")),
        ],
    )


@pytest.mark.large
@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
@pytest.mark.parametrize(
    ("step", "options"),
    [({}, {}), ({"collective": True}, {}), ({"depth": 2}, {}), ({}, {"view": "strided"})],
    ids=["independent", "collective", "in flight", "through a view"],
)
def test_one_request_beyond_2_gib(
    engine: Engine, tmp_path: Path, mpi: str, step: dict, options: dict
) -> None:
    outcome = engine.run(large_plan(tmp_path, "mpiio", step, **options), mpi)
    assert outcome.code == 0, outcome.events
    for path, kind in (("w", "write"), ("r", "read")):
        event = outcome.phase(path)
        assert kinds(event)[kind] == 1
        assert event["bytes"] == LARGE_BYTES
        assert event["errors"] == 0
