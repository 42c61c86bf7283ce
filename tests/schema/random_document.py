"""Builds random documents of any model that the generator can express, from a seed."""

from __future__ import annotations

import copy
import math
import random
import struct
import sys
from typing import Any

from pydantic import BaseModel, RootModel

from generate.shape import (
    Choice,
    Constant,
    Listing,
    Maybe,
    Scalar,
    Shape,
    Struct,
    Word,
    members_of,
)

MAX_LEVEL = 14
JUNK: list[Any] = [None, True, False, "", "x", "5", 0, -1, 1, 5.0, 1e300]
JUNK += [2**63, -(2**63) - 1, 2**70]
JUNK += [[], [None], [[]], {}, {"kind": "x"}, {"kind": 5}, {"event": None}]
CHARACTERS = "ab/ _.{}[]\"\\'\n\t\x00\x1f\x7f\u00e9\u20ac\u2028\uffff\U0001f600"


class RandomDocuments:
    """A source of random documents as plain data."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def document(self, model: type[BaseModel]) -> Any:
        """One document of the model."""
        if issubclass(model, RootModel):
            field = model.model_fields["root"]
            members = field.annotation.__args__  # type: ignore[union-attr]
            return self._value(Choice(str(field.discriminator), members), 0)
        return self._object(model, 0)

    def junk(self) -> Any:
        """A value that is wrong in most places."""
        return copy.deepcopy(self._random.choice(JUNK))

    def _object(self, model: type[BaseModel], level: int) -> dict[str, Any]:
        result = {}
        for member in members_of(model):
            if member.required or self._random.random() < 0.7 or _is_tag(member.shape):
                result[member.key] = self._value(member.shape, level + 1)
        return result

    def _value(self, shape: Shape, level: int) -> Any:
        pick = self._random
        match shape:
            case Scalar(kind, low, high):
                return self._scalar(kind, low, high)
            case Word(enum):
                return pick.choice(list(enum)).value
            case Struct(model):
                return self._object(model, level)
            case Constant(text):
                return text
            case Maybe(value):
                return (
                    None if level > MAX_LEVEL or pick.random() < 0.4 else self._value(value, level)
                )
            case Choice(_, members):
                flat = [model for model in members if not _holds_choices(model)]
                return self._object(pick.choice(flat if level > MAX_LEVEL else members), level)
            case Listing(item, least):
                most = 0 if level > MAX_LEVEL else pick.choice([0, 1, 2, 3])
                return [self._value(item, level + 1) for _ in range(least + most)]

    def _scalar(self, kind: type, low: Any, high: Any) -> Any:
        pick = self._random
        if kind is bool:
            return pick.random() < 0.5
        if kind is str:
            size = (low or 0) + pick.choice([0, 1, 2, 8])
            return "".join(pick.choice(CHARACTERS) for _ in range(size))
        if kind is int:
            return pick.choice([low, high, pick.randint(low, high), min(high, max(low, 7))])
        if low is not None and high is not None:
            return pick.choice([low, high, pick.uniform(low, high), 5e-324])
        value = pick.choice(
            [0.0, 0, 12, -0.0, 2**63, 0.1, struct.unpack("d", pick.randbytes(8))[0]]
        )
        value = value if math.isfinite(value) else sys.float_info.max
        return abs(value) if low == 0 else value


def _is_tag(shape: Shape) -> bool:
    return isinstance(shape, Constant)


def _holds_choices(model: type[BaseModel]) -> bool:
    """Whether a member of a union contains a list of such unions again."""
    shapes = (member.shape for member in members_of(model))
    return any(isinstance(shape, Listing) and isinstance(shape.item, Choice) for shape in shapes)
