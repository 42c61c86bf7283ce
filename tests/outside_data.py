"""Data of others, which may not be copied into the project: only nightly tests read them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

VARIABLE = "VENTURI_TEST_DATA"


def data_folder(path: str) -> Path:
    """Return a file or folder of the data that VENTURI_TEST_DATA names; fail where it is absent."""
    if VARIABLE not in os.environ:
        pytest.fail(f"missing: set {VARIABLE} to the folder that holds {path}")
    found = Path(os.environ[VARIABLE]) / path
    if not found.exists():
        pytest.fail(f"missing: {path} in ${VARIABLE}, which is {os.environ[VARIABLE]}")
    return found


def logs_in(path: str) -> list[str]:
    """Return the names of the Darshan logs below a folder of the data, relative to it.

    Without the data, return one empty name, so that the test that is asked for fails.
    """
    folder = Path(os.environ.get(VARIABLE, "/nonexistent")) / path
    return sorted(str(log.relative_to(folder)) for log in folder.rglob("*.darshan")) or [""]
