"""Writes of one size that are scattered over the file, forwards: pages of a database (rule 6).

They are sorted, so no random order shows; but each is a request of its own to the storage when they
are made persistent, where the same pages one behind the other would be a single one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from venturi.derive.operation.fit import linear_text
from venturi.derive.operation.place import LEAST_RANDOM
from venturi.derive.operation.rising import Dealt, dealt
from venturi.derive.operation.run import Run, Said, Steps
from venturi.model.operation import KIND_CODES, Kind
from venturi.model.units import size_text
from venturi.model.workload import PatternKind, StepSpec


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
    scene = run.scene
    steps: Steps = []
    requests, start = int(run.count.sum()), low
    if np.all(run.low == low) and requests > scene.units:
        # The beginning is written each time, and is what others look at.
        steps.append(run.step(transfer=size_text(unit), size=size_text(unit), at=size_text(low)))
        requests, start = requests - scene.units, low + unit
    steps += _growing(run, unit, start, requests) or [_alike(run, unit, start, requests)]
    rule = f"6: {int(run.jumps.sum())} of {int(run.count.sum())} requests jump forwards"
    notes = ["random places within the region that was touched"]
    reach = np.array([start])
    return Said(run.guarded(steps), "random", size_text(unit), rule, 0.6, reach, notes)


def _alike(run: Run, unit: int, start: int, requests: int) -> StepSpec:
    """The step of turns that all write into the same region."""
    count = dealt(requests, run.count, run.scene)
    slots = max(-(-(int(run.end.max()) - start) // unit), int(count.counts.max()))
    return _random(run, unit, start, size_text(slots * unit), count)


def _growing(run: Run, unit: int, start: int, requests: int) -> Steps:
    """The steps of turns that each add pages at the end of a file, and write some before them once
    more; none where the file does not grow, or not by turns of one rank.

    What is written once more was there: a place that is new in the middle of a file has to be
    found on the storage, and a sync has to write out where it is, too.
    """
    scene, ends = run.scene, -(-(run.end.ravel() - start) // unit)
    turns = scene.units
    if len(scene.crew) > 1 or turns != len(ends) or turns == 1:
        return []
    counts = run.count.ravel() * requests // int(run.count.sum())
    before = max(int(ends[0] - counts[0]), 0)
    for _ in range(2):
        each, more = divmod(int(ends.max()) - before, turns)
        turn = np.arange(turns)
        added = each + (turn < more)
        again = dealt(requests - int(added.sum()), np.maximum(counts - added, 0), scene)
        lack = int(np.max(again.counts - (before + np.cumsum(added) - added + 1)))
        before += max(lack, 0)
    if each <= 0 or again.counts.sum() <= 0 or lack > 0:
        return []
    grown = linear_text(before * unit, [(each * unit, scene.turn)])
    grown += f" + {size_text(unit)} * min({scene.turn}, {more})" if more else ""
    size = f"{size_text(unit)} * block({added.sum()}, {turns}, {scene.turn})"
    tail = run.step(
        transfer=size_text(unit),
        size=size if more else size_text(each * unit),
        at=f"{size_text(start)} + {grown}",
    )
    return [tail, _random(run, unit, start, f"{size_text(unit)} + {grown}", again)]


def _random(run: Run, unit: int, start: int, size: str, count: Dealt) -> StepSpec:
    keys: dict[str, Any] = {"pattern": PatternKind.RANDOM, "transfer": size_text(unit)}
    return run.step(**keys, size=size, count=count.text, at=size_text(start))
