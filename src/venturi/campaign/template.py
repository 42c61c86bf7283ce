"""Texts with parameters in braces: `ior -t {transfer}`; a brace itself is written twice."""

from __future__ import annotations

import re
from collections.abc import Mapping

from venturi.model.error import UserError

_PART = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}|[{}]")


def names_of(text: str) -> set[str]:
    """The parameters that a text names."""
    return {match[1] for match in _PART.finditer(text) if match[1]}


def filled(text: str, values: Mapping[str, object], where: str) -> str:
    """The text with its parameters' values; UserError for an unknown one or a lone brace."""

    def value(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        if match[1] is None:
            raise UserError(
                f"{where}: a lone '{match[0]}' in '{text}'", f"write '{match[0] * 2}' for a brace"
            )
        if match[1] not in values:
            known = ", ".join(values) or "none"
            raise UserError(f"{where}: there is no parameter '{match[1]}'", f"known are {known}")
        return str(values[match[1]])

    return _PART.sub(value, text)
