"""Runs the engine's C++ unit tests, plain and under the sanitizers that were built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("preset", ["dev", "asan", "tsan"])
def test_unit_tests(preset: str) -> None:
    program = ROOT / "build" / preset / "engine_unit"
    if not program.exists():
        pytest.fail(f"build it: cmake --preset {preset} && cmake --build build/{preset}")
    done = subprocess.run([program], check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_conformance_under_the_sanitizers(tmp_path: Path) -> None:
    """A run through most of the engine, with every error of memory or arithmetic an error."""
    place = ROOT / "build" / "asan"
    chosen = "totals or items or nested or flipped or kill_9 or contradictions or prestaged"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--basetemp={tmp_path / 'inner'}",
            "-k",
            f"({chosen}) and not openmpi and not mpich",
            str(ROOT / "tests" / "engine"),
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
        cwd=ROOT,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(ROOT / "src"),
            "VENTURI_ENGINE_DIR": str(place),
        },
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
