"""Being asked to end between two runs: it is noted, so that what is known by then is kept."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stopping:
    """Whether somebody asked for the end; asking does not tear what is under way."""

    asked = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Ctrl-C, SIGTERM and SIGHUP are notes, till the end of the block."""
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.signal(number, self._note) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
