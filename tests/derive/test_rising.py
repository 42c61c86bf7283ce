"""Requests of turns that rise are dealt so: whole, with the same sum, and along the same line."""

from __future__ import annotations

import numpy as np
import pytest

from venturi.derive.operation.rising import dealt
from venturi.derive.operation.scene import Loops, Scene, crew_of
from venturi.model.expression import compile_tree, evaluate, tree_of


def scene(*loops: tuple[str, int], ranks: int = 1) -> Scene:
    return Scene(crew_of(np.arange(ranks), ranks), loops)


def values(text: str | int, loops: Loops) -> list[int]:
    """What an expression gives in each turn."""
    code = compile_tree(tree_of(text), {name: at for at, (name, _) in enumerate(loops)})
    return [int(evaluate(code, place)) for place in np.ndindex(*(turns for _, turns in loops))]


@pytest.mark.parametrize("loops", [(("i", 40),), (("i", 5), ("j", 8))])
@pytest.mark.parametrize("first", [0, 7])
def test_what_rises_is_dealt_along_its_line(loops: Loops, first: int) -> None:
    like = first + 3 * np.arange(40)
    found = dealt(
        int(like.sum()) + 11, like.reshape([turns for _, turns in loops] + [1]), scene(*loops)
    )
    assert values(found.text, loops) == found.counts.tolist()
    assert found.counts.sum() == like.sum() + 11
    assert np.all(np.abs(found.counts - like) <= 2)


@pytest.mark.parametrize(
    ("like", "ranks"),
    [
        ([9, 10, 9, 10, 9, 10, 9, 10], 1),  # on no line
        ([90, 91, 92, 93, 94, 95, 96, 97], 1),  # hardly rising
        ([9, 0, 0, 0, 0, 0, 0, 9], 1),
        ([9, 8, 7, 6, 5, 4, 3, 2], 1),  # fewer and fewer
        ([1, 1, 2, 2, 3, 3, 4, 4], 2),  # of two ranks
        ([2**50, 2**51, 2**52, 2**53, 2**54, 2**55, 2**56, 2**57], 1),  # beyond 64 bits
    ],
)
def test_anything_else_is_dealt_evenly(like: list[int], ranks: int) -> None:
    loops = (("i", len(like) // ranks),)
    found = dealt(sum(like), np.array(like).reshape(-1, ranks), scene(*loops, ranks=ranks))
    assert found.counts.sum() == sum(like)
    assert np.ptp(found.counts) <= 1
    assert f"block({sum(like)}, 8" in str(found.text) or found.text == sum(like) // 8
