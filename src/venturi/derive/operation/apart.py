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
from venturi.model.operation import Column
from venturi.model.plan import ItemKind, ItemVerb
from venturi.model.workload import EachStep, StepSpec, TreeSpec

_LINKS = {ItemVerb.LINK: ItemVerb.UNLINK_LINK, ItemVerb.SYMLINK: ItemVerb.UNLINK_SYMLINK}


@dataclass
class Apart:
    """Such trees, one for each stream and kind of item."""

    names: Names
    trees: Trees
    is_exact: bool = True
    """Whether the files of the act that is being told are named one by one."""
    _links: dict[tuple[int, ItemVerb], set[int]] = field(default_factory=dict)
    """By stream and by what removes them: the numbers of names that are links now."""
    _again: dict[tuple[int, ItemVerb], Loops] = field(default_factory=dict)
    """Those of which each turn of loops makes the same one, and these loops."""
    _mistaken: set[str] = field(default_factory=set)

    def linked(self, name: str, verb: ItemVerb, files: Column, loops: Loops) -> StepSpec | None:
        """The step that makes links, or removes them; None where it could not be done again.

        `files` are those of all turns.
        """
        stream = self.names.entries[name].stream
        key = stream, _LINKS.get(verb, verb)
        numbers = set(self.names.owners.nth[files].ravel().tolist())
        there = self._links.setdefault(key, set())
        is_new, is_again = verb in _LINKS, len(np.unique(files)) < files.size
        fits = numbers.isdisjoint(there) if is_new else numbers <= there
        if not is_new and (is_again or key in self._again):
            fits &= self._again.pop(key, None) == loops
        if not (fits and self.is_exact):
            self._mistaken.add(self._tree_name(stream, None))
            return None
        self._links[key] = there | numbers if is_new else there - numbers
        if is_new and is_again:
            self._again[key] = loops
        return self._step(name, verb)

    def mistaken(self) -> set[str]:
        """Trees of which some item would be made a link twice, or be removed twice."""
        return self._mistaken | {self._tree_name(stream, None) for stream, _ in self._again}

    def removed(self, name: str, files: Column) -> StepSpec | None:
        """The step that removes folders which were there; None where one would be gone before."""
        is_once = len(np.unique(files)) == files.size
        return self._step(name, ItemVerb.RMDIR) if is_once and self.is_exact else None

    def _step(self, name: str, verb: ItemVerb) -> StepSpec:
        entry = self.names.entries[name]
        tree = self._tree(entry, ItemKind.DIRECTORY if verb is ItemVerb.RMDIR else None)
        keys: dict[str, Any] = {} if entry.index == "0" else {"first": entry.index}
        if self.trees.trees[tree].spec.items != 1:
            keys["count"] = 1
        return StepSpec(each=EachStep(on=tree, do=[verb], **keys))

    def _tree(self, entry: Entry, kind: ItemKind | None) -> str:
        """The tree of an entry's stream, with an item for each of its files."""
        tree = self._tree_name(entry.stream, kind)
        if tree not in self.names.entries:
            self.names.entries[tree] = Entry(entry.key, is_shared=False, is_aside=True)
            files = self.names.streams.kept[entry.stream].files
            items = int(self.names.owners.nth[files].max()) + 1
            spec = TreeSpec(items=items, kind=kind or ItemKind.FILE)
            none = np.zeros((0, 1), np.int64)
            self.trees.trees[tree] = Tree(none, none, none, spec, True, True, True)
        return tree

    def _tree_name(self, stream: int, kind: ItemKind | None) -> str:
        return f"{self.names.streams.kept[stream].name}_{'folders' if kind else 'links'}"


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
