"""Numbers that depend on loops as expressions: exact ones, each with its price in bits."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, wraps
from hashlib import blake2b

import numpy as np

from venturi.model.operation import Column

RANK, RANKS = "rank", "ranks"
"""The rank's number, and how many there are, in expressions."""
NAME_BITS = 4.0
SIGN_BITS = 2.0
MOST_PICKED = 64
"""Values that people still read in one `pick`."""
MOST_COMBINED = 512
"""Values of two loops together: a last resort that is still exact."""
MOST_REMEMBERED = 20_000
"""Answers: a search asks for some thousand different ones, and for each of them thirty times."""


@dataclass(frozen=True)
class Fit:
    """An expression and its price."""

    text: str
    bits: float

    @property
    def is_constant(self) -> bool:
        """Whether it is one number."""
        return self.text.lstrip("-").isdigit()


@dataclass(frozen=True, eq=False)
class Cells:
    """The turns of all loops around in which something is done: a column for each loop."""

    names: tuple[str, ...]
    turns: tuple[Column, ...]
    counts: tuple[int, ...]
    """Of each loop, the most turns."""

    @cached_property
    def key(self) -> Hashable:
        """The same for cells of equal loops and turns."""
        return self.names, self.counts, tuple(map(key_of, self.turns))

    @cached_property
    def neighbours(self) -> list[tuple[Column, Column, Column]]:
        """For each loop the cells in an order in which its turns follow each other while the others
        stand still; after which of them one follows; and how many turns later."""
        found = []
        for axis, turn in enumerate(self.turns):
            others = np.zeros(len(turn), np.int64)
            for number, (other, count) in enumerate(zip(self.turns, self.counts, strict=True)):
                if number != axis:
                    others = others * count + other
            order = np.lexsort((turn, others))
            same = others[order][1:] == others[order][:-1]
            found.append((order, same, np.diff(turn[order])[same]))
        return found


def key_of(column: Column) -> Hashable:
    """The same for columns of equal content, and short however long they are."""
    return column.dtype.str, column.shape, blake2b(column.tobytes(), digest_size=16).digest()


_Fitting = Callable[[Column, Cells], Fit | None]


def _remembered(fitting: _Fitting) -> _Fitting:
    """The same, with the answers kept: turns that are cut in other ways have the same numbers."""
    known: dict[Hashable, Fit | None] = {}

    @wraps(fitting)
    def answer(values: Column, cells: Cells) -> Fit | None:
        key = (key_of(values), cells.key)
        if key not in known:
            if len(known) >= MOST_REMEMBERED:
                known.clear()
            known[key] = fitting(values, cells)
        return known[key]

    return answer


@lru_cache(maxsize=10_000)
def number_bits(value: int) -> float:
    """What a number costs to write and to read: about its digits."""
    return 3.0 + float(np.log2(1 + abs(value)))


@_remembered
def fit_numbers(values: Column, cells: Cells) -> Fit | None:
    """The cheapest expression that is right in every cell; None where none is known."""
    if not len(values):
        return Fit("0", number_bits(0))
    if np.all(values == values[0]):
        return Fit(str(int(values[0])), number_bits(int(values[0])))
    steps = [_step(values, cells, axis) for axis in range(len(cells.names))]
    odd = [axis for axis, step in enumerate(steps) if step is None]
    rest = values.copy()
    for turn, step in zip(cells.turns, steps, strict=True):
        rest -= (step or 0) * turn
    even = [step or 0 for step in steps]
    if np.all(rest == rest[0]):
        return _text_of((int(rest[0]), even), cells)
    axes = odd if len(odd) == 1 else [] if odd else range(len(steps))
    found = [fit for axis in axes if (fit := _round(rest, cells, axis, even)) is not None]
    if not found and len(cells.names) > 1:
        found = list(_combined(values, cells))
    return min(found, key=lambda fit: fit.bits, default=None)


def fit_ordinal(values: Column, cells: Cells) -> Fit | None:
    """Which file of a family: the number of a loop's turn wherever it is just that, since all who
    use the family must choose in one way."""
    for name, turn in zip(cells.names, cells.turns, strict=True):
        if np.array_equal(values, turn):
            return Fit(name, NAME_BITS)
    return fit_numbers(values, cells)


def _step(values: Column, cells: Cells, axis: int) -> int | None:
    """By how much the values rise with each turn of one loop, the others standing still; None where
    that is not even."""
    order, same, way = cells.neighbours[axis]
    rise = np.diff(values[order])[same]
    if not len(rise):
        return 0
    step = int(rise[0]) // int(way[0])
    return step if np.array_equal(rise, step * way) else None


def _round(rest: Column, cells: Cells, axis: int, steps: list[int]) -> Fit | None:
    """Values that come round with one loop, and rise evenly with the others."""
    turn = cells.turns[axis]
    rest = rest + steps[axis] * turn
    steps = [0 if number == axis else step for number, step in enumerate(steps)]
    most = int(turn.max()) + 1
    for period in range(2, min(most, MOST_PICKED) + 1):
        place = turn % period
        table = np.zeros(period, np.int64)
        table[place] = rest
        if np.array_equal(table[place], rest):
            return _picked(cells, cells.names[axis], table.tolist(), steps)
    return None


def _text_of(affine: tuple[int, list[int]], cells: Cells) -> Fit:
    constant, steps = affine
    parts, bits = [], 0.0
    of_all = _part_of_all(cells, steps)
    for name, step in zip(cells.names, steps, strict=True):
        if step == 0:
            continue
        sign = "-" if step < 0 else "+"
        factor = "" if abs(step) == 1 else f"{abs(step)} * "
        if name != RANK and of_all and step % of_all == 0:
            factor = f"{abs(step) // cells.counts[0]} * {RANKS} * "
        parts.append((sign, f"{factor}{name}"))
        bits += NAME_BITS + SIGN_BITS + (number_bits(step) + SIGN_BITS if factor else 0.0)
    if constant or not parts:
        parts.insert(0, ("-" if constant < 0 else "+", str(abs(constant))))
        bits += number_bits(constant)
    if parts[0][0] == "-" and len(parts) > 1:
        parts.sort(key=lambda part: part[0] == "-")
    first_sign, text = parts[0]
    text = ("-" if first_sign == "-" else "") + text
    for sign, part in parts[1:]:
        text += f" {sign} {part}"
    return Fit(text, bits)


def _part_of_all(cells: Cells, steps: list[int]) -> int:
    """What lies between the parts of all ranks and the next ones, where ranks stand beside each
    other; 0 where they do not. A loop that moves on by it does so on any number of ranks."""
    if not cells.names or cells.names[0] != RANK:
        return 0
    return abs(steps[0]) * cells.counts[0]


def _picked(cells: Cells, name: str, table: list[int], steps: list[int]) -> Fit:
    rise = _text_of((0, steps), cells) if any(steps) else Fit("", 0.0)
    text = f"pick({name}, {', '.join(map(str, table))})"
    bits = NAME_BITS * 2 + sum(number_bits(value) + SIGN_BITS for value in table) + rise.bits
    return Fit(f"{text} + {rise.text}" if rise.text else text, bits)


def _combined(values: Column, cells: Cells) -> Iterator[Fit]:
    """A number for each pair of turns of two loops."""
    axes = len(cells.names)
    for first in range(axes):
        for second in range(first + 1, axes):
            width = cells.counts[second]
            size = width * cells.counts[first]
            if size > MOST_COMBINED:
                continue
            place = cells.turns[first] * width + cells.turns[second]
            table = np.zeros(size, np.int64)
            table[place] = values
            if not np.array_equal(table[place], values):
                continue
            text = f"{cells.names[first]} * {width} + {cells.names[second]}"
            bits = sum(number_bits(value) + SIGN_BITS for value in table.tolist())
            yield Fit(f"pick({text}, {', '.join(map(str, table.tolist()))})", bits + 3 * NAME_BITS)


@_remembered
def fit_condition(mask: Column, cells: Cells) -> Fit | None:
    """When something is done, as a condition: empty where always, None where none is known."""
    if np.all(mask):
        return Fit("", 0.0)
    found = [
        fit
        for axis in range(len(cells.names))
        if (fit := _condition_of(mask, cells, axis)) is not None
    ]
    if found:
        return min(found, key=lambda fit: fit.bits)
    return _both(mask, cells)


def _condition_of(mask: Column, cells: Cells, axis: int) -> Fit | None:
    """A condition on one loop, where the mask follows from its turns alone."""
    name, turn = cells.names[axis], cells.turns[axis]
    most = int(turn.max()) + 1
    state = np.full(most, -1, np.int64)
    state[turn] = mask
    yes, no = np.flatnonzero(state == 1), np.flatnonzero(state == 0)
    if not np.array_equal(state[turn] > 0, mask) or not len(yes):
        return None
    options = [*_bounds(name, yes, no), *_classes(name, yes, no, most)]
    for period in range(2, min(most, MOST_PICKED)):
        fit = _from_on(name, yes, no, period)
        if fit is not None:
            options.append(fit)
            break
    if not options and most <= MOST_COMBINED:
        options.append(_chosen(name, (state == 1).astype(int).tolist()))
    return min(options, key=lambda fit: fit.bits, default=None)


def _bounds(name: str, yes: Column, no: Column) -> Iterator[Fit]:
    """One turn, all but one, those before one, those from one on."""
    base = 2 * NAME_BITS + SIGN_BITS
    comparisons = (
        ("==", len(yes) == 1, yes.min()),
        ("!=", len(no) == 1, no.min()),
        ("<", yes.max() < no.min(), no.min()),
        (">=", yes.min() > no.max(), yes.min()),
    )
    for sign, is_so, number in comparisons:
        if is_so:
            yield Fit(f"{name} {sign} {number}", base + number_bits(int(number)))


def _classes(name: str, yes: Column, no: Column, most: int) -> Iterator[Fit]:
    """What comes round every so many turns."""
    base = 2 * (2 * NAME_BITS + SIGN_BITS)
    for period in range(2, min(most, MOST_PICKED)):
        marks = np.bincount(yes % period, minlength=period) > 0
        if np.any(marks[no % period]):
            continue
        classes = np.flatnonzero(marks).tolist()
        others = np.unique(no % period).tolist()
        bits = base + number_bits(period)
        if len(classes) == 1:
            yield Fit(f"{name} % {period} == {classes[0]}", bits + number_bits(classes[0]))
        elif len(others) == 1:
            yield Fit(f"{name} % {period} != {others[0]}", bits + number_bits(others[0]))
        else:
            yield _chosen(name, [int(one in classes) for one in range(period)])
        return


def _chosen(name: str, table: list[int]) -> Fit:
    text = f"pick({name}, {', '.join(map(str, table))})"
    return Fit(text, 2 * NAME_BITS + 4.0 * len(table))


def _from_on(name: str, yes: Column, no: Column, period: int) -> Fit | None:
    """Every so many-th turn from one on, or up to one."""
    classes = set((yes % period).tolist())
    if len(classes) != 1:
        return None
    rest = classes.pop()
    same = no[no % period == rest]
    text = f"{name} % {period} == {rest}"
    bits = 4 * NAME_BITS + 2 * SIGN_BITS + number_bits(period) + number_bits(rest)
    if not len(same):
        return Fit(text, bits)
    if same.max() < yes.min():
        return Fit(f"{text} and {name} >= {yes.min()}", bits + 8.0 + number_bits(int(yes.min())))
    if same.min() > yes.max():
        return Fit(f"{text} and {name} <= {yes.max()}", bits + 8.0 + number_bits(int(yes.max())))
    return None


def _both(mask: Column, cells: Cells) -> Fit | None:
    """Conditions on two loops, of which both must hold; else a table of both."""
    if len(cells.names) < 2:
        return None
    fits: list[Fit] = []
    known = np.ones(len(mask), bool)
    for axis in range(len(cells.names)):
        turn = cells.turns[axis]
        some = np.zeros(int(turn.max()) + 1, bool)
        some[turn[mask]] = True
        part = some[turn]
        known &= part
        fit = _condition_of(part, cells, axis) if not np.all(part) else Fit("", 0.0)
        if fit is None:
            return None
        if fit.text:
            fits.append(fit)
    if fits and np.array_equal(known, mask):
        text = " and ".join(f"({fit.text})" if " and " in fit.text else fit.text for fit in fits)
        return Fit(text, sum(fit.bits for fit in fits) + SIGN_BITS)
    return min(_combined(mask.astype(np.int64), cells), key=lambda fit: fit.bits, default=None)


def fit_seconds(values: Column, cells: Cells) -> Fit:
    """Measured times: a mean where they are alike, means that come round with a loop where that is
    nearer, else a mean."""
    mean = float(np.mean(values))
    plain = Fit(f"{mean:.3g}", 10.0)
    if mean <= 0 or float(np.std(values)) <= 0.15 * mean:
        return plain
    for axis, name in enumerate(cells.names):
        turn = cells.turns[axis]
        most = int(turn.max()) + 1
        for period in range(2, min(most, MOST_PICKED) + 1):
            place = turn % period
            counts = np.bincount(place, minlength=period)
            if np.any(counts == 0) and period < most:
                continue
            means = np.bincount(place, values, period) / np.maximum(counts, 1)
            spread = np.sqrt(np.mean((values - means[place]) ** 2))
            if spread <= 0.05 * mean and len(values) >= 2 * period:
                texts = ", ".join(f"{one:.3g}" for one in means)
                return Fit(f"pick({name}, {texts})", 10.0 * period)
    return plain
