"""Repeated parts of a sequence as loops: run lengths first, then periods, nested as found."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from venturi.derive.operation.repetition import Repetitions
from venturi.model.operation import Column

MOST_NODES = 20_000
"""After run lengths are folded; a longer sequence has no structure that people can read."""
LEAST_RUNS = 3
"""So many runs of a symbol show how long they usually are."""
_MOST_ROUNDS = 200


@dataclass(frozen=True)
class Leaf:
    """One symbol; `places` has an axis for each loop around it, outermost first."""

    symbol: int
    places: Column


@dataclass(frozen=True)
class Loop:
    """A body that repeats."""

    count: int
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Some:
    """What only some turns of the loop around it do: its first ones, a single one, or a few."""

    first: int
    count: int
    body: tuple[Node, ...]
    """Their places have an axis of `count` for the loop."""
    few: tuple[int, ...] = ()
    """The turns, where they are neither its first ones nor a single one."""

    def condition(self, variable: str) -> str:
        """Which turns these are."""
        if self.few:
            return " or ".join(f"{variable} == {turn}" for turn in self.few)
        return f"{variable} == {self.first}" if self.count == 1 else f"{variable} < {self.count}"

    def number(self, variable: str) -> str:
        """The how many-th of these turns it is."""
        return f"{variable} // {divisor_of(self.few)}" if self.few else variable


def divisor_of(turns: Sequence[int]) -> int | None:
    """By what turns are divided to give 0, 1, 2 ..."""
    most = turns[-1] + 1
    return next(
        (d for d in range(1, most + 1) if all(t // d == i for i, t in enumerate(turns))), None
    )


Node = Leaf | Loop | Some


def fold(symbols: Column, nests: bool = True) -> list[Node] | None:
    """The sequence as loops and leaves; None where it is too long without repeating itself.

    With `nests` loops are also looked for within the bodies of loops.
    """
    runs = _runs(symbols)
    if len(runs) > MOST_NODES:
        return None
    depth = 0 if nests else None
    plain, cut = _folded(list(runs), depth), _evened(runs)
    if len(cut) == len(runs):
        return plain
    even = _folded(cut, depth)
    return even if leaves(even) < leaves(plain) else plain


def _evened(nodes: list[Node]) -> list[Node]:
    """The first and last run of each symbol cut down to what its runs usually are: a dump at the
    start, or the end, of a simulation that dumps between restarts."""
    found: dict[int, list[int]] = {}
    for at, node in enumerate(nodes):
        leaf = node.body[0] if isinstance(node, Loop) else node
        assert isinstance(leaf, Leaf)
        found.setdefault(leaf.symbol, []).append(at)
    cuts: dict[int, list[Node]] = {}
    for runs in found.values():
        counts = [np.size(_places(nodes[at])) for at in runs]
        usual = int(np.bincount(counts).argmax())
        if len(runs) < LEAST_RUNS or counts.count(usual) * 2 < len(runs):
            continue
        if counts[0] > usual:
            cuts[runs[0]] = _cut(nodes[runs[0]], counts[0] - usual)
        if counts[-1] > usual:
            cuts[runs[-1]] = _cut(nodes[runs[-1]], usual)
    return [part for at, node in enumerate(nodes) for part in cuts.get(at, [node])]


def _places(node: Node) -> Column:
    leaf = node.body[0] if isinstance(node, Loop) else node
    assert isinstance(leaf, Leaf)
    return leaf.places


def _cut(node: Node, at: int) -> list[Node]:
    assert isinstance(node, Loop)
    assert isinstance(node.body[0], Leaf)
    symbol = node.body[0].symbol
    return [_run(symbol, places) for places in np.split(node.body[0].places, [at])]


def _run(symbol: int, places: Column) -> Node:
    if len(places) == 1:
        return Leaf(symbol, np.array(int(places[0])))
    return Loop(len(places), (Leaf(symbol, places),))


def _folded(nodes: list[Node], depth: int | None) -> list[Node]:
    """The nodes as loops; `depth` loops are around them already, None: bodies stay as they are."""
    names: dict[Hashable, int] = {}
    repetitions = Repetitions([_name(node, names) for node in nodes])
    for _ in range(_MOST_ROUNDS):
        found = repetitions.best()
        if found is None:
            break
        start, period, count = found
        repeats = [nodes[start + i * period : start + (i + 1) * period] for i in range(count)]
        body = [_merged([r[j] for r in repeats], depth or 0) for j in range(period)]
        loop = Loop(count, tuple(body if depth is None else _folded(body, depth + 1)))
        end = start + count * period
        nodes[start:end] = [loop]
        repetitions.replace(start, end, _name(loop, names))
    return nodes


def leaves(nodes: list[Node] | tuple[Node, ...]) -> int:
    """How many leaves there are to write down."""
    return sum(1 if isinstance(node, Leaf) else leaves(node.body) for node in nodes)


def length(nodes: Sequence[Node]) -> float:
    """How long the nodes are to read: a condition is half of what an act is, that of a few turns
    as much."""
    return sum(
        1.0 if isinstance(node, Leaf) else length(node.body) + _condition_length(node)
        for node in nodes
    )


def _condition_length(node: Loop | Some) -> float:
    if isinstance(node, Loop):
        return 0.0
    return 1.0 if node.few else 0.5


def _runs(symbols: Column) -> list[Node]:
    if not len(symbols):
        return []
    starts = np.flatnonzero(np.concatenate([[True], symbols[1:] != symbols[:-1]]))
    ends = np.append(starts[1:], len(symbols))
    if len(starts) > MOST_NODES:
        return [Leaf(0, np.zeros(0, np.int64))] * (MOST_NODES + 1)
    nodes: list[Node] = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        nodes.append(_run(int(symbols[start]), np.arange(start, end)))
    return nodes


def _shape(node: Node) -> Hashable:
    if isinstance(node, Leaf):
        return node.symbol
    return (node.count, tuple(_shape(inner) for inner in node.body))


def _name(node: Node, names: dict[Hashable, int]) -> int:
    return names.setdefault(_shape(node), len(names))


def _merged(nodes: list[Node], depth: int) -> Node:
    """The same node of all turns, with an axis for the turns behind those of `depth` loops."""
    first = nodes[0]
    if isinstance(first, Leaf):
        places = [node.places for node in nodes if isinstance(node, Leaf)]
        return Leaf(first.symbol, np.stack(places, axis=depth))
    bodies = [node.body for node in nodes if isinstance(node, Loop)]
    parts = zip(*bodies, strict=True)
    return Loop(first.count, tuple(_merged(list(part), depth) for part in parts))
