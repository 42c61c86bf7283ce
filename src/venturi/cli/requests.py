"""Operations of a rank as text: lines with tabs, or one JSON document, as long as they may be."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from venturi.plan.stream import Operation

_COLUMNS = ("phase", "operation", "offset", "bytes", "path")
_UNKNOWN = "-"
"""Stands for what has no place, or is known in a run only."""


def print_as_lines(operations: Iterable[Operation]) -> None:
    """Print a header and one line for each operation; offsets and sizes are in bytes."""
    out = sys.stdout
    out.write("\t".join(_COLUMNS) + "\n")
    for one in operations:
        values = [_UNKNOWN if value is None else str(value) for value in _values(one)]
        out.write("\t".join(values) + "\n")


def print_as_json(rank: int, operations: Iterable[Operation]) -> None:
    """Print one document, operation by operation, so that none is held in memory."""
    out = sys.stdout
    out.write(f'{{"rank": {rank}, "operations": [')
    before = "\n"
    for one in operations:
        out.write(before + json.dumps(dict(zip(_COLUMNS, _values(one), strict=True))))
        before = ",\n"
    out.write("\n]}\n")


def _values(one: Operation) -> tuple[Any, ...]:
    return one.phase, one.kind.value, one.offset, one.bytes, one.path
