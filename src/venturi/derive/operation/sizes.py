"""Sizes of requests as a mix that people can read, with the same sum and number: rule 6."""

from __future__ import annotations

from math import gcd

import numpy as np

from venturi.model.operation import Column
from venturi.model.units import size_text
from venturi.model.workload import MixSpec

MOST_SIZES = 8
"""A mix of more sizes than this is shortened to means of quantiles."""
MOST_LISTED = 16
"""Of files that are moved in one request each, so many sizes are told."""
MOST_WEIGHT = 1_000_000

Parts = list[tuple[int, int]]
"""(bytes, how many), the largest share of the bytes first."""


def parts_of(sizes: Column, most: int = MOST_SIZES) -> tuple[Parts, bool]:
    """The sizes with their counts, and whether they are exact rather than quantiles, as they are
    where there are more than `most`."""
    values, counts = np.unique(sizes, return_counts=True)
    if len(values) <= most:
        return _sorted(list(zip(values.tolist(), counts.tolist(), strict=True))), True
    ordered = np.sort(sizes)
    parts: dict[int, int] = {}
    for bunch in np.array_split(ordered, MOST_SIZES // 2):
        small, longer = divmod(int(bunch.sum()), len(bunch))
        for size, count in ((small, len(bunch) - longer), (small + 1, longer)):
            if count and size:
                parts[size] = parts.get(size, 0) + count
    return _sorted(list(parts.items())), False


def _sorted(parts: Parts) -> Parts:
    return sorted(parts, key=lambda part: (-part[0] * part[1], part[0]))


def mix_of(parts: Parts) -> list[MixSpec] | None:
    """The parts as a mix; None where a weight would be too large."""
    common = gcd(*(count for _, count in parts))
    if any(count // common > MOST_WEIGHT for _, count in parts):
        return None
    return [MixSpec(bytes=size_text(size), weight=count // common) for size, count in parts]
