"""What is open, what is there, and under which name, at a place of the program."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from venturi.derive.operation.naming import Names
from venturi.derive.operation.run import Said
from venturi.derive.operation.scene import Loops
from venturi.model.operation import Column


@dataclass
class State:
    """What is open and what is there, at this place of the program."""

    opened: dict[str, int] = field(default_factory=dict)
    """Entry to the number of loops around its opening."""
    made: dict[str, Loops] = field(default_factory=dict)
    """Entry to the loops around its making."""
    reach: dict[str, Column] = field(default_factory=dict)
    turns: dict[str, Column] = field(default_factory=dict)
    """The end of each file at least, in the order of the turns that wrote them, where one did."""
    least: dict[str, int] = field(default_factory=dict)
    """What every file is written to at least."""
    conditions: dict[str, str] = field(default_factory=dict)
    """The ranks that have a file of their own open, where not all have."""
    loose: set[str] = field(default_factory=set)
    """Which of its files an act uses follows no rule: names stand for any of them."""
    implied: set[str] = field(default_factory=set)
    """Open without the application saying so."""
    aside: set[str] = field(default_factory=set)
    """Made under another name, and not yet renamed."""

    gone: set[str] = field(default_factory=set)
    """There before the run, and removed."""

    def wrote(self, name: str, said: Said, least: int) -> None:
        """An entry's files were written so far, each to `least` at least."""
        is_append, turns = said.pattern == "append", said.turns
        before = self.reach.get(name, np.zeros(1, np.int64))
        self.reach[name] = before + said.reach if is_append else np.maximum(before, said.reach)
        self.least[name] = max(self.least.get(name, 0), min(least, int(said.reach.min())))
        if turns is not None:
            known = self.turns.get(name, turns)
            self.turns[name] = np.maximum(known, turns) if known.shape == turns.shape else turns

    def lacks(self, name: str, reach: Column, turns: Column | None) -> bool:
        """Whether somebody would read further than was written."""
        have = self.sure(name)
        if have is None:
            return True
        if name in self.loose:
            return bool(reach.max() > have.min())
        ends = self.turns.get(name)
        if turns is not None and ends is not None and ends.shape == turns.shape:
            return bool(np.any(turns > ends))
        if have.shape != reach.shape:
            return bool(reach.max() > have.min())
        return bool(np.any(reach > have))

    def sure(self, name: str, is_any: bool = False) -> Column | None:
        """How far an entry's files are written; with `is_any`, whichever of them is meant."""
        have = self.reach.get(name)
        if have is None or not (is_any or name in self.loose):
            return have
        return np.minimum(have, self.least.get(name, have))

    def forget(self, name: str) -> None:
        """An entry's files are gone, or made anew."""
        self.reach.pop(name, None)
        self.turns.pop(name, None)
        self.least.pop(name, None)

    def said(self, name: str, names: Names) -> str:
        """The entry under which the files of an entry are now."""
        return names.aside(name) if name in self.aside else name
