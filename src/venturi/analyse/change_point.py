"""Change points of a series by E-divisive: where its distribution is another than before.

The energy distance of what is before and after a place (Szekely and Rizzo 2004) is largest where
the two differ most; whether it is more than chance is found by shuffling (Matteson and James 2014,
A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data). Shuffles are
the same each time, so two calls give one answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import count, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHUFFLES = 999
ALPHA = 0.002
SHORTEST = 3
"""Values of a segment at least: what two or fewer show may be chance."""
_POSSIBLE, _LIKELY = 2.0, 5.0
"""Two orders are as strong as a clean step: the step, and the same the other way round. They are no
more than chance's share where that share of all orders is two or more; that at most one of the
shuffles is as strong is four times out of five so where it is five."""
_MOST_CELLS = 200_000
_BATCH = 20
_FIRST = 4
"""Shuffles at first: where nothing changed, they show it."""
_MANY = 64
"""From so many values on it pays to bound what a shuffle can show before it is computed, and not to
compute all distances."""
_GRIDS = (1, 4)
"""Places at which shuffles are looked at are their distance to the nearer end apart, and for those
that this leaves a fourth of it: where a step is high, few are left."""
_MARGIN = 0.999
"""Of a bound, for rounding."""
_ROUNDING = 1e-9
"""Of two equal strengths that are computed in two orders, at most, as a share."""


def _allowed(values: int, after: int) -> float:
    """Of all orders in which so many values have others among the last, chance's share."""
    return math.comb(values, after) * ALPHA


FEWEST = next(n for n in count(2 * SHORTEST) if _allowed(n, n // 2) >= _POSSIBLE)
"""Values among which any step can be more than chance."""


def seen_after(before: int) -> int:
    """How many values show a clean step, as a rule, if so many stood before it."""
    return next(after for after in count(SHORTEST) if _allowed(before + after, after) >= _LIKELY)


def change_points(
    values: Sequence[float], least: float = 0.0, shortest: int = SHORTEST
) -> list[int]:
    """Where new segments begin, in order; medians of neighbours differ by `least` or more."""
    found: list[int] = []
    _split(np.asarray(values, float), 0, shortest, found)
    return _merged(values, sorted(found), least)


def _split(values: NDArray[np.float64], start: int, shortest: int, found: list[int]) -> None:
    """Adds the change points of one segment, the strongest first."""
    if len(values) < 2 * shortest:
        return
    strength, place = _strongest(values, np.arange(len(values))[None], shortest)
    if not _is_more_than_chance(values, float(strength[0]), shortest):
        return
    at = int(place[0])
    found.append(start + at)
    _split(values[:at], start, shortest, found)
    _split(values[at:], start + at, shortest, found)


def _strongest(
    values: NDArray[np.float64], orders: NDArray[np.intp], shortest: int
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The largest energy distance over all places, and where it is, for each of several orders."""
    n = len(values)
    rows = _to_all(values)[orders]
    before = (_to_earlier if n >= _MANY else _to_earlier_of_few)(values, orders)
    inside = 2.0 * np.cumsum(before, axis=1)
    across = np.cumsum(rows, axis=1) - inside
    beyond = rows.sum(axis=1, keepdims=True) - inside - 2.0 * across
    size = np.arange(1, n + 1, dtype=float)
    rest = n - size
    places = slice(shortest - 1, n - shortest)
    left, right = size[places], rest[places]
    energy = (
        2.0 * across[:, places] / (left * right)
        - inside[:, places] / (left * left)
        - beyond[:, places] / (right * right)
    )
    strength = left * right / n * energy
    best = strength.argmax(axis=1)
    return strength[np.arange(len(strength)), best], best + shortest


def _to_all(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distances of each value to all others, summed."""
    by_size = np.argsort(values, kind="stable")
    ordered = values[by_size] - values[by_size[len(values) // 2]]
    smaller = np.arange(len(values))
    sums = np.cumsum(ordered) - ordered
    found = np.empty(len(values))
    found[by_size] = ordered * (2 * smaller - len(values)) - 2.0 * sums + ordered.sum()
    return found


def _to_earlier_of_few(
    values: NDArray[np.float64], orders: NDArray[np.intp]
) -> NDArray[np.float64]:
    """The distances of each value to those before it, summed, for each order."""
    shuffled = values[orders]
    distances: NDArray[np.float64] = np.abs(shuffled[:, :, None] - shuffled[:, None, :])
    summed: NDArray[np.float64] = np.tril(distances).sum(axis=2)
    return summed


def _to_earlier(values: NDArray[np.float64], orders: NDArray[np.intp]) -> NDArray[np.float64]:
    """As `_to_earlier_of_few`, in n log n steps.

    Places are halved again and again, as by a merge sort: of each pair of halves, what is in the
    right one adds its distances to the left one, where values stand by their size, so that sums
    and counts up to a value tell them. Places beyond the last are never in a left half that
    counts.
    """
    count, n = orders.shape
    depth = (n - 1).bit_length()
    room = 1 << depth
    by_size = np.argsort(values, kind="stable")
    value = np.zeros((count, room))
    value[:, :n] = values[by_size] - values[by_size[n // 2]]
    place = np.tile(np.arange(room), (count, 1))
    place[:, :n] = np.argsort(orders, axis=1)[:, by_size]
    found = np.zeros((count, room))
    first = np.arange(count)[:, None] * room
    for level in reversed(range(depth)):
        half = 1 << level
        blocks = (count, room // (2 * half), 2 * half)
        is_left = (place & half == 0).reshape(blocks)
        mine = value.reshape(blocks)
        counts = np.cumsum(is_left, axis=2)
        sums = np.cumsum(np.where(is_left, mine, 0.0), axis=2)
        distances = mine * (2 * counts - half) - 2.0 * sums + sums[:, :, -1:]
        found += np.where(is_left, 0.0, distances).reshape(count, room)
        to = np.where(is_left, counts - 1, half + np.arange(2 * half) - counts)
        to = to.reshape(count, room) + (np.arange(room) // (2 * half) * (2 * half)) + first
        value, place, found = (_moved(one, to) for one in (value, place, found))
    return found[:, :n]


def _moved(rows: NDArray[Any], to: NDArray[np.intp]) -> NDArray[Any]:
    moved = np.empty_like(rows)
    moved.reshape(-1)[to] = rows
    return moved


def _is_more_than_chance(values: NDArray[np.float64], strength: float, shortest: int) -> bool:
    """Whether so few shuffles are as strong; as soon as there are too many, no more are tried."""
    n = len(values)
    chance = np.random.default_rng(n)
    allowed = int(ALPHA * (SHUFFLES + 1)) - 1
    as_strong = strength * (1.0 - _ROUNDING) - _ROUNDING**2
    batch = max(1, min(_BATCH, _MOST_CELLS // n))
    bounds = [_StrengthBound(values, shortest, grid) for grid in _GRIDS if n >= _MANY]
    done = stronger = 0
    while done < SHUFFLES:
        count = min(batch, SHUFFLES - done, max(done, _FIRST))
        orders = np.argsort(chance.random((count, n)), axis=1)
        done += count
        for bound in bounds:
            if len(orders):
                orders = orders[bound.of(orders) >= _MARGIN * strength]
        if not len(orders):
            continue
        stronger += int((_strongest(values, orders, shortest)[0] >= as_strong).sum())
        if stronger > allowed:
            return False
    return True


class _StrengthBound:
    """What the strength of an order cannot exceed, from a few of its places.

    On a line, the energy distance of two samples is twice the integral of the squared difference
    of their distribution functions (Szekely and Rizzo 2013, Energy statistics, section 2). With t
    values before a place and C of them up to a gap between neighbouring values, R of all n, the
    strength is n / (t (n - t)) |C - t R / n|^2, in the norm whose weights are twice the gaps. One
    place further C grows by one step, so the norm grows by the longest step at most.
    """

    def __init__(self, values: NDArray[np.float64], shortest: int, grid: int) -> None:
        n = len(values)
        self._sorted = np.argsort(values, kind="stable")
        self._weights = 2.0 * np.diff(values[self._sorted])
        self._shares = np.arange(1, n) / n
        below = np.cumsum(self._weights * self._shares**2)
        above = self._weights * (1.0 - self._shares) ** 2
        rest = above.sum() - np.cumsum(above)
        ends = np.concatenate(([0.0], below)) + np.concatenate(([above.sum()], rest))
        longest = math.sqrt(float(ends.max()))
        self._grid = self._places(n, shortest, grid)
        every = np.arange(shortest, n - shortest + 1)
        self._factor = n / (every * (n - every))
        after = np.searchsorted(self._grid, every)
        self._ends = (np.maximum(after - 1, 0), after)
        self._reach = tuple(longest * np.abs(every - self._grid[end]) for end in self._ends)

    @staticmethod
    def _places(n: int, shortest: int, grid: int) -> NDArray[np.intp]:
        """Few places from the first to the last one, denser at the ends."""
        found = [shortest]
        while found[-1] < n - shortest:
            room = min(found[-1], n - found[-1])
            found.append(min(found[-1] + max(1, room // grid), n - shortest))
        return np.array(found)

    def of(self, orders: NDArray[np.intp]) -> NDArray[np.float64]:
        """For each order a number that the strength at none of its places exceeds."""
        place = np.argsort(orders, axis=1)[:, self._sorted[:-1]]  # of the values by their size
        is_before = place[:, None, :] < self._grid[None, :, None]
        # Single precision is a thousand times as fine as the margin.
        bridge = np.cumsum(is_before, axis=2, dtype=np.float32)
        bridge -= (self._grid[:, None] * self._shares).astype(np.float32)
        np.square(bridge, out=bridge)
        norm = np.sqrt(bridge @ self._weights.astype(np.float32))
        near, far = (
            norm[:, end] + reach for end, reach in zip(self._ends, self._reach, strict=True)
        )
        strongest: NDArray[np.float64] = (self._factor * np.square(np.minimum(near, far))).max(
            axis=1
        )
        return strongest


def _merged(values: Sequence[float], points: list[int], least: float) -> list[int]:
    """The points without those at which medians differ by less, the smallest taken out first."""
    while points:
        bounds = [0, *points, len(values)]
        medians = [float(np.median(values[start:end])) for start, end in pairwise(bounds)]
        steps = [abs(after - before) for before, after in pairwise(medians)]
        smallest = min(range(len(steps)), key=steps.__getitem__)
        if steps[smallest] >= least:
            break
        points = points[:smallest] + points[smallest + 1 :]
    return points
