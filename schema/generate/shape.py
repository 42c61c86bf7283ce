"""What a model's type hints say, in the few shapes that the generated C++ can express."""

from __future__ import annotations

import dataclasses
import functools
import typing
from dataclasses import dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union

from annotated_types import Ge, Le, MinLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

INT64 = (-(2**63), 2**63 - 1)


class CannotExpress(Exception):
    """A model uses something that the generator has no C++ for."""


@dataclass(frozen=True)
class Scalar:
    """bool, int, float or str with its bounds: of the value, or (str) of the length."""

    kind: type
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Word:
    """One of a closed set of words."""

    enum: type[StrEnum]


@dataclass(frozen=True)
class Struct:
    """Another model."""

    model: type[BaseModel]


@dataclass(frozen=True)
class Choice:
    """One of several models, told apart by the word under the key `tag`."""

    tag: str
    members: tuple[type[BaseModel], ...]


@dataclass(frozen=True)
class Listing:
    """A list of at least `least` items."""

    item: Shape
    least: int = 0


@dataclass(frozen=True)
class Maybe:
    """A value or null."""

    value: Shape


@dataclass(frozen=True)
class Constant:
    """A text that is always the same."""

    text: str


Shape = Scalar | Word | Struct | Choice | Listing | Maybe | Constant


@dataclass(frozen=True)
class Member:
    """One field of a model: `name` in Python, `key` in JSON."""

    name: str
    key: str
    shape: Shape
    required: bool
    default: Any
    about: str


@functools.cache
def members_of(model: type[BaseModel]) -> tuple[Member, ...]:
    """The fields of a model, in order. Raises `CannotExpress`, naming model and field."""
    decorators = model.__pydantic_decorators__
    if any(getattr(decorators, kind.name) for kind in dataclasses.fields(decorators)):
        raise CannotExpress(f"{model.__name__}: validators in Python have no C++")
    members = []
    for name, field in model.model_fields.items():
        try:
            shape = _shape(field.annotation, _constraints_of(field))
            default = _default_of(field, shape)
        except CannotExpress as error:
            raise CannotExpress(f"{model.__name__}.{name}: {error}") from None
        about = field.description or ""
        members.append(
            Member(name, field.alias or name, shape, field.is_required(), default, about)
        )
    return tuple(members)


def shape_of(hint: Any) -> Shape:
    """The shape of a type hint. Raises `CannotExpress`."""
    constraints: dict[str, Any] = {}
    while typing.get_origin(hint) is Annotated:
        hint, *extras = typing.get_args(hint)
        for extra in extras:
            if not isinstance(extra, FieldInfo):
                raise CannotExpress(f"the annotation {extra!r} is unknown")
            constraints |= _constraints_of(extra)
    return _shape(hint, constraints)


def _constraints_of(field: FieldInfo) -> dict[str, Any]:
    """What a field demands beyond its type, by name."""
    constraints: dict[str, Any] = {}
    if field.discriminator is not None:
        constraints["discriminator"] = field.discriminator
    for fact in field.metadata:
        match fact:
            case Ge(low):
                constraints["ge"] = low
            case Le(high):
                constraints["le"] = high
            case MinLen(least):
                constraints["min_length"] = least
            case _ if getattr(fact, "allow_inf_nan", None) is not None:
                constraints["allow_inf_nan"] = fact.allow_inf_nan
            case _:
                constraints[repr(fact)] = fact
    return constraints


def _shape(base: Any, constraints: dict[str, Any]) -> Shape:
    """The shape of a bare type; every constraint must be one that the type's shape has."""
    shape = _shape_of_base(base, constraints)
    if constraints:
        raise CannotExpress(f"the constraint {', '.join(constraints)} of {base} is unknown")
    return shape


def _shape_of_base(base: Any, constraints: dict[str, Any]) -> Shape:
    """The shape of a bare type; takes the constraints that it understands out of `constraints`."""
    origin, arguments = typing.get_origin(base), typing.get_args(base)
    if base in (bool, int, float, str):
        return _shape_of_scalar(base, constraints)
    if isinstance(base, type) and issubclass(base, StrEnum):
        return Word(base)
    if isinstance(base, type) and issubclass(base, BaseModel):
        return Struct(base)
    if origin is list:
        return Listing(shape_of(arguments[0]), constraints.pop("min_length", 0))
    if origin is Literal and len(arguments) == 1 and isinstance(arguments[0], str):
        return Constant(arguments[0])
    if origin in (Union, UnionType):
        return _shape_of_union(arguments, constraints)
    raise CannotExpress(f"the type {base} is unknown")


def _shape_of_scalar(base: type, constraints: dict[str, Any]) -> Scalar:
    """The shape of a truth value, text, integer or real number."""
    if base is bool:
        return Scalar(bool)
    if base is str:
        least = constraints.pop("min_length", 0)
        if least > 1:
            raise CannotExpress("texts are counted in bytes in C++: min_length may only be 1")
        return Scalar(str, least)
    if base is int:
        low, high = constraints.pop("ge", None), constraints.pop("le", None)
        if low is None or high is None or low < INT64[0] or high > INT64[1]:
            raise CannotExpress("an integer needs bounds ge and le within 64 bits")
        return Scalar(int, low, high)
    if constraints.pop("allow_inf_nan", True):
        raise CannotExpress("a real number needs allow_inf_nan=False: JSON has no infinity")
    return Scalar(float, constraints.pop("ge", None), constraints.pop("le", None))


def _shape_of_union(arguments: tuple[Any, ...], constraints: dict[str, Any]) -> Shape:
    """A value or null, or a union that a word tells apart."""
    rest = [argument for argument in arguments if argument is not NoneType]
    if len(rest) == 1 and len(arguments) == 2:
        return Maybe(shape_of(rest[0]))
    tag = constraints.pop("discriminator", None)
    if not isinstance(tag, str) or len(rest) != len(arguments):
        raise CannotExpress("a union needs a discriminator")
    return Choice(tag, tuple(rest))


def _default_of(field: FieldInfo, shape: Shape) -> Any:
    """The default, or None where there is none. Only what C++ can write is allowed."""
    default = field.default
    if field.default_factory is not None:
        raise CannotExpress("a default factory is unknown; write the default")
    if default is PydanticUndefined or default is None:
        return None
    if isinstance(shape, Struct) and default != shape.model():
        raise CannotExpress("the default of a part must be the part's own defaults")
    if isinstance(shape, Listing | Choice) and default != []:
        raise CannotExpress("the default of a list must be the empty list")
    if isinstance(shape, Maybe):
        raise CannotExpress("the default of a value that may be null must be null")
    return default


def tag_word(model: type[BaseModel], tag: str) -> str:
    """The word that marks `model` in a union told apart by `tag`."""
    shape = next((member.shape for member in members_of(model) if member.key == tag), None)
    if not isinstance(shape, Constant):
        raise CannotExpress(f"{model.__name__}.{tag}: must be a Literal of one word")
    return shape.text
