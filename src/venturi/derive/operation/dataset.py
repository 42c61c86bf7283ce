"""The data steps of one run of requests to datasets: rule 7 of the method.

Requests that are the parts of a split become a dataset of the application's own shape. Others keep
their sizes and their number: what a rank moves of a dataset at a time becomes its part of a dataset
with one dimension. What fits neither is left to bytes in a plain file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from venturi.derive.operation.array import NUMBERS, Form
from venturi.derive.operation.fit import affine, by_rank_text, linear_text
from venturi.derive.operation.run import Run, Said, Steps
from venturi.derive.operation.scene import RANKS
from venturi.derive.operation.split import Moved, rows_of, split_of
from venturi.derive.operation.table import Table
from venturi.model.operation import Column
from venturi.model.units import size_text
from venturi.model.workload import DatasetSpec, StepSpec, UnevenPartition

MOST_DATASETS = 24
"""A file of more different datasets is no text that people read."""

MOST_RUNS = 100_000
"""Of more runs, over turns and ranks, the datasets are not compared one by one."""
MOST_CUTS = 3
"""A dataset that is moved in so few stretches of time was cut by pauses; in more, it grows."""
MOST_PARTS = 4096
"""Of a dataset that are moved one after the other."""
MOST_NAMES = 6
"""So many names are listed."""

_SPLIT = "7: the selections are the parts of a split"
_DEALT = "7: ranks have different numbers of rows"
_INDIVIDUAL = "7: each rank has datasets of its own"
_WHOLE = "7: whole datasets, slab by slab"
_TURNS = "7: turns move the parts of a split one after the other"
_SIZES = "7: selections follow no split; sizes and their number"


_Slab = tuple[int, bytes]
"""A dataset of the application and, as bytes, the offsets of what is moved of it."""


@dataclass(frozen=True)
class _Bunch:
    """Equal datasets, one after the other, that a rank moves in the same way in one turn."""

    form: Form
    ids: Column
    moved: Moved
    is_scattered: bool

    def is_of_same(self, other: _Bunch) -> bool:
        """Whether forms and number agree."""
        return self.form == other.form and len(self.ids) == len(other.ids)

    def is_like(self, other: _Bunch) -> bool:
        """Whether forms, number and sizes agree."""
        return self.is_of_same(other) and np.array_equal(self.moved.size, other.moved.size)

    @property
    def slabs(self) -> list[_Slab]:
        """Each dataset with the places in it."""
        places = self.moved.offset.tobytes()
        return [(dataset, places) for dataset in self.ids.tolist()]

    def lies_like(self, other: _Bunch) -> bool:
        """Whether the same places are moved."""
        return np.array_equal(self.moved.offset, other.moved.offset)


@dataclass(frozen=True)
class _Home:
    """Where a dataset of the application lies in the workload."""

    entry: str
    name: str
    copy: int


@dataclass(frozen=True)
class _Made:
    """A dataset of the workload, in numbers."""

    form: Form
    parts: tuple[int, ...]
    is_individual: bool = False
    is_sized: bool = False
    """It stands for places in a dataset, not for all of one."""
    rows: tuple[int, ...] = ()
    """Of each rank, where they differ and no split says them."""

    def partition(self) -> UnevenPartition | None:
        """Which rows are whose; None where that is no short expression."""
        rows = np.array(self.rows, np.int64)
        first = by_rank_text(np.cumsum(rows) - rows, "rank", is_size=False)
        amount = by_rank_text(rows, "rank", is_size=False)
        return (
            None if first is None or amount is None else UnevenPartition(first=first, rows=amount)
        )

    def spec(self, world: int, count: int) -> DatasetSpec:
        """In the language; a dimension that is split into all ranks grows with them."""
        shape: list[int | float | str] = list(self.form.shape)
        for dim, parts in enumerate(self.parts):
            if parts == world > 1:
                each = self.form.shape[dim] // parts
                shape[dim] = RANKS if each == 1 else f"{RANKS} * {each}"
        chunk = [
            min(c, extent) for c, extent in zip(self.form.chunk, self.form.shape, strict=False)
        ]
        return DatasetSpec(
            count=count,
            type=NUMBERS[self.form.element_bytes],
            shape=shape,
            split=split_text(self.parts, world),
            partition=self.partition() if self.rows else None,
            individual=self.is_individual,
            chunks=[*chunk],
        )


@dataclass(frozen=True)
class _Manner:
    """How a dataset's parts are moved."""

    transfer: int
    """The most that one call moves; 0: a part in one call."""
    rule: str
    turned: dict[str, Any] = field(default_factory=dict)
    """Keys of a step whose turns move parts of one dataset."""


@dataclass(frozen=True)
class _Window:
    """Copies that a step moves: how many there are, and which the turn chooses."""

    all: int
    count: int
    first: str

    @property
    def keys(self) -> dict[str, Any]:
        """The keys of a step."""
        if self.count == self.all and self.first == "0":
            return {}
        return {"first": self.first, "count": self.count}


@dataclass
class Datasets:
    """The datasets of a workload's files, as far as its program is written."""

    files: dict[str, dict[str, DatasetSpec]] = field(default_factory=dict)
    """By entry and name."""
    caches: dict[str, set[int]] = field(default_factory=dict)
    """By entry: bytes that keep the chunks of a dataset, of all whose caches are known."""
    sized: set[int] = field(default_factory=set)
    """Datasets of the application of which only sizes of what is moved are kept."""
    _homes: dict[int, _Home] = field(default_factory=dict)
    _slabs: dict[_Slab, _Home] = field(default_factory=dict)
    """The same of places in datasets that became datasets of their own."""
    _made: dict[tuple[str, str], _Made] = field(default_factory=dict)
    _notes: list[str] = field(default_factory=list)

    def said(self, run: Run, entry: str) -> Said | None:
        """The steps of a run on the datasets of `entry`; None where datasets cannot say it."""
        if run.ids.size > MOST_RUNS:
            return None
        turns = run.ids.reshape(-1, run.ids.shape[-1])
        every = [[self._bunches(run, int(token)) for token in turn] for turn in turns]
        first = every[0][0]
        if any(len(bunches) != len(first) for turn in every for bunches in turn):
            return None
        steps: Steps = []
        rules: list[str] = []
        for place in range(len(first)):
            grid = [[bunches[place] for bunches in turn] for turn in every]
            if not all(a.is_like(b) for turn in grid for a, b in zip(grid[0], turn, strict=True)):
                return None
            found = self._steps(run, entry, grid)
            if found is None:
                return None
            steps += found[0]
            rules.append(found[1])
        said = _said(steps, rules, [bunch.moved for bunch in first])
        said.notes += self._notes
        self._notes = []
        return said

    def _bunches(self, run: Run, token: int) -> list[_Bunch]:
        """What one token moves, dataset by dataset in the order of first use."""
        rows = run.rows(token)
        ids, offset, size = (
            column[rows] for column in (run.table.dataset, run.table.within, run.table.bytes)
        )
        values, begin, place = np.unique(ids, return_index=True, return_inverse=True)
        order = np.argsort(place, kind="stable")
        ends = np.cumsum(np.bincount(place))
        found: list[_Bunch] = []
        for at in np.argsort(begin).tolist():
            mine = order[(ends[at - 1] if at else 0) : ends[at]]
            dataset = int(values[at])
            bunch = _Bunch(
                run.table.arrays[dataset].form,
                np.array([dataset]),
                Moved(offset[mine], size[mine]),
                bool(run.table.is_scattered[rows[mine]].any()),
            )
            last = found[-1] if found else None
            if last and self._goes_on(last, bunch):
                found[-1] = replace(last, ids=np.append(last.ids, dataset))
            else:
                found.append(bunch)
        return found

    def _goes_on(self, last: _Bunch, bunch: _Bunch) -> bool:
        one, both = replace(last, ids=last.ids[:1]), (last, bunch)
        homes = [self._slabs.get(b.slabs[-1], self._homes.get(b.slabs[-1][0])) for b in both]
        names = {home and (home.entry, home.name) for home in homes}
        return (
            one.is_like(bunch)
            and one.lies_like(bunch)
            and last.is_scattered == bunch.is_scattered
            and len(names) == 1
        )

    # ---- the steps of one bunch, over turns and ranks

    def _steps(self, run: Run, entry: str, grid: list[list[_Bunch]]) -> tuple[Steps, str] | None:
        is_known = int(grid[0][0].ids[0]) in self._homes
        if not is_known and not run.is_write:
            return None
        if any(not grid[0][0].is_of_same(bunch) for bunch in grid[0]):
            return None
        rules = (self._split, self._turned, self._individual, self._sized)
        is_even = all(grid[0][0].is_like(bunch) for bunch in grid[0])
        for rule in rules if is_even else rules[:1]:
            found = rule(run, entry, grid, is_known)
            if found is not None:
                return found
        return None

    def _split(
        self, run: Run, entry: str, grid: list[list[_Bunch]], is_known: bool
    ) -> tuple[Steps, str] | None:
        """Parts of a split, or whole datasets of a file that one rank has."""
        first = grid[0]
        together = run.is_shared and run.scene.crew.is_all
        if run.is_shared and not together:
            return None
        if any(bunch.is_scattered for bunch in first):
            return None
        if together and any(not np.array_equal(b.ids, first[0].ids) for b in first):
            return None
        if any(not mine.lies_like(b) for turn in grid for b, mine in zip(turn, first, strict=True)):
            return None
        if not together and any(not first[0].lies_like(bunch) for bunch in first):
            return None
        form = first[0].form
        moved = [b.moved for b in first] if together else [first[0].moved]
        split = split_of(form, moved)
        if split is None:
            made = _Made(form, (), rows=rows_of(form, moved))
            if len(made.rows) < 2 or made.partition() is None:
                return None
            return self._moved(run, entry, grid, is_known, made, _Manner(0, _DEALT))
        rule = _SPLIT if together and len(first) > 1 else _WHOLE
        made = _Made(form, split.parts)
        return self._moved(run, entry, grid, is_known, made, _Manner(split.transfer, rule))

    def _turned(
        self, run: Run, entry: str, grid: list[list[_Bunch]], is_known: bool
    ) -> tuple[Steps, str] | None:
        """Parts of a split that are moved in their order, such as columns: one in each turn of the
        loops, or one with each call."""
        turns = [bunch for turn in grid for bunch in turn]
        first, scene = turns[0], run.scene
        if run.is_shared or len(turns) != len(grid) or len(first.ids) != 1:
            return None
        if any(b.is_scattered or not np.array_equal(b.ids, first.ids) for b in turns):
            return None
        calls = [
            Moved(first.moved.offset[k : k + 1], first.moved.size[k : k + 1])
            for k in range(min(len(first.moved.size), MOST_PARTS + 1))
        ]
        for parts, name in (([b.moved for b in turns], scene.turn), (calls, scene.variable)):
            by_call = parts is calls
            if not 1 < len(parts) <= MOST_PARTS:
                continue
            if by_call and not all(first.lies_like(bunch) for bunch in turns):
                continue
            split = split_of(first.form, parts)
            if split is None:
                continue
            turned = {"split": split_text(split.parts, 1), "part": name}
            manner = _Manner(split.transfer, _TURNS, turned)
            made = _Made(first.form, (1,) * len(first.form.shape))
            found = self._moved(run, entry, grid, is_known, made, manner)
            if found is None or not by_call:
                return found
            return [StepSpec(for_=name, in_=len(parts), do=found[0])], _TURNS
        return None

    def _individual(
        self, run: Run, entry: str, grid: list[list[_Bunch]], is_known: bool
    ) -> tuple[Steps, str] | None:
        """Whole datasets, others for each rank of a shared file."""
        first = grid[0]
        if not run.is_shared or not run.scene.crew.is_all or first[0].is_scattered:
            return None
        ids = [set(bunch.ids.tolist()) for bunch in first]
        if len(set().union(*ids)) != sum(map(len, ids)):
            return None
        if any(not first[0].lies_like(bunch) for turn in grid for bunch in turn):
            return None
        form = first[0].form
        split = split_of(form, [first[0].moved])
        if split is None:
            return None
        ranks = len(first)
        chunk = tuple(map(min, form.chunk, form.shape))
        whole = Form((form.shape[0] * ranks, *form.shape[1:]), form.element_bytes, chunk)
        parts = (ranks, *split.parts[1:])
        made = _Made(whole, parts, is_individual=True)
        return self._moved(run, entry, grid, is_known, made, _Manner(split.transfer, _INDIVIDUAL))

    def _sized(
        self, run: Run, entry: str, grid: list[list[_Bunch]], is_known: bool
    ) -> tuple[Steps, str] | None:
        """A dataset of one dimension that is as large as what all ranks move at a time."""
        first = grid[0][0]
        size = first.moved.size
        transfer = int(size[0])
        if np.any(size[:-1] != transfer) or size[-1] > transfer:
            return None
        element = first.form.element_bytes
        world = run.scene.crew.world if run.is_shared else 1
        form = Form((first.moved.bytes // element * world,), element, ())
        if first.form.chunk:
            form = replace(form, chunk=(min(prod(first.form.chunk), form.shape[0]),))
        if len(size) == 1:
            transfer = 0
        is_cut = is_known and _stretches(run.table, int(first.ids[0])) <= MOST_CUTS
        is_known = first.slabs[0] in self._slabs
        if not is_known and (is_cut or not run.is_write):
            return None
        made = _Made(form, (world,), is_sized=True)
        found = self._moved(run, entry, grid, is_known, made, _Manner(transfer, _SIZES))
        if found is not None:
            self.sized |= run.datasets
        return found

    def _moved(
        self,
        run: Run,
        entry: str,
        grid: list[list[_Bunch]],
        is_known: bool,
        wanted: _Made,
        manner: _Manner,
    ) -> tuple[Steps, str] | None:
        """The step on a dataset that is there, or on a new one."""
        copies = np.zeros(len(grid), np.int64) if manner.turned else self._copies(run, grid)
        found = (self._again if is_known else self._new)(run, entry, grid, wanted, copies)
        if found is None:
            return None
        name, window = found
        keys = window.keys
        if manner.transfer:
            keys["transfer"] = size_text(manner.transfer)
        if wanted.parts != self._made[entry, name].parts:
            keys["split"] = split_text(wanted.parts, run.scene.crew.world)
        keys |= manner.turned
        step = replace(run, file=f"{entry}.{name}").step(**keys)
        return run.guarded([step]), manner.rule

    # ---- datasets and their copies

    def _copies(self, run: Run, grid: list[list[_Bunch]]) -> Column:
        """The number, within its file, of each turn's first dataset.

        Turns that move other places of the same dataset have datasets of their own.
        """
        files = run.tokens.file[run.ids].reshape(len(grid), -1)[:, 0]
        counts: dict[int, int] = {}
        known: dict[tuple[int, bytes], int] = {}
        first = np.zeros(len(grid), np.int64)
        for turn, (file, bunches) in enumerate(zip(files.tolist(), grid, strict=True)):
            parts = (column for bunch in bunches for column in (bunch.ids, bunch.moved.offset))
            key = b"".join(column.tobytes() for column in parts)
            if (file, key) not in known:
                known[file, key] = counts.get(file, 0)
                counts[file] = known[file, key] + len(bunches[0].ids)
            first[turn] = known[file, key]
        return first

    def _new(
        self, run: Run, entry: str, grid: list[list[_Bunch]], wanted: _Made, copies: Column
    ) -> tuple[str, _Window] | None:
        count = len(grid[0][0].ids)
        window = _window(run, copies, int(copies.max()) + count, count)
        mine = self.files.setdefault(entry, {})
        if window is None or len(mine) >= MOST_DATASETS:
            return None
        name = _fresh(run.table.arrays[int(grid[0][0].ids[0])].name, mine)
        mine[name] = wanted.spec(run.scene.crew.world, window.all)
        self._made[entry, name] = wanted
        self._note_names(run, name, grid[0][0].ids)
        for turn, bunches in enumerate(grid):
            for bunch in bunches:
                self._note_caches(run, entry, bunch.ids)
                for place, slab in enumerate(bunch.slabs):
                    home = _Home(entry, name, int(copies[turn]) + place)
                    self._homes[slab[0]] = home
                    if wanted.is_sized:
                        self._slabs[slab] = home
        return name, window

    def _note_caches(self, run: Run, entry: str, ids: Column) -> None:
        sizes = {run.table.arrays[dataset].chunk_cache_bytes for dataset in ids.tolist()}
        if known := {size for size in sizes if size is not None}:
            self.caches.setdefault(entry, set()).update(known)

    def _note_names(self, run: Run, name: str, ids: Column) -> None:
        """Says for which others the first of several datasets gave its name."""
        names = [_base_of(run.table.arrays[dataset].name) for dataset in ids.tolist()]
        others = list(dict.fromkeys(other for other in names if other != names[0]))
        if others:
            more = ", ..." if len(others) > MOST_NAMES else ""
            self._notes.append(f"'{name}' stands for {', '.join(others[:MOST_NAMES])}{more} too")

    def _again(
        self, run: Run, entry: str, grid: list[list[_Bunch]], wanted: _Made, copies: Column
    ) -> tuple[str, _Window] | None:
        """Datasets that were written before, in the same form."""
        home = self._home(grid[0][0].slabs[0], wanted)
        if home is None:
            return None
        made = self._made[home.entry, home.name]
        alike = made if made.is_individual else replace(made, parts=wanted.parts)
        if home.entry != entry or alike != wanted:
            return None
        total = int(str(self.files[entry][home.name].count))
        count = len(grid[0][0].ids)
        if int(copies.max()) + count != total:
            found = [self._places(bunches, home, wanted) for bunches in grid]
            if None in found:
                return None
            copies = np.array(found, np.int64)
        window = _window(run, copies, total, count)
        return None if window is None else (home.name, window)

    def _home(self, slab: _Slab, wanted: _Made) -> _Home | None:
        return self._slabs.get(slab) if wanted.is_sized else self._homes.get(slab[0])

    def _places(self, bunches: list[_Bunch], home: _Home, wanted: _Made) -> int | None:
        """The copy with which the bunches of all ranks begin; None where they differ."""
        starts = set()
        for bunch in bunches:
            homes = [self._home(slab, wanted) for slab in bunch.slabs]
            start = homes[0].copy if homes[0] else 0
            if homes != [replace(home, copy=start + place) for place in range(len(homes))]:
                return None
            starts.add(start)
        return starts.pop() if len(starts) == 1 else None


def _window(run: Run, copies: Column, total: int, count: int) -> _Window | None:
    fitted = affine(copies.reshape(run.ids.shape[:-1]))
    if fitted is None:
        return None
    text = linear_text(fitted.constant, run.scene.terms(fitted.slopes), is_size=False)
    return _Window(total, count, text)


def _stretches(table: Table, dataset: int) -> int:
    """In how many stretches of time a dataset is moved."""
    return len(np.unique(table.stretch[table.dataset == dataset]))


def split_text(parts: Sequence[int], world: int) -> list[int | float | str]:
    """Parts along each dimension, of which one may be as many as there are ranks."""
    return [RANKS if count == world > 1 else count for count in parts]


def _base_of(path: str) -> str:
    """A dataset's name as the language allows it; digits at the end count copies."""
    last = path.rstrip("/>").rpartition("/")[2]
    base = re.sub(r"\W+", "_", re.sub(r"[\d_]+$", "", last), flags=re.ASCII).strip("_")
    if re.match(r"[A-Za-z_]", base):
        return base
    return f"d_{base}" if base else "data"


def _fresh(path: str, taken: dict[str, DatasetSpec]) -> str:
    """A name for datasets like the one of this path."""
    name = base = _base_of(path)
    number = 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name


def _said(steps: Steps, rules: list[str], moved: list[Moved]) -> Said:
    worst = _SIZES if _SIZES in rules else rules[0]
    notes = []
    if _SIZES in rules:
        notes.append(
            "selections that no split gives are parts of datasets of their own, "
            "with the same sizes and number"
        )
    largest = max(moved, key=lambda one: one.bytes)
    text = size_text(int(largest.size.max()))
    count = len(rules)
    pattern = f"{count} kinds of datasets" if count > 1 else "a kind of datasets"
    sure = 0.5 if _SIZES in rules else 0.95
    return Said(steps, pattern, text, worst, sure, np.zeros(1, np.int64), notes)
