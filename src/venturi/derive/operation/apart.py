"""What is done to single names that only items of trees have a word for, on a tree beside them.

Links, and folders that were there before the run and are removed in it. The files of a stream have
an item each, which is there before the run; a window of one item is the file that loops choose.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from venturi.derive.operation.item import Tree, Trees
from venturi.derive.operation.naming import Entry, Names
from venturi.derive.operation.run import Steps
from venturi.derive.operation.scene import Loops
from venturi.model.plan import ItemKind, ItemVerb
from venturi.model.workload import EachStep, StepSpec, TreeSpec

_LINKS = {ItemVerb.LINK: ItemVerb.UNLINK_LINK, ItemVerb.SYMLINK: ItemVerb.UNLINK_SYMLINK}
_AGAIN = frozenset("%/")
"""What a number that loops give may have if the same one comes again."""


@dataclass
class Apart:
    """Such trees, by the entries beside which they stand."""

    names: Names
    trees: Trees
    _mistaken: set[str] = field(default_factory=set)
    _linked: dict[tuple[str, ItemVerb], Loops] = field(default_factory=dict)
    """Names that are links now, by what removes them, and the loops around their making."""

    def linked(self, name: str, verb: ItemVerb, loops: Loops) -> StepSpec | None:
        """The step that makes a link, or removes one; None where it could not be done again."""
        removes = _LINKS.get(verb)
        if removes is None:
            around = self._linked.pop((name, verb), None)
            if around == loops:
                return self._step(name, verb)
            self._mistaken.add(_tree_name(name, None))
            return None
        if (name, removes) in self._linked:
            return None
        self._linked[name, removes] = loops
        return self._step(name, verb)

    def mistaken(self) -> set[str]:
        """Trees of which some item would be made a link twice."""
        lasting = {
            _tree_name(name, None)
            for (name, _), loops in self._linked.items()
            if loops and not self._is_once(name)
        }
        return self._mistaken | lasting

    def removed(self, name: str, loops: Loops) -> StepSpec | None:
        """The step that removes a folder which was there; None where it would be gone before."""
        is_there = self._is_once(name) or not loops
        return self._step(name, ItemVerb.RMDIR) if is_there else None

    def _is_once(self, name: str) -> bool:
        """Whether loops choose each file once."""
        entry = self.names.entries[name]
        return entry.is_indexed and not _AGAIN.intersection(entry.index)

    def _step(self, name: str, verb: ItemVerb) -> StepSpec:
        entry = self.names.entries[name]
        tree = self._tree(name, entry, ItemKind.DIRECTORY if verb is ItemVerb.RMDIR else None)
        keys: dict[str, Any] = {} if entry.index == "0" else {"first": entry.index}
        if self.trees.trees[tree].spec.items != 1:
            keys["count"] = 1
        return StepSpec(each=EachStep(on=tree, do=[verb], **keys))

    def _tree(self, name: str, entry: Entry, kind: ItemKind | None) -> str:
        """The tree beside an entry, with an item for each file of its stream."""
        tree = _tree_name(name, kind)
        if tree not in self.names.entries:
            self.names.entries[tree] = Entry(entry.key, is_shared=False, is_aside=True)
            files = self.names.streams.kept[entry.stream].files
            items = int(self.names.owners.nth[files].max()) + 1
            spec = TreeSpec(items=items, kind=kind or ItemKind.FILE)
            none = np.zeros((0, 1), np.int64)
            self.trees.trees[tree] = Tree(none, none, none, spec, True, True, True)
        return tree


def _tree_name(name: str, kind: ItemKind | None) -> str:
    return f"{name}_{'folders' if kind else 'links'}"


def without(steps: Steps, names: set[str]) -> Steps:
    """The steps without those on trees of these names, and without what holds nothing then."""
    kept: Steps = []
    for step in steps:
        if isinstance(step, StepSpec) and step.each is not None and step.each.on in names:
            continue
        if isinstance(step, StepSpec) and step.do is not None:
            body = without(list(step.do), names)
            if body:
                kept.append(step.model_copy(update={"do": body}))
            continue
        kept.append(step)
    return kept
