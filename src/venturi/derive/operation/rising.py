"""How many requests each turn makes, where their number rises from turn to turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venturi.derive.operation.scene import Scene
from venturi.model.operation import Column

LEAST_TURNS = 4
LEAST_RISE = 2.0
"""The last turn of a line through the turns has so many times as many as the first one."""
LEAST_EXPLAINED = 0.5
"""Share of the variance of turns that such a line explains."""
_MOST = 2**62
"""Integers of expressions have 64 bits."""


@dataclass(frozen=True)
class Dealt:
    """A number of requests dealt to turns and ranks; true in sum."""

    text: str | int
    """As an expression of loops and ranks."""
    counts: Column
    """Of each turn and rank, in order (shape: units)."""


def dealt(total: int, like: Column, scene: Scene) -> Dealt:
    """`total` requests dealt to the units of a scene: rising with its loops where `like` does.

    `like`: what each turn did, with an axis for each loop and one for ranks.
    """
    units = scene.units
    if len(scene.crew) == 1 and like.size == units >= LEAST_TURNS:
        found = _rising(total, like.ravel(), scene.turn)
        if found is not None:
            return found
    each, more = divmod(total, units)
    counts = each + (np.arange(units) < more)
    return Dealt(f"block({total}, {units}, {scene.unit})" if more else each, counts)


def _rising(total: int, like: Column, turn: str) -> Dealt | None:
    """Numbers on the line that runs through `like`, scaled to this sum; None: on none."""
    turns = np.arange(len(like))
    if not np.ptp(like):
        return None
    slope, first = np.polyfit(turns, like * (total / like.sum()), 1)
    explained = np.corrcoef(turns, like)[0, 1] ** 2
    if first + slope * turns[-1] < LEAST_RISE * max(first, 1.0) or explained < LEAST_EXPLAINED:
        return None
    least = min(max(0, round(first - slope / 2)), total // len(like))
    more, square = total - least * len(like), len(like) ** 2
    if more * square > _MOST:
        return None
    # The sum up to a turn grows with its square, so the parts are whole and their sum is exact.
    counts = least + np.diff(more * np.arange(len(like) + 1) ** 2 // square)
    first_power = f"({turn})" if " " in turn else turn
    part = f"{more} * ({turn} + 1)**2 // {square} - {more} * {first_power}**2 // {square}"
    return Dealt(f"{least} + {part}" if least else part, counts)
