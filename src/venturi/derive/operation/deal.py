"""Requests without regular places: their sizes and number, dealt to loops and ranks (rule 6).

Sizes that are nearly equal, of buffers that fill unevenly or particles that move between ranks,
become their mean; each group of sizes is one step. Bytes and requests in total stay exact.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from venturi.derive.operation.fit import linear_text
from venturi.derive.operation.run import Run, Said, Steps
from venturi.derive.operation.scene import Scene
from venturi.derive.operation.sizes import MOST_LISTED, Parts, mix_of, parts_of
from venturi.derive.operation.table import APPENDS, Table
from venturi.derive.operation.token import Tokens
from venturi.model.operation import Column
from venturi.model.units import size_text
from venturi.model.workload import PatternKind

MOST_EXACT = 3
"""So many different sizes stand as they are."""
MOST_BUNCHES = 6
"""Of more sizes those near each other are one, until there are no more than this."""
MOST_POSITIONS = 6
"""So many requests of a turn are told one by one."""
MOST_NUMBERS = 8
"""So many different numbers of requests of turns that have a file each are told one by one."""
LEAST_TURNS = 16
LEAST_MIXED = 3
"""So many steps of one size each are one mix."""
MOST_LEFT = 0.05
"""A mix of what all turns move leaves at most such a share of the requests."""
MOST_ROUNDED = 0.01
"""Such a share of a bunch's bytes may be left when its mean is rounded down."""
TINY_BYTES = 4096
TINY_SHARE = 0.01
"""Sizes up to so many bytes are one group if they hold less than this share of the bytes, of the
run or of all, or if there is one request in each turn: lines of a log."""
LEAST_STEP = 512
"""Places that are multiples of so much, or more, stay such."""
NEAR = 1.1
"""Sizes whose largest is at most so many times their smallest are nearly equal."""
GAP_SHARE = 0.1
"""Of what is written: a file with smaller gaps is as long as it was."""
NEAR_NOTE = "sizes within 10 % of each other are their mean, with the same sum and number"
GROUP_NOTE = "sizes are means of groups, with the same sum and number"


@dataclass(frozen=True)
class Bunch:
    """Requests of one size, or of sizes for which a mean stands."""

    requests: int
    bytes: int
    smallest: int
    largest: int

    @property
    def mean(self) -> float:
        """Bytes of a request."""
        return self.bytes / self.requests

    @property
    def is_near(self) -> bool:
        """Whether a mean tells all that matters."""
        return self.largest <= NEAR * self.smallest

    def joined(self, other: Bunch) -> Bunch:
        """Both together; `other` has the larger sizes."""
        return Bunch(
            self.requests + other.requests,
            self.bytes + other.bytes,
            self.smallest,
            other.largest,
        )


def bunches_of(sizes: Column, turns: int = 1) -> list[Bunch]:
    """The sizes in few groups, the one that moves most bytes first.

    Sizes of which not each of `turns` has as many are a group with those near them, so that turns
    move as much as they did.
    """
    values, counts = np.unique(sizes, return_counts=True)
    values = values.astype(np.int64)
    tiny = _tiny(values, counts)
    is_even = not np.any(counts[tiny:] % turns)
    if len(values) <= MOST_EXACT and is_even:
        edges = list(range(len(values) + 1))
    elif len(values) - tiny < MOST_BUNCHES and is_even:
        edges = [0] * (tiny > 0) + list(range(tiny, len(values) + 1))
    else:
        edges = [0, tiny] if tiny else [0]
        while edges[-1] < len(values):
            widest = NEAR * int(values[edges[-1]])
            edges.append(int(np.searchsorted(values, widest, side="right")))
    found = [_bunch(values[low:high], counts[low:high]) for low, high in pairwise(edges)]
    while len(found) > MOST_BUNCHES:
        losses = [_loss(a, b) for a, b in pairwise(found)]
        at = int(np.argmin(losses))
        found[at : at + 2] = [found[at].joined(found[at + 1])]
    return sorted(found, key=lambda bunch: (-bunch.bytes, bunch.smallest))


def _bunch(values: Column, counts: Column) -> Bunch:
    """All requests of these sizes, which rise."""
    moved = int((counts * values).sum())
    return Bunch(int(counts.sum()), moved, int(values[0]), int(values[-1]))


def _tiny(values: Column, counts: Column) -> int:
    """How many of the smallest values hardly count."""
    share = np.cumsum(values * counts) / max(int((values * counts).sum()), 1)
    return int(np.count_nonzero((share < TINY_SHARE) & (values <= TINY_BYTES)))


def _loss(one: Bunch, other: Bunch) -> float:
    """What is lost when two neighbours become one: how far apart they are, how many move."""
    return float(np.log(other.mean / one.mean)) * min(one.requests, other.requests)


def turn_by_turn(run: Run) -> Said | None:
    """The steps of turns of few requests, in files of their own; None where they are none."""
    if _is_one_each(run):
        return _one_each(run)
    if _is_in_positions(run):
        return _by_position(run)
    if _is_by_number(run):
        return _by_number(run)
    return None


def dealt(run: Run) -> Said:
    """Steps that move all sizes of a run, one group after the other, over loops and ranks."""
    sizes = run.sizes()
    bunches = (
        [_bunch(*np.unique(sizes, return_counts=True))]
        if are_lines(run, sizes)
        else bunches_of(sizes, run.scene.units)
    )
    shares = [share for bunch in bunches for share in shares_of(bunch, run.scene)]
    if len(shares) >= LEAST_MIXED:
        even = all(share.parts for share in shares)
        shares = _as_mix(shares) if even else _as_mix_and_rest(shares, bunches, run.scene)
    layout = Layout(run, shares)
    steps: Steps = [layout.step(share) for share in shares]
    text = ", ".join(size_text(round(bunch.mean)) for bunch in bunches[:3])
    notes = ["sizes come one after the other; order and places are not kept"]
    is_exact = all(bunch.smallest == bunch.largest for bunch in bunches)
    is_near = all(bunch.is_near for bunch in bunches)
    rule, sure = "6: no regular places; sizes and their number", 0.4
    if is_near and not is_exact:
        notes.append(NEAR_NOTE)
        rule, sure = "6: sizes within 10 % are one; no regular places", 0.5
    elif not is_exact:
        notes.append(GROUP_NOTE)
        sure = 0.3
    reach = np.array([layout.least_end if run.is_write else layout.end])
    said = Said(run.guarded(steps), "sizes", text, rule, sure, reach, notes)
    said.has_sizes = is_exact
    return said


def are_lines(run: Run, sizes: Column) -> bool:
    """Whether sizes are too small for anybody to tell them apart: lines of a log, or of a file
    that hardly counts."""
    is_little = int(sizes.sum()) < TINY_SHARE * run.table.all_bytes
    return bool((is_little or np.all(run.count == 1)) and sizes.max() <= TINY_BYTES)


def _begins_alike(run: Run) -> bool:
    """Whether every turn of every rank begins at one known place, in files that are its own."""
    alone = len(run.scene.crew) == 1 or not run.is_shared
    base = int(run.base.flat[0])
    fits = run.ids.size == run.scene.units and base >= 0 and alone
    return bool(fits and np.all(run.base == base))


def _is_in_positions(run: Run) -> bool:
    """Whether every turn makes the same few requests, one behind the other from one place on, or
    each at a place of its own."""
    count = int(run.count.flat[0])
    if not 1 < count <= MOST_POSITIONS or np.any(run.count != count) or not _begins_alike(run):
        return False
    return not np.any(run.jumps) or _fixed_places(run) is not None


def _fixed_places(run: Run) -> list[int] | None:
    """Where the requests of every turn are; None where that differs."""
    places = np.stack([run.table.offset[run.rows(int(token))] for token in run.ids.ravel()])
    return [int(place) for place in places[0]] if np.all(places == places[0]) else None


def _by_position(run: Run) -> Said:
    """The first requests of all turns, the second ones, ...: by a rule, or with their mean."""
    rows = [run.table.bytes[run.rows(int(token))] for token in run.ids.ravel()]
    sizes = np.stack(rows).reshape(*run.ids.shape, -1)
    places = _fixed_places(run) if np.any(run.jumps) else None
    steps: Steps = []
    at, are_exact, are_near = int(run.base.flat[0]), True, True
    before = np.full(run.ids.shape, at)
    ends = np.zeros(run.ids.size, np.int64)
    for number, position in enumerate(np.moveaxis(sizes, -1, 0)):
        amount, moved = run.amount(position, is_size=True), position.ravel()
        if amount is None:
            total, units = int(position.sum()), run.scene.units
            amount = f"block({total}, {units}, {run.scene.unit})"
            moved = total // units + (np.arange(units) < total % units)
            are_exact, are_near = False, are_near and int(position.max()) <= NEAR * position.min()
        at = at if places is None else places[number]
        text = size_text(at)
        if places is None and are_exact and (begins := run.amount(before, is_size=True)):
            text, moved = str(begins), moved + before.ravel() - at
        steps.append(run.step(size=amount, **run.at(text)))
        ends = np.maximum(ends, at + moved)
        at += int(moved.max())
        before = before + position
    notes = [] if are_exact else [NEAR_NOTE if are_near else GROUP_NOTE]
    means = [round(float(one.mean())) for one in np.moveaxis(sizes, -1, 0)]
    known = ", ".join(size_text(mean) for mean in means[:3])
    way = "one behind the other" if places is None else "at the same places"
    rule = f"6: the same few requests in each turn, {way}"
    reach = np.array([ends.min() if run.is_write else ends.max()])
    sure = 0.7 if are_exact else 0.5
    said = Said(run.guarded(steps), "sizes", known, rule, sure, reach, notes, ends)
    said.has_sizes = are_exact
    return said


def _is_one_each(run: Run) -> bool:
    """Whether every turn moves one request at the same place of a file of its own, or requests of
    one size up to one of few lengths."""
    if not _begins_alike(run):
        return False
    if np.all(run.count == 1):
        return True
    unit = int(run.unit.max())
    alike = not np.any(run.jumps) and np.all((run.unit == unit) | (run.count == 1))
    files = len(np.unique(run.tokens.file[run.ids]))
    few = len(np.unique(run.bytes)) <= MOST_LISTED
    return bool(alike and np.all(run.unit > 0) and few and files == run.ids.size)


def _one_each(run: Run) -> Said:
    """What each turn moves, one of few sizes: all turns of a size, one size after another."""
    sizes, is_exact = parts_of(run.bytes.ravel(), MOST_LISTED)
    text, end = size_text(sizes[-1][0]), run.scene.units - sizes[-1][1]
    for size, count in reversed(sizes[:-1]):
        text = f"{size_text(size)} if {run.scene.unit} < {end} else {text}"
        end -= count
    base = int(run.base.flat[0])
    keys = {} if np.all(run.count == 1) else {"transfer": size_text(int(run.unit.max()))}
    step = run.step(**keys, size=text, **run.at(size_text(base)))
    notes = ["sizes come one after the other; their order is not kept"]
    if not is_exact:
        notes.append(GROUP_NOTE)
    known = ", ".join(size_text(size) for size, _ in sizes[:3])
    rule = "6: one request of one of few sizes in each turn"
    if keys:
        rule = "6: requests of one size up to one of few lengths in each turn"
    extent = min(sizes) if run.is_write else max(sizes)
    reach = np.array([base + extent[0]])
    turns = base + np.repeat(*np.transpose(sizes))
    sure = 0.5 if is_exact else 0.3
    length = "" if base else text
    said = Said(run.guarded([step]), "sizes", known, rule, sure, reach, notes, turns, length)
    said.has_sizes = is_exact
    return said


def _is_by_number(run: Run) -> bool:
    """Whether every turn goes through a file of its own, with more or fewer requests."""
    fits = run.scene.units >= LEAST_TURNS and len(run.scene.loops) == 1 and _begins_alike(run)
    if not fits or np.any(run.jumps):
        return False
    files = np.unique(run.tokens.file[run.ids])
    return len(files) == run.ids.size and 1 < len(np.unique(run.count)) <= MOST_NUMBERS


def _by_number(run: Run) -> Said:
    """Requests of the mean size, as many as turns made: first the turns with the fewest."""
    numbers, turns = np.unique(run.count, return_counts=True)
    units, unit = run.scene.units, run.scene.unit
    base = int(run.base.flat[0])
    requests, moved = int((numbers * turns).sum()), int(run.bytes.sum())
    transfer = -(-moved // requests)
    ends = np.repeat(numbers, turns) * transfer
    terms = [
        f"({unit} >= {begin})" if more == 1 else f"{more} * ({unit} >= {begin})"
        for begin, more in zip(np.cumsum(turns).tolist(), np.diff(numbers).tolist(), strict=False)
    ]
    size = f"{size_text(transfer)} * ({' + '.join([str(numbers[0]), *terms])})"
    if lacks := requests * transfer - moved:
        size += f" - block({lacks}, {units}, {unit})"
        ends -= lacks // units + (np.arange(units) < lacks % units)
    step = run.step(transfer=size_text(transfer), size=size, **run.at(size_text(base)))
    notes = ["turns come in the order of how many requests they make, which have one size"]
    rule = "6: turns differ in how many requests they make, one behind the other"
    reach = np.array([base + (ends.min() if run.is_write else ends.max())])
    known = f"{size_text(transfer)}, {numbers[0]} to {numbers[-1]} times"
    length = f"{size_text(base)} + {size}" if base else size
    said = Said(run.guarded([step]), "sizes", known, rule, 0.4, reach, notes, base + ends, length)
    said.has_sizes = False
    return said


@dataclass(frozen=True)
class Share:
    """What each turn of each rank moves of a bunch."""

    keys: dict[str, Any]
    most_bytes: int
    least_bytes: int
    parts: Parts = field(default_factory=list)
    """(bytes, requests), where all turns of all ranks move the same."""


def _as_mix(shares: list[Share]) -> list[Share]:
    """The shares, of which all turns move the same, as one mix where that can be."""
    counts: Counter[int] = Counter()
    for share in shares:
        for size, count in share.parts:
            counts[size] += count
    return _mixed(counts) or shares


def _as_mix_and_rest(shares: list[Share], bunches: list[Bunch], scene: Scene) -> list[Share]:
    """What all turns move of each bunch as one mix, and what is left as one more bunch; the shares
    as they are where much is left."""
    units = scene.units
    counts: Counter[int] = Counter()
    for bunch in bunches:
        small, longer = divmod(bunch.bytes, bunch.requests)
        longer *= longer > MOST_ROUNDED * bunch.bytes
        counts[small] += (bunch.requests - longer) // units
        counts[small + 1] += longer // units
    requests = sum(bunch.requests for bunch in bunches)
    if requests - units * counts.total() < units:
        # What is left has a request in each turn, which takes the bytes that means round off.
        counts[max(+counts, default=0)] -= 1
    counts = +counts
    left = requests - units * counts.total()
    moved = sum(bunch.bytes for bunch in bunches) - units * sum(
        size * count for size, count in counts.items()
    )
    mix = _mixed(counts)
    if not mix or left > MOST_LEFT * requests:
        return shares
    found = [*mix, *shares_of(Bunch(left, moved, 0, moved), scene)]
    return found if len(found) < len(shares) else shares


def _mixed(counts: Counter[int]) -> list[Share]:
    """So many requests of each size in every turn as one mix; none where a weight is too large."""
    mix = mix_of(sorted(counts.items(), key=lambda part: (-part[0] * part[1], part[0])))
    if not mix:
        return []
    moved = sum(size * count for size, count in counts.items())
    return [Share({"mix": mix, "count": counts.total()}, moved, moved)]


def shares_of(bunch: Bunch, scene: Scene) -> list[Share]:
    """What each turn moves of a bunch; two steps where a mean is no whole number and turns differ
    in requests."""
    units = scene.units
    each, rest = divmod(bunch.requests, units)
    if bunch.smallest == bunch.largest:
        return [_counted(bunch.smallest, bunch.requests, scene)]
    least, more = divmod(bunch.bytes, units)
    most = least + (more > 0)
    if not rest:
        transfer = -(-most // each)
        if -(-least // transfer) == each == -(-most // transfer):
            amount = f"block({bunch.bytes}, {units}, {scene.unit})" if more else size_text(least)
            keys: dict[str, Any] = {"size": amount}
            if each > 1:
                keys["transfer"] = size_text(transfer)
            last = least - (each - 1) * transfer
            parts = [(transfer, each - 1), (last, 1)] if each > 1 else [(least, 1)]
            return [Share(keys, most, least, [] if more else parts)]
    small, longer = divmod(bunch.bytes, bunch.requests)
    lacks = (small + 1) * bunch.requests - bunch.bytes
    whole = _counted(small + 1, bunch.requests, scene)
    if longer and small >= 2 * max(1, -(-lacks // units)):
        least_lack, more_lack = divmod(lacks, units)
        size = f"{size_text(small + 1)} * {whole.keys['count']} - "
        size += f"block({lacks}, {units}, {scene.unit})" if more_lack else str(least_lack)
        keys = {"transfer": size_text(small + 1), "size": size}
        return [Share(keys, whole.most_bytes, whole.least_bytes - least_lack - (more_lack > 0))]
    parts = [(small, bunch.requests - longer), (small + 1, longer)]
    return [_counted(size, count, scene) for size, count in parts if size and count]


def _counted(size: int, count: int, scene: Scene) -> Share:
    units = scene.units
    each, rest = divmod(count, units)
    share = f"block({count}, {units}, {scene.unit})" if rest else each
    keys = {"transfer": size_text(size), "count": share}
    parts = [] if rest else [(size, each)]
    return Share(keys, (each + (rest > 0)) * size, each * size, parts)


def _span(shares: list[Share], run: Run) -> int:
    """How far the last turn reaches at least, from where it begins."""
    ranks = len(run.scene.crew) if run.is_shared else 1
    last = shares[-1]
    return ranks * sum(share.most_bytes for share in shares) - last.most_bytes + last.least_bytes


class Layout:
    """Where the parts lie: one behind the other, turns where the run's turns began."""

    def __init__(self, run: Run, shares: list[Share]) -> None:
        self._run, span = run, _span(shares, run)
        slack = shares[-1].most_bytes - shares[-1].least_bytes
        self._terms, self._first, self._last = _turns_of(run, span)
        self._most = most_of(run)
        if self._most is not None and self._first + self._last + span > self._most:
            self._terms, self._first, self._last = self._less(self._most - span - slack)
        self.end = self._first + self._last
        self.least_end = 0
        self.offset = self._first
        self._appends = run.is_write and bool(np.all(run.flags & APPENDS))

    def _less(self, room: int) -> tuple[list[tuple[int, str]], int, int]:
        """What `_turns_of` gives, in shorter steps that end before `room`; no steps where there is
        no room, or several loops are around."""
        loops, first = self._run.scene.loops, self._first
        if len(loops) != 1 or not self._terms or loops[0][1] < 2 or first >= room:
            return [], 0, 0
        slope = (room - first) // (loops[0][1] - 1)
        return self._run.scene.terms((slope,)), first, slope * (loops[0][1] - 1)

    def step(self, share: Share, start: int | None = None) -> Any:
        """The step of a share, at `start` or behind those before it."""
        run, crew = self._run, self._run.scene.crew
        terms = self._terms if start is None else []
        span, start = share.most_bytes, self.offset if start is None else start
        if self._most is not None:
            start = max(0, min(start, self._most - span * (len(crew) if run.is_shared else 1)))
        if run.is_shared:
            text = linear_text(start, [*terms, (span, crew.place)])
            before = span * (len(crew) - 1)
        else:
            text = linear_text(start, terms)
            before = 0
        self.offset = start + before + span
        self.end = max(self.end, self.offset + self._last)
        if share.least_bytes:
            self.least_end = max(self.least_end, start + self._last + before + share.least_bytes)
        if self._appends:
            keys = share.keys
            if "transfer" not in keys and "mix" not in keys:
                keys = {"transfer": keys["size"], "count": 1}
            return run.step(pattern=PatternKind.APPEND, **keys)
        return run.step(**share.keys, **run.at(text))


def most_of(run: Run) -> int | None:
    """Where requests must end; None: anywhere.

    What a turn writes or reads of uneven sizes is a mean, so the reads of a file that was written
    may seem to reach further than that, and would be of another file, which is cold.
    """
    if run.written is None or int(run.end.max()) > NEAR * run.written:
        return None
    return run.written


def _turns_of(run: Run, span: int) -> tuple[list[tuple[int, str]], int, int]:
    """How turns move on in the file: slopes of the loops, where the first begins, and how much
    further the last one does.

    Turns that all touch the file's beginning move on so that the last one comes to its end. Turns
    that have a file each do not move on; what they write ends where it did, behind small gaps.
    """
    loops = run.scene.loops
    if np.any(run.base < 0):
        return [], 0, 0
    if not loops and run.ids.size == 1 and not np.any(run.jumps):
        return [], int(run.base.flat[0]), 0
    if not loops or np.any(run.tokens.file[run.ids] != run.tokens.file[run.ids.flat[0]]):
        gap = int(run.end.max()) - span
        return [], gap if run.is_write and 0 < gap <= GAP_SHARE * span else 0, 0
    if run.ids.ndim != len(loops) + 1:
        return [], 0, 0
    low = run.low.min(axis=-1)
    slopes, last = [], 0
    for axis, (_, turns) in enumerate(loops):
        end = tuple(turns - 1 if other == axis else 0 for other in range(len(loops)))
        moved = int(low[end]) - int(low.flat[0])
        slope = -(-moved // (turns - 1)) if turns > 1 and moved > 0 else 0
        slopes.append(slope)
        last += slope * (turns - 1)
    first = int(low.min())
    lacks = int(run.end.max()) - first - span
    wanders = (run.jumps > 0).any() or len(np.unique(low)) * 2 > low.size
    if not last and lacks > 0 and loops[0][1] > 1 and wanders:
        step = _step_of(run)
        slopes[0] = -(-lacks // (step * (loops[0][1] - 1))) * step
        last = slopes[0] * (loops[0][1] - 1)
    elif len(loops) == 1 and last and (step := _step_of(run)) >= LEAST_STEP and slopes[0] % step:
        return [_whole_steps(loops[0], moved, step)], first, moved
    return run.scene.terms(tuple(slopes)), first, last


def _whole_steps(loop: tuple[str, int], moved: int, step: int) -> tuple[int, str]:
    """Turns that come so much further together, each by whole steps: pages stay pages."""
    variable, turns = loop
    return step, f"{variable} * {moved // step} // {turns - 1}"


def _step_of(run: Run) -> int:
    """What all places are multiples of."""
    found = [run.table.offset[run.rows(int(token))] for token in run.ids.ravel()]
    return int(np.gcd.reduce(np.concatenate(found))) or 1


def pooled_steps(
    table: Table, tokens: Tokens, chosen: Column, scene: Scene, file: str, is_shared: bool
) -> Said:
    """Steps that move what `chosen` tokens moved, whoever did, dealt to loops and ranks."""
    run = Run(table, tokens, chosen, scene, file, is_shared, 0)
    return turn_by_turn(run) or dealt(run)
