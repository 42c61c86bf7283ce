"""Where the Darshan logs of the tests are: our own in examples, public ones in PyDarshan."""

from __future__ import annotations

import lzma
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from venturi.model.trace import Trace
from venturi.sources.open import read

PROJECT = Path(__file__).resolve().parents[1]
EXAMPLES = PROJECT / "examples" / "darshan"
TEXTS = PROJECT / "tests" / "darshan_text"
"""What darshan-parser (counters) and darshan-dxt-parser (dxt) print of our logs, packed."""

OURS = sorted(path.stem for path in EXAMPLES.glob("*/*.darshan"))


def log_of(name: str) -> Path:
    """Return the binary log of one of our runs."""
    return EXAMPLES / name / f"{name}.darshan"


def text_of(name: str) -> Path:
    """Return the counters of one of our logs as text."""
    own = EXAMPLES / name / "counters.txt"
    return own if own.exists() else _unpacked(name, "counters")


def dxt_text_of(name: str) -> Path:
    """Return the single operations of one of our logs as text."""
    return _unpacked(name, "dxt")


def _unpacked(name: str, form: str) -> Path:
    path = Path(_unpacked_texts().name) / name / f"{form}.txt"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(lzma.decompress((TEXTS / name / f"{form}.txt.xz").read_bytes()))
    return path


@cache
def _unpacked_texts() -> tempfile.TemporaryDirectory[str]:
    """Return the folder of the unpacked texts, which goes with the process."""
    return tempfile.TemporaryDirectory(prefix="darshan_text")


@cache
def public_logs() -> dict[str, Path]:
    """Return the logs that PyDarshan ships with its examples and tests, by their names."""
    found = find_spec("darshan")
    assert found is not None
    assert found.origin is not None
    return {path.stem: path for path in sorted(Path(found.origin).parent.rglob("*.darshan"))}


@cache
def trace_of(name: str) -> Trace:
    """Return the trace of one of our runs."""
    return read(log_of(name))
