"""Programs as trees: statements, each with what it stands for in every turn of the loops around."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from venturi.model.operation import Column

ABSENT = -1


@dataclass(eq=False)
class Statement:
    """A call, or computing: `at` has an axis for each loop around it, the outermost first, and
    says which of the calls it is in each turn, or ABSENT."""

    loose: Hashable
    """What must be the same for two to be one."""
    strict: Hashable
    """The same, with sizes: calls that are the same in it too are matched first."""
    at: Column

    @property
    def calls(self) -> Column:
        """All calls that it is, turn by turn."""
        calls: Column = self.at[self.at != ABSENT]
        return calls


@dataclass(eq=False)
class LoopNode:
    """Turns of a body; `count` has an axis for each loop around it, 0 where it is not done."""

    body: list[Node]
    count: Column


Node = Statement | LoopNode


def loose_key(node: Node) -> Hashable:
    """What must be the same for two nodes to become one."""
    if isinstance(node, Statement):
        return node.loose
    return ("loop", tuple(loose_key(one) for one in node.body))


def strict_key(node: Node) -> Hashable:
    """What is the same of nodes that are matched first."""
    if isinstance(node, Statement):
        return node.strict
    return ("loop", tuple(strict_key(one) for one in node.body))


def room(iterations: list[list[Node | None]]) -> int:
    """How many places the turns of a new loop need as one body: each statement has one for every
    turn that any of the loops around it ever has, also where it is absent."""
    places = 0
    for column in zip(*iterations, strict=True):
        there = [list(statements([node])) for node in column if node is not None]
        for same in zip(*there, strict=True):
            widest = np.max([statement.at.shape for statement in same], axis=0)
            places += len(column) * int(np.prod(widest, dtype=np.int64))
    return places


def merged(iterations: list[list[Node | None]], axis: int) -> list[Node]:
    """The turns of a new loop as one body: column by column, each a node or nothing."""
    columns = zip(*iterations, strict=True)
    return [_stacked(list(column), axis) for column in columns]


def _stacked(nodes: list[Node | None], axis: int) -> Node:
    model = next(node for node in nodes if node is not None)
    if isinstance(model, Statement):
        parts = [node.at if isinstance(node, Statement) else None for node in nodes]
        stricts = {node.strict for node in nodes if isinstance(node, Statement)}
        strict = model.strict if len(stricts) == 1 else model.loose
        return Statement(model.loose, strict, _stack(parts, axis, ABSENT))
    loops = [node if isinstance(node, LoopNode) else None for node in nodes]
    longest = max(int(loop.count.max(initial=0)) for loop in loops if loop is not None)
    bodies = [
        None if loop is None else [_padded(one, loop.count.ndim, longest) for one in loop.body]
        for loop in loops
    ]
    body = [
        _stacked([None if one is None else one[number] for one in bodies], axis)
        for number in range(len(model.body))
    ]
    counts = [None if loop is None else loop.count for loop in loops]
    return LoopNode(body, _stack(counts, axis, 0))


def _stack(parts: list[Column | None], axis: int, empty: int) -> Column:
    shapes = [part.shape for part in parts if part is not None]
    widest = tuple(max(sizes) for sizes in zip(*shapes, strict=True))
    nothing = np.full(widest, empty, np.int64)
    filled = [nothing if part is None else in_shape(part, widest, empty) for part in parts]
    return np.stack(filled, axis=axis)


def in_shape(column: Column, shape: tuple[int, ...], empty: int) -> Column:
    """A column with room for just as many turns as the loops around it have."""
    if column.shape == shape:
        return column
    found = np.full(shape, empty, column.dtype)
    common = tuple(slice(0, min(sizes)) for sizes in zip(column.shape, shape, strict=True))
    found[common] = column[common]
    return found


def _padded(node: Node, axis: int, length: int) -> Node:
    """A node of a loop's body with room for so many turns along `axis`."""

    def padded(column: Column, empty: int) -> Column:
        shape = list(column.shape)
        shape[axis] = max(shape[axis], length)
        return in_shape(column, tuple(shape), empty)

    if isinstance(node, Statement):
        return Statement(node.loose, node.strict, padded(node.at, ABSENT))
    return LoopNode([_padded(one, axis, length) for one in node.body], padded(node.count, 0))


def turns_done(body: list[Node], shape: tuple[int, ...]) -> Column:
    """In which turns of the loops around a body, the last of `shape` its own, anything is done."""
    done = np.zeros(shape, bool)
    for statement in statements(body):
        inner = tuple(range(len(shape), statement.at.ndim))
        done |= (statement.at != ABSENT).any(axis=inner)
    return done


def without_empty_turns(loop: LoopNode, done: Column) -> LoopNode:
    """The same loop with only the turns in which something is done."""
    axis = done.ndim - 1
    count = done.sum(axis=axis)
    order = np.argsort(~done, axis=axis, kind="stable")[..., : int(count.max())]
    return LoopNode([_in_order(node, order, axis) for node in loop.body], count)


def _in_order(node: Node, order: Column, axis: int) -> Node:
    """The node with the turns of one loop in another order."""

    def moved(column: Column, empty: int) -> Column:
        column = in_shape(column, (*order.shape[:axis], *column.shape[axis:]), empty)
        places = order.reshape(order.shape + (1,) * (column.ndim - axis - 1))
        return np.take_along_axis(column, places, axis)

    if isinstance(node, Statement):
        return Statement(node.loose, node.strict, moved(node.at, ABSENT))
    return LoopNode([_in_order(one, order, axis) for one in node.body], moved(node.count, 0))


def statements(nodes: list[Node]) -> Iterator[Statement]:
    """All statements of a program, in order."""
    for node in nodes:
        if isinstance(node, Statement):
            yield node
        else:
            yield from statements(node.body)
