"""The data steps of one run of requests, over all loops and ranks: rules 5 to 9 of the method.

The first form that gives every request exactly is taken; what no form fits keeps its sizes and
their number, one size after the other, dealt to loops and ranks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from venturi.derive.operation.fit import Affine, affine, by_rank_text, linear_text
from venturi.derive.operation.place import (
    LEAST_RANDOM,
    RANDOM_BACKWARD_SHARE,
    Nest,
    Rows,
    places_of,
    tile_of,
)
from venturi.derive.operation.scene import Scene
from venturi.derive.operation.sizes import Parts, mix_of, parts_of
from venturi.derive.operation.table import APPENDS, TOGETHER, Table
from venturi.derive.operation.token import Tokens
from venturi.model.operation import KIND_CODES, Column, Kind
from venturi.model.plan import SyncMode
from venturi.model.units import size_text
from venturi.model.workload import BareStep, DataStep, PatternKind, StepSpec

Steps = list[StepSpec | BareStep]

MOST_POOLED = 4_000_000
"""Requests that are looked at together at most; of more, evenly chosen ones."""

SYNC_MODES = {
    KIND_CODES[Kind.SYNC]: SyncMode.FSYNC,
    KIND_CODES[Kind.DATA_SYNC]: SyncMode.FDATASYNC,
}


@dataclass
class Said:
    """The steps of one run, and what they mean."""

    steps: Steps
    pattern: str
    transfer: str
    rule: str
    confidence: float
    reach: Column
    """The end of what is moved in the file of each rank (one number where it is shared)."""
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Run:
    """One run as it stands in the tokens: arrays with an axis for each loop and one for ranks."""

    table: Table
    tokens: Tokens
    ids: Column
    scene: Scene
    file: str
    is_shared: bool
    shift: int
    """The rank reads in the place of the one so many further."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tokens, name)[self.ids]

    @property
    def is_write(self) -> bool:
        return bool(self.tokens.kind[self.ids.flat[0]] == KIND_CODES[Kind.WRITE])

    def rows(self, token: int) -> Column:
        return self.tokens.rows_of(token)

    def sizes(self) -> Column:
        """All sizes of requests; in order for a single token."""
        found = [self.table.bytes[self.rows(int(token))] for token in self.ids.ravel()]
        return np.concatenate(found)


def data_steps(
    table: Table, tokens: Tokens, ids: Column, scene: Scene, file: str, is_shared: bool, shift: int
) -> Said:
    """The steps of the tokens `ids`, whose axes are the scene's loops and, last, its ranks."""
    run = _Run(table, tokens, ids, scene, file, is_shared, shift)
    for rule in (_appended, _same, _random, _uneven, _mixed):
        said = rule(run)
        if said is not None:
            return said
    return _dealt(run)


def _step(run: _Run, **keys: Any) -> StepSpec:
    """A `write` or `read` with these keys; what goes without saying is left out."""
    keys["to" if run.is_write else "from_"] = run.file
    if run.flags.flat[0] & TOGETHER and run.scene.crew.is_all and run.is_shared:
        keys["collective"] = True
    each = int(run.each.flat[0])
    if each:
        keys["sync"] = SYNC_MODES[each - 1]
    think = run.think_ns
    if np.count_nonzero(think) * 2 > think.size:
        keys["think"] = seconds_text(float(np.mean(think[think > 0])) / 1e9)
    if keys.get("at") in ("0 B", "0", 0):
        del keys["at"]
    data = DataStep(**keys)
    shift: dict[str, Any] = {"from_": f"shift {run.shift}"} if run.shift else {}
    return StepSpec(write=data, **shift) if run.is_write else StepSpec(read=data, **shift)


def seconds_text(seconds: float) -> str:
    """A duration with three digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{float(f'{seconds / scale:.3g}'):g} {unit}"
    return f"{max(seconds, 0.0) / 1e-9:.0f} ns"


def _guarded(run: _Run, steps: Steps) -> Steps:
    """Steps on a shared file that only some ranks do."""
    crew = run.scene.crew
    if not run.is_shared or crew.is_all:
        return steps
    return [StepSpec(when=crew.condition, do=steps)]


def _reach(run: _Run) -> Column:
    """How far each rank comes; where a file is shared, all together."""
    end = run.end.reshape(-1, run.ids.shape[-1]).max(axis=0)
    return np.array([end.max()]) if run.is_shared else end


# ---- at the file's end


def _appended(run: _Run) -> Said | None:
    if not run.is_write or not np.all(run.flags & APPENDS):
        return None
    counts, units = run.count, run.unit
    keys: dict[str, Any] = {"pattern": PatternKind.APPEND}
    size = int(units.flat[0])
    if np.all(units == size) and size and np.array_equal(counts * size, run.bytes):
        keys["transfer"] = size_text(size)
        keys["count"] = _amount(run, counts, False)
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
    return Said(_guarded(run, [_step(run, **keys)]), "append", text, rule, 0.95, reach)


def _amount(run: _Run, values: Column, is_size: bool) -> str | int | None:
    """A number that may change with loops and ranks, as an expression; None where none fits."""
    found = affine(values)
    if found is not None:
        if found.is_constant:
            return size_text(found.constant) if is_size else found.constant
        *slopes, by_rank = found.slopes
        terms = [*run.scene.terms(tuple(slopes)), (by_rank, run.scene.crew.place)]
        return linear_text(found.constant, terms, is_size)
    flat = values.reshape(-1, values.shape[-1])
    if np.any(flat != flat[0]):
        return None
    return by_rank_text(flat[0], run.scene.crew.place, is_size)


def _alike(run: _Run, parts: Parts) -> bool:
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


def _same(run: _Run) -> Said | None:
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
    if places is None or (isinstance(places, Rows) and _is_random(run)):
        return None
    said = _placed(run, places, base)
    if said is None:
        return None
    if not is_known:
        said.confidence, said.rule = 0.3, "5: places unknown; assumed one behind the other"
        said.reach = np.array([base.max() + int(size.sum())])
    return said


def _placed(run: _Run, places: Nest | Rows, base: Column) -> Said | None:
    """The steps of runs that are laid out alike and begin at `base`."""
    fitted = _base(run, base)
    if isinstance(places, Rows):
        return None if fitted is None else _rows(run, places, fitted)
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

    def text(self, place: str, spread: bool) -> str:
        """The beginning as an expression; `spread` leaves the rank out."""
        if self.other:
            head = linear_text(self.constant, self.terms)
            return self.other if head == "0" else f"{head} + ({self.other})"
        terms = self.terms if spread else [*self.terms, (self.by_rank, place)]
        text = linear_text(self.constant, terms)
        if spread:
            return text
        return text if "rank" in text else f"{text} + 0 * rank"


def _base(run: _Run, base: Column) -> _Base | None:
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
    return _Base(
        0,
        terms,
        0,
        other=f"{text} + 0 * rank" if "rank" not in text else text,
    )


def _rows(run: _Run, places: Rows, base: _Base) -> Said:
    """A list of places."""
    moved = _Base(base.constant + places.shift, base.terms, base.by_rank, base.other)
    if base.other and places.shift:
        moved = _Base(places.shift, base.terms, 0, base.other)
    at = moved.text(
        run.scene.crew.place, spread=not run.is_shared and not base.by_rank and not base.other
    )
    table: list[list[int | float | str]] = [[offset, size] for offset, size in places.rows]
    step = _step(run, pattern=PatternKind.TABLE, table=table, at=at)
    text = f"{len(table)} places"
    rule = "5: no nest; each request is listed"
    return Said(_guarded(run, [step]), "table", text, rule, 0.8, _reach(run))


def _nest(run: _Run, nest: Nest, base: _Base) -> Said:
    transfer = size_text(nest.transfer)
    crew = run.scene.crew
    spread = not run.is_shared and not base.by_rank and not base.other
    scene = run.scene
    terms = list(base.terms)
    for count, stride in nest.loops:
        terms.append((stride, scene.variable))
        scene = scene.inside(count)
    moved = _Base(base.constant, terms, base.by_rank, base.other)
    at = moved.text(crew.place, spread)
    steps: Steps = [_step(run, transfer=transfer, size=size_text(nest.run), at=at)]
    for variable, count in reversed(scene.loops[len(run.scene.loops) :]):
        steps = [StepSpec(for_=variable, in_=count, do=steps)]
    kind = "strided" if nest.loops else "contiguous"
    rule = "5: equal runs at equal distances" if nest.loops else "5: no jumps"
    return Said(_guarded(run, steps), kind, transfer, rule, 0.95, _reach(run))


def _shared_nest(run: _Run, nest: Nest, base: _Base) -> Said | None:
    """IOR's nest, or tiles, over all ranks of a shared file."""
    ranks = len(run.scene.crew)
    transfer = size_text(nest.transfer)
    at = base.text("rank", spread=True)
    reach = _reach(run)
    if not nest.loops and (base.by_rank == nest.run or ranks == 1):
        step = _step(run, transfer=transfer, size=size_text(nest.run), at=at)
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
        step = _step(run, transfer=transfer, at=at, **keys)
        return Said([step], keys["pattern"].value, transfer, rule, 0.98, reach)
    return None


def _tiled(run: _Run, nest: Nest, base: Column) -> Said | None:
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
    step = _step(run, pattern=PatternKind.TILED, at=at, **keys)
    rule = "5: nested equal distances that fill an array"
    return Said([step], "tiled", size_text(nest.transfer), rule, 0.9, _reach(run))


# ---- random places


def _is_random(run: _Run) -> bool:
    """Whether most requests jump, and as often backwards as random ones do."""
    if int(run.count.min()) < LEAST_RANDOM or np.any(run.base < 0):
        return False
    jumps, backward = int(run.jumps.sum()), int(run.backward.sum())
    return jumps * 2 >= int(run.count.sum()) and backward >= RANDOM_BACKWARD_SHARE * jumps


def _random(run: _Run) -> Said | None:
    if not _is_random(run):
        return None
    sizes = run.sizes()
    parts, exact = parts_of(sizes)
    keys: dict[str, Any] = {"pattern": PatternKind.RANDOM}
    transfer = max(size for size, _ in parts)
    if len(parts) > 1:
        mix = mix_of(parts)
        if mix is None or not exact or not _alike(run, parts):
            return None
        keys["mix"] = mix
    else:
        keys["transfer"] = size_text(transfer)
    return _random_places(run, keys, transfer)


def _random_places(run: _Run, keys: dict[str, Any], transfer: int) -> Said | None:
    ranks, world = run.ids.shape[-1], run.scene.crew.world
    low, high = int(run.low.min()), int(run.end.max())
    most = int(run.count.max())
    slots = -(-(high - low) // transfer)
    own = max(1, -(-slots // world) if run.is_shared else slots)
    count = _amount(run, run.count, False)
    if count is None:
        count = f"block({int(run.count.sum())}, {run.scene.units}, {run.scene.unit})"
    keys["size"] = size_text(own * transfer)
    if most != own or isinstance(count, str) or "mix" in keys:
        keys["count"] = count
    distinct = _distinct(run)
    if most > own or distinct < 1.0:
        keys["replacement"] = True
    step = _step(run, at=size_text(low) if low else 0, **keys)
    covers = (
        not keys.get("replacement") and most >= own and ranks == (world if run.is_shared else ranks)
    )
    reach = np.array([low + own * transfer * (world if run.is_shared else 1)])
    notes = [] if covers else ["random places within the region that was touched"]
    rule = f"5: {int(run.backward.sum())} of {int(run.jumps.sum())} jumps go backwards"
    text = keys.get("transfer", f"mix of {len(keys.get('mix', []))}")
    said = Said(_guarded(run, [step]), "random", text, rule, 0.9, reach, notes)
    if run.is_write and not covers:
        said.reach = np.array([0])
    return said


def _distinct(run: _Run) -> float:
    """The share of requests of one turn that begin at a place of their own."""
    ids = run.ids.reshape(-1, run.ids.shape[-1])[0]
    groups = [ids] if run.is_shared else [np.array([token]) for token in ids]
    shares = []
    for group in groups[:64]:
        places = np.concatenate([run.table.offset[run.rows(int(token))] for token in group])
        shares.append(len(np.unique(places)) / len(places))
    return min(shares)


# ---- the same size, another number of requests on each rank or turn


def _uneven(run: _Run) -> Said | None:
    unit = int(run.unit.max())
    if np.any(run.unit <= 0) or np.any(run.jumps) or np.any(run.base < 0):
        return None
    if np.any((run.unit != unit) & (run.count > 1)):
        return None
    transfer = size_text(unit)
    dealt = _block_dealt(run, unit, transfer)
    if dealt is not None:
        return dealt
    amount = _amount(run, run.bytes, True)
    if amount is None:
        return None
    text = str(amount)
    at = _uneven_start(run)
    if at is None:
        return None
    keys: dict[str, Any] = {"transfer": transfer, "size": text}
    if run.is_shared or at != "0":
        keys["at"] = at if "rank" in at or not run.is_shared else f"{at} + 0 * rank"
    step = _step(run, **keys)
    rule = "9: ranks or turns move different amounts"
    return Said(_guarded(run, [step]), "contiguous", transfer, rule, 0.9, _reach(run))


def _block_dealt(run: _Run, unit: int, transfer: str) -> Said | None:
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
    step = _step(run, transfer=transfer, total=total, at=at)
    rule = "9: as many requests for each rank as dealing gives"
    return Said([step], "contiguous", transfer, rule, 0.95, _reach(run))


def _uneven_start(run: _Run) -> str | None:
    base = run.base
    fitted = _base(run, base)
    if fitted is not None:
        spread = not run.is_shared and not fitted.by_rank and not fitted.other
        return fitted.text(run.scene.crew.place, spread)
    amount = affine(run.bytes.reshape(-1, base.shape[-1])[0])
    loops = affine(base[..., 0])
    first = base.reshape(-1, base.shape[-1])[0]
    if amount is None or loops is None or np.any(base - first != (base - first)[..., :1]):
        return None
    return _triangle(run, amount, loops, first)


def _triangle(run: _Run, amount: Affine, loops: Affine, first: Column) -> str | None:
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


def _mixed(run: _Run) -> Said | None:
    if np.any(run.jumps) or np.any(run.base < 0) or np.any(run.count != run.count.flat[0]):
        return None
    parts, exact = parts_of(run.sizes())
    mix = mix_of(parts)
    if mix is None or not exact or not _alike(run, parts):
        return None
    fitted = _base(run, run.base)
    if fitted is None:
        return None
    ranks, moved = len(run.scene.crew), int(run.bytes.flat[0])
    is_spread = run.is_shared and run.scene.crew.is_all and fitted.by_rank == moved
    spread = not fitted.other and (is_spread or (not run.is_shared and not fitted.by_rank))
    at = fitted.text(run.scene.crew.place, spread or (ranks == 1 and run.scene.crew.is_all))
    step = _step(run, mix=mix, count=int(run.count.flat[0]), at=at)
    rule = "6: at most 8 sizes; their order is mixed anew"
    text = f"mix of {len(mix)}"
    return Said(_guarded(run, [step]), "contiguous", text, rule, 0.7, _reach(run))


# ---- whatever it is


def _dealt(run: _Run) -> Said:
    """Sizes one after the other, the requests of each dealt to loops and ranks."""
    parts, exact = parts_of(run.sizes())
    return dealt_parts(run, parts, exact)


def dealt_parts(run: _Run, parts: Parts, exact: bool) -> Said:
    """Steps that move `parts` in all, over the scene's loops and ranks."""
    scene = run.scene
    units = scene.units
    steps: Steps = []
    offset = 0
    for size, count in parts:
        each, rest = divmod(count, units)
        share = each if not rest else f"block({count}, {units}, {scene.unit})"
        span = (each + (rest > 0)) * size
        keys: dict[str, Any] = {"transfer": size_text(size), "count": share}
        if run.is_shared:
            keys["at"] = linear_text(offset, [(span, "rank")])
            offset += span * scene.crew.world
        else:
            keys["at"] = size_text(offset)
            offset += span
        steps.append(_step(run, **keys))
    shortest = 0 if run.is_write and any(count % units for _, count in parts) else offset
    text = ", ".join(size_text(size) for size, _ in parts[:3])
    notes = ["sizes come one after the other; order and places are not kept"]
    if not exact:
        notes.append("sizes are means of quantiles, with the same sum and number")
    reach = np.array([shortest if run.is_write else offset])
    rule = "6: no regular places; sizes and their number"
    return Said(_guarded(run, steps), "sizes", text, rule, 0.4, reach, notes)


def pooled_steps(
    table: Table, tokens: Tokens, chosen: Column, scene: Scene, file: str, is_shared: bool
) -> Said:
    """Steps that move what `chosen` tokens moved, whoever did, dealt to loops and ranks."""
    run = _Run(table, tokens, chosen, scene, file, is_shared, 0)
    return _dealt(run)


# What steps on datasets are made from as well.
Run = _Run
data_step = _step
guarded = _guarded

__all__ = [
    "Run",
    "Said",
    "Steps",
    "data_step",
    "data_steps",
    "guarded",
    "pooled_steps",
    "seconds_text",
]
