"""Names in a tree of files: the twin of `engine/pattern/tree.cpp`."""

from __future__ import annotations

from collections.abc import Callable

from venturi.model import plan as p

LINK_SUFFIX, SYMLINK_SUFFIX, ASIDE_SUFFIX = ".link", ".symlink", "-XX"
_OWNER = [p.Instruction(operator=p.Operator.VARIABLE, integer=list(p.Slot).index(p.Slot.RANK))]

_Parts = list[tuple[str, p.NameField | None, int]]


class TreeNames:
    """The paths of a tree's directories and items for one owner."""

    def __init__(
        self, tree: p.Tree, path: str, whole: Callable[[list[p.Instruction]], int]
    ) -> None:
        """Below `path`; `whole` evaluates expressions in the owner's place."""
        self._branch = tree.branch
        self._path = path
        self._directory = _fixed(tree.directory_name or _default_directory(), whole)
        self._item = _fixed(tree.item_name or _default_item(tree), whole)

    def directory(self, node: int) -> str:
        """Return the path of directory `node`; 0 is the root."""
        names = []
        while node > 0:
            names.append(_render(self._directory, node, 0, 0))
            node = (node - 1) // self._branch
        return "/".join([self._path, *reversed(names)])

    def item(self, node: int, item: int, index: int) -> str:
        """Return the name of an item: `item` in the whole tree, `index` in its directory."""
        return _render(self._item, node, item, index)


def _fixed(parts: list[p.NamePart], whole: Callable[[list[p.Instruction]], int]) -> _Parts:
    """The parts with their values, which are the same for all names of an owner."""
    fixed: _Parts = []
    for part in parts:
        number = "" if part.value is None else str(whole(part.value)).zfill(part.width)
        fixed.append((part.text + number, part.field, part.width))
    return fixed


def _render(parts: _Parts, node: int, item: int, index: int) -> str:
    numbers = {p.NameField.NODE: node, p.NameField.ITEM: item, p.NameField.INDEX: index}
    text = ""
    for fixed, field, width in parts:
        text += fixed
        if field is not None:
            text += str(numbers[field]).zfill(width)
    return text


def _default_directory() -> list[p.NamePart]:
    return [p.NamePart(text="d."), p.NamePart(field=p.NameField.NODE)]


def _default_item(tree: p.Tree) -> list[p.NamePart]:
    index = p.NamePart(field=p.NameField.INDEX)
    if tree.owner is not p.ItemOwner.RANK:
        return [p.NamePart(text="f."), index]
    return [p.NamePart(text="f."), p.NamePart(value=_OWNER), p.NamePart(text="."), index]
