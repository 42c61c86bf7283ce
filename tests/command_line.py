"""`venturi` as its user types it, in a folder with a store of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import warm_start


def venturi(folder: Path, *words: str, columns: int = 80) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end and returns what it said."""
    return warm_start.venturi(
        *words,
        folder=folder,
        environment=os.environ | {"VENTURI_STORE": str(folder / "store"), "COLUMNS": str(columns)},
    )
