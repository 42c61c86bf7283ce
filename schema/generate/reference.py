"""Writes the reference page of a document."""

from __future__ import annotations

import ast
import functools
import inspect
import json
import re
import types
import typing
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import BaseModel, RootModel
from pydantic.fields import FieldInfo

from generate.documents import DocumentKind, available
from venturi.model import document

PLAIN = {str: "text", int: "integer", float: "number", bool: "true or false", Any: "anything"}
LIMITS = {"ge": "≥ {}", "gt": "> {}", "le": "≤ {}", "min_length": "at least {} long"}
INTRODUCTION = """\
The whole document is {root}. A key that is not listed is an error; a required field must be \
there. The same for programs: [{name}.schema.json](../../schema/{name}.schema.json)."""


@dataclass(frozen=True)
class Alias:
    """A type that a module gives a name and, in the text below it, a meaning."""

    name: str
    hint: Any
    about: str


class Page:
    """The sections of one document, collected from its root on, each part once."""

    def __init__(self, kind: DocumentKind) -> None:
        self.kind = kind
        self.models: list[type[BaseModel]] = []
        self.enums: list[type[Enum]] = []
        self.aliases: list[Alias] = []
        self._collect(root_of(kind.model()))

    def _collect(self, hint: Any) -> None:
        alias = alias_of(hint)
        if alias is not None:
            if alias in self.aliases:
                return
            self.aliases.append(alias)
        if isinstance(hint, type) and issubclass(hint, Enum):
            self.enums += [hint] * (hint not in self.enums)
        elif isinstance(hint, type) and issubclass(hint, BaseModel):
            if hint not in self.models:
                self.models.append(hint)
                for inner in typing.get_type_hints(hint, include_extras=True).values():
                    self._collect(inner)
        elif typing.get_origin(hint) is not Literal:
            for inner in typing.get_args(hint):
                self._collect(inner)

    def lines(self) -> list[str]:
        """The page, line by line."""
        name = self.kind.name
        root = type_text(root_of(self.kind.model()))
        note = f"<!-- Generated from src/venturi/model/{name}.py by `make gen`; do not edit. -->"
        lines = [f"# The {name} document", "", note, ""]
        lines += [inspect.cleandoc(self.kind.module().__doc__ or ""), ""]
        lines.append(INTRODUCTION.format(root=root, name=name))
        for model in self.models:
            lines += ["", *_model_section(model)]
        for alias in sorted(self.aliases, key=lambda alias: alias.name):
            lines += ["", f"## {alias.name}", "", *([alias.about, ""] if alias.about else [])]
            lines.append(type_text(alias.hint, named=False))
        for enum in sorted(self.enums, key=lambda enum: enum.__name__):
            lines += ["", f"## {enum.__name__}", "", inspect.cleandoc(enum.__doc__ or ""), ""]
            lines.append("One of: " + ", ".join(f"`{word.value}`" for word in enum))
        return lines


def text(kind: DocumentKind) -> str:
    """The text of `docs/reference/<name>.md`."""
    return "\n".join(Page(kind).lines()) + "\n"


def root_of(model: type[BaseModel]) -> Any:
    """The model itself, or what a root model stands for."""
    if not issubclass(model, RootModel):
        return model
    field = model.model_fields["root"]
    unions = (alias for alias in all_aliases() if typing.get_args(alias.hint))
    hints = (alias.hint for alias in unions if typing.get_args(alias.hint)[0] == field.annotation)
    return next(hints, field.annotation)


def alias_of(hint: Any) -> Alias | None:
    """The name that some module gives a type, if one does."""
    return next((alias for alias in all_aliases() if alias.hint == hint), None)


@functools.cache
def all_aliases() -> tuple[Alias, ...]:
    """The named types of all documents, except the bounded numbers that all share."""
    modules = [kind.module() for kind in available()]
    return tuple(alias for module in modules for alias in _aliases_in(module))


def _aliases_in(module: ModuleType) -> list[Alias]:
    body = ast.parse(inspect.getsource(module)).body
    found = []
    for node, after in zip(body, [*body[1:], ast.Pass()], strict=True):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        name = node.targets[0].id
        hint = getattr(module, name)
        if typing.get_origin(hint) is None or hasattr(document, name):
            continue
        about = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            about = inspect.cleandoc(str(after.value.value))
        found.append(Alias(name, hint, about))
    return found


def _model_section(model: type[BaseModel]) -> list[str]:
    lines = [f"## {model.__name__}", "", inspect.cleandoc(model.__doc__ or ""), ""]
    hints = typing.get_type_hints(model, include_extras=True)
    lines += ["| field | type | default | meaning |", "|---|---|---|---|"]
    for name, field in model.model_fields.items():
        kind = type_text(hints[name]).replace("|", "\\|")
        about = re.sub(r"\s+", " ", field.description or "").replace("|", "\\|")
        lines.append(f"| `{field.alias or name}` | {kind} | {_default_text(field)} | {about} |")
    return lines


def type_text(hint: Any, named: bool = True) -> str:
    """A type in words, with its limits and with links to other sections.

    `named`: a type that has a name is a link to its section.
    """
    alias = alias_of(hint) if named else None
    if alias is not None:
        return _link(alias.name)
    arguments = typing.get_args(hint)
    origin = typing.get_origin(hint)
    if origin is Annotated:
        facts = [fact for extra in arguments[1:] for fact in _facts(extra)]
        return ", ".join([type_text(arguments[0]), *filter(None, map(_limit_text, facts))])
    if origin is Literal:
        return " or ".join(f"`{json.dumps(word)}`" for word in arguments)
    if origin is list:
        return f"list of {type_text(arguments[0])}"
    if origin is dict:
        return f"mapping from {type_text(arguments[0])} to {type_text(arguments[1])}"
    if origin in (typing.Union, types.UnionType):
        return " or ".join(type_text(argument) for argument in arguments)
    if hint is types.NoneType:
        return "null"
    return PLAIN.get(hint) or _link(hint.__name__)


def _facts(extra: Any) -> list[Any]:
    return extra.metadata if isinstance(extra, FieldInfo) else [extra]


def _limit_text(fact: Any) -> str:
    """A limit in words; those of 64 bits are said nowhere, because they hold everywhere."""
    for kind, name in ((Ge, "ge"), (Gt, "gt"), (Le, "le"), (MinLen, "min_length")):
        if isinstance(fact, kind):
            value = getattr(fact, name)
            return "" if abs(value) >= 2**63 - 1 else LIMITS[name].format(value)
    pattern = getattr(fact, "pattern", None)
    return f"like `{pattern}`" if pattern else ""


def _link(name: str) -> str:
    return f"[{name}](#{name.lower()})"


def _default_text(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if isinstance(field.default, BaseModel):
        return "its defaults"
    return f"`{json.dumps(field.default)}`"
