"""Tags: which parts of a JUBE file are chosen. `+` and, `^` xor, `|` or, `!` not, brackets."""

from __future__ import annotations

import re

from venturi.campaign.jube.node import Node, failed

_TOKEN = re.compile(r"\s*([-\w.]+|[+|^!()])")
_BINARY = ("|", "^", "+")
"""From the loosest to the closest."""


def holds(node: Node, expression: str, tags: set[str]) -> bool:
    """Whether an expression over tags holds; UserError at `node` for what is none."""
    tokens: list[str] = []
    position = 0
    text = expression.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            hint = (
                "a comma in tags is no longer JUBE's" if text[position:].lstrip()[0] == "," else ""
            )
            raise failed(node, f"'{text}' is no expression of tags", hint)
        tokens.append(match[1])
        position = match.end()
    value = _level(tokens, 0, tags) if tokens else None
    if value is None or tokens:
        raise failed(node, f"'{text}' is no expression of tags")
    return value


def _level(tokens: list[str], level: int, tags: set[str]) -> bool | None:
    """The value of what stands at the beginning, which is taken away; None if it is nothing."""
    if level == len(_BINARY):
        return _atom(tokens, tags)
    value = _level(tokens, level + 1, tags)
    while value is not None and tokens and tokens[0] == _BINARY[level]:
        tokens.pop(0)
        other = _level(tokens, level + 1, tags)
        if other is None:
            return None
        value = {"|": value | other, "^": value ^ other, "+": value & other}[_BINARY[level]]
    return value


def _atom(tokens: list[str], tags: set[str]) -> bool | None:
    if not tokens:
        return None
    token = tokens.pop(0)
    if token == "!":
        value = _atom(tokens, tags)
        return None if value is None else not value
    if token == "(":
        value = _level(tokens, 0, tags)
        return value if tokens and tokens.pop(0) == ")" else None
    return token in tags if token[0] not in "+|^)" else None
