"""The console that results are printed on."""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import TextIO

from rich.console import Console


class _Console(Console):
    """A console whose reader may go (`| head`): the command ends as any other does then."""

    def on_broken_pipe(self) -> None:
        try:
            super().on_broken_pipe()
        except SystemExit:
            sys.exit(128 + signal.SIGPIPE)


def _width(stream: TextIO) -> int | None:
    """Columns where nothing shows them: 80. None: a terminal, or COLUMNS, says how many."""
    is_known = stream.isatty() or os.environ.get("COLUMNS", "").isdecimal()
    return None if is_known else 80


def stdout_console() -> Console:
    """Standard output: colour on a terminal only, 80 columns where the width is unknown."""
    if sys.stdout is None:  # it was closed before the start
        return _Console(file=io.StringIO())
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return _Console(
        width=_width(sys.stdout), no_color=plain or None, highlight=False, soft_wrap=False
    )


def stderr_console() -> Console:
    """Standard error, for talk beside data."""
    return _Console(stderr=True, width=_width(sys.stderr), highlight=False)
