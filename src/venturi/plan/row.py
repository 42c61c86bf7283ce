"""The turns of a loop over the rows of a table."""

from __future__ import annotations

import base64
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import repeat

from venturi.model import plan as p
from venturi.model.expression import Number, evaluate
from venturi.model.row_table import RowTable, narrow_bytes, numbers_in
from venturi.plan.scope import slots_of


def turn_columns(
    table: RowTable, names: Iterable[str], slots: Mapping[str, int]
) -> list[p.TurnColumn]:
    """What columns of a table say of the variables of their names, which have these slots."""
    return [_column(slots[name], table.column(name)) for name in names]


def _column(slot: int, numbers: Sequence[int]) -> p.TurnColumn:
    return p.TurnColumn(variable=slot, values=base64.b64encode(narrow_bytes(numbers)).decode())


class LoopRows:
    """What the variables of a loop are in each of its turns; of a loop without a table, its own."""

    def __init__(self, loop: p.For | p.StagedLoop) -> None:
        self._variable = loop.variable
        rows = loop.rows if isinstance(loop, p.For) else loop.count
        self._columns: list[tuple[int, array[int]]] = [
            (column.variable, numbers_in(column.values, rows)) for column in loop.columns
        ]

    def take(self, slots: list[Number], turn: int) -> None:
        """Give the variables their values in a turn."""
        slots[self._variable] = turn
        for slot, numbers in self._columns:
            slots[slot] = numbers[turn]

    def leave(self, slots: list[Number]) -> None:
        """Give the variables the values that they have outside of the loop."""
        slots[self._variable] = 0
        for slot, _ in self._columns:
            slots[slot] = 0

    def distinct(self, used: Collection[int], turns: range) -> Iterable[tuple[int, int]]:
        """The first of those turns that are alike in the columns that are used, and how often."""
        mine = slice(turns.start, turns.stop)
        columns = [numbers[mine] for slot, numbers in self._columns if slot in used]
        if not columns:
            return ((turns[0], len(turns)),)
        keys = list(zip(*columns, strict=True))
        first = dict(zip(reversed(keys), reversed(turns), strict=True))
        times = Counter(keys)
        return ((first[key], times[key]) for key in times)

    def farthest(self, turns: range) -> list[tuple[int, int]]:
        """Those turns in which one of the columns has its largest number, each once."""
        found = {max(turns, key=numbers.__getitem__) for _, numbers in self._columns}
        return list(zip(sorted(found), repeat(1)))


def variables_of(loop: p.For | p.StagedLoop) -> set[int]:
    """The slots of the variables that a loop gives values."""
    return {loop.variable, *(column.variable for column in loop.columns)}


def naming_turns(
    turns: Sequence[tuple[p.For, Iterable[int]]], named_by: Collection[int], longest: int | None
) -> p.StagedLoop | None:
    """Those of some turns of loops over tables that differ in the variables by which files are
    named; of turns that name the same, the one in which the variable `longest` is largest. None:
    there are no turns."""
    own = turns[0][0].variable
    names: list[int] = []
    chosen: dict[tuple[int, ...], tuple[dict[int, Sequence[int]], int]] = {}
    for loop, some in turns:
        columns: dict[int, Sequence[int]] = {loop.variable: range(loop.rows)}
        columns |= {one.variable: numbers_in(one.values, loop.rows) for one in loop.columns}
        names = names or sorted(columns.keys() & set(named_by))
        for turn in some:
            key = tuple([columns[slot][turn] for slot in names])
            theirs, before = chosen.setdefault(key, (columns, turn))
            if longest is not None and columns[longest][turn] > theirs[longest][before]:
                chosen[key] = columns, turn
    if not chosen:
        return None
    kept = {*names, *([] if longest is None else [longest])} - {own}
    return p.StagedLoop(
        variable=own,
        count=len(chosen),
        columns=[
            _column(slot, [columns[slot][turn] for columns, turn in chosen.values()])
            for slot in sorted(kept)
        ],
    )


def turns_with(loop: p.For, chosen: Collection[int], choice: p.Choose) -> Iterable[int]:
    """The turns of a loop over a table, of all ranks, in which a choice falls on one of these
    steps."""
    rows = LoopRows(loop)
    slots: list[Number] = [0] * (1 + max(variables_of(loop) | slots_of(choice.number)))
    for turn in range(loop.rows):
        rows.take(slots, turn)
        if evaluate(choice.number, slots) in chosen:
            yield turn
