"""Where the requests of one run lie, from its first request on: rule 5 of the method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venturi.model.operation import Column

MOST_ROWS = 32
"""A list of more places than this is no pattern that people read."""
LEAST_SAVED = 2
"""So many rows less are worth to say of how many bytes requests are."""
MOST_LOOPS = 4
RANDOM_BACKWARD_SHARE = 0.3
"""Random access jumps backwards half of the time, regular access hardly ever."""
LEAST_RANDOM = 8
"""Fewer requests than this say nothing about randomness."""


@dataclass(frozen=True)
class Nest:
    """Runs of bytes that lie together, in loops; no loop: one run."""

    loops: tuple[tuple[int, int], ...]
    """(count, stride in bytes), outermost first."""
    run: int
    transfer: int


@dataclass(frozen=True)
class Rows:
    """A list of places."""

    rows: tuple[tuple[int, int], ...]
    """(offset from the run's lowest place, bytes)."""
    shift: int
    """From the first request to the lowest place; 0 or less."""
    transfer: int = 0
    """Each row is as many requests of so many bytes, the last one shorter; 0: one request."""


Places = Nest | Rows


def places_of(offset: Column, size: Column) -> Places | None:
    """The places of requests as a nest or a list; None where they are neither."""
    relative = offset - offset[0]
    nest = _nest(relative, size)
    if nest is not None:
        return nest
    return rows_of(offset, size)


def rows_of(offset: Column, size: Column) -> Rows | None:
    """Requests as a list, where those of the largest size that lie together are one row; None
    where it is too long."""
    relative = offset - offset[0]
    low, transfer = int(relative.min()), int(size.max())
    begins = np.ones(len(size), bool)
    begins[1:] = relative[1:] != relative[:-1] + size[:-1]
    begins[1:] |= size[:-1] < transfer
    first = np.flatnonzero(begins)
    if len(first) == 1 or len(first) + LEAST_SAVED <= len(size):
        size, relative = np.add.reduceat(size, first), relative[first]
    else:
        transfer = 0
    if len(size) > MOST_ROWS:
        return None
    rows = zip((relative - low).tolist(), size.tolist(), strict=True)
    return Rows(tuple((int(o), int(b)) for o, b in rows), low, transfer)


def _nest(relative: Column, size: Column) -> Nest | None:
    starts = np.flatnonzero(np.concatenate([[True], relative[1:] != relative[:-1] + size[:-1]]))
    count = np.diff(np.append(starts, len(size)))
    if np.any(count != count[0]):
        return None
    sizes = size.reshape(-1, int(count[0]))
    if np.any(sizes != sizes[0]):
        return None
    one = sizes[0]
    transfer = int(one[0])
    if np.any(one[:-1] != transfer) or one[-1] > transfer:
        return None
    loops = _peeled(relative[starts])
    return None if loops is None else Nest(loops, int(one.sum()), transfer)


def _peeled(starts: Column) -> tuple[tuple[int, int], ...] | None:
    """The loops that visit `starts` in this order, the innermost peeled off first."""
    loops: list[tuple[int, int]] = []
    while len(starts) > 1:
        if len(loops) == MOST_LOOPS:
            return None
        steps = np.diff(starts)
        other = np.flatnonzero(steps != steps[0])
        count = int(other[0]) + 1 if len(other) else len(starts)
        if count < 2 or len(starts) % count:
            return None
        grid = starts.reshape(-1, count)
        if np.any(grid - grid[:, :1] != np.arange(count) * int(steps[0])):
            return None
        loops.insert(0, (count, int(steps[0])))
        starts = grid[:, 0]
    return tuple(loops)


@dataclass(frozen=True)
class Tile:
    """An n-dimensional array in bytes, and the part of it that each rank moves."""

    shape: tuple[int, ...]
    tile: tuple[int, ...]


def tile_of(nest: Nest, base: Column) -> Tile | None:
    """The array of which each rank moves a tile, tiles dealt in row-major order.

    `base` holds the beginning of each rank's tile, from the array's beginning on.
    """
    ranks = len(base)
    if ranks < 2 or not nest.loops or any(stride <= 0 for _, stride in nest.loops):
        return None
    strides = [stride for _, stride in nest.loops] + [1]
    tile = [count for count, _ in nest.loops] + [nest.run]
    shape = [0] * len(tile)
    for dim in range(1, len(tile)):
        extent, rest = divmod(strides[dim - 1], strides[dim])
        if rest or extent % tile[dim]:
            return None
        shape[dim] = extent
    inner = 1
    for dim in range(1, len(tile)):
        inner *= shape[dim] // tile[dim]
    if ranks % inner:
        return None
    shape[0] = tile[0] * (ranks // inner)
    expected = np.zeros(ranks, np.int64)
    below, index = 1, np.arange(ranks)
    for dim in range(len(tile) - 1, -1, -1):
        parts = shape[dim] // tile[dim]
        expected += (index // below) % parts * tile[dim] * strides[dim]
        below *= parts
    return Tile(tuple(shape), tuple(tile)) if np.array_equal(expected, base) else None


def base_shift(base: Column) -> int:
    """How many ranks further the reader's place is, where beginnings are a rotation of ranks'."""
    first = base.reshape(-1, base.shape[-1])[0]
    ranks = len(first)
    if ranks < 2 or np.any(base < 0):
        return 0
    shift = (ranks - int(np.argmin(first))) % ranks
    if not shift:
        return 0
    steps = np.diff(np.roll(first, shift))
    is_regular = steps[0] > 0 and bool(np.all(steps == steps[0]))
    moved = base - first
    return shift if is_regular and not np.any(moved != moved[..., :1]) else 0
