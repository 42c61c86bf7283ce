"""Where labels stand that name levels: beside them, or as far off as keeps them apart."""

from __future__ import annotations

from collections.abc import Sequence


def apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return a place for each label, `gap` or more from its neighbours, in the order of `wanted`.

    Labels that would overlap form a block around the mean of their wanted places, so that none
    moves further than it must; labels keep their order. Places lie from `low` to `high`; more
    labels than fit go on beyond `high`. One pass that joins blocks: pool adjacent violators (Ayer
    et al. 1955).
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    blocks: list[tuple[float, int]] = []
    """The sum of what is wanted, and how many: places without the gaps before them."""
    for rank, index in enumerate(order):
        total, count = wanted[index] - rank * gap, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            before, size = blocks.pop()
            total, count = total + before, count + size
        blocks.append((total, count))
    last = max(low, high - (len(wanted) - 1) * gap)
    means = [total / count for total, count in blocks for _ in range(count)]
    found = [0.0] * len(wanted)
    for rank, (index, mean) in enumerate(zip(order, means, strict=True)):
        found[index] = min(max(mean, low), last) + rank * gap
    return found
