"""Progress in one line: written over on a terminal, elsewhere again every ten seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

from venturi.report import quantity
from venturi.report.character import shown, speaks_utf8

_LINE_EVERY_S = 10.0
_COLUMNS = 78
_LATE_S = 2.0


class OneLine:
    """A line on standard error, or on `stream`; `clock` counts seconds."""

    def __init__(
        self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._start_s = self._last_s = clock()

    @property
    def spent(self) -> str:
        """The time since the beginning, as people read it."""
        return quantity.seconds(round(self._clock() - self._start_s))

    @property
    def is_late(self) -> bool:
        """Whether people have waited long enough to want to know for what."""
        return self._clock() - self._start_s >= _LATE_S

    def show(self, line: str) -> None:
        """Say this now; what does not fit into 78 columns is left out."""
        text = shown(line, speaks_utf8(getattr(self._stream, "encoding", None)))[:_COLUMNS]
        now_s = self._clock()
        if self._stream.isatty():
            print(f"\r{text:<{_COLUMNS}}", end="", file=self._stream, flush=True)
        elif now_s - self._last_s >= _LINE_EVERY_S:
            self._last_s = now_s
            print(text, file=self._stream, flush=True)

    def close(self) -> None:
        """Take the line away."""
        if self._stream.isatty():
            print(f"\r{'':<{_COLUMNS}}\r", end="", file=self._stream, flush=True)
