"""What is open, what is there, and under which name, at a place of the program."""

from __future__ import annotations

from dataclasses import dataclass, field

from venturi.derive.operation.naming import Names
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
    conditions: dict[str, str] = field(default_factory=dict)
    """The ranks that have a file of their own open, where not all have."""
    implied: set[str] = field(default_factory=set)
    """Open without the application saying so."""
    aside: set[str] = field(default_factory=set)
    """Made under another name, and not yet renamed."""

    def said(self, name: str, names: Names) -> str:
        """The entry under which the files of an entry are now."""
        return names.aside(name) if name in self.aside else name
