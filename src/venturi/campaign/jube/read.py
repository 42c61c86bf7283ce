"""JUBE's files as trees of elements: XML without entities, YAML without tags."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

import yaml

from venturi.campaign.jube.node import Node
from venturi.model.error import UserError
from venturi.model.yaml_text import read_text

_SETS = {"parameterset", "substituteset", "fileset", "patternset"}
_PARTS = {"comment", *_SETS, "step", "analyser", "analyzer", "result", "include"}
_ELEMENTS = {
    "jube": {"include-path", "selection", "tags", "benchmark", *_PARTS},
    "benchmark": _PARTS,
    "include-path": {"path", "include"},
    "selection": {"only", "not", "tag"},
    "tags": {"check_tags", "tag"},
    "parameterset": {"parameter", "include"},
    "substituteset": {"iofile", "sub", "include"},
    "fileset": {"copy", "link", "prepare", "include"},
    "patternset": {"pattern", "include"},
    "step": {"use", "do", "include"},
    "analyser": {"use", "analyse", "include"},
    "analyzer": {"use", "analyse", "include"},
    "analyse": {"file"},
    "result": {"use", "table", "syslog", "database", "include"},
    "table": {"column"},
    "syslog": {"key"},
    "database": {"key"},
}
"""Keys of YAML that are elements; all others are attributes."""
_OUTSIDE = {"include-path", "selection", "tags"}
_MOST_NODES = 100_000


def read(path: Path) -> Node:
    """The tree of a file; UserError for what is no JUBE file, and for unsafe constructs."""
    text = read_text(path)
    if path.suffix in (".yaml", ".yml") or not text.lstrip().startswith("<"):
        return _Yaml(path).read(text)
    return _Xml(path).read(text)


@dataclass
class _Open:
    """An element whose end has not come yet."""

    tag: str
    line: int
    attributes: dict[str, str]
    children: list[Node] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


class _Xml:
    """Elements out of XML. Entities of the file's own are refused, nothing outside is read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parser = expat.ParserCreate()
        self._stack: list[_Open] = [_Open("", 0, {})]
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser.EntityDeclHandler = self._entity
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text

    def read(self, text: str) -> Node:
        """The root."""
        try:
            self._parser.Parse(text.encode(), True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise UserError(f"{self._path}:{error.lineno}: not valid XML: {reason}") from None
        return self._stack[0].children[0]

    def _entity(self, *facts: object) -> None:
        line = self._parser.CurrentLineNumber
        raise UserError(f"{self._path}:{line}: entities are not read", "write their text")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._stack.append(_Open(tag, self._parser.CurrentLineNumber, attributes))

    def _text(self, text: str) -> None:
        self._stack[-1].texts.append(text)

    def _end(self, tag: str) -> None:
        own = self._stack.pop()
        text = "".join(own.texts)
        node = Node(tag, self._path, own.line, own.attributes, tuple(own.children), text)
        self._stack[-1].children.append(node)


class _Yaml:
    """Elements out of YAML: a key that may be an element is one, `_` is the element's text."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._count = 0

    def read(self, text: str) -> Node:
        """The root; what is outside of `benchmark` belongs to the only one.

        A list at the top is one of benchmarks.
        """
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise UserError(f"{self._path}:{line}: not valid YAML: {error.problem}") from None
        except (yaml.YAMLError, RecursionError):
            raise UserError(f"{self._path}: not valid YAML") from None
        if isinstance(root, yaml.SequenceNode):
            many = tuple(self._element("benchmark", one) for one in root.value)
            return Node("jube", self._path, 1, {}, many)
        if not isinstance(root, yaml.MappingNode):
            raise UserError(f"{self._path}: this is no file of JUBE")
        node = self._element("jube", root)
        if any(child.tag == "benchmark" for child in node.children):
            return node
        inner = [child for child in node.children if child.tag not in _OUTSIDE]
        outer = [child for child in node.children if child.tag in _OUTSIDE]
        own = Node("benchmark", self._path, node.line, node.attributes, tuple(inner))
        return Node("jube", self._path, node.line, {}, (*outer, own))

    def _element(self, tag: str, node: yaml.Node) -> Node:
        line = node.start_mark.line + 1
        self._count += 1
        if self._count > _MOST_NODES:
            raise UserError(f"{self._path}:{line}: the file is too large, or refers to itself")
        if isinstance(node, yaml.ScalarNode):
            return Node(tag, self._path, line, text=self._scalar(node))
        self._check_tag(node)
        if not isinstance(node, yaml.MappingNode):
            raise UserError(f"{self._path}:{line}: '{tag}' is neither a text nor a mapping")
        attributes: dict[str, str] = {}
        children: list[Node] = []
        texts: list[str] = []
        for key_node, value in node.value:
            key = self._scalar(key_node)
            if key in _ELEMENTS.get(tag, ()):
                self._check_tag(value)
                many = value.value if isinstance(value, yaml.SequenceNode) else [value]
                children += [self._element(key, one) for one in many]
            elif key == "_":
                texts.append(self._scalar(value))
            else:
                attributes[key] = self._scalar(value)
        return Node(tag, self._path, line, attributes, tuple(children), "".join(texts))

    def _scalar(self, node: yaml.Node) -> str:
        self._check_tag(node)
        if not isinstance(node, yaml.ScalarNode):
            line = node.start_mark.line + 1
            raise UserError(f"{self._path}:{line}: a text is expected here")
        return str(node.value)

    def _check_tag(self, node: yaml.Node) -> None:
        if not node.tag.startswith("tag:yaml.org,2002:") or ":python/" in node.tag:
            line = node.start_mark.line + 1
            raise UserError(f"{self._path}:{line}: the tag '{node.tag}' is not read")
