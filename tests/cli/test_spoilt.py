"""Runs that are spoilt on purpose are not VALID, and the suspicion names what was done."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "verdicts.py"


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("neighbour", "neighbour"),
        ("throttled", "throttled"),
        ("stopped", "stopped"),
        ("mixed-cache", "cache"),
        ("clock-step", "clock"),
    ],
)
def test_a_spoilt_run_is_found_out(
    kind: str, cause: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """On storage: what is in memory has no caches that could be mixed."""
    place = tmp_path_factory.mktemp("spoilt")
    done = subprocess.run(
        [sys.executable, str(BENCH), "spoilt", str(place), "1", kind],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"^{kind} +1 INDICATIVE; suspicions: .*\b1 {cause}\b", done.stdout, re.M), (
        done.stdout
    )
    assert "0 of 1 spoilt runs are VALID" in done.stdout
    assert not list(place.iterdir())
