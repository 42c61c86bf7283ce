"""The console that results are printed on."""

from __future__ import annotations

import io
import os
import sys

from rich.console import Console


def stdout_console() -> Console:
    """Standard output: colour on a terminal only, 80 columns where the width is unknown."""
    if sys.stdout is None:  # it was closed before the start
        return Console(file=io.StringIO())
    width = None if sys.stdout.isatty() else 80
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return Console(width=width, no_color=plain or None, highlight=False, soft_wrap=False)


def stderr_console() -> Console:
    """Standard error, for talk beside data."""
    return Console(stderr=True, width=None if sys.stderr.isatty() else 80, highlight=False)
