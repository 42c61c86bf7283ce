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


def turn_columns(table: RowTable, slots: Mapping[str, int]) -> list[p.TurnColumn]:
    """What the columns of a table say of the variables of their names, which have these slots."""
    return [_column(slots[name], table.column(name)) for name in table.columns]


def _column(slot: int, numbers: Sequence[int]) -> p.TurnColumn:
    return p.TurnColumn(variable=slot, values=base64.b64encode(narrow_bytes(numbers)).decode())


class LoopRows:
    """What the variables of a loop are in each of its turns; of a loop without a table, its own."""

    def __init__(self, loop: p.For | p.StagedLoop, count: int) -> None:
        self._variable = loop.variable
        self._columns: list[tuple[int, array[int]]] = [
            (column.variable, numbers_in(column.values, count)) for column in loop.columns
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

    def distinct(self, used: Collection[int]) -> Iterable[tuple[int, int]]:
        """The first turn of those that are alike in the columns that are used, and how many are."""
        columns = [numbers for slot, numbers in self._columns if slot in used]
        count = len(self._columns[0][1])
        if not columns:
            return ((0, count),)
        keys = list(zip(*columns, strict=True))
        first = dict(zip(reversed(keys), range(count - 1, -1, -1), strict=True))
        times = Counter(keys)
        return ((first[key], times[key]) for key in times)

    def farthest(self) -> list[tuple[int, int]]:
        """Turns in which one of the columns has its largest number, each once."""
        turns = {max(range(len(numbers)), key=numbers.__getitem__) for _, numbers in self._columns}
        return list(zip(sorted(turns), repeat(1)))


def variables_of(loop: p.For | p.StagedLoop) -> set[int]:
    """The slots of the variables that a loop gives values."""
    return {loop.variable, *(column.variable for column in loop.columns)}


def naming_turns(
    loop: p.For, turns: Iterable[int], named_by: Collection[int], longest: int | None
) -> p.StagedLoop:
    """Those of a table's turns, of some, that differ in the variables by which files are named; of
    turns that name the same, the one in which the variable `longest` is largest."""
    count = loop.count[0].integer
    columns = {one.variable: numbers_in(one.values, count) for one in loop.columns}
    columns[loop.variable] = array("q", range(count))
    names = [slot for slot in columns if slot in named_by]
    turn_of: dict[tuple[int, ...], int] = {}
    for turn in turns:
        key = tuple(columns[slot][turn] for slot in names)
        before = turn_of.setdefault(key, turn)
        if longest is not None and columns[longest][turn] > columns[longest][before]:
            turn_of[key] = turn
    chosen = list(turn_of.values())
    kept = {*names, *([] if longest is None else [longest])} - {loop.variable}
    return p.StagedLoop(
        variable=loop.variable,
        count=len(chosen),
        columns=[_column(slot, [columns[slot][turn] for turn in chosen]) for slot in sorted(kept)],
    )


def turns_with(loop: p.For, chosen: Collection[int], choice: p.Choose) -> Iterable[int]:
    """The turns of a loop over a table in which a choice falls on one of these steps."""
    rows = LoopRows(loop, loop.count[0].integer)
    slots: list[Number] = [0] * (1 + max(variables_of(loop) | slots_of(choice.number)))
    for turn in range(loop.count[0].integer):
        rows.take(slots, turn)
        if evaluate(choice.number, slots) in chosen:
            yield turn
