"""What owners and lists write of a system, as one plain line of bounded length."""

from __future__ import annotations

import re

MOST_CHARACTERS = 500
_MOST_OF_RELEASE = 24
_MOST_OF_LEVEL = 40
_LIST_YEAR = re.compile(r"(?:I?SC|SCC)(\d\d)\b")
_LEVELS = {
    "undefined": "Undefined",
    "limited": "Limited",
    "proprietary": "Proprietary",
    "fully reproducible": "Fully Reproducible",
    "fully": "Fully Reproducible",
}
"""The levels of the list, lowest first."""


def plain(text: str) -> str:
    """One line without control characters and marks of direction, cut to 500 characters."""
    clean = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(clean.split())[:MOST_CHARACTERS]


def release_of(text: str) -> str:
    """The name of a list in capitals, as the site writes it; empty for a number or nothing."""
    found = plain(text).upper()[:_MOST_OF_RELEASE]
    return found if any(letter.isalpha() for letter in found) else ""


def release_year(release: str) -> int | None:
    """The year of a list whose name has one, as `SC23` and `ISC24` have."""
    found = _LIST_YEAR.match(release)
    return 2000 + int(found[1]) if found else None


def reproducibility_of(text: str) -> str:
    """A level in the list's words; another word as it is; empty for a number or nothing."""
    found = plain(text)
    if len(found) > _MOST_OF_LEVEL:  # an answer to the questionnaire, which may be called so
        return ""
    known = _LEVELS.get(found.lower().replace("_", " ").replace("-", " "), found)
    return known if any(letter.isalpha() for letter in known) else ""
