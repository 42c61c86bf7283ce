"""What any text that makes exactly some calls must hold, whichever loops it has."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from venturi.derive.nest.call import DATA, RankCalls
from venturi.derive.nest.position import PositionMove
from venturi.model.operation import Column

WITH_PLACE = 2.0
"""A number that follows no rule takes at least as much again to say where it belongs: a statement
of its own, a condition, or a turn of a loop that does nothing else."""


def least_characters(calls: RankCalls) -> float:
    """At least so many characters of numbers that follow from no others: neither the numbers, nor
    how they differ from those before, nor how that differs, come again."""
    return sum(_characters(column) for column in _columns(calls))


def _columns(calls: RankCalls) -> Iterator[Column]:
    """Sizes and places of requests that are alike, each rank's one after the other's."""
    is_data = np.isin(calls.kind, DATA)
    key = calls.kind * (calls.slot.max() + 2) + calls.slot
    for one in np.unique(key[is_data]).tolist():
        rows = np.flatnonzero(is_data & (key == one))
        yield calls.size[rows]
        yield calls.offset[rows[calls.move[rows] != PositionMove.GO_ON]]


def _characters(numbers: Column) -> float:
    """Of a column of numbers; with a character that parts each from the next one."""
    if len(numbers) < 2:
        return 0.0
    unlike = min(len(np.unique(np.diff(numbers, n=times))) for times in range(3))
    digits = np.log10(np.maximum(numbers, 1)).mean() + 1.0
    return float(WITH_PLACE * unlike * (digits + 1.0))
