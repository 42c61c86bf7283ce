"""The data steps of one run of requests, over all loops and ranks: rules 5 to 9 of the method.

The first form that gives every request exactly is taken; what no form fits keeps its sizes and
their number, one size after the other, dealt to loops and ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venturi.derive.operation.deal import GROUP_NOTE, NEAR, dealt, turn_by_turn
from venturi.derive.operation.fit import Affine, affine, by_rank_text, linear_text
from venturi.derive.operation.go_on import goes_on
from venturi.derive.operation.headed import headed
from venturi.derive.operation.in_order import in_exact_order, in_order, takes_turns
from venturi.derive.operation.lanes import lanes
from venturi.derive.operation.place import (
    LEAST_RANDOM,
    MOST_ROWS,
    RANDOM_BACKWARD_SHARE,
    Nest,
    Rows,
    places_of,
    tile_of,
)
from venturi.derive.operation.random_turns import random_turns
from venturi.derive.operation.records import records
from venturi.derive.operation.run import Run, Said, Steps
from venturi.derive.operation.scattered import scattered
from venturi.derive.operation.sizes import Parts, mix_of, parts_of
from venturi.derive.operation.table import APPENDS
from venturi.model.operation import Column
from venturi.model.units import size_text
from venturi.model.workload import DataStep, PatternKind, StepSpec

LEAST_PASSES = 2
"""Jumps within a region that is touched so often on the mean are in no order."""


def data_steps(run: Run) -> Said:
    """The steps of a run, the axes of whose tokens are the scene's loops and, last, its ranks."""
    for rule in _RULES:
        said = rule(run)
        if said is not None:
            return _at_its_end(run, said)
    return dealt(run)


# ---- at the file's end


def _appended(run: Run) -> Said | None:
    if not run.is_write or not np.all(run.flags & APPENDS):
        return None
    counts, units = run.count, run.unit
    keys: dict[str, Any] = {"pattern": PatternKind.APPEND}
    size = int(units.flat[0])
    if np.all(units == size) and size and np.array_equal(counts * size, run.bytes):
        keys["transfer"] = size_text(size)
        keys["count"] = run.amount(counts, False)
        if keys["count"] is None:
            return None
    else:
        parts, exact = parts_of(run.sizes())
        mix = mix_of(parts)
        if mix is None or not exact or np.any(counts != counts.flat[0]) or not _alike(run, parts):
            return None
        keys |= {"mix": mix, "count": int(counts.flat[0])}
    total = run.bytes.reshape(-1, run.ids.shape[-1]).sum(axis=0)
    reach = np.array([total.sum()]) if run.is_shared else total
    text = keys.get("transfer", f"mix of {len(keys.get('mix', []))}")
    rule = "5: the file is open for appending only"
    return Said(run.guarded([run.step(**keys)]), "append", text, rule, 0.95, reach)


def _at_its_end(run: Run, said: Said) -> Said:
    """Single requests of a file that is open for appending, without the places that they name.

    A file that appends in one step must do so in all: what is told of places here may be told of
    the end elsewhere.
    """
    if not run.is_write or not np.all(run.flags & APPENDS):
        return said
    steps: list[StepSpec] = []
    for step in said.steps:
        if not isinstance(step, StepSpec) or not isinstance(step.write, DataStep):
            return said
        data = step.write
        if data.pattern is not PatternKind.CONTIGUOUS or data.size is None or data.transfer:
            return said
        ended = data.model_copy(
            update={
                "pattern": PatternKind.APPEND,
                "transfer": data.size,
                "count": 1,
                "size": None,
                "at": None,
            }
        )
        steps.append(step.model_copy(update={"write": ended}))
    said.steps = [*steps]
    return said


def _alike(run: Run, parts: Parts) -> bool:
    """Whether each of several runs has its equal share of every size."""
    times = run.ids.size
    if times == 1:
        return True
    if any(count % times for _, count in parts):
        return False
    each = {size: count // times for size, count in parts}
    for token in run.ids.ravel():
        values, counts = np.unique(run.table.bytes[run.rows(int(token))], return_counts=True)
        if dict(zip(values.tolist(), counts.tolist(), strict=True)) != each:
            return False
    return True


# ---- every run is laid out like every other


def _same(run: Run) -> Said | None:
    if np.any(run.shape != run.shape.flat[0]) or np.any(run.count != run.count.flat[0]):
        return None
    rows = run.rows(int(run.ids.flat[0]))
    offset, size = run.table.offset[rows], run.table.bytes[rows]
    base, is_known = run.base, not np.any(offset < 0)
    if not is_known:
        offset = np.cumsum(size) - size
        base = np.broadcast_to(np.arange(run.ids.shape[-1]) * int(size.sum()), run.ids.shape)
        if not run.is_shared:
            base = np.zeros(run.ids.shape, np.int64)
    places = places_of(offset, size)
    if places is None or (isinstance(places, Rows) and _is_random(run) and np.all(run.unit)):
        return None
    said = _placed(run, places, base)
    if said is None:
        return None
    if not is_known:
        said.confidence, said.rule = 0.3, "5: places unknown; assumed one behind the other"
        said.reach = np.array([base.max() + int(size.sum())])
    return said


def _placed(run: Run, places: Nest | Rows, base: Column) -> Said | None:
    """The steps of runs that are laid out alike and begin at `base`."""
    fitted = _base(run, base)
    if isinstance(places, Rows):
        return None if fitted is None else lanes(run) or _rows(run, places, fitted)
    if run.is_shared and run.scene.crew.is_all:
        said = None if fitted is None or fitted.other else _shared_nest(run, places, fitted)
        said = said or _tiled(run, places, base)
        if said is not None:
            return said
    return None if fitted is None else _nest(run, places, fitted)


@dataclass(frozen=True)
class _Base:
    """Where runs begin: a constant and loops, and what the rank adds."""

    constant: int
    terms: list[tuple[int, str]]
    by_rank: int
    other: str = ""
    """What the rank adds, where that is no multiple of its place."""

    def text(self, place: str, spread: bool = False) -> str:
        """The beginning as an expression; `spread` leaves the rank out."""
        if self.other:
            head = linear_text(self.constant, self.terms)
            return self.other if head == "0" else f"{head} + ({self.other})"
        terms = self.terms if spread else [*self.terms, (self.by_rank, place)]
        return linear_text(self.constant, terms)


def _base(run: Run, base: Column) -> _Base | None:
    found = affine(base)
    first = base.reshape(-1, base.shape[-1])[0]
    if found is not None:
        *slopes, by_rank = found.slopes
        return _Base(found.constant, run.scene.terms(tuple(slopes)), by_rank)
    loops = affine(base[..., 0])
    if loops is None or np.any(base - first != (base - first)[..., :1]):
        return None
    text = by_rank_text(first, run.scene.crew.place, True)
    if text is None:
        return None
    terms = run.scene.terms(loops.slopes)
    return _Base(0, terms, 0, other=text)


def _rows(run: Run, places: Rows, base: _Base) -> Said:
    """A list of places."""
    moved = _Base(base.constant + places.shift, base.terms, base.by_rank, base.other)
    if base.other and places.shift:
        moved = _Base(places.shift, base.terms, 0, base.other)
    at = moved.text(run.scene.crew.place)
    table: list[list[int | float | str]] = [[offset, size] for offset, size in places.rows]
    keys = {"transfer": size_text(places.transfer)} if places.transfer else {}
    step = run.step(pattern=PatternKind.TABLE, **keys, table=table, at=at)
    text = f"{len(table)} places"
    rule = "5: no nest; each request, or run of equal ones, is listed"
    return Said(run.guarded([step]), "table", text, rule, 0.8, run.reach())


def _nest(run: Run, nest: Nest, base: _Base) -> Said:
    transfer = size_text(nest.transfer)
    scene = run.scene
    terms = list(base.terms)
    for count, stride in nest.loops:
        terms.append((stride, scene.variable))
        scene = scene.inside(count)
    moved = _Base(base.constant, terms, base.by_rank, base.other)
    at = run.at(moved.text(run.scene.crew.place))
    steps: Steps = [run.step(transfer=transfer, size=size_text(nest.run), **at)]
    for variable, count in reversed(scene.loops[len(run.scene.loops) :]):
        steps = [StepSpec(for_=variable, in_=count, do=steps)]
    kind = "strided" if nest.loops else "contiguous"
    rule = "5: equal runs at equal distances" if nest.loops else "5: no jumps"
    return Said(run.guarded(steps), kind, transfer, rule, 0.95, run.reach())


def _shared_nest(run: Run, nest: Nest, base: _Base) -> Said | None:
    """IOR's nest, or tiles, over all ranks of a shared file."""
    ranks = len(run.scene.crew)
    transfer = size_text(nest.transfer)
    at = base.text("rank", spread=True)
    reach = run.reach()
    if not nest.loops and (base.by_rank == nest.run or ranks == 1):
        step = run.step(transfer=transfer, size=size_text(nest.run), at=at)
        return Said([step], "contiguous", transfer, "5: no jumps; ranks lie in order", 0.98, reach)
    is_turns = len(nest.loops) == 1 and nest.loops[0][1] == ranks * nest.run
    if is_turns and (base.by_rank == nest.run or ranks == 1) and nest.run % nest.transfer == 0:
        segments = nest.loops[0][0]
        rule = "5: equal runs at the distance of all ranks' runs"
        if nest.run == nest.transfer:
            keys: dict[str, Any] = {"pattern": PatternKind.STRIDED, "count": segments}
        else:
            block = size_text(nest.run)
            keys = {"pattern": PatternKind.SEGMENTED, "block": block, "segments": segments}
        step = run.step(transfer=transfer, at=at, **keys)
        return Said([step], keys["pattern"].value, transfer, rule, 0.98, reach)
    return None


def _tiled(run: Run, nest: Nest, base: Column) -> Said | None:
    first = base.reshape(-1, base.shape[-1])[0]
    tile = tile_of(nest, first - first[0])
    loops = affine(base[..., 0])
    if tile is None or loops is None or nest.run % nest.transfer:
        return None
    if np.any(base - first != (base - first)[..., :1]):
        return None
    keys: dict[str, Any] = {"shape": list(tile.shape), "tile": list(tile.tile)}
    if nest.run != nest.transfer:
        keys["transfer"] = size_text(nest.transfer)
    at = linear_text(loops.constant, run.scene.terms(loops.slopes))
    step = run.step(pattern=PatternKind.TILED, at=at, **keys)
    rule = "5: nested equal distances that fill an array"
    return Said([step], "tiled", size_text(nest.transfer), rule, 0.9, run.reach())


# ---- random places


def _is_random(run: Run) -> bool:
    """Whether most requests jump, and as often backwards as random ones do, or to and fro over the
    same bytes."""
    if int(run.count.min()) < LEAST_RANDOM or np.any(run.base < 0):
        return False
    jumps, backward = int(run.jumps.sum()), int(run.backward.sum())
    if jumps * 2 < int(run.count.sum()) or not backward:
        return False
    extent = int(run.end.max()) - int(run.low.min())
    is_again = run.ids.size == 1 and int(run.bytes.sum()) > LEAST_PASSES * extent
    return (is_again or backward >= RANDOM_BACKWARD_SHARE * jumps) and not _returns(run)


def _returns(run: Run) -> bool:
    """Whether most jumps forward lead to the end of all that was touched before: what is behind it
    is looked at, or written anew, now and then."""
    forward = back = 0
    for token in run.ids.ravel():
        rows = run.rows(int(token))
        offset = run.table.offset[rows]
        ends = offset + run.table.bytes[rows]
        jumps = offset[1:] > ends[:-1]
        forward += int(np.count_nonzero(jumps))
        back += int(np.count_nonzero(jumps & (offset[1:] >= np.maximum.accumulate(ends)[:-1])))
    return back * 2 > forward


def _random(run: Run) -> Said | None:
    if not _is_random(run):
        return None
    sizes = run.sizes()
    parts, exact = parts_of(sizes)
    keys: dict[str, Any] = {"pattern": PatternKind.RANDOM}
    transfer = max(size for size, _ in parts)
    if len(parts) > 1:
        mix = mix_of(parts)
        if int(run.count.max()) <= MOST_ROWS or mix is None:
            return None
        if run.ids.size > 1 and not (exact and _alike(run, parts)):
            return None
        keys["mix"] = mix
    else:
        keys["transfer"] = size_text(transfer)
    said = _random_places(run, keys, transfer)
    if said is not None and not exact:
        said.notes.append(GROUP_NOTE)
        said.confidence, said.has_sizes = 0.5, False
    return said


def _random_places(run: Run, keys: dict[str, Any], transfer: int) -> Said | None:
    ranks, world = run.ids.shape[-1], run.scene.crew.world
    low, high = int(run.low.min()), int(run.end.max())
    most = int(run.count.max())
    slots = -(-(high - low) // transfer)
    if run.written is not None and high <= run.written < low + slots * transfer:
        slots = max(1, slots - 1)  # what lies beyond would be of a file that was there before
    own = max(1, -(-slots // world) if run.is_shared else slots)
    count = run.amount(run.count, False)
    if count is None:
        count = f"block({int(run.count.sum())}, {run.scene.units}, {run.scene.unit})"
    keys["size"] = size_text(own * transfer)
    passes = 0 if "mix" in keys else _passes(run, slots)
    if passes:
        return _in_passes(run, keys, passes, low, slots * transfer)
    if most != own or isinstance(count, str) or "mix" in keys:
        keys["count"] = count
    distinct = _distinct(run)
    if most > own or distinct < 1.0:
        keys["replacement"] = True
    step = run.step(at=size_text(low) if low else 0, **keys)
    covers = (
        not keys.get("replacement") and most >= own and ranks == (world if run.is_shared else ranks)
    )
    reach = np.array([low + own * transfer * (world if run.is_shared else 1)])
    notes = [] if covers else ["random places within the region that was touched"]
    rule = f"5: {int(run.backward.sum())} of {int(run.jumps.sum())} jumps go backwards"
    text = keys.get("transfer", f"mix of {len(keys.get('mix', []))}")
    said = Said(run.guarded([step]), "random", text, rule, 0.9, reach, notes)
    if run.is_write and not covers:
        said.reach = np.array([0])
    return said


def _passes(run: Run, slots: int) -> int:
    """How often every place of the region is touched, where all are equally often: the epochs of
    one that goes through its samples in a new order each time. 0: that is no rule here."""
    if run.scene.loops or len(np.unique(run.unit)) > 1 or (not run.is_shared and run.ids.size > 1):
        return 0
    if run.is_shared and (not run.scene.crew.is_all or slots % run.ids.size):
        return 0
    mean = float(run.count.mean())
    if run.count.max() > NEAR * mean or run.count.min() * NEAR < mean:
        return 0
    places = [run.table.offset[run.rows(int(token))] for token in run.ids.ravel()]
    _, times = np.unique(np.concatenate(places), return_counts=True)
    are_equal = len(times) == slots and bool(np.all(times == times[0]))
    return int(times[0]) if are_equal and times[0] > 1 else 0


def _in_passes(run: Run, keys: dict[str, Any], passes: int, low: int, extent: int) -> Said:
    """The steps of random requests that touch every place so often."""
    step = run.step(at=size_text(low) if low else 0, **keys)
    steps: Steps = [StepSpec(for_=run.scene.variable, in_=passes, do=[step])]
    rule = f"5: every place {passes} times, in no order"
    reach = np.array([low + extent])
    return Said(run.guarded(steps), "random", keys["transfer"], rule, 0.9, reach)


def _distinct(run: Run) -> float:
    """The share of requests of one turn that begin at a place of their own."""
    ids = run.ids.reshape(-1, run.ids.shape[-1])[0]
    groups = [ids] if run.is_shared else [np.array([token]) for token in ids]
    shares = []
    for group in groups[:64]:
        places = np.concatenate([run.table.offset[run.rows(int(token))] for token in group])
        shares.append(len(np.unique(places)) / len(places))
    return min(shares)


# ---- the same size, another number of requests on each rank or turn


def _uneven(run: Run) -> Said | None:
    unit = int(run.unit.max())
    if np.any(run.unit <= 0) or np.any(run.jumps) or np.any(run.base < 0):
        return None
    if np.any((run.unit != unit) & (run.count > 1)):
        return None
    transfer = size_text(unit)
    dealt = _block_dealt(run, unit, transfer)
    if dealt is not None:
        return dealt
    amount = run.amount(run.bytes, True)
    if amount is None:
        return None
    text = str(amount)
    at = _uneven_start(run)
    if at is None:
        return None
    step = run.step(transfer=transfer, size=text, **run.at(at))
    rule = "9: ranks or turns move different amounts"
    return Said(run.guarded([step]), "contiguous", transfer, rule, 0.9, run.reach())


def _block_dealt(run: Run, unit: int, transfer: str) -> Said | None:
    """One number of requests, dealt to all ranks in order."""
    crew = run.scene.crew
    ranks = len(crew)
    if not run.is_shared or not crew.is_all or np.any(run.bytes != run.count * unit):
        return None
    counts = run.count.reshape(-1, ranks)
    total = int(counts[0].sum())
    expected = np.full(ranks, total // ranks)
    expected[: total % ranks] += 1
    starts = (np.cumsum(expected) - expected) * unit
    origin = affine(run.base[..., 0])
    if np.any(counts != expected) or origin is None:
        return None
    if np.any(run.base - run.base[..., :1] != starts):
        return None
    at = linear_text(origin.constant, run.scene.terms(origin.slopes))
    step = run.step(transfer=transfer, total=total, at=at)
    rule = "9: as many requests for each rank as dealing gives"
    return Said([step], "contiguous", transfer, rule, 0.95, run.reach())


def _uneven_start(run: Run) -> str | None:
    base = run.base
    fitted = _base(run, base)
    if fitted is not None:
        return fitted.text(run.scene.crew.place)
    amount = affine(run.bytes.reshape(-1, base.shape[-1])[0])
    loops = affine(base[..., 0])
    first = base.reshape(-1, base.shape[-1])[0]
    if amount is None or loops is None or np.any(base - first != (base - first)[..., :1]):
        found = run.amount(base, True)
        return None if found is None else str(found)
    return _triangle(run, amount, loops, first)


def _triangle(run: Run, amount: Affine, loops: Affine, first: Column) -> str | None:
    """Beginnings behind amounts that grow with the rank."""
    place = np.arange(len(first), dtype=np.int64)
    slope = amount.slopes[0]
    start = amount.constant * place + slope * (place * (place - 1) // 2)
    if np.any(first - first[0] != start):
        return None
    head = linear_text(loops.constant, run.scene.terms(loops.slopes))
    name = run.scene.crew.place
    name = f"({name})" if " " in name else name
    half = f"({name} * ({name} - 1) // 2)"
    return linear_text(0, [(amount.constant, name), (slope, half)]) + (
        "" if head == "0" else f" + {head}"
    )


# ---- several sizes, one behind the other


def _mixed(run: Run) -> Said | None:
    if np.any(run.jumps) or np.any(run.base < 0) or np.any(run.count != run.count.flat[0]):
        return None
    parts, exact = parts_of(run.sizes())
    mix = mix_of(parts)
    if mix is None or not exact or not _alike(run, parts) or takes_turns(run):
        return None
    fitted = _base(run, run.base)
    if fitted is None:
        return None
    moved = int(run.bytes.flat[0])
    is_spread = run.is_shared and run.scene.crew.is_all and fitted.by_rank == moved
    text = fitted.text(run.scene.crew.place, spread=is_spread)
    at = {"at": text} if is_spread else run.at(text)
    step = run.step(mix=mix, count=int(run.count.flat[0]), **at)
    rule = "6: at most 8 sizes; their order is mixed anew"
    text = f"mix of {len(mix)}"
    return Said(run.guarded([step]), "contiguous", text, rule, 0.7, run.reach())


_RULES = (
    _appended,
    _same,
    lanes,
    _random,
    _uneven,
    headed,
    records,
    in_exact_order,
    _mixed,
    goes_on,
    scattered,
    random_turns,
    turn_by_turn,
    in_order,
)
"""The first that fits is taken."""
