"""Writes of one size that are scattered over the file, forwards: pages of a database (rule 6).

They are sorted, so no random order shows; but each is a request of its own to the storage when they
are made persistent, where the same pages one behind the other would be a single one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from venturi.derive.operation.fit import linear_text
from venturi.derive.operation.place import LEAST_RANDOM
from venturi.derive.operation.run import Run, Said, Steps
from venturi.model.operation import KIND_CODES, Kind
from venturi.model.units import size_text
from venturi.model.workload import PatternKind


def scattered(run: Run) -> Said | None:
    """The steps of such writes: in each turn random places of a region that grows as the file."""
    unit, ranks = int(run.unit.max()), run.ids.shape[-1]
    if not run.is_write or (run.is_shared and ranks > 1) or np.any(run.base < 0):
        return None
    if np.any(run.unit != unit) or np.any(run.bytes != run.count * unit) or not unit:
        return None
    if int(run.jumps.sum()) * 2 < int(run.count.sum()) or run.count.mean() < LEAST_RANDOM:
        return None
    low = int(run.low.min())
    places = np.concatenate([run.table.offset[run.rows(int(token))] for token in run.ids.ravel()])
    if np.any((places - low) % unit) or _is_read(run, low + unit):
        return None
    return _said(run, unit, low)


def _is_read(run: Run, end: int) -> bool:
    """Whether somebody reads these files further on: who knows, from a place that is left out."""
    table = run.table
    reads = (table.kind == KIND_CODES[Kind.READ]) & (table.offset + table.bytes > end)
    return bool(np.any(np.isin(table.file[reads], np.unique(run.tokens.file[run.ids]))))


def _said(run: Run, unit: int, low: int) -> Said:
    scene, units = run.scene, run.scene.units
    steps: Steps = []
    requests, first = int(run.count.sum()), 0
    if np.all(run.low == low) and requests > units:
        # The beginning is written each time, and is what others look at.
        steps.append(run.step(transfer=size_text(unit), size=size_text(unit), at=size_text(low)))
        requests, first = requests - units, 1
    start = low + first * unit
    least, growth = _slots(run, unit, start, -(-requests // units))
    terms = [(growth * unit, scene.loops[0][0])] if growth else []
    if growth and requests > 2 * units:
        # Each turn makes the file longer: a sync then writes out how long it is, too.
        requests, least = requests - units, least - 1
        at = linear_text(start + least * unit, terms)
        steps.append(run.step(transfer=size_text(unit), size=size_text(unit), at=at))
    each, more = divmod(requests, units)
    keys: dict[str, Any] = {
        "pattern": PatternKind.RANDOM,
        "transfer": size_text(unit),
        "size": linear_text(least * unit, terms),
        "count": f"block({requests}, {units}, {scene.unit})" if more else each,
        "at": size_text(start),
    }
    steps.append(run.step(**keys))
    rule = f"6: {int(run.jumps.sum())} of {int(run.count.sum())} requests jump forwards"
    notes = ["random places within the region that was touched"]
    reach = np.array([start])
    return Said(run.guarded(steps), "random", size_text(unit), rule, 0.6, reach, notes)


def _slots(run: Run, unit: int, start: int, least: int) -> tuple[int, int]:
    """How many places the first turn's region has, and how many more each turn of the only loop."""
    ends = run.end.max(axis=-1)
    last = max(-(-(int(ends.max()) - start) // unit), least)
    if len(run.scene.loops) != 1 or ends.shape != (run.scene.loops[0][1],):
        return last, 0
    begin = max(-(-(int(ends[0]) - start) // unit), least)
    growth = (last - begin) // max(len(ends) - 1, 1)
    return last - growth * (len(ends) - 1), growth
