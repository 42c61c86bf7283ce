"""In what a step's calls differ from a plain loop: off pages, in turn, through much memory."""

from __future__ import annotations

import math

from venturi.model import plan as p
from venturi.model.profile import MUCH_MEMORY_BYTES, ContextEffect

_PAGE = 4096
_OWN_CACHE_BYTES = 2**20
"""Memory that stays in a core's own caches, besides the data of files."""

ContextEffects = tuple[tuple[ContextEffect, float], ...]
"""Each with the share of the calls that have it."""


def context_effects_of(
    step: p.Transfer, start: int, request: tuple[int, int], in_turn: bool
) -> ContextEffects:
    """What a step that begins at `start` does, of (bytes, number) of its equal requests.

    `in_turn`: data of another file moved right before it, so that its first request meets that.
    Boxes of datasets lie where their library puts them, which is what its own curves have.
    """
    size, number = request
    found: dict[ContextEffect, float] = {}
    if not isinstance(step.pattern, p.Box) and size >= _PAGE and (size % _PAGE or start % _PAGE):
        found[ContextEffect.OFF_PAGE] = 1.0
    if in_turn:
        found[ContextEffect.IN_TURN] = 1.0 / number
    if step.operation is p.Direction.READ and step.fresh:
        found[ContextEffect.FRESH] = step.fresh
    if step.memory_bytes > _OWN_CACHE_BYTES:
        way = math.log(MUCH_MEMORY_BYTES / _OWN_CACHE_BYTES)
        far = min(1.0, math.log(step.memory_bytes / _OWN_CACHE_BYTES) / way)
        found[ContextEffect.MEMORY] = far * (1.0 - found.get(ContextEffect.FRESH, 0.0))
    return tuple(found.items())
