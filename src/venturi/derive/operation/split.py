"""How ranks share a dataset: parts along its dimensions, moved slab by slab.

The meaning is the language's: parts are dealt in row-major order of `split`, and a call moves the
thickest slab of a part, along its outermost dimension that is divided, that `transfer` allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from venturi.derive.operation.array import Form
from venturi.model.operation import Column


@dataclass(frozen=True)
class Moved:
    """The requests of one rank to one dataset, in the order of time."""

    offset: Column
    """In the dataset, row-major, of the first element."""
    size: Column

    @property
    def bytes(self) -> int:
        """All that is moved."""
        return int(self.size.sum())


@dataclass(frozen=True)
class Split:
    """Parts along each dimension, and the most that one call moves; 0: a part in one call."""

    parts: tuple[int, ...]
    transfer: int


def split_of(form: Form, moved: list[Moved]) -> Split | None:
    """The split that gives exactly what each rank moved; None where none does."""
    ranks = len(moved)
    if any(one.bytes * ranks != form.bytes for one in moved):
        return None
    transfer = int(moved[0].size.max())
    for parts in _splits(form.shape, ranks):
        if _fits(form, parts, transfer, moved):
            return Split(parts, 0 if len(moved[0].size) == 1 else transfer)
    return None


def rows_of(form: Form, moved: list[Moved]) -> tuple[int, ...]:
    """How many rows of the first dimension each rank moves with one call, where ranks lie behind
    each other in their order and have different numbers of them; none where they do not, as in a
    dataset that was empty when it was made, and grew."""
    if not form.shape or not form.bytes or any(len(one.size) != 1 for one in moved):
        return ()
    row = form.bytes // form.shape[0]
    size = np.array([int(one.size[0]) for one in moved])
    start = np.array([int(one.offset[0]) for one in moved])
    if np.any(size % row) or np.any(start != np.cumsum(size) - size) or size.sum() != form.bytes:
        return ()
    return tuple((size // row).tolist())


def _splits(shape: tuple[int, ...], ranks: int) -> Iterator[tuple[int, ...]]:
    """Divisions of the shape into so many equal parts; outer dimensions are divided first."""
    if not shape:
        if ranks == 1:
            yield ()
        return
    for parts in range(ranks, 0, -1):
        if ranks % parts == 0 and shape[0] % parts == 0:
            for inner in _splits(shape[1:], ranks // parts):
                yield (parts, *inner)


def _fits(form: Form, parts: tuple[int, ...], transfer: int, moved: list[Moved]) -> bool:
    local = [extent // count for extent, count in zip(form.shape, parts, strict=True)]
    offset, size = _slabs(form, local, transfer)
    if len(offset) != len(moved[0].offset):
        return False
    strides = _strides(form)
    below = prod(parts)
    rank = np.arange(len(moved), dtype=np.int64)
    start = np.zeros(len(moved), np.int64)
    for count, extent, stride in zip(parts, local, strides, strict=True):
        below //= count
        start += rank // below % count * extent * stride
    for begin, one in zip(start.tolist(), moved, strict=True):
        order = np.argsort(one.offset, kind="stable")
        if not np.array_equal(one.offset[order], offset + begin):
            return False
        if not np.array_equal(one.size[order], size):
            return False
    return True


def _strides(form: Form) -> list[int]:
    """Bytes from one element to the next along each dimension."""
    return [prod(form.shape[dim + 1 :]) * form.element_bytes for dim in range(len(form.shape))]


def _slabs(form: Form, local: list[int], transfer: int) -> tuple[Column, Column]:
    """Offsets from a part's beginning, rising, and sizes of the calls that move it."""
    element = form.element_bytes
    below = [prod(local[dim + 1 :]) * element for dim in range(len(local))]
    most = max(min(transfer, below[0] * local[0]), element)
    cut = next(dim for dim, size in enumerate(below) if size <= most)
    thick = min(most // below[cut], local[cut])
    strides = _strides(form)
    index = np.arange(0, local[cut], thick, dtype=np.int64)
    offset = index * strides[cut]
    size = np.minimum(local[cut] - index, thick) * below[cut]
    for dim in range(cut - 1, -1, -1):
        steps = np.arange(local[dim], dtype=np.int64) * strides[dim]
        offset = (steps[:, None] + offset).ravel()
        size = np.tile(size, local[dim])
    return offset, size
