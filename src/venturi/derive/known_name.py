"""How an application's user knows files that are used alike: their names, as one."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Sequence

_NUMBER = re.compile(r"(\d+)")


def numbered(path: str) -> str:
    """A name with `#` in place of each number: files alike but for digits have the same."""
    return _NUMBER.sub("#", path)


def known_name(paths: Sequence[str]) -> str:
    """The common name of files: numbers that differ are `#`; else their folder with `/*`.

    One file has its own name; no files have none.
    """
    parts = [_NUMBER.split(path) for path in paths]
    if not parts:
        return ""
    if len({tuple(pieces[::2]) for pieces in parts}) == 1:
        return "".join(_one(pieces) for pieces in zip(*parts, strict=True))
    if len({path.startswith("/") for path in paths}) > 1:
        return "*"
    return os.path.join(os.path.commonpath([os.path.dirname(path) for path in paths]), "*")


def _one(pieces: Iterable[str]) -> str:
    """A part of all names where it is the same, else a sign for a number."""
    different = set(pieces)
    return different.pop() if len(different) == 1 else "#"
