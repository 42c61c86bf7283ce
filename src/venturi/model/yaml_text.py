"""YAML files people write: read safely, with the line of every key for messages.

Scalars follow YAML 1.2's core schema, so that `on`, `yes` and `1:30` stay text. Aliases are
allowed up to a bounded expansion; tags, duplicate keys and recursion are refused.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import re
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from venturi.model.document import Place, keys_of, path_of, place_of, reason_of
from venturi.model.error import UserError

_MAX_BYTES = 64 * 2**20
_MAX_NODES = 200_000
_MAX_DEPTH = 100
_MAX_DIGITS = 40
_INTEGER = re.compile(r"[-+]?[0-9]+$|0x[0-9a-fA-F]+$")
_REAL = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$")
_READ_OTHERWISE = re.compile("[\t?\ufeff]")
"""Characters that libyaml accepts in places where PyYAML's own parser does not."""
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}

Model = TypeVar("Model", bound=BaseModel)


class _YamlReader:
    """Turns the node graph into plain data and notes the line of each place."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes = 0
        self.lines: dict[Place, int] = {}

    def data(self, node: yaml.Node, place: Place = ()) -> Any:
        self._nodes += 1
        line = node.start_mark.line + 1
        self.lines[place] = line
        if self._nodes > _MAX_NODES or len(place) > _MAX_DEPTH:
            raise UserError(
                f"{self._name}:{line}: the document is too large or refers to itself",
                "write the repeated part once, or with a 'for'",
            )
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, line)
        if isinstance(node, yaml.SequenceNode):
            return [self.data(child, (*place, i)) for i, child in enumerate(node.value)]
        return self._mapping(node, place)

    def _mapping(self, node: yaml.Node, place: Place) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise UserError(f"{self._name}:{line}: a key must be a word")
            key = str(key_node.value)
            if key in result:
                raise UserError(f"{self._name}:{line}: the key '{key}' stands twice")
            result[key] = self.data(value_node, (*place, key))
            self.lines[(*place, key)] = line
        return result

    def _scalar(self, node: yaml.ScalarNode, line: int) -> Any:
        if not node.tag.startswith("tag:yaml.org,2002:"):
            raise UserError(f"{self._name}:{line}: the tag '{node.tag}' is not allowed")
        text = str(node.value)
        if node.style:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if len(text) > _MAX_DIGITS and _INTEGER.match(text):
            raise UserError(f"{self._name}:{line}: a number of {len(text)} digits does not fit")
        if _INTEGER.match(text):
            return int(text, 16 if text.startswith("0x") else 10)
        return float(text) if _REAL.match(text) else text


def read_text(path: Path) -> str:
    """The text of a file; UserError if it is missing, too large or not UTF-8."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise UserError(f"{path}: larger than {_MAX_BYTES // 2**20} MiB")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", "check the path") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: this is not a text file (UTF-8)") from None


def parse_yaml(text: str, name: str, model: type[Model]) -> Model:
    """The document of class `model` in YAML text; `name` stands in messages for its file."""
    try:
        node = _composed(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UserError(f"{name}:{line}: not valid YAML: {error.problem}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise UserError(f"{name}: not valid YAML: {type(error).__name__}") from None
    if node is None:
        raise UserError(f"{name}: the file is empty")
    reader = _YamlReader(name)
    data = reader.data(node)
    if not isinstance(data, dict):
        raise UserError(f"{name}: a document is a mapping of keys, not a {type(data).__name__}")
    try:
        return model.model_validate_json(json.dumps(data), by_alias=True, by_name=False)
    except ValidationError as error:
        raise _explained(model, error, reader.lines, name) from None
    except RecursionError:
        raise UserError(f"{name}: nested too deeply") from None


def _composed(text: str) -> yaml.Node | None:
    """The node graph of a text, by libyaml where that reads the same as PyYAML's own parser.

    libyaml takes a tenth of the time. What it refuses is read again, because the messages differ.
    """
    fast = getattr(yaml, "CSafeLoader", None)
    if fast is not None and not _READ_OTHERWISE.search(text):
        with contextlib.suppress(yaml.YAMLError, UnicodeError):
            return yaml.compose(text, Loader=fast)
    return yaml.compose(text, Loader=yaml.SafeLoader)


def load_yaml(path: Path, model: type[Model]) -> Model:
    """The document of class `model` in a YAML file."""
    return parse_yaml(read_text(path), str(path), model)


def _explained(
    model: type[BaseModel], error: ValidationError, lines: dict[Place, int], name: str
) -> UserError:
    """The deepest fault, with its line, its path and the nearest known key."""
    faults = [(*place_of(model, fault["loc"]), fault) for fault in error.errors()]
    place, owner, fault = max(faults, key=lambda item: (len(item[0]), _weight(item[2]["type"])))
    line = next(lines[place[:n]] for n in range(len(place), -1, -1) if place[:n] in lines)
    message, hint = reason_of(fault), ""
    if fault["type"] == "extra_forbidden":
        known = keys_of(owner)
        message = f"unknown key '{place[-1]}'"
        close = difflib.get_close_matches(str(place[-1]), known, n=1, cutoff=0.5)
        hint = f"did you mean '{close[0]}'?" if close else f"known keys: {', '.join(known)}"
    elif fault["type"] == "missing":
        message = "is missing"
    return UserError(f"{name}:{line}: {path_of(place) or 'document'}: {message}", hint)


def _weight(kind: str) -> int:
    """Unknown keys tell most; a union's other members least."""
    return {"extra_forbidden": 3, "missing": 2, "value_error": 2, "literal_error": 0}.get(kind, 1)
