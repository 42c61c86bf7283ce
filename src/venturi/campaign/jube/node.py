"""The elements of a JUBE file, each with its file and line, and what was found about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from venturi.model.error import UserError


@dataclass(frozen=True)
class Node:
    """An element: from XML, or from YAML by JUBE's rule of keys that are elements."""

    tag: str
    file: Path
    line: int
    attributes: dict[str, str] = field(default_factory=dict)
    children: tuple[Node, ...] = ()
    text: str = ""

    @property
    def where(self) -> str:
        """`FILE:LINE`."""
        return f"{self.file}:{self.line}"

    @property
    def name(self) -> str:
        """Its attribute `name`."""
        return self.attributes.get("name", "")

    def get(self, name: str, default: str = "") -> str:
        """An attribute."""
        return self.attributes.get(name, default)

    def of(self, *tags: str) -> Iterator[Node]:
        """The children of these kinds, in their order."""
        return (child for child in self.children if child.tag in tags)

    def named(self, name: str) -> Node:
        """The same with another name."""
        return replace(self, attributes={**self.attributes, "name": name})

    def with_children(self, children: list[Node]) -> Node:
        """The same with other children."""
        return replace(self, children=tuple(children))


class Findings:
    """What of a file is not supported, and what was left out or is done otherwise."""

    def __init__(self) -> None:
        self._refused: list[str] = []
        self.notes: list[str] = []

    def refuse(self, node: Node, what: str) -> None:
        """Notes a construct that cannot be taken over; all are said at the end."""
        self._refuse(f"{node.where}: {what}")

    def refuse_as(self, error: UserError) -> None:
        """Notes what an error says with its line, so that the rest is looked at, too."""
        self._refuse(f"{error.message}; {error.hint}" if error.hint else error.message)

    def _refuse(self, line: str) -> None:
        if line not in self._refused:
            self._refused.append(line)

    def note(self, node: Node, what: str) -> None:
        """Notes what is left out or done otherwise, and does no harm."""
        line = f"{node.where}: {what}"
        if line not in self.notes:
            self.notes.append(line)

    def check(self) -> None:
        """UserError if there was something that cannot be taken over."""
        if self._refused:
            raise UserError("\n".join(self._refused), "nothing was written")


def failed(node: Node, what: str, hint: str = "") -> UserError:
    """An error at an element, after which nothing more can be said."""
    return UserError(f"{node.where}: {what}", hint)
