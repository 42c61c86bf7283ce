"""Datasets of self-describing files as a trace knows them, and a place for each in its file.

Where a workload cannot say a dataset, its bytes are those of a plain file: datasets lie behind each
other in the order of their first use.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from venturi.model.layout import ElementType
from venturi.model.operation import UNKNOWN_OFFSET, Column
from venturi.model.trace import TracedFile

NUMBERS = {8: ElementType.F64, 4: ElementType.F32, 2: ElementType.I16, 1: ElementType.I8}
"""Types of numbers by their bytes; whether they are whole is not seen, and costs nothing."""

MOST_BYTES = 2**50
"""Of a dataset when places in a file are dealt: what claims to be larger is not believed."""

NO_DATASET = -1
"""In the column `dataset`: the row is of a whole file."""


@dataclass(frozen=True)
class Form:
    """What equal datasets have in common."""

    shape: tuple[int, ...]
    element_bytes: int
    chunk: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """All elements."""
        return prod(self.shape) * self.element_bytes


@dataclass(frozen=True)
class Array:
    """A dataset of the application."""

    name: str
    form: Form
    chunk_cache_bytes: int | None = None
    """None: unknown, or it has no chunks."""


def array_of(file: TracedFile) -> Array:
    """A dataset as the trace tells it; one without dimensions holds one element.

    Elements of other sizes than numbers have (records, texts) are rows of bytes.
    """
    shape = tuple(file.shape) or (1,)
    chunk = tuple(file.chunk) if len(file.chunk) == len(shape) else ()
    size = file.element_bytes or 1
    if size not in NUMBERS:
        shape = (*shape[:-1], shape[-1] * size)
        chunk = (*chunk[:-1], chunk[-1] * size) if chunk else ()
        size = 1
    return Array(file.path, Form(shape, size, chunk), file.chunk_cache_bytes if chunk else None)


def in_file(
    dataset: Column, file: Column, offset: Column, size: Column, arrays: dict[int, Array]
) -> Column:
    """Offsets in files of requests to datasets; rows come in the order of time.

    A dataset is as long as its elements or, where it grew, as what was moved of it.
    """
    rows = np.flatnonzero(dataset != NO_DATASET)
    if not len(rows):
        return offset
    used, first, place = np.unique(dataset[rows], return_index=True, return_inverse=True)
    claimed = [min(arrays[index].form.bytes, MOST_BYTES) for index in used.tolist()]
    length = np.array(claimed, np.int64)
    reach = np.clip(offset[rows], 0, MOST_BYTES) + np.clip(size[rows], 0, MOST_BYTES)
    np.maximum.at(length, place, reach)
    holder = file[rows[first]]
    order = np.lexsort((first, holder))
    end = np.cumsum(length[order])
    begins = end - length[order]
    starts = np.flatnonzero(np.concatenate([[True], np.diff(holder[order]) != 0]))
    begins -= np.repeat(begins[starts], np.diff(np.append(starts, len(order))))
    base = np.empty(len(used), np.int64)
    base[order] = begins
    placed = offset.astype(np.int64)
    known = offset[rows] != UNKNOWN_OFFSET
    placed[rows[known]] += base[place[known]]
    return placed
