"""The tables of docs/compatibility: one row for each option, read so that it can be tested."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from venturi.compat.option import CommandOption
from venturi.model.error import ExitCode, UserError

DOCS = Path(__file__).parents[2] / "docs" / "compatibility"
_ROW = re.compile(r"\| `([^`]+)` \| `([^`]*)` \| `([^`]+)` \| (same|better|refused) \| (.*) \|")


@dataclass(frozen=True)
class Row:
    """An option in a command line, and what the table says of it."""

    option: str
    base: list[str]
    """The command line without the option."""
    example: list[str]
    verdict: str
    note: str

    def __str__(self) -> str:
        return " ".join([self.option, *self.words])

    @property
    def words(self) -> list[str]:
        """The whole command line."""
        return [*self.base, *self.example]

    @property
    def reason(self) -> str:
        """What a refusal must say: the note without what stands in brackets."""
        return self.note.partition(" (")[0]


def rows_of(tool: str) -> list[Row]:
    """The rows of one tool's table."""
    text = (DOCS / f"{tool}.md").read_text("utf-8")
    rows = [
        Row(m[1], shlex.split(m[2]), shlex.split(m[3]), m[4], m[5]) for m in _ROW.finditer(text)
    ]
    table = [line for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) == len(table), "a row of the table cannot be read"
    return rows


def check_refusal(row: Row, plan: Callable[[list[str]], object]) -> None:
    """`plan` refuses the row's command line: by the option's name, with the table's reason."""
    with pytest.raises(UserError) as caught:
        plan(row.words)
    assert row.reason in caught.value.message
    assert row.option in caught.value.message
    assert caught.value.exit_code is ExitCode.USAGE


def without_row(options: Sequence[CommandOption], rows: Sequence[Row]) -> list[str]:
    """The options that no row of the table speaks of."""
    spelled = {row.option for row in rows}
    return [one.name for one in options if not {f"-{one.short}", f"--{one.long}"} & spelled]
