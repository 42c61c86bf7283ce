"""`result.txt` and `config.ini`: sections of keys and values, as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

Sections = dict[str, dict[str, str]]

MOST_BYTES = 16 << 20
"""No file of a result that is read whole is larger."""
_KEY = re.compile(r"\s*([^=\s\[;#][^=]*?)\s*=\s*(.*?)\s*$")


def read_settings(path: Path) -> Sections:
    """The sections of a file, empty if there is none or it is no text.

    Unlike an INI parser of today it takes what all generations wrote: keys before the first
    section (they are in section ""), keys without a value, values with `%`, `=` or `;`.
    """
    result: Sections = {}
    section = ""
    for line in _lines(path):
        if line.startswith("["):
            section = line.strip().strip("[]")
        elif found := _KEY.match(line):
            result.setdefault(section, {})[found[1]] = found[2]
    return result


def _lines(path: Path) -> Iterator[str]:
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return
        yield from path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return
