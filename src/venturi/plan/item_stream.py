"""The calls of a step on the items of a tree, in the order in which the engine makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from venturi.model import plan as p
from venturi.model.shuffle import combine, key_of, permute
from venturi.model.verb import operation_of
from venturi.plan.item import (
    directories_of,
    item_directories_of,
    names_itself,
    size_at,
    size_key,
    window_of,
)
from venturi.plan.tree_name import ASIDE_SUFFIX, LINK_SUFFIX, SYMLINK_SUFFIX, TreeNames

Call = tuple[float, p.OperationKind, str, int | None, int]
"""Seconds of computing before it, kind, path, offset and bytes."""

_SUFFIX = {p.ItemVerb.UNLINK_LINK: LINK_SUFFIX, p.ItemVerb.UNLINK_SYMLINK: SYMLINK_SUFFIX}


@dataclass(frozen=True)
class ItemsOf:
    """A tree as a step meets it: in the place of its owner."""

    tree: p.Tree
    path: str
    names: TreeNames
    whole: Callable[[list[p.Instruction]], int]


@dataclass(frozen=True)
class _Item:
    """One item: its directory, its name and what is moved of it, in bytes."""

    node: int
    folder: str
    name: str
    size: int
    source: str
    source_size: int

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}"


class ItemStream:
    """Makes calls out of the steps of one group on the items of trees."""

    def __init__(self, plan: p.Plan, ranks: int, repetition: int) -> None:
        self._plan = plan
        self._ranks = ranks
        self._repetition = repetition

    def calls(
        self, step: p.Items, at: ItemsOf, source: ItemsOf | None, owner: int
    ) -> Iterator[Call]:
        """Yield the calls of a step; ExpressionError where its window leaves the tree."""
        items = self._in_order(step, at, source, owner)
        if p.ItemVerb.RENAME in step.verbs and not names_itself(step.verbs):
            yield from _chain(items, step.thinks_s)
            return
        for item in items:
            yield from _calls_on(step, item)

    def _in_order(
        self, step: p.Items, at: ItemsOf, source: ItemsOf | None, owner: int
    ) -> Iterator[_Item]:
        window = window_of(step, at.tree, owner, self._ranks, at.whole)
        first_node = directories_of(at.tree) - item_directories_of(at.tree)
        size_of = partial(_size, at, size_key(self._plan.seed, at.tree, owner))
        most = None if step.bytes is None else at.whole(step.bytes)
        folder, folder_node = "", -1
        for number in range(window.count):
            place = self._shuffled(step, at, owner, window.count, number)
            position = window.first + place
            node, index = first_node + position // window.items, position % window.items
            if node != folder_node:
                folder, folder_node = at.names.directory(node), node
            serial = node * window.items + index
            size = size_of(position)
            name, source_size = "", 0
            if source is not None:
                name = f"{source.names.directory(node)}/{source.names.item(node, serial, index)}"
                key = size_key(self._plan.seed, source.tree, owner)
                source_size = _size(source, key, position)
            yield _Item(
                node,
                folder,
                at.names.item(node, serial, index),
                size if most is None else min(size, most),
                name,
                source_size,
            )

    def _shuffled(self, step: p.Items, at: ItemsOf, owner: int, count: int, number: int) -> int:
        if not step.shuffled:
            return number
        key = combine(combine(self._plan.seed, key_of(at.path)), combine(self._repetition, owner))
        return permute(number, count, key)


def _size(at: ItemsOf, key: int, position: int) -> int:
    shares = [(at.whole(share.bytes), share.weight) for share in at.tree.sizes]
    return size_at(position, shares, key) if shares else at.whole(at.tree.size)


def _calls_on(step: p.Items, item: _Item) -> Iterator[Call]:
    """The verbs of a step on one item; one that renames makes it under another name first."""
    path = item.path + (ASIDE_SUFFIX if names_itself(step.verbs) else "")
    think_s = 0.0
    for number, verb in enumerate(step.verbs):
        think_s += step.thinks_s[number] if step.thinks_s else 0.0
        if verb in (p.ItemVerb.WRITE, p.ItemVerb.READ):
            if not item.size:
                continue
            yield think_s, p.OperationKind(verb.value), path, 0, item.size
        elif verb is p.ItemVerb.COPY:
            yield think_s, p.OperationKind.OPEN, item.source, None, 0
            yield 0.0, p.OperationKind.CREATE, path, None, 0
            yield 0.0, p.OperationKind.COPY, path, None, item.source_size
            yield 0.0, p.OperationKind.CLOSE, path, None, 0
            yield 0.0, p.OperationKind.CLOSE, item.source, None, 0
        else:
            yield think_s, operation_of(verb), path + _SUFFIX.get(verb, ""), None, 0
            if verb is p.ItemVerb.RENAME:
                path = item.path
        think_s = 0.0


def _chain(items: Iterator[_Item], thinks_s: list[float]) -> Iterator[Call]:
    """Each item takes the name that the one before it left; the first one the last name."""
    before: _Item | None = None
    aside = ""
    think_s = sum(thinks_s)
    for item in items:
        if before is not None and before.node != item.node:
            yield 0.0, p.OperationKind.RENAME, aside, None, 0
            before = None
        if before is None:
            aside = item.path + ASIDE_SUFFIX
        yield think_s, p.OperationKind.RENAME, item.path, None, 0
        before = item
    if before is not None:
        yield 0.0, p.OperationKind.RENAME, aside, None, 0
