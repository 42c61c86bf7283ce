"""Where the Darshan logs of the tests are: our own in examples, others beside the checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from venturi.model.trace import Trace
from venturi.sources.open import read

PROJECT = Path(__file__).resolve().parents[1]
EXAMPLES = PROJECT / "examples" / "darshan"
SHARED = PROJECT.parent / "shared" / "data" / "darshan"

OURS = sorted(path.stem for path in EXAMPLES.glob("*/*.darshan"))


def log_of(name: str) -> Path:
    """The binary log of one of our runs."""
    return EXAMPLES / name / f"{name}.darshan"


def text_of(name: str) -> Path:
    """The text of one of our logs; skips where only the shared data has it and is absent."""
    own = EXAMPLES / name / "counters.txt"
    return own if own.exists() else shared(f"ours/{name}/counters.txt")


def shared(path: str) -> Path:
    """A file or folder of the shared data; skips, saying what is missing, where it is absent."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"missing: shared/data/darshan/{path} beside the project")
    return found


def shared_logs(folder: str) -> list[str]:
    """Logs in a shared folder, relative to it; one empty name, to be skipped, if it is absent."""
    names = sorted(
        str(p.relative_to(SHARED / folder)) for p in SHARED.glob(f"{folder}/**/*.darshan")
    )
    return names or [""]


@cache
def trace_of(name: str) -> Trace:
    """The trace of one of our runs."""
    return read(log_of(name))
