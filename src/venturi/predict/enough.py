"""When an experiment has enough runs: by how wide the error's interval is, never by the error."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from venturi.analyse.paired import signed_error

HALF_WIDTH = 0.05
"""An interval that reaches no further than this to either side is narrow enough."""
MOST_RUNS = 24
"""Of each side."""


@dataclass
class Enough:
    """Watches the runs of both sides, from when it is made."""

    least: int
    """Runs of each side that are made in any case."""
    budget_s: float
    """Seconds for further ones, from the last of those on; 0: none are made."""
    why: str = ""
    """Once there is enough: in words."""
    _spent_from: float | None = field(default=None, init=False)

    def reached(self, application: Sequence[float], proxy: Sequence[float]) -> bool:
        """Whether these I/O times, as many of each side, are enough.

        Rounds come in twos beyond the least, because there and back makes drift cancel.
        """
        count = len(application)
        if count < self.least or (count > self.least and count % 2):
            return False
        if self.budget_s <= 0:
            self.why = "as many as wanted"
            return True
        now = time.monotonic()
        if self._spent_from is None:
            self._spent_from = now
        if is_narrow(application, proxy):
            self.why = f"the interval is within {HALF_WIDTH * 100:.0f} points of the error"
        elif count >= max(self.least, MOST_RUNS):
            self.why = f"{count} runs of each are the most"
        elif now - self._spent_from >= self.budget_s:
            self.why = f"the {self.budget_s:g} s for further runs were over"
        return bool(self.why)


def is_narrow(application: Sequence[float], proxy: Sequence[float]) -> bool:
    """Whether the interval of the error reaches no further than HALF_WIDTH from it."""
    if min(application) <= 0.0 or len(application) < 2:
        return False
    error = signed_error(application, proxy)
    return max(error.high - error.signed, error.signed - error.low) <= HALF_WIDTH
