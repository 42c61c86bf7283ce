"""Turns that differ much are not laid side by side where that would take room without bound."""

from __future__ import annotations

import random

import numpy as np
import pytest

from venturi.derive.nest.tree import ABSENT, LoopNode, Node, Statement, merged, room, statements


def ragged(chance: random.Random, depth: int, shape: tuple[int, ...]) -> Node:
    """A statement within so many loops, below others that have turns of this shape."""
    if not depth:
        return Statement("write", "write", np.full(shape, ABSENT))
    turns = chance.randint(1, 9)
    inner = ragged(chance, depth - 1, (*shape, turns))
    return LoopNode([inner], np.full(shape, turns))


@pytest.mark.parametrize("seed", range(30))
def test_the_room_that_is_asked_for_is_what_they_take(seed: int) -> None:
    chance = random.Random(seed)
    depth = chance.randint(0, 3)
    turns = [[ragged(chance, depth, (chance.randint(1, 9),))] for _ in range(20)]
    rows: list[list[Node | None]] = [*turns, [None]]
    taken = sum(one.at.size for one in statements(merged(rows, 1)))
    assert room(rows) == taken
