"""Versions of what lies in a store: read as it is, brought to today's form, or refused clearly."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from venturi.model.document import Document, fault_of
from venturi.model.error import UserError
from venturi.store.upgrade import record_2_of_1

Kind = TypeVar("Kind", bound=Document)
Step = Callable[[dict[str, Any]], dict[str, Any]]

STEPS: Mapping[str, Step] = {"venturi.record/1": record_2_of_1}
"""What brings a document from a version (`venturi.record/1`) to the next one."""


def read_versioned(path: Path, kind: type[Kind], steps: Mapping[str, Step] = STEPS) -> Kind:
    """The document in a file, brought to today's version step by step.

    Raises UserError for a file that cannot be read, one of a version that is newer than this
    program, and an old one that nothing leads on from.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    wanted = kind.model_fields["schema_"].default
    try:
        return kind.model_validate_json(raw, by_alias=True, by_name=False)
    except ValidationError as error:
        fault = fault_of(kind, error)
    try:
        data = json.loads(raw)
        version = data["schema"] if isinstance(data, dict) else None
    except (ValueError, KeyError, RecursionError):
        version = None
    if not isinstance(version, str) or _family(version) != _family(wanted):
        raise UserError(f"{path}: this is no {_family(wanted)} of this version: {fault.message}")
    if version == wanted:
        raise UserError(f"{path}: damaged: {fault.message}", "venturi results verify")
    if _number(version) > _number(wanted):
        raise UserError(
            f"{path}: it is of version {version}, and this Venturi knows {wanted} at most",
            "read it with the Venturi that wrote it, or a newer one",
        )
    while version != wanted:
        if version not in steps:
            raise UserError(
                f"{path}: it is of version {version}, which this Venturi cannot bring to {wanted}",
                "read it with the Venturi that wrote it",
            )
        data = steps[version](data)
        version = data["schema"]
    try:
        return kind.model_validate_json(json.dumps(data), by_alias=True, by_name=False)
    except ValidationError as error:
        raise UserError(f"{path}: damaged: {fault_of(kind, error).message}") from None


def _family(version: str) -> str:
    return version.rpartition("/")[0].removeprefix("venturi.")


def _number(version: str) -> int:
    number = version.rpartition("/")[2]
    return int(number) if number.isdecimal() else 0
