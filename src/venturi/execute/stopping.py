"""Being asked to end between two runs: it is noted, so that what is known by then is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from venturi.execute.signals import heard_by


class Stopping:
    """Whether somebody asked for the end; asking does not tear what is under way."""

    asked = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Ctrl-C, SIGTERM and SIGHUP are notes, till the end of the block."""
        with heard_by(self._note):
            yield

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
