"""Standard output and error of whatever runs go into a file for a while."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STREAMS = (1, 2)


@contextmanager
def quiet(place: Path) -> Iterator[Path]:
    """What this process and those that it starts print goes to `place`, till the block ends."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(stream) for stream in _STREAMS]
    try:
        with place.open("wb") as file:
            for stream in _STREAMS:
                os.dup2(file.fileno(), stream)
        yield place
    finally:
        for stream, before in zip(_STREAMS, kept, strict=True):
            os.dup2(before, stream)
            os.close(before)


def last_line(place: Path, lead: str = "") -> str:
    """The last line in `place` that begins with `lead`, without it; empty if there is none."""
    lines = [line.strip() for line in place.read_text("utf-8", "replace").splitlines()]
    led = [line for line in lines if line and line.startswith(lead)]
    return led[-1].removeprefix(lead) if led else ""
