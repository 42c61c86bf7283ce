"""`result.txt` and `config.ini`: sections of keys and values, as text."""

from __future__ import annotations

import re
from pathlib import Path

Sections = dict[str, dict[str, str]]

MOST_BYTES = 16 << 20
"""No file of a result that is read whole is larger."""
_KEY = re.compile(r"\s*([^=\s\[;#][^=]*?)\s*=\s*(.*?)\s*$")
_EXACT = re.compile(r"([^=\s\[;#][^=]*?) = ?(.*)$")


def read_settings(path: Path, exact: bool = False) -> Sections:
    """The sections of a file, empty if there is none or it is no text.

    Unlike an INI parser of today it takes what all generations wrote: keys before the first
    section (they are in section ""), keys without a value, values with `%`, `=` or `;`. `exact`
    keeps the blanks behind a value.
    """
    result: Sections = {}
    section = ""
    pattern = _EXACT if exact else _KEY
    for line in text_of(path).splitlines():
        if line.startswith("["):
            section = line.strip().strip("[]")
        elif found := pattern.match(line):
            result.setdefault(section, {})[found[1]] = found[2]
    return result


def why_unreadable(path: Path) -> str:
    """Why a file that is there has no key for anybody, in words; empty where it has, or is not."""
    if not path.is_file():
        return ""
    if path.stat().st_size == 0:
        return "the file is empty"
    if not text_of(path):
        return "this is no text"
    return "" if read_settings(path) else "it has no key"


def text_of(path: Path) -> str:
    """The text of a file; empty if there is none, if it is too large, or if it is no text."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return ""
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
