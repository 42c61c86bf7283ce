"""What it costs to say a statement or a loop: the one measure by which programs are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from venturi.derive.nest.call import COMPUTE, DATA, RankCalls
from venturi.derive.nest.fit import (
    RANK,
    Cells,
    Fit,
    fit_condition,
    fit_numbers,
    fit_ordinal,
    fit_seconds,
)
from venturi.derive.nest.position import PositionMove
from venturi.derive.nest.tree import ABSENT, LoopNode, Node, Statement, in_shape
from venturi.derive.operation.scene import VARIABLES
from venturi.model.operation import KIND_CODES, Column, Kind

STATEMENT_BITS = 20.0
"""A line: a verb and a name."""
LOOP_BITS = 20.0
UNSAID_BITS = 32.0
"""A number in one turn that no expression tells."""


@dataclass(frozen=True, eq=False)
class LoopScope:
    """What is around a list of nodes: loops, and the ranks where there are several."""

    names: tuple[str, ...]
    valid: Column
    """Which combinations of their turns there are; an axis for each."""

    @staticmethod
    def outermost(ranks: int = 1) -> LoopScope:
        """No loop at all; what several ranks do is as if they were the turns of one."""
        if ranks == 1:
            return LoopScope((), np.ones((), bool))
        return LoopScope((RANK,), np.ones(ranks, bool))

    @property
    def axes(self) -> int:
        """How many numbers tell a turn: of each loop one, and the rank where there are several."""
        return len(self.names)

    @property
    def loops(self) -> int:
        """How many loops there are."""
        return self.axes - (RANK in self.names)

    def inside(self, count: Column) -> LoopScope:
        """Within one more loop, of `count` turns."""
        turns = np.arange(max(int(count.max(initial=0)), 1))
        count = in_shape(count, self.valid.shape, 0)
        valid = self.valid[..., None] & (turns < count[..., None])
        return LoopScope((*self.names, VARIABLES[self.loops]), valid)

    def cells(self, mask: Column) -> Cells:
        """The combinations that a mask chooses."""
        if np.array_equal(mask, self.valid):
            return self.all_cells
        return self._chosen(mask)

    @cached_property
    def all_cells(self) -> Cells:
        """All combinations."""
        return self._chosen(self.valid)

    def _chosen(self, mask: Column) -> Cells:
        return Cells(self.names, tuple(np.nonzero(mask)) if self.names else (), self.valid.shape)


@dataclass(frozen=True)
class StatementText:
    """How a statement is told; a part is None where no expression is right."""

    when: Fit | None
    ordinal: Fit | None
    to: Fit | None
    """Of calls that rename: which of the names is given."""
    size: Fit | None
    place: Fit | None
    """Of requests; an empty text: at the position, or where the file ends. Of calls that cut a
    file: its length then."""
    seconds: Fit | None
    bits: float

    @property
    def is_whole(self) -> bool:
        """Whether all of it can be told."""
        return None not in (self.when, self.ordinal, self.to, self.size, self.place)


NOTHING = Fit("", 0.0)


def said_of(statement: Statement, scope: LoopScope, calls: RankCalls) -> StatementText:
    """How a statement is told most cheaply."""
    at = in_shape(statement.at, scope.valid.shape, ABSENT)
    present = at != ABSENT
    rows = at[present]
    valid = scope.all_cells
    cells = scope.cells(present)
    when = fit_condition(present[scope.valid], valid)
    bits = STATEMENT_BITS + _bits(when, len(valid.turns[0]) if valid.turns else 1)
    kind = int(calls.kind[rows[0]])
    if kind == COMPUTE:
        seconds = fit_seconds(calls.seconds[rows], cells)
        bits += seconds.bits
        return StatementText(when, NOTHING, NOTHING, NOTHING, NOTHING, seconds, bits)
    ordinal = _which(calls, calls.slot[rows], calls.ordinal[rows], cells)
    bits += _bits(ordinal, len(rows))
    to: Fit | None = NOTHING
    if kind == KIND_CODES[Kind.RENAME]:
        to = _which(calls, calls.to_slot[rows], calls.to_ordinal[rows], cells)
        bits += _bits(to, len(rows))
    if kind not in DATA:
        is_cut = kind == KIND_CODES[Kind.TRUNCATE]
        length = fit_numbers(calls.offset[rows], cells) if is_cut else NOTHING
        bits += _bits(length, len(rows))
        return StatementText(when, ordinal, to, NOTHING, length, None, bits)
    size = fit_numbers(calls.size[rows], cells)
    place: Fit | None = NOTHING
    goes_on = np.all(calls.move[rows] == PositionMove.GO_ON)
    goes_on &= np.array_equal(calls.offset[rows], calls.position[rows])
    if not goes_on and not calls.appends[rows[0]]:
        place = fit_numbers(calls.offset[rows], cells)
    bits += _bits(size, len(rows)) + _bits(place, len(rows))
    return StatementText(when, ordinal, to, size, place, None, bits)


def _which(calls: RankCalls, slot: Column, ordinal: Column, cells: Cells) -> Fit | None:
    """Which of a family's files they are."""
    several = calls.families[int(slot[0])].turns > 1
    return fit_ordinal(ordinal, cells) if several else NOTHING


def _bits(fit: Fit | None, cells: int) -> float:
    return UNSAID_BITS * cells if fit is None else fit.bits


def count_of(loop: LoopNode, scope: LoopScope) -> tuple[Fit | None, Fit | None]:
    """When a loop is done, and how many turns it has."""
    whole = in_shape(loop.count, scope.valid.shape, 0)
    counts = whole[scope.valid]
    valid = scope.all_cells
    done = counts > 0
    there = whole > 0 if scope.names else scope.valid
    return fit_condition(done, valid), fit_numbers(counts[done], scope.cells(there))


def price(nodes: list[Node], scope: LoopScope, calls: RankCalls) -> float:
    """The bits of a program, or of a part of it."""
    total = 0.0
    for node in nodes:
        if isinstance(node, Statement):
            total += said_of(node, scope, calls).bits
            continue
        when, count = count_of(node, scope)
        cells = int(np.count_nonzero(scope.valid))
        total += LOOP_BITS + _bits(when, cells) + _bits(count, cells)
        total += price(node.body, scope.inside(node.count), calls)
    return total
