"""Texts with `$parameter`, as JUBE has them, and with `{parameter}`, as campaigns do."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_NAME = re.compile(r"\$(?:(\$)|\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")


def names_of(text: str) -> list[str]:
    """The names behind dollars, each once; some are the shell's own."""
    found = (match[2] or match[3] for match in _NAME.finditer(text) if not match[1])
    return list(dict.fromkeys(found))


def replaced(text: str, value: Callable[[str], str | None]) -> str:
    """The text with values in the place of names; names without a value stay, `$$` is a dollar."""

    def one(match: re.Match[str]) -> str:
        if match[1]:
            return "$"
        found = value(match[2] or match[3])
        return match[0] if found is None else found

    return _NAME.sub(one, text)


def substituted(text: str, values: Mapping[str, str]) -> str:
    """The text with values in the place of names."""
    return replaced(text, values.get)


def identifier(name: str) -> str:
    """A name as campaigns' files have them: letters, digits and underscores."""
    cleaned = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{cleaned}" if cleaned[:1].isdigit() else cleaned


def braced(text: str) -> str:
    """A text in which no brace has a meaning."""
    return text.replace("{", "{{").replace("}", "}}")


def translated(text: str, value: Callable[[str], str | None]) -> str:
    """The text as a campaign's: `value` gives what stands for a name, braces and all."""
    parts: list[str] = []
    position = 0
    for match in _NAME.finditer(text):
        parts.append(braced(text[position : match.start()]))
        found = None if match[1] else value(match[2] or match[3])
        parts.append("$" if match[1] else braced(match[0]) if found is None else found)
        position = match.end()
    return "".join([*parts, braced(text[position:])])
