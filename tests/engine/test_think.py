"""Time between requests: a rank that computes keeps its processor, where there is one for it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from plans import file, manage, nest, phase, plan, write
from running import Engine

REQUESTS = 400
CROWD = (os.cpu_count() or 1) + 1
"""More ranks than processors."""


def sleeps_per_rank(engine: Engine, tmp_path: Path, think_s: float, ranks: int) -> float:
    """How often ranks with so long a pause before each request gave their processor away."""
    body = write(10, nest(0, (REQUESTS, 10)), think_s=think_s)
    program = [phase("p", manage("create"), body)]
    made = plan(tmp_path, [file(per_rank=True)], program, ranks=ranks)
    run = subprocess.Popen(engine.command(made), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    assert run.returncode == 0
    return used.ru_nvcsw / ranks


@pytest.mark.parametrize(
    ("think_s", "ranks", "idles"),
    [(0.0004, 1, False), (0.003, 1, False), (0.0004, CROWD, False), (0.003, CROWD, True)],
)
def test_only_a_long_think_without_a_processor_sleeps(
    engine: Engine, tmp_path: Path, think_s: float, ranks: int, idles: bool
) -> None:
    found = sleeps_per_rank(engine, tmp_path, think_s, ranks)
    # One that is late for a pause, because others had the processor, does not sleep in it.
    assert (found > REQUESTS / 2) is idles, found
