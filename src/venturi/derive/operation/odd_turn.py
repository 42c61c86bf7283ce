"""Loops with odd turns: acts that only one turn has, and a last turn that is cut short.

A program that does the same again and again reads its next block of input in the midst of it, and
stops in the midst of it. So what happens but once does not cut a loop in two: it stands in the loop
under a condition, and so does what the last turn lacks.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from venturi.derive.operation.fold import Leaf, Loop, Node, Some, divisor_of, fold, length
from venturi.model.operation import Column

MOST_TIMES = 2
"""What happens so often is odd ..."""
LEAST_TURNS = 8
"""... in a loop of so many turns."""
MOST_ODD = 6
"""A loop with more odd turns than these is none that people read."""
LEAST_TAIL = 2
"""So many acts of a turn are one that is cut short."""


def fold_oddly(symbols: Column, light: Column | None = None) -> list[Node] | None:
    """The sequence as loops with odd turns; None where there are none, or too many.

    `light` is a mask of the symbols that move nothing, beside which an odd act may stand.
    """
    if light is None:
        light = np.zeros(int(symbols.max(initial=0)) + 1, bool)
    counts = np.bincount(symbols) if len(symbols) else np.zeros(1)
    if counts.max() < LEAST_TURNS:
        return None
    once = counts <= MOST_TIMES
    few = once | ((counts <= MOST_ODD) & (counts * 2 <= counts.max()))
    tried = [once] if np.array_equal(once, few) else [once, few]
    found = [nodes for one in tried if (nodes := _folded_without(one, symbols, light))]
    return min(found, key=length, default=None)


def _folded_without(few: Column, symbols: Column, light: Column) -> list[Node] | None:
    """The sequence as loops into which the symbols that are few are put."""
    odd = np.flatnonzero(few[symbols])
    nodes = _without(odd, symbols)
    if nodes is None:
        return None
    spans = [_span(node) for node in nodes if _is_long(node)]
    inside = _inside(odd, symbols, spans)
    if len(inside) < len(odd):
        odd = np.array(inside, np.int64)
        nodes = _without(odd, symbols)
    return None if nodes is None else _with_odd(_with_tails(nodes), symbols, odd, light)


def _inside(odd: Column, symbols: Column, spans: list[tuple[int, int]]) -> list[int]:
    """Those of the odd acts that stand in a loop, or right behind one in which their like do."""
    around = _spans_before(spans, odd)
    inside = [p for p, i in zip(odd.tolist(), around, strict=True) if i >= 0 and p < spans[i][1]]
    known, ends = set(symbols[inside].tolist()), {high + 1 for _, high in spans}
    behind = [p for p in odd.tolist() if p in ends and int(symbols[p]) in known]
    return sorted({*inside, *behind})


def _without(odd: Column, symbols: Column) -> list[Node] | None:
    """The sequence without some of its acts as loops."""
    kept = np.setdiff1d(np.arange(len(symbols)), odd)
    nodes = fold(symbols[kept])
    return None if nodes is None else [_placed(node, kept) for node in nodes]


def _is_long(node: Node) -> bool:
    return isinstance(node, Loop) and node.count >= LEAST_TURNS


def _placed(node: Node, kept: Column) -> Node:
    """The node with the places that its acts have among all."""
    if isinstance(node, Leaf):
        return Leaf(node.symbol, kept[node.places])
    return replace(node, body=tuple(_placed(inner, kept) for inner in node.body))


def _shape(node: Node) -> object:
    if isinstance(node, Leaf):
        return node.symbol
    count = node.count if isinstance(node, Loop) else -1
    return count, tuple(_shape(inner) for inner in node.body)


def _with_tails(nodes: list[Node]) -> list[Node]:
    """What follows a loop and is the beginning of one more turn, as such a turn."""
    result: list[Node] = []
    at = 0
    while at < len(nodes):
        node = nodes[at]
        at += 1
        tail = 0
        if isinstance(node, Loop) and _is_long(node):
            most = min(len(node.body) - 1, len(nodes) - at)
            while tail < most and _shape(nodes[at + tail]) == _shape(node.body[tail]):
                tail += 1
            if tail >= LEAST_TAIL:
                whole = [_longer(node.body[i], nodes[at + i]) for i in range(tail)]
                node = Loop(node.count + 1, (*whole, Some(0, node.count, node.body[tail:])))
                at += tail
        result.append(node)
    return result


def _longer(node: Node, last: Node) -> Node:
    """A node of a loop's body with one turn more."""
    if isinstance(node, Leaf):
        assert isinstance(last, Leaf)
        return Leaf(node.symbol, np.concatenate([node.places, last.places[None]]))
    assert not isinstance(last, Leaf)
    both = zip(node.body, last.body, strict=True)
    return replace(node, body=tuple(_longer(one, other) for one, other in both))


def _span(node: Node, turn: int | None = None) -> tuple[int, int]:
    """The first and last place of a node, in one turn of the loop around it; (-1, -1): none."""
    if isinstance(node, Some) and turn is not None:
        turn -= node.first
        if not 0 <= turn < node.count:
            return -1, -1
    if isinstance(node, Leaf):
        places = node.places if turn is None else node.places[turn]
        return int(places.min()), int(places.max())
    spans = [_span(inner, turn) for inner in node.body]
    there = [span for span in spans if span[0] >= 0]
    return min(low for low, _ in there), max(high for _, high in there)


def _with_odd(nodes: list[Node], symbols: Column, odd: Column, light: Column) -> list[Node] | None:
    """The nodes with what is odd put where it happened."""
    spans = [_span(node) for node in nodes]
    slots: dict[int, list[tuple[int, int, int]]] = {}
    between: list[tuple[int, Node]] = [
        (low, node) for (low, _), node in zip(spans, nodes, strict=True)
    ]
    left, is_light = MOST_ODD, light[symbols]
    for place, at in zip(odd.tolist(), _spans_before(spans, odd), strict=True):
        high = spans[at][1] if at >= 0 else -1
        if place > high and not (at >= 0 and place == high + 1 and _is_long(nodes[at])):
            between.append((place, Leaf(int(symbols[place]), np.array(place))))
            continue
        node = nodes[at]
        slot = _slot(node, place, is_light) if isinstance(node, Loop) else None
        left -= 1
        if slot is None or left < 0:
            return None
        slots.setdefault(at, []).append((*slot, place))
    for number, found in slots.items():
        node = nodes[number]
        assert isinstance(node, Loop)
        between[number] = spans[number][0], Loop(node.count, _filled(node, found, symbols))
    return [node for _, node in sorted(between, key=lambda one: one[0])]


def _spans_before(spans: list[tuple[int, int]], places: Column) -> list[int]:
    """The last of these spans, which come one behind the other, that begins before each place; -1:
    none does."""
    lows = np.array([low for low, _ in spans], np.int64)
    return list((np.searchsorted(lows, places, side="left") - 1).tolist())


def _slot(loop: Loop, place: int, is_light: Column) -> tuple[int, int] | None:
    """Before which node of a loop's body, and in which turn, an act stands between two others.

    Within a node it may stand before all that moves something, or behind it.
    """
    if not _is_long(loop):
        return None
    starts = np.array([_span(loop.body[0], turn)[0] for turn in range(loop.count)])
    turn = int(np.searchsorted(starts, place)) - 1
    spans = [_span(node, turn) for node in loop.body]
    before = sum(1 for _, high in spans if 0 <= high < place)
    for low, high in spans:
        if low < place < high and not np.all(is_light[low:place]):
            if not np.all(is_light[place + 1 : high + 1]):
                return None
            before += 1
    return before, turn


def _filled(loop: Loop, found: list[tuple[int, int, int]], symbols: Column) -> tuple[Node, ...]:
    body: list[Node] = []
    for at in range(len(loop.body) + 1):
        turns = sorted({turn for slot, turn, _ in found if slot == at})
        alike: dict[tuple[int, ...], dict[int, list[int]]] = {}
        for turn in turns:
            places = sorted(p for slot, t, p in found if (slot, t) == (at, turn))
            alike.setdefault(tuple(symbols[places].tolist()), {})[turn] = places
        for acts, by_turn in alike.items():
            body += _somes(acts, by_turn)
        body += loop.body[at : at + 1]
    return tuple(body)


def _somes(acts: tuple[int, ...], by_turn: dict[int, list[int]]) -> list[Some]:
    """What the same acts of a few turns are: one node, where their number follows from the turn."""
    turns = tuple(by_turn)
    if len(turns) < 2 or divisor_of(turns) is None:
        return [
            Some(turn, 1, tuple(Leaf(a, np.array([p])) for a, p in zip(acts, places, strict=True)))
            for turn, places in by_turn.items()
        ]
    columns = zip(*by_turn.values(), strict=True)
    leaves = (Leaf(a, np.array(column)) for a, column in zip(acts, columns, strict=True))
    return [Some(turns[0], len(turns), tuple(leaves), turns)]
