"""Time between requests: a rank that computes keeps its processor, one that waits gives it away."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from plans import file, manage, nest, phase, plan, write
from running import Engine

REQUESTS = 400


def sleeps(engine: Engine, tmp_path: Path, think_s: float) -> int:
    """How often a run with so long a pause before each request gave its processor away."""
    body = write(10, nest(0, (REQUESTS, 10)), think_s=think_s)
    made = plan(tmp_path, [file()], [phase("p", manage("create"), body)])
    run = subprocess.Popen(engine.command(made, "alone"), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    assert run.returncode == 0
    return used.ru_nvcsw


@pytest.mark.parametrize(("think_s", "idles"), [(0.0004, False), (0.003, True)])
def test_only_a_long_think_sleeps(
    engine: Engine, tmp_path: Path, think_s: float, idles: bool
) -> None:
    found = sleeps(engine, tmp_path, think_s)
    # One that is late for a pause, because others had the processor, does not sleep in it.
    assert (found > REQUESTS / 2) is idles, found
