"""Requests that take turns between a few places in a file, each of which goes on by itself.

A table to whose end a record is added and whose head is then written anew, an index beside its
data, an array read from two ends: told as so many requests of each size, one after the other, the
head would be written a thousand times in a row, or behind the records (rule 6).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from venturi.derive.operation.deal import GROUP_NOTE, NEAR, NEAR_NOTE
from venturi.derive.operation.fit import Affine, affine, linear_text
from venturi.derive.operation.run import Run, Said, Steps
from venturi.derive.operation.table import APPENDS
from venturi.model.operation import Column
from venturi.model.units import size_text
from venturi.model.workload import PatternKind, StepSpec

MOST_LANES = 8
MOST_STEPS = 4
"""Lanes that do not all go on at one distance have a step each."""
MOST_LEAD = 4
"""So many requests may come before the first turn."""
LEAST_TURNS = 8


@dataclass(frozen=True)
class Lane:
    """One of the places: the request of every turn."""

    start: int
    stride: int
    """From turn to turn, where all have one size."""
    sizes: Column

    @property
    def is_even(self) -> bool:
        """Whether all requests have one size."""
        return bool(np.all(self.sizes == self.sizes[0]))


def lanes(run: Run) -> Said | None:
    """The steps of a run in which a few places take turns, if it is one."""
    alone = len(run.scene.crew) == 1 or not run.is_shared
    if not alone or not np.all(run.jumps) or np.any(run.base < 0):
        return None
    base = affine(run.base)
    if base is None or np.any(run.shape != run.shape.flat[0]) or np.any(run.flags & APPENDS):
        return None
    rows = run.rows(int(run.ids.flat[0]))
    requests = np.stack((run.table.offset[rows], run.table.bytes[rows]), axis=1)
    for count in range(2, MOST_LANES + 1):
        for lead in range(MOST_LEAD + 1):
            turns = (len(requests) - lead) // count
            for whole in (turns, turns - 1):
                end = lead + whole * count
                found = _lanes_in(requests[lead:end], count) if whole >= LEAST_TURNS else []
                if found:
                    return _Turns(run, base).said(requests[:lead], found, requests[end:])
    return None


def _lanes_in(requests: Column, count: int) -> list[Lane]:
    """So many lanes that all of these requests are, with a jump in each turn; none where they are
    not."""
    jumps = np.count_nonzero(np.diff(requests[:, 0]) != requests[:-1, 1])
    found: list[Lane] = []
    if jumps < len(requests) // count - 1:
        return []
    for place in range(count):
        lane = _lane(*requests[place::count].T)
        if lane is None:
            return []
        found.append(lane)
    is_table = all(lane.is_even and lane.stride == found[0].stride > 0 for lane in found)
    return found if is_table or count <= MOST_STEPS else []


def _lane(offset: Column, size: Column) -> Lane | None:
    """Requests at one place, or each behind the one before, or at equal distances."""
    steps = np.diff(offset)
    if not np.any(steps):
        return Lane(int(offset[0]), 0, size)
    is_even = bool(np.all(size == size[0]))
    if is_even and np.all(steps == steps[0]):
        return Lane(int(offset[0]), int(steps[0]), size)
    return Lane(int(offset[0]), -1, size) if np.array_equal(steps, size[:-1]) else None


@dataclass(frozen=True)
class _Turns:
    """Writes the steps of a run whose tokens begin at `base`."""

    run: Run
    base: Affine

    def said(self, lead: Column, found: list[Lane], tail: Column) -> Said:
        """The requests before the first turn, all turns, and what comes behind them."""
        run, turns = self.run, len(found[0].sizes)
        last = len(lead) + turns * len(found)
        middle = replace(run, span=(len(lead), last))
        stride = found[0].stride
        steps: Steps = [self._table(replace(run, span=(0, len(lead))), lead)] if len(lead) else []
        if all(lane.is_even and lane.stride == stride > 0 for lane in found):
            rows = np.array([[lane.start, int(lane.sizes[0])] for lane in found])
            steps.append(self._table(middle, rows, segments=turns, block=size_text(stride)))
        else:
            body: Steps = [self._step(middle, lane) for lane in found]
            steps.append(StepSpec(for_=run.scene.variable, in_=turns, do=body))
        if len(tail):
            steps.append(self._table(replace(run, span=(last, None)), tail))
        uneven = [lane.sizes for lane in found if not lane.is_even]
        is_near = all(sizes.max() <= NEAR * sizes.min() for sizes in uneven)
        notes = [NEAR_NOTE if is_near else GROUP_NOTE] if uneven else []
        text = ", ".join(size_text(round(float(lane.sizes.mean()))) for lane in found[:3])
        rule = f"6: {len(found)} places take turns, each goes on by itself"
        sure = 0.5 if uneven else 0.9
        said = Said(run.guarded(steps), "turns", text, rule, sure, run.reach(), notes)
        said.has_sizes = not uneven
        return said

    def _table(self, run: Run, rows: Column, **keys: Any) -> StepSpec:
        """The step of requests at these places, from the beginning of the token's."""
        first = int(rows[:, 0].min())
        at = run.at(self._at(first, []))
        if len(rows) == 1:
            return run.step(size=size_text(int(rows[0, 1])), **at)
        table = [[int(place) - first, int(size)] for place, size in rows]
        return run.step(pattern=PatternKind.TABLE, table=table, **keys, **at)

    def _at(self, place: int, terms: list[tuple[int, str]]) -> str:
        """A place of the first token's, for every turn of the loops around and every rank."""
        scene, slopes = self.run.scene, self.base.slopes
        around = [*scene.terms(slopes[:-1]), (slopes[-1], scene.crew.place)]
        return linear_text(place, [*around, *terms])

    def _step(self, run: Run, lane: Lane) -> StepSpec:
        """The request of one turn."""
        variable = run.scene.variable
        if lane.is_even:
            at = self._at(lane.start, [(lane.stride, variable)])
            return run.step(size=size_text(int(lane.sizes[0])), **run.at(at))
        total, turns = int(lane.sizes.sum()), len(lane.sizes)
        each, more = divmod(total, turns)
        at = self._at(lane.start, [(each if lane.stride else 0, variable)])
        at += f" + min({variable}, {more})" if lane.stride and more else ""
        size = f"block({total}, {turns}, {variable})" if more else size_text(each)
        return run.step(size=size, **run.at(at))
