"""Ending a run after the repetition with which enough is known."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from venturi.analyse.enough import followed, why_enough
from venturi.analyse.metric import metrics_of
from venturi.analyse.verdict import ENOUGH_REPETITIONS
from venturi.model.aim import Aim
from venturi.model.event import Event, PhaseFinished
from venturi.model.expression import Number
from venturi.model.record import PhaseRow
from venturi.model.result import direction_of
from venturi.model.workload import Workload
from venturi.store.assemble import row_of


class Patience:
    """Says when a run has taken longer than its workload means to."""

    def __init__(self, within_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._within_s = within_s
        self._clock = clock
        self._start_s: float | None = None

    def why_enough(self, event: Event) -> str:
        """Takes in an event; why no further repetition is to begin, in words, if that is so."""
        if self._start_s is None:
            self._start_s = self._clock()
        if not isinstance(event, PhaseFinished):
            return ""
        is_over = self._clock() - self._start_s >= self._within_s
        return f"{self._within_s:g} s time budget reached" * is_over


class Pacing:
    """Is told every event of a run, and says after which repetition there are enough."""

    def __init__(
        self,
        aim: Aim,
        workload: Workload,
        parameters: dict[str, Number],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._aim = aim
        self._workload = workload
        self._parameters = parameters
        self._clock = clock
        self._start_s: float | None = None
        self._rows: list[PhaseRow] = []
        self._looked_at = 0
        """Repetitions that were judged already."""

    def why_enough(self, event: Event) -> str:
        """Takes in an event; why the repetitions up to this are enough, in words, if they are.

        What a repetition brought is judged with its last phase, or at the latest with the first
        one of the next.
        """
        if self._start_s is None:
            self._start_s = self._clock()
        if not isinstance(event, PhaseFinished):
            return ""
        self._rows.append(row_of(event, ()))
        complete = self._complete()
        if complete <= self._looked_at:
            return ""
        self._looked_at = complete
        return self._judge(complete)

    def _complete(self) -> int:
        """Repetitions whose phases have all been told: as many as the first one had."""
        counts = Counter(row.repetition for row in self._rows)
        last = max(counts)
        return last + (last > 0 and counts[last] >= counts[0])

    def _judge(self, complete: int) -> str:
        assert self._start_s is not None
        rows = [row for row in self._rows if row.repetition < complete]
        metrics = metrics_of(self._workload, self._parameters, rows)
        measured = {name: (direction_of(m.unit), m.values) for name, m in metrics.items()}
        values = followed(measured, self._workload.metrics)
        if not values and complete < ENOUGH_REPETITIONS:
            return ""
        return why_enough(self._aim, self._clock() - self._start_s, values)
