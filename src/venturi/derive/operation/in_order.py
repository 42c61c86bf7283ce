"""Runs of stretches as steps: one after the other, each where it was (rule 6).

Within a stretch the mean stands for sizes that are nearly equal. Bytes and requests in total stay
exact, and so do the places of what only one turn does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from venturi.derive.operation.deal import (
    GROUP_NOTE,
    Bunch,
    Layout,
    Share,
    are_lines,
    bunches_of,
    most_of,
    shares_of,
)
from venturi.derive.operation.place import rows_of
from venturi.derive.operation.run import Run, Said, Steps
from venturi.derive.operation.stretch import NEAR, Stretch, classed_stretches, stretches_of
from venturi.derive.operation.table import APPENDS
from venturi.model.operation import Column
from venturi.model.units import size_text
from venturi.model.workload import PatternKind

NOTE = "sizes within 25 % of each other, one after the other, are their mean, with the same sum"


@dataclass(frozen=True)
class _Part:
    """A stretch in all turns of all ranks: a row for each of them."""

    stretch: Stretch
    offsets: list[Column]
    sizes: list[Column]

    @property
    def is_odd(self) -> bool:
        """Whether its requests are told one by one."""
        return not self.stretch.parts and not self.stretch.is_rest

    @property
    def is_same(self) -> bool:
        """Whether all turns do exactly the same."""
        places, sizes = self.offsets[0], self.sizes[0]
        return all(np.array_equal(turn, places) for turn in self.offsets) and all(
            np.array_equal(turn, sizes) for turn in self.sizes
        )

    @property
    def is_exact(self) -> bool:
        """Whether all sizes are told as they were."""
        every = np.concatenate(self.sizes)
        return self.is_same if self.is_odd else bool(np.all(every == every[0]))

    @property
    def is_near(self) -> bool:
        """Whether means are near all sizes that they stand for."""
        records = max(self.stretch.parts, 1)
        table = np.concatenate([turn.reshape(-1, records) for turn in self.sizes])
        return bool(np.all(table.max(axis=0) <= NEAR * table.min(axis=0)))

    def bunch(self) -> Bunch:
        """All of its requests."""
        every = np.concatenate(self.sizes)
        return Bunch(len(every), int(every.sum()), int(every.min()), int(every.max()))

    def begins(self) -> Column:
        """Where it begins in each turn."""
        return np.array([turn.min() for turn in self.offsets])

    def ends(self) -> Column:
        """Where the last request of each turn ends."""
        pairs = zip(self.offsets, self.sizes, strict=True)
        return np.array([offset[-1] + size[-1] for offset, size in pairs])

    def singly(self) -> list[_Part]:
        """Its odd requests apart, where turns differ in them; else the part as it is."""
        if not self.is_odd or self.is_same:
            return [self]
        return [
            replace(
                self,
                offsets=[turn[place : place + 1] for turn in self.offsets],
                sizes=[turn[place : place + 1] for turn in self.sizes],
            )
            for place in range(self.stretch.count)
        ]


def in_exact_order(run: Run) -> Said | None:
    """The steps of a run of stretches whose sizes are all equal."""
    return _said(run, _parts(run, partial(stretches_of, near=1.0)))


def in_order(run: Run) -> Said | None:
    """The steps of a run of stretches, alike in every turn of every rank; None where it is none."""
    if are_lines(run, run.sizes()):
        return None
    return _said(run, _parts(run)) or _said(run, _in_classes(run))


def takes_turns(run: Run) -> bool:
    """Whether small and large requests take turns in every turn of every rank."""
    return any(part.stretch.parts > 1 for part in _parts(run))


def _said(run: Run, parts: list[_Part]) -> Said | None:
    told = [(part, _shares(run, part)) for part in parts]
    every = [share for _, shares in told for share in shares]
    most = most_of(run)
    if not parts or (most is not None and any(share.most_bytes > most for share in every)):
        return None
    layout = Layout(run, every)
    steps: Steps = []
    ends: list[int] = []
    for number, (_, shares) in enumerate(told):
        start = _start(parts[: number + 1], ends)
        for share in shares:
            steps.append(layout.step(share, start))
            start = None
        ends.append(layout.offset)
    means = [round(float(np.concatenate(part.sizes).mean())) for part in parts]
    is_exact = all(part.is_exact for part in parts)
    rule = "6: stretches of equal requests, one after the other"
    if not is_exact:
        rule = "6: stretches of nearly equal requests, one after the other"
    reach = np.array([layout.least_end if run.is_write else layout.end])
    text = ", ".join(size_text(mean) for mean in means[:3])
    notes = [] if is_exact else [NOTE if all(part.is_near for part in parts) else GROUP_NOTE]
    sure = 0.8 if is_exact else 0.6 if NOTE in notes else 0.5
    said = Said(run.guarded(steps), "sizes", text, rule, sure, reach, notes)
    said.has_sizes = is_exact
    return said


def _start(parts: list[_Part], ends: list[int]) -> int | None:
    """Where the last of these parts begins, the others of which are told up to `ends`: its place,
    or behind another one; None: behind the one before."""
    begins = parts[-1].begins()
    if np.all(begins == begins[0]):
        return int(begins[0])
    for number in range(len(ends) - 1, -1, -1):
        if np.array_equal(begins, parts[number].ends()):
            return None if number == len(ends) - 1 else ends[number]
    return int(begins.min()) if ends else None


_Finder = Callable[[Column, Column], list[Stretch] | None]
"""Finds stretches from offsets and sizes."""


def _in_classes(run: Run) -> list[_Part]:
    """The stretches of requests of one class of sizes."""
    least = np.sort([bunch.smallest for bunch in bunches_of(run.sizes(), run.scene.units)])
    return _parts(run, partial(classed_stretches, least=least))


def _parts(run: Run, find: _Finder = stretches_of) -> list[_Part]:
    """The stretches that all turns of all ranks have in common, in order; empty: there are none."""
    is_own = not run.is_shared or run.ids.shape[-1] == 1
    appends = run.is_write and np.any(run.flags & APPENDS)
    if not is_own or appends or np.any(run.base < 0) or run.ids.size != run.scene.units:
        return []
    if np.any(run.jumps) and np.any(run.base != run.base.flat[0]):
        return []
    rows = [run.rows(int(token)) for token in run.ids.ravel()]
    turns: list[list[Stretch]] = []
    for some in rows:
        found = find(run.table.offset[some], run.table.bytes[some])
        if found is None or (turns and [s.parts for s in found] != [s.parts for s in turns[0]]):
            return []
        turns.append(found)
    parts = []
    for alike in zip(*turns, strict=True):
        spans = [some[_span(one)] for one, some in zip(alike, rows, strict=True)]
        offsets = [run.table.offset[span] for span in spans]
        one = alike[0]
        if not one.parts and len({other.count for other in alike}) > 1:
            one = replace(one, is_rest=True)
        parts += _Part(one, offsets, [run.table.bytes[span] for span in spans]).singly()
    return parts


def _span(one: Stretch) -> slice:
    return slice(one.first, one.first + one.count)


def _shares(run: Run, part: _Part) -> list[Share]:
    """What each turn moves of a stretch, in order."""
    if part.stretch.parts > 1:
        return _records(run, part)
    if part.is_odd and part.is_same:
        return [_odd(part.offsets[0], part.sizes[0])]
    return shares_of(part.bunch(), run.scene)


def _odd(offset: Column, size: Column) -> Share:
    """Odd requests as they are."""
    places = rows_of(offset, size)
    assert places is not None
    if len(places.rows) == 1:
        [(_, moved)] = places.rows
        transfer = size_text(places.transfer or moved)
        return Share({"transfer": transfer, "size": size_text(moved)}, moved, moved)
    keys: dict[str, Any] = {"pattern": PatternKind.TABLE}
    if places.transfer:
        keys["transfer"] = size_text(places.transfer)
    keys["table"] = [list(row) for row in places.rows]
    extent = int((offset + size).max() - offset.min())
    return Share(keys, extent, extent)


def _records(run: Run, part: _Part) -> list[Share]:
    """Records of mean parts; what means round off goes with the last one of each turn."""
    parts, units, every = part.stretch.parts, run.scene.units, part.bunch()
    means = np.concatenate([turn.reshape(-1, parts) for turn in part.sizes]).mean(axis=0)
    sizes = [int(mean) for mean in means]
    ends = np.cumsum(sizes)
    count = np.array([len(turn) // parts for turn in part.sizes]) - 1
    most = most_of(run)
    if most is not None:
        count = np.minimum(count, most // sum(sizes))
    amount = run.amount(count.reshape(run.ids.shape), is_size=False)
    if amount is None:
        amount = f"block({int(count.sum())}, {units}, {run.scene.unit})"
    table = [[int(end) - size, size] for end, size in zip(ends, sizes, strict=True)]
    keys: dict[str, Any] = {"pattern": PatternKind.TABLE, "table": table}
    keys |= {"block": size_text(sum(sizes)), "segments": amount}
    told = sum(sizes) * int(count.sum())
    rest = Bunch(every.requests - parts * int(count.sum()), every.bytes - told, 0, every.bytes)
    least, most = (sum(sizes) * number for number in (int(count.min()), int(count.max())))
    return [Share(keys, most, least), *shares_of(rest, run.scene)]
