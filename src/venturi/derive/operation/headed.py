"""Files with a head: a few odd requests, then equal ones behind each other up to the end (rule 6).

Headers are written first, and often again when more is known; what follows is aligned, and the last
request is what is left. A mix of all sizes would lose that order, and with it the alignment.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from venturi.derive.operation.fit import linear_text
from venturi.derive.operation.run import Run, Said, Steps
from venturi.model.operation import Column
from venturi.model.units import size_text
from venturi.model.workload import PatternKind

MOST_HEAD = 8
"""So many odd requests."""
LEAST_EQUAL = 16
"""So many equal ones follow in each turn."""


def headed(run: Run) -> Said | None:
    """The table of the odd ones and the step of the others, where all turns have the same head."""
    alone = len(run.scene.crew) == 1 or not run.is_shared
    if not alone or int(run.count.min()) < LEAST_EQUAL or np.any(run.base < 0):
        return None
    turns = [run.rows(int(token)) for token in run.ids.ravel()]
    offsets = [run.table.offset[rows] for rows in turns]
    sizes = [run.table.bytes[rows] for rows in turns]
    length = _head(offsets[0], sizes[0])
    if not 0 < length <= MOST_HEAD:
        return None
    unit, start = int(sizes[0][length]), int(offsets[0][length])
    for offset, size in zip(offsets, sizes, strict=True):
        same = np.array_equal(offset[:length], offsets[0][:length])
        same &= np.array_equal(size[:length], sizes[0][:length])
        if not same or len(size) - length < LEAST_EQUAL or _head(offset, size) != length:
            return None
        if int(size[length]) != unit or int(offset[length]) != start:
            return None
    ends = [(len(size) - length, int(size[-1])) for size in sizes]
    count, last = (np.array(one).reshape(run.ids.shape) for one in zip(*ends, strict=True))
    rest = _rest(
        replace(run, span=(length, None)),
        np.where(last == unit, count, count - 1),
        np.where(last == unit, 0, last),
        (unit, start),
    )
    if rest is None:
        return None
    pairs = zip(offsets[0][:length].tolist(), sizes[0][:length].tolist(), strict=True)
    table: list[list[int | float | str]] = [[offset, size] for offset, size in pairs]
    head = replace(run, span=(0, length)).step(pattern=PatternKind.TABLE, table=table)
    steps = [head, *rest]
    moved = count * unit - unit + last
    end = start + int(moved.min() if run.is_write else moved.max())
    reach = np.array([max(end, _end(table))])
    rule = "6: a head of odd requests, then equal ones up to the end"
    said = Said(run.guarded(steps), "contiguous", size_text(unit), rule, 0.9, reach)
    said.has_sizes = len(np.unique(last)) == 1
    return said


def _head(offset: Column, size: Column) -> int:
    """How many requests come before equal ones that lie behind each other up to the last, which
    may have another size."""
    follow = offset[1:] == offset[:-1] + size[:-1]
    equal = size[:-1] == size[-2]
    breaks = np.flatnonzero(~follow)
    odd = np.flatnonzero(~equal)
    return max(int(edges[-1]) + 1 if len(edges) else 0 for edges in (breaks, odd))


def _rest(run: Run, equal: Column, last: Column, where: tuple[int, int]) -> Steps | None:
    """The steps of so many equal requests, and the last one: by a rule, or the mean of all turns.

    `where` are the bytes of an equal one, and where the first is.
    """
    unit, start = where
    transfer, units, turn = size_text(unit), run.scene.units, run.scene.unit
    amount = run.amount(equal * unit + last, is_size=True)
    if amount is not None and np.all(last < unit):
        return [run.step(transfer=transfer, size=amount, **run.at(size_text(start)))]
    if equal.size != units or (np.any(last) and not np.all(last)):
        return None
    count = run.amount(equal, is_size=False) or f"block({int(equal.sum())}, {units}, {turn})"
    steps: Steps = [run.step(transfer=transfer, count=count, **run.at(size_text(start)))]
    if np.any(last):
        size = run.amount(last, is_size=True) or f"block({int(last.sum())}, {units}, {turn})"
        place = linear_text(start, [(unit, str(count))])
        steps.append(run.step(size=size, **run.at(place)))
    return steps


def _end(table: list[list[int | float | str]]) -> int:
    return max(int(offset) + int(size) for offset, size in table)
