"""Files that are used again: read, added to or removed by steps that did not make them.

What was written or read before lies in memory, so a file that is used again must be the same one
in the proxy. Where other steps use it by another rule (one dump of many, the last one first), an
entry of its own names it, says who makes it, and shares the path of those entries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from venturi.derive.operation.fold import Leaf, Loop, Node
from venturi.derive.operation.naming import Choice, Key, Names, named_in
from venturi.derive.operation.table import CREATES
from venturi.derive.operation.token import Tokens
from venturi.derive.operation.visit import Acts
from venturi.model.operation import KIND_CODES, Column, Kind
from venturi.model.workload import BareStep, StepSpec

MOST_CUTS = 3
"""A loop over files that follow more rules than so many and one has none."""


@dataclass
class Holdings:
    """Which entry each file of the capture was last made, or found, by."""

    names: Names
    _of: dict[int, str] = field(default_factory=dict)

    def add(self, name: str, chosen: Choice, files: Column) -> None:
        """From now on these files are those of the entry, unless it only names others' files."""
        for file in np.unique(files).tolist():
            if not chosen.names_all:
                self._of.pop(file, None)
            elif not self.names.entries[name].made_by:
                self._of[file] = name

    def remove(self, files: Column) -> None:
        """These files are gone."""
        for file in np.unique(files).tolist():
            self._of.pop(file, None)

    def has_all(self, files: Column) -> bool:
        """Whether entries are known for all of these files."""
        return all(file in self._of for file in np.unique(files).tolist())

    def makers(self, chosen: Choice, files: Column) -> list[str]:
        """The entries whose files these are, if they are all there and named by a rule; none
        where it is the entry itself that has this choice."""
        found = {self._of.get(file) for file in np.unique(files).tolist()}
        if not chosen.names_all or None in found or found == {self.names.known(chosen.key)}:
            return []
        makers = sorted(str(name) for name in found)
        if any(self.names.entries[name].crew != chosen.key[0] for name in makers):
            return []
        return makers

    def link(self, name: str, makers: list[str]) -> None:
        """Lets the entry name files of these."""
        entries = self.names.entries
        entries[name].made_by = sorted({*entries[name].made_by, *makers})
        homes = {entries[other].home for other in (name, *makers)}
        home = entries[makers[0]].home
        for entry in entries.values():
            if entry.home in homes:
                entry.home, entry.is_numbered = home, True


def makes(tokens: Tokens, first: Column, count: int) -> bool:
    """Whether visits make their file."""
    ids = first.reshape(-1)[:, None] + np.arange(count)
    opens = tokens.kind[ids] == KIND_CODES[Kind.OPEN]
    return bool(np.any(opens & (tokens.flags[ids] & CREATES > 0)))


def used_too_soon(steps: Sequence[StepSpec | BareStep], names: Names) -> set[Key]:
    """Entries of files that one rank makes and others use within the same phase, where nobody waits
    for it."""
    found: set[Key] = set()
    for step in steps:
        if not isinstance(step, StepSpec) or step.phase is None:
            inner = step.do or [] if isinstance(step, StepSpec) else []
            found |= used_too_soon(inner, names)
            continue
        made = _made_in(step.do or [])
        for name in named_in([step]) & names.entries.keys():
            entry = names.entries[name]
            if entry.is_given_away and made & set(entry.made_by):
                found.add(entry.key)
    return found


def _made_in(steps: Sequence[StepSpec | BareStep]) -> set[str]:
    """Entries that steps make, those within others too."""
    plain = [step for step in steps if isinstance(step, StepSpec)]
    return {step.create for step in plain if step.create}.union(
        *(_made_in(step.do or []) for step in plain)
    )


def least_reach(reach: Mapping[str, Column | None], makers: list[str]) -> Column | None:
    """How far all files of these entries are written at least; None where one was not."""
    found = [reach.get(name) for name in makers]
    known = [np.atleast_1d(one) for one in found if one is not None]
    if len(known) < len(found) or len({one.shape for one in known}) > 1:
        return None
    least: Column = np.min(np.stack(known), axis=0)
    return least


def split_by_files(nodes: list[Node], acts: Acts, file: Column, nth: Column) -> list[Node]:
    """The nodes, with loops cut where the files that one act uses begin to follow another rule.

    `file` is that of each token, `nth` the number of each file in its stream.
    """
    found: list[Node] = []
    for node in nodes:
        leaf = node.body[0] if isinstance(node, Loop) and len(node.body) == 1 else None
        if not isinstance(leaf, Leaf) or leaf.places.ndim != 1:
            found.append(node)
            continue
        edges = _edges(nth[file[acts.first[acts.at[leaf.places]]]])
        pieces = np.split(leaf.places, edges) if len(edges) <= MOST_CUTS else [leaf.places]
        for places in pieces:
            one = Leaf(leaf.symbol, places if len(places) > 1 else places[0])
            found.append(one if len(places) == 1 else Loop(len(places), (one,)))
    return found


def _edges(numbers: Column) -> list[int]:
    """Where a new arithmetic progression begins, in the longest ones from the start on."""
    edges, start = [], 0
    for at in range(1, len(numbers)):
        if numbers[at] - numbers[at - 1] != numbers[start + 1] - numbers[start]:
            edges.append(at)
            start = at
            if len(edges) > MOST_CUTS or start + 1 >= len(numbers):
                break
    return edges
