"""A JUBE benchmark with all its files read: includes, tags and sets of other files resolved."""

from __future__ import annotations

import os
import re
from pathlib import Path

from venturi.campaign.jube.node import Findings, Node, failed
from venturi.campaign.jube.platform import is_platform, platform_set
from venturi.campaign.jube.read import read
from venturi.campaign.jube.tag import holds
from venturi.model.error import UserError

_SETS = ("parameterset", "substituteset", "fileset", "patternset")
_STEP_OF_PATH = re.compile(r"([\w-]+|\*)(?:\[@name=['\"]([^'\"]*)['\"]\])?")
_MOST_DEPTH = 20


class Suite:
    """One benchmark of a file, as its tags choose it."""

    def __init__(self, path: Path, tags: set[str], findings: Findings) -> None:
        self._tags = tags
        self._findings = findings
        self._files: dict[Path, Node] = {}
        self._paths: list[Path] = []
        root = read(path.absolute())
        for places in root.of("include-path"):
            if self._is_chosen(places):
                self._paths += [
                    path.absolute().parent / place.text.strip()
                    for place in places.of("path")
                    if self._is_chosen(place)
                ]
        self._paths.append(path.absolute().parent)
        self._paths += [Path(p) for p in os.environ.get("JUBE_INCLUDE_PATH", "").split(":") if p]
        self._files[path.absolute()] = root = self._chosen(root, 0)
        for checked in (check for part in root.of("tags") for check in part.of("check_tags")):
            if not holds(checked, checked.text, tags):
                raise failed(checked, f"the tags must fit '{checked.text.strip()}'", "use --tag")
        benchmarks = list(root.of("benchmark"))
        if len(benchmarks) != 1:
            said = ", ".join(node.name for node in benchmarks) or "none"
            raise UserError(f"{path}: it must have one benchmark; it has {said}", "see its tags")
        self.benchmark = benchmarks[0]
        self._root = root

    def set_named(self, node: Node, name: str) -> Node:
        """A set by the name that `node` uses; what it begins from is in it."""
        source, _, names = node.get("from").partition(":")
        if source:
            wanted = dict(zip(_names(node.text), names.split(":"), strict=False)) if names else {}
            return self._foreign(node, source, wanted.get(name, name))
        found = [own for own in self._own_sets() if own.name == name]
        if not found:
            raise failed(node, f"there is no set '{name}'", "see the tags, and from=FILE")
        if len(found) > 1:
            raise failed(found[1], f"the set '{name}' is there twice", "choose one by --tag")
        return self._complete(found[0])

    def _own_sets(self) -> list[Node]:
        return [*self.benchmark.of(*_SETS), *self._root.of(*_SETS)]

    def _foreign(self, node: Node, source: str, name: str) -> Node:
        if is_platform(source):
            known = platform_set(name, node)
            if known is None:
                raise failed(node, f"the platform has no set '{name}' that is known here")
            return known
        root = self._file(node, source)
        places = [root, *root.of("benchmark")]
        found = [own for place in places for own in place.of(*_SETS) if own.name == name]
        if not found:
            raise failed(node, f"there is no set '{name}' in {source}")
        return self._complete(found[0])

    def _complete(self, own: Node) -> Node:
        """A set with what it begins from; its own parts take the place of those."""
        source, _, name = own.get("init_with").partition(":")
        if not source:
            return own
        base = self._foreign(own, source, name or own.name)
        if base.tag == "platform":
            own_ones = list(own.of("parameter"))
            names = {child.name for child in own_ones}
            kept = [child for child in base.children if child.name not in names]
            return base.with_children([*kept, *own_ones])
        mine = {child.name or child.get("title") for child in own.children} - {""}
        kept = [child for child in base.children if child.name not in mine]
        return own.with_children([*kept, *own.children])

    def _file(self, node: Node, name: str) -> Node:
        """The tree of another file, looked for beside this one and in the include paths."""
        for place in (node.file.parent, *self._paths):
            path = (place / name).resolve()
            if path in self._files:
                return self._files[path]
            if path.is_file():
                self._files[path] = self._chosen(read(path), 0)
                return self._files[path]
        raise failed(node, f"there is no file {name}", "see include-path and JUBE_INCLUDE_PATH")

    def _is_chosen(self, node: Node) -> bool:
        expression = node.get("tag")
        return not expression or holds(node, expression, self._tags)

    def _chosen(self, node: Node, depth: int) -> Node:
        """An element without the parts that the tags leave out, and with what it includes."""
        if depth > _MOST_DEPTH:
            raise failed(node, "it includes itself")
        children: list[Node] = []
        for child in node.children:
            if not self._is_chosen(child):
                continue
            if child.tag == "include":
                children += self._included(child, depth)
            else:
                children.append(self._chosen(child, depth + 1))
        return node.with_children(children)

    def _included(self, node: Node, depth: int) -> list[Node]:
        """The elements that `include` brings: children of the root, or those at a path."""
        source = node.get("from")
        for place in (node.file.parent, *self._paths):
            path = place / source
            if source and path.is_file():
                found = self._at(node, read(path.resolve()))
                return [self._chosen(one, depth + 1) for one in found if self._is_chosen(one)]
        raise failed(node, f"there is no file '{source}'", "see include-path")

    def _at(self, node: Node, root: Node) -> list[Node]:
        """The elements at an include's path, which may begin with the root's own name."""
        words = [word for word in node.get("path", "*").split("/") if word not in ("", ".")]
        if words[0] == root.tag:
            words = words[1:] or ["*"]
        found = [root]
        for word in words:
            match = _STEP_OF_PATH.fullmatch(word)
            if match is None:
                raise failed(node, f"the path '{node.get('path')}' is not supported")
            found = [child for one in found for child in one.children if _fits(child, match)]
        if not found:
            raise failed(node, f"{root.file} has nothing at '{node.get('path', '*')}'")
        return found


def _fits(node: Node, match: re.Match[str]) -> bool:
    return match[1] in ("*", node.tag) and match[2] in (None, node.name)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def used_names(node: Node) -> list[str]:
    """The names in a `use`."""
    return _names(node.text)
