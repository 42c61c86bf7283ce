"""What is computed in one turn of what repeats: told where it is, the rest in one step.

Requests tell the computing before each of them as a `think` time, and calls that move nothing as a
step, where most have some. Both are what is usual there. A stall now and then (a lock that another
thread holds, a table that grows) is usual nowhere; all together they may be most of a run. So what
no step tells stands in one step of the turn, by its mean, where most of it was.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venturi.derive.operation.pace import LEAST_STEP_NS, UNKNOWN, between_ns, least_rest_ns
from venturi.derive.operation.run import Steps, seconds_text, think_ns_of
from venturi.derive.operation.table import Table
from venturi.derive.operation.token import Tokens
from venturi.model.operation import KINDS, Column, Kind
from venturi.model.workload import StepSpec


@dataclass
class TurnComputing:
    """The computing of a turn whose steps are being written."""

    table: Table
    tokens: Tokens
    steps: Steps
    _left_ns: float = 0.0
    _most_ns: float = 0.0
    _turns: int = 0
    """How many there are, all ranks together."""
    _calls: int = 0
    _at: int = 0
    """The step before which most of it was."""

    def tell_before(self, ids: Column) -> None:
        """Tells what is usual before these tokens, an axis for each loop and one for ranks, which
        the next step tells."""
        is_data = KINDS[int(self.tokens.kind[ids.flat[0]])] in (Kind.READ, Kind.WRITE)
        rows = [self.tokens.rows_of(token) for token in ids.ravel().tolist()]
        computed = self.table.computing_ns[np.concatenate(rows)]
        if is_data:
            told_ns = think_ns_of(self.table, self.tokens, ids) * len(computed) / ids.size
        else:
            first = self.table.computing_ns[self.tokens.rows[self.tokens.first[ids.ravel()]]]
            told_ns = between_ns(first)
        left_ns = float(computed[computed != UNKNOWN].sum()) / ids.size - told_ns
        self._left_ns += left_ns
        self._turns, self._calls = ids.size, self._calls + len(computed)
        if left_ns > self._most_ns:
            self._most_ns, self._at = left_ns, len(self.steps)
        if told_ns and not is_data:
            self.steps.append(StepSpec(compute=seconds_text(told_ns / 1e9)))

    def tell_rest(self) -> None:
        """Adds the step of what is left to those of the turn, if it is worth one."""
        in_all_ns = self._left_ns * self._turns
        if self._left_ns >= LEAST_STEP_NS or in_all_ns >= least_rest_ns(
            self.table.span_ns, self._calls
        ):
            self.steps.insert(self._at, StepSpec(compute=seconds_text(self._left_ns / 1e9)))
