"""Parts of a list that stand in it several times, one behind the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LONGEST = 64
"""Elements of a part."""


@dataclass(frozen=True)
class TandemRepeat:
    """`turns` parts of `length` elements each."""

    begin: int
    length: int
    turns: int

    @property
    def saved(self) -> int:
        """Elements that need not be told."""
        return self.length * (self.turns - 1)


def longest_repeats(keys: Sequence[int], depth: Sequence[int]) -> list[TandemRepeat]:
    """Repeats that do not overlap, those first that save most, of multiples of one length the
    shortest. What could begin at several places begins where `depth` is least."""
    array = np.array(keys, np.int64)
    found: list[TandemRepeat] = []
    for length in range(1, min(LONGEST, len(array) // 2) + 1):
        same = np.append(array[length:] == array[:-length], False).astype(np.int8)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], same])))
        for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            turns, more = divmod(end - begin, length)
            if turns:
                places = range(begin, begin + more + 1)
                found.append(TandemRepeat(min(places, key=depth.__getitem__), length, turns + 1))
    taken = np.zeros(len(array), bool)
    chosen = []
    for one in sorted(found, key=lambda one: (-one.saved, one.length, one.begin)):
        here = slice(one.begin, one.begin + one.length * one.turns)
        if not np.any(taken[here]):
            taken[here] = True
            chosen.append(one)
    return chosen
