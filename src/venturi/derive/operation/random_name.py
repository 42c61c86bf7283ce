"""Names of temporary files without their random letters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import takewhile

LETTERS = range(5, 9)
"""mkstemp has six of them, Python's tempfile eight; one at an end may be the same in all names."""
HEAD = 2
"""So many letters before them are the same at least."""


def without_random(paths: Sequence[str]) -> list[str]:
    """The paths with random letters as a star.

    Names of one folder, length and ending that differ in so many letters, all at one place, are
    temporary files' if these letters are of several kinds.
    """
    found = list(paths)
    piles: dict[tuple[str, str, int, str], list[int]] = defaultdict(list)
    for index, path in enumerate(paths):
        folder, _, name = path.rpartition("/")
        ending = name[name.rfind(".") :] if "." in name else ""
        piles[folder, name[:HEAD], len(name), ending].append(index)
    for (folder, _, length, _), pile in piles.items():
        names = [paths[index].rpartition("/")[2] for index in pile]
        head = _common(names)
        tail = _common([name[::-1] for name in names])[::-1] if len(head) < length else ""
        if length - len(head) - len(tail) in LETTERS and _are_random(names, head, tail):
            for index in pile:
                found[index] = f"{folder}/{head}*{tail}"
    return found


def _common(names: Sequence[str]) -> str:
    """What all begin with."""
    columns = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=True))
    return "".join(letters[0] for letters in columns)


def _are_random(names: Sequence[str], head: str, tail: str) -> bool:
    """Whether what differs are letters and digits, and not all of one kind."""
    parts = [name[len(head) : len(name) - len(tail)] for name in names]
    text = "".join(parts)
    kinds = (str.isupper, str.islower, str.isdigit)
    several = sum(any(is_of(letter) for letter in text) for is_of in kinds) > 1
    return several and all(part.replace("_", "a").isalnum() for part in parts)
