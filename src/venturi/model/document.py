"""What all documents have in common: strict fields, bounded numbers, readable errors."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from itertools import accumulate
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from venturi.model.error import UserError

INT64_MAX = 2**63 - 1
DOCUMENTED = "VENTURI_DOCUMENTED_MODELS"
"""In the environment: fields know what is written below them, as the schemas' generator wants.

To read that out of the sources is a quarter of the time in which a command starts.
"""
MAX_LEVELS = 128
"""How deep a document may be nested."""

Place = tuple[int | str, ...]
"""The keys and indices that lead to a value of a document."""

_NUMBERS = re.compile(r"\[\n\s*([-0-9][-+.,0-9eE\s]*)\]")
"""A list of nothing but numbers; inside of strings there is no end of a line."""

Model = TypeVar("Model", bound=BaseModel)

Count = Annotated[int, Field(ge=0, le=INT64_MAX)]
Positive = Annotated[int, Field(ge=1, le=INT64_MAX)]
Integer = Annotated[int, Field(ge=-(2**63), le=INT64_MAX)]
Real = Annotated[float, Field(allow_inf_nan=False)]
RunId = Annotated[str, Field(pattern=r"^[^./\x00-\x1f][^/\x00-\x1f]{0,199}$")]
"""The id of a run, which is the name of its folder in a store."""
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class DocumentError(UserError):
    """A document that does not have the form its model demands.

    `path` says where (empty: the document as a whole), `reason` what is wrong there.
    """

    def __init__(self, path: str, reason: str, hint: str = "") -> None:
        super().__init__(f"{path or 'the document'}: {reason}", hint)
        self.path = path
        self.reason = reason


class Document(BaseModel):
    """Base of every document and its parts: immutable, strict, no unknown keys."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        populate_by_name=True,
        defer_build=True,
        use_attribute_docstrings=DOCUMENTED in os.environ,
    )

    def to_json(self, indent: int | None = None) -> str:
        """The document as JSON text, every field written; lists of numbers are one line each."""
        text = self.model_dump_json(by_alias=True, indent=indent)
        if indent is None:
            return text
        return _NUMBERS.sub(lambda match: f"[{' '.join(match[1].split())}]", text)

    def to_data(self) -> dict[str, Any]:
        """The document as plain dictionaries, lists, numbers and strings."""
        return self.model_dump(mode="json", by_alias=True)


def parse_json(model: type[Model], text: str | bytes) -> Model:
    """The document of class `model` in JSON text.

    The engine's codec accepts and refuses the same texts, at the same paths. Raises
    `DocumentError` for wrong syntax, a key that is there twice, a number beyond a double,
    more than 128 levels, and whatever the model refuses.
    """
    try:
        characters = text.decode("utf-8") if isinstance(text, bytes) else text
    except UnicodeDecodeError:
        raise DocumentError("", "is not text in UTF-8") from None
    _check_text(characters)
    try:
        return model.model_validate_json(characters, by_alias=True, by_name=False)
    except ValidationError as error:
        raise fault_of(model, error) from None


def parse_data(model: type[Model], data: Any) -> Model:
    """The document of class `model` in plain data, as `parse_json` would read it."""
    try:
        text = json.dumps(data, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise DocumentError("", f"cannot be written as JSON: {error}") from None
    return parse_json(model, text)


def fault_of(model: type[BaseModel], error: ValidationError) -> DocumentError:
    """The first fault of a validation of `model` as an error with its path."""
    fault = error.errors(include_url=False)[0]
    location, owner = place_of(model, fault["loc"])
    reason = reason_of(fault)
    reason = reason[:1].lower() + reason[1:]
    if fault["type"] in ("union_tag_invalid", "union_tag_not_found"):
        location = (*location, str(fault["ctx"]["discriminator"]).strip("'"))
    elif fault["type"] == "missing":
        reason = "is missing"
    elif fault["type"] == "extra_forbidden":
        reason = f"is an unknown key; known are {', '.join(keys_of(owner))}"
    return DocumentError(path_of(location), reason)


def reason_of(fault: Mapping[str, Any]) -> str:
    """Return what is wrong by one of pydantic's faults."""
    if fault["type"] in ("literal_error", "enum"):
        return f"is {fault['input']!r}; it must be {fault['ctx']['expected']}"
    if fault["type"] == "string_pattern_mismatch":
        pattern = fault["ctx"]["pattern"]
        must = "begin with '/'" if pattern == "^/" else f"match {pattern}"
        return f"is {fault['input']!r}; it must {must}"
    return str(fault["msg"]).removeprefix("Value error, ")


def path_of(place: Place) -> str:
    """A place in a document as `a.b[3].c`."""
    path = ""
    for part in place:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
    return path


def place_of(model: type[BaseModel], location: Place) -> tuple[Place, type[BaseModel]]:
    """A validation's location without the labels of unions, and the model it ends in.

    Which parts are labels follows from the type hints along the way, so a key that is called
    like a member of a union stays.
    """
    place: list[int | str] = []
    hint: Any = model
    owner = model
    for part in location:
        hint = _plain(hint)
        if _is_model(hint):
            owner = hint
        members = _union_members(hint)
        if members:
            hint = _labelled(members, str(part))
            continue
        if part == "[key]":
            continue
        place.append(part)
        hint = _below(hint, part)
    hint = _plain(hint)
    return tuple(place), hint if _is_model(hint) else owner


def keys_of(model: type[BaseModel]) -> list[str]:
    """The keys that a model has in JSON."""
    return [field.alias or name for name, field in model.model_fields.items()]


def _is_model(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, BaseModel)


def _plain(hint: Any) -> Any:
    """A type hint without what leaves no trace in a location: Annotated, None, root models."""
    while True:
        members = [member for member in get_args(hint) if member is not NoneType]
        is_union = get_origin(hint) in (Union, UnionType)
        if get_origin(hint) is Annotated or (is_union and len(members) == 1):
            hint = members[0]
        elif isinstance(hint, type) and issubclass(hint, RootModel):
            hint = hint.model_fields["root"].annotation
        else:
            return hint


def _union_members(hint: Any) -> list[Any]:
    is_union = get_origin(hint) in (Union, UnionType)
    return [_plain(member) for member in get_args(hint) if member is not NoneType] * is_union


def _labelled(members: list[Any], label: str) -> Any:
    """The member of a union that a label stands for: a discriminator's word or a class's name."""
    models = [member for member in members if _is_model(member)]
    for model in models:
        if label in (get_args(field.annotation)[0] for field in _literals(model)):
            return model
    for model in models:
        if re.search(rf"\b{model.__name__}\b", label):
            return model
    return next((member for member in members if member not in models), None)


def _literals(model: type[BaseModel]) -> list[Any]:
    fields = model.model_fields.values()
    return [field for field in fields if get_origin(field.annotation) is Literal]


def _below(hint: Any, part: int | str) -> Any:
    """The type hint of what lies under a key or index, or None."""
    if _is_model(hint):
        hints = get_type_hints(hint, include_extras=True)
        fields = hint.model_fields.items()
        return next((hints[name] for name, field in fields if part in (name, field.alias)), None)
    arguments = get_args(hint)
    return arguments[-1] if arguments and get_origin(hint) in (list, dict) else None


class _Repeated(dict[str, Any]):
    """An object of JSON in which a key is there twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        keys = [key for key, _ in pairs]
        self.key = next(key for index, key in enumerate(keys) if key in keys[:index])


def _check_text(text: str) -> None:
    """Refuses what pydantic's own parser would let pass, as the engine's codec does."""
    if _levels_of(text) > MAX_LEVELS:
        raise DocumentError("", f"is nested deeper than {MAX_LEVELS} levels")
    found: list[_Repeated] = []

    def new_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            result = _Repeated(pairs)
            found.append(result)
        return result

    # A call for each number costs much where there are millions of them.
    is_plain = not _may_be_huge(text)
    try:
        data = json.loads(
            text,
            object_pairs_hook=new_object,
            parse_int=None if is_plain else _integer,
            parse_float=None if is_plain else _real,
            parse_constant=_no_number,
        )
    except OverflowError:
        raise DocumentError("", "holds a number beyond the range of a double") from None
    except ValueError as error:
        raise DocumentError("", f"is not JSON: {error}") from None
    if found:
        _refuse_repeated(data, ())


def _integer(digits: str) -> int:
    _real(digits)
    return int(digits)


def _real(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise OverflowError
    return value


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


def _refuse_repeated(data: Any, place: Place) -> None:
    if isinstance(data, _Repeated):
        raise DocumentError(path_of((*place, data.key)), "is there twice")
    if isinstance(data, dict):
        for key, value in data.items():
            _refuse_repeated(value, (*place, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            _refuse_repeated(value, (*place, index))


_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_STRING = re.compile(rb'"[^"]*"?')
_NO_MARKS = bytes(set(range(256)) - set(b'[]{}"'))
_DEEPER = {ord(mark): step for mark, step in zip("[{]}", (1, 1, -1, -1), strict=True)}
_DIGITS = bytes.maketrans(b"123456789E", b"000000000e")
_HUGE = (b"0" * 200, b"0e000", b"0e+000")
"""Without any of these forms of digits no number is beyond the range of a double."""


def _may_be_huge(text: str) -> bool:
    """Whether a number of the text, or what looks like one, may be beyond a double's range."""
    raw = text.encode("utf-8", "surrogatepass").translate(_DIGITS)
    return any(form in raw for form in _HUGE)


def _levels_of(text: str) -> int:
    """How deep a text of JSON is nested; brackets within strings do not count."""
    raw = text.encode("utf-8", "surrogatepass")
    if b"\\" in raw:
        raw = _ESCAPE.sub(b"", raw)
    # Of two quotes beside each other either both bound a string or neither is needed.
    marks = raw.translate(None, _NO_MARKS).replace(b'""', b"")
    if b'"' in marks:
        marks = _STRING.sub(b"", marks)
    return max(accumulate(map(_DEEPER.__getitem__, marks)), default=0)
