"""How the shapes of a model are spelled in C++: types, names, initialisers and checks."""

from __future__ import annotations

import functools
import json
import re
import typing
from dataclasses import dataclass
from enum import StrEnum
from types import ModuleType
from typing import Any

from pydantic import BaseModel, RootModel

from generate.documents import DOCUMENTS, home_of
from generate.shape import (
    INT64,
    CannotExpress,
    Choice,
    Listing,
    Maybe,
    Member,
    Scalar,
    Shape,
    Struct,
    Word,
    shape_of,
)

# Keywords and macros of C++ that are good names of fields.
RESERVED = frozenset(
    [
        "and",
        "auto",
        "bool",
        "break",
        "case",
        "char",
        "class",
        "const",
        "continue",
        "default",
        "delete",
        "do",
        "double",
        "errno",
        "export",
        "float",
        "for",
        "friend",
        "if",
        "int",
        "long",
        "major",
        "minor",
        "namespace",
        "new",
        "not",
        "operator",
        "or",
        "private",
        "public",
        "register",
        "return",
        "short",
        "signed",
        "static",
        "stderr",
        "stdin",
        "stdout",
        "struct",
        "switch",
        "template",
        "this",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "while",
    ]
)


@dataclass(frozen=True)
class Alias:
    """A union or list that a module gives a name."""

    shape: Choice | Listing


@dataclass(frozen=True)
class Part:
    """What one C++ type is made from."""

    name: str
    value: type[StrEnum | BaseModel] | Alias


def parts_of(module: ModuleType) -> list[Part]:
    """What a module defines: enums, then models and named unions and lists in its order.

    A model that others extend has no type of its own: they have its fields.
    """
    parts: list[Part] = []
    types = [value for value in vars(module).values() if isinstance(value, type)]
    extended = {base for value in types for base in value.__bases__}
    for name, value in vars(module).items():
        if isinstance(value, type) and home_of(value) == module.__name__:
            is_model = issubclass(value, BaseModel) and not issubclass(value, RootModel)
            if value in extended:
                continue
            if is_model or issubclass(value, StrEnum):
                parts.append(Part(name, value))
        elif typing.get_origin(value) is typing.Annotated:
            try:
                shape = shape_of(value)
            except CannotExpress as error:
                raise CannotExpress(f"{name}: {error}") from None
            if isinstance(shape, Choice | Listing):
                parts.append(Part(name, Alias(shape)))
    return sorted(parts, key=lambda part: not _is_enum(part.value))


def _is_enum(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, StrEnum)


def cpp_type(shape: Shape) -> str:
    """The C++ type of a shape."""
    match shape:
        case Scalar(kind):
            plain = {bool: "bool", int: "std::int64_t", float: "double", str: "std::string"}
            return plain[kind]
        case Word(enum):
            return enum.__name__
        case Struct(model):
            return model.__name__
        case Maybe(value):
            return f"std::optional<{cpp_type(value)}>"
        case Choice():
            name = _aliases().get(shape)
            if name is None:
                raise CannotExpress("a union needs a name in its module")
            return name
        case Listing():
            return _aliases().get(shape) or list_type(shape)
    raise CannotExpress(f"no C++ type for {shape}")


def list_type(shape: Listing) -> str:
    """The C++ type of a list, spelled out."""
    return f"std::vector<{cpp_type(shape.item)}>"


@functools.cache
def _aliases() -> dict[Shape, str]:
    """The names of unions and lists, of all documents of the engine."""
    parts = [part for kind in DOCUMENTS if kind.engine for part in parts_of(kind.module())]
    return {part.value.shape: part.name for part in parts if isinstance(part.value, Alias)}


def checks(shape: Shape) -> list[str]:
    """The checks that `decode` takes, outermost first."""
    match shape:
        case Maybe(value):
            return checks(value)
        case Listing(item, least):
            return [f"codec::Size{{{least}}}", *checks(item)]
        case Scalar(kind, low, high) if kind is int and (low, high) != INT64:
            return [_bounds("Whole", low, high, INT64)]
        case Scalar(kind, low, high) if kind is float and (low, high) != (None, None):
            return [_bounds("Span", low, high, (None, None))]
        case Scalar(kind, low) if kind is str and low:
            return [f"codec::Size{{{low}}}"]
    return []


def _bounds(name: str, low: Any, high: Any, without: tuple[Any, Any]) -> str:
    """A check of bounds that names only those that bound something."""
    given = [f".low = {low}"] * (low != without[0]) + [f".high = {high}"] * (high != without[1])
    return f"codec::{name}{{{', '.join(given)}}}"


def initial(member: Member) -> str:
    """The initialiser of a field: its default, or a zero so that nothing is ever undefined."""
    default: Any = member.default
    match member.shape:
        case Scalar(kind) if kind is bool:
            return f" = {str(bool(default)).lower()}"
        case Scalar(kind) if kind is not str:
            return f" = {default or kind()}"
        case Scalar() if default:
            return f" = {json.dumps(default)}"
        case Word(enum) if default is not None:
            return f" = {enum.__name__}::{enumerator(default)}"
        case Listing():
            return ""  # empty by itself; an initialiser would need the items' type to be complete
    return " = {}"


def field_name(member: Member) -> str:
    """The C++ name of a field; a keyword gets an underscore."""
    name = member.name.rstrip("_")
    return name + "_" if name in RESERVED else name


def enumerator(word: StrEnum) -> str:
    """The C++ name of a word: `FLOOR_DIVIDE` is `kFloorDivide`."""
    return "k" + "".join(part.capitalize() for part in word.name.split("_"))


def snake(name: str) -> str:
    """`FaultKind` as `fault_kind`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
