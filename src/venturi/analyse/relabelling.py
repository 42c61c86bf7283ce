"""Relabellings: which repetitions of two runs could have been those of the first."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.float32]

MOST_ENUMERATED = 4_000
"""Relabellings up to which all are tried; beyond, as many are drawn."""
_SEED = 1
_KEPT = 32


@lru_cache(maxsize=_KEPT)
def relabellings(first: int, second: int) -> Labels:
    """Return a row for each relabelling: 1 where a repetition counts as one of the first run.

    Columns are the `first` repetitions of the first run, then the `second` of the other. Row 0 is
    what was measured. The rows are all choices, or 4 000 of them that are always the same.
    """
    size = first + second
    if math.comb(size, first) <= MOST_ENUMERATED:
        chosen = np.array(list(combinations(range(size), first)), dtype=np.intp)
    else:
        random = np.random.default_rng(_SEED)
        drawn = random.random((MOST_ENUMERATED, size)).argsort(axis=1)[:, :first]
        chosen = np.vstack([np.arange(first)[None], drawn[1:]])
    labels = np.zeros((len(chosen), size), dtype=np.float32)
    np.put_along_axis(labels, chosen, 1.0, axis=1)
    return labels


def least_p(first: int, second: int) -> float:
    """Return the smallest p that runs of so many repetitions can reach.

    What was measured is one of the relabellings; between equal numbers of repetitions, its mirror
    image is another one that is as extreme.
    """
    return (2 if first == second else 1) / math.comb(first + second, first)


def extremes(labels: Labels) -> NDArray[np.bool_]:
    """Return which rows are what was measured, or its mirror image."""
    same = (labels == labels[0]).all(axis=1)
    mirrored = (labels == 1.0 - labels[0]).all(axis=1)
    return np.asarray(same | mirrored)
