"""Templates of names: text with fields in braces, `{rank}` or `{step:04d}`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from venturi.model.error import UserError

_FIELD = re.compile(r"\{\{|\}\}|\{([^{}:]+)(?::0?(\d{1,2})d)?\}|[{}]")


@dataclass(frozen=True)
class Field:
    """An expression, and to how many digits its number is filled with zeros."""

    text: str
    width: int


def template_fields(text: str, where: str) -> list[str | Field]:
    """The pieces of a template in order; UserError at `where` for a brace without its pair."""
    pieces: list[str | Field] = []
    fixed, at = "", 0
    for match in _FIELD.finditer(text):
        fixed += text[at : match.start()]
        at = match.end()
        if match[0] in ("{{", "}}"):
            fixed += match[0][0]
        elif match[1] is None:
            raise UserError(f"{where}: '{text}': a brace without its pair", "write {{ for a brace")
        else:
            pieces += [fixed] if fixed else []
            fixed = ""
            pieces.append(Field(match[1], int(match[2] or 0)))
    fixed += text[at:]
    return pieces + ([fixed] if fixed else [])
