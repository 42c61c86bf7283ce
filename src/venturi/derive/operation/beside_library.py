"""Data of a library's file that were moved while the library did not have that file open.

Who reads a virtual dataset, or follows a link, speaks to one file, and HDF5 reads others below it.
Who copies or packs a file of HDF5 speaks to it by plain calls. The library's calls on such a file
do not hold all that was asked of it; those below do.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from venturi.derive.operation.table import LEAST_OF_FILE
from venturi.model.operation import KIND_CODES, Column, Kind, Operations
from venturi.model.trace import Layer

_FILE_LAYERS = (Layer.HDF5_FILE, Layer.PNETCDF_FILE)
_BEGINS, _ASKS, _ENDS = 0, 1, 2
"""The order of what happens at one time."""


def moved_beside(
    operations: Operations, root: Column, library: Collection[Layer], below: Collection[Layer]
) -> Column:
    """Which files, one entry for each, were moved by the layers `below` while their process did not
    have them open in the `library`: more of them than a look at their beginning.

    `root` says in which file each lies. What was opened before the capture is open from its start.
    """
    count = len(root)
    named = operations.file < count
    data = named & (operations.error == 0) & operations.is_kind(Kind.READ, Kind.WRITE)
    moved = np.flatnonzero(data & operations.is_layer(*below))
    calls = np.flatnonzero(named & operations.is_layer(*library))
    if not len(moved) or not len(calls):
        return np.zeros(count, bool)
    outside = moved[_depth(operations, root, calls, moved) <= 0]
    whole, alone = (
        np.bincount(root[operations.file[rows]], operations.bytes[rows], count)
        for rows in (moved, outside)
    )
    found: Column = (alone > 0) & (alone >= LEAST_OF_FILE * whole)
    return found


def _depth(operations: Operations, root: Column, calls: Column, moved: Column) -> Column:
    """How often the process of each of the `moved` rows has their file open in the library, whose
    rows are `calls`; what happens within a call counts as open."""
    begins, ends = _edges(operations, calls)
    rows = np.concatenate([begins, moved, ends])
    sizes = [len(begins), len(moved), len(ends)]
    what = np.repeat([_BEGINS, _ASKS, _ENDS], sizes)
    time = np.where(what == _ENDS, operations.end_ns[rows], operations.start_ns[rows])
    process = operations.process[rows].astype(np.int64)
    whose = process * len(root) + root[operations.file[rows]]
    order = np.lexsort((what, time, whose))
    steps = np.repeat([1, 0, -1], sizes)[order]
    total = np.cumsum(steps)
    _, first, group = np.unique(whose[order], return_index=True, return_inverse=True)
    depth = total - (total - steps)[first][group]
    # A close too many is that of a file which was open before.
    least = np.zeros(len(first), np.int64)
    np.minimum.at(least, group, depth)
    found = np.empty(len(rows), np.int64)
    found[order] = depth - least[group]
    answer: Column = found[what == _ASKS]
    return answer


def _edges(operations: Operations, calls: Column) -> tuple[Column, Column]:
    """The calls with which a file becomes open for the library, and those that end it: all calls
    do both for themselves, but for opening and closing a file."""
    of_file = operations.is_layer(*_FILE_LAYERS)[calls] & (operations.error[calls] == 0)
    kind = operations.kind[calls]
    opens = of_file & (kind == KIND_CODES[Kind.OPEN])
    closes = of_file & (kind == KIND_CODES[Kind.CLOSE])
    return calls[~closes], calls[~opens]
