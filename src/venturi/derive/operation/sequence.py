"""The acts of a program as loops: exactly alike, or nearly, or whatever their order.

Dumps of a running simulation are seldom equal to the byte: particles move between ranks, text has
other digits. Acts of the same calls whose bytes are within a few per cent, or grow evenly, are one
act that repeats, where that makes the program shorter; so are acts of the same calls that
together move next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from venturi.derive.operation.deal import NEAR
from venturi.derive.operation.fold import Leaf, Loop, Node, fold, leaves, length
from venturi.derive.operation.odd_turn import fold_oddly
from venturi.derive.operation.token import mixed_hash
from venturi.derive.operation.visit import Acts
from venturi.model.operation import Column

MOST_PHASES = 24
"""A program of more phases is no text that people read."""
NAMES_WEIGHT = 0.4
"""What an act on names alone weighs beside one that moves data."""
LOOSE_GAIN = 3
"""Amounts that differ at will are one act if that makes the program so many times shorter."""
MOST_GROUPS = 4
"""Where no order is kept, a part of a stream has so many phases; the smaller ones are dealt."""
NEGLIGIBLE = 1e-3
"""Acts of the same calls that together move no larger share of all bytes are alike."""
LEAST_AFFINE = 3
"""Two amounts always lie on a line."""


def sequence_of(acts: Acts, nests: bool = True) -> tuple[list[Node], bool]:
    """The acts as loops, and whether their order in time is kept.

    With `nests` bodies of loops have loops and odd turns, too.
    """
    if not len(acts):
        return [], True
    pauses, near = acts.pause_ns > 0, near_names(acts)
    never = np.zeros(len(acts), bool)
    trials = [
        (acts.strict, pauses, 1),
        (near, pauses, 1),
        (near, never, 1),
        (acts.loose, never, LOOSE_GAIN),
    ]
    best: list[Node] | None = None
    for names, flags, gain in trials:
        nodes = _folded(names, flags, nests, acts.bytes == 0)
        if nodes is None:
            continue
        is_long = best is None or _phases(best, acts) > MOST_PHASES
        if best is None or leaves(nodes) * (1 if is_long else gain) < leaves(best):
            best = nodes
    if best is not None and _phases(best, acts) <= MOST_PHASES:
        return best, True
    _, symbols = np.unique(acts.loose, return_inverse=True)
    return grouped(symbols), False


def _phases(nodes: list[Node], acts: Acts) -> float:
    """How many phases there are to read; calls on names alone are lines of another one."""
    moves = [acts.bytes[leaf.places.flat[0]] > 0 for leaf in leaves_of(nodes)]
    return sum(1.0 if is_moving else NAMES_WEIGHT for is_moving in moves)


def _folded(names: Column, pauses: Column, nests: bool, moves_nothing: Column) -> list[Node] | None:
    _, symbols = np.unique(names + pauses.astype(np.uint64), return_inverse=True)
    symbols = _same_start(symbols, names, pauses)
    plain = fold(symbols, nests)
    light = np.ones(int(symbols.max()) + 1, bool)
    light[symbols[~moves_nothing]] = False
    odd = fold_oddly(symbols, light) if nests else None
    return odd if odd is not None and (plain is None or length(odd) < length(plain)) else plain


def near_names(acts: Acts) -> Column:
    """A name for each act; acts with the same calls and nearly the same bytes share one."""
    names = acts.near.copy()
    order = np.argsort(acts.near, kind="stable")
    edges = np.flatnonzero(np.diff(acts.near[order])) + 1
    most = NEGLIGIBLE * acts.bytes.sum()
    for alike in np.split(order, edges):
        if acts.bytes[alike].sum() > most and not _is_affine(acts.bytes[alike]):
            names[alike] += mixed_hash(_classes(acts.bytes[alike]))
    return names


def _is_affine(amounts: Column) -> bool:
    """Whether each amount is as much more than the one before as any other."""
    steps = np.diff(amounts)
    return len(amounts) >= LEAST_AFFINE and bool(np.all(steps == steps[0]))


def _classes(amounts: Column) -> Column:
    """A number for each amount, the same for those that are nearly equal."""
    values, inverse = np.unique(amounts, return_inverse=True)
    classes = np.zeros(len(values), np.uint64)
    at, number = 0, 0
    while at < len(values):
        end = int(np.searchsorted(values, NEAR * int(values[at]), side="right"))
        classes[at:end] = number
        at, number = end, number + 1
    return classes[inverse]


def few_of(nodes: list[Node], acts: Acts) -> tuple[list[Node], dict[int, Column]]:
    """The groups of acts that matter most in each part, and the acts of the others, by part."""
    by_part: dict[int, list[Node]] = {}
    for node in nodes:
        by_part.setdefault(int(acts.part[_acts_in(node)[0]]), []).append(node)
    rest: dict[int, Column] = {}
    dropped: set[int] = set()
    for part, groups in by_part.items():
        weights = [_weight(_acts_in(node), acts) for node in groups]
        total = [max(sum(column), 1) for column in zip(*weights, strict=True)]
        order = sorted(
            range(len(groups)),
            key=lambda at: -sum(w / t for w, t in zip(weights[at], total, strict=True)),
        )
        small = [groups[at] for at in order[MOST_GROUPS:]]
        if small:
            dropped |= {id(node) for node in small}
            rest[part] = np.concatenate([_acts_in(node) for node in small])
    return [node for node in nodes if id(node) not in dropped], rest


def _acts_in(node: Node) -> Column:
    return np.concatenate([leaf.places.ravel() for leaf in leaves_of([node])])


def _weight(chosen: Column, acts: Acts) -> tuple[int, int]:
    return int(acts.bytes[chosen].sum()), int(acts.count[chosen].sum())


def leaves_of(nodes: Sequence[Node]) -> list[Leaf]:
    """All leaves, in order."""
    found: list[Leaf] = []
    for node in nodes:
        found += [node] if isinstance(node, Leaf) else leaves_of(node.body)
    return found


def grouped(symbols: Column, takes_turns: bool = False) -> list[Node]:
    """All places of each symbol together, in the order of their first ones.

    With `takes_turns` neighbours that come equally often are one loop.
    """
    values, first = np.unique(symbols, return_index=True)
    nodes: list[Node] = []
    for value in values[np.argsort(first)].tolist():
        places = np.flatnonzero(symbols == value)
        before = nodes[-1] if nodes else None
        if len(places) == 1:
            nodes.append(Leaf(int(value), places[0]))
        elif takes_turns and isinstance(before, Loop) and before.count == len(places):
            nodes[-1] = Loop(before.count, (*before.body, Leaf(int(value), places)))
        else:
            nodes.append(Loop(len(places), (Leaf(int(value), places),)))
    return nodes


def _same_start(symbols: Column, names: Column, pauses: Column) -> Column:
    """The first act as one after a pause, where its like comes after pauses later on."""
    like = np.flatnonzero((names == names[0]) & pauses)
    if len(like) and not pauses[0]:
        symbols = symbols.copy()
        symbols[0] = symbols[like[0]]
    return symbols
