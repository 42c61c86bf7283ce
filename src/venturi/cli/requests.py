"""Operations of a rank as text: lines with tabs, or one JSON document, as long as they may be."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from venturi.plan.stream import Operation

_COLUMNS = ("phase", "operation", "offset", "bytes", "path")
_UNKNOWN = "-"
"""Stands for what has no place, or is known in a run only."""


def print_as_lines(operations: Iterable[Operation]) -> None:
    """Print a header and one line for each operation; offsets and sizes are in bytes."""
    click.echo("\t".join(_COLUMNS))
    for one in operations:
        values = [_UNKNOWN if value is None else str(value) for value in _values(one)]
        click.echo("\t".join(values))


def print_as_json(rank: int, operations: Iterable[Operation]) -> None:
    """Print one document, operation by operation, so that none is held in memory."""
    click.echo(f'{{"rank": {rank}, "operations": [', nl=False)
    before = "\n"
    for one in operations:
        click.echo(before + json.dumps(dict(zip(_COLUMNS, _values(one), strict=True))), nl=False)
        before = ",\n"
    click.echo("\n]}")


def _values(one: Operation) -> tuple[Any, ...]:
    return one.phase, one.kind.value, one.offset, one.bytes, one.path
