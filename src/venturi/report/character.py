"""Characters that a terminal can show: no control codes, ASCII where there is no UTF-8."""

from __future__ import annotations

MOST_CHARACTERS = 500
"""Of a text that somebody else wrote, in one cell of a page."""
_ASCII = str.maketrans(
    {
        "µ": "u",
        "−": "-",
        "–": "-",
        "·": "-",
        "…": "...",
        "\u00a0": " ",
        "█": "#",
        "░": "-",
        "✓": "*",
        "▸": ">",
        "▁": ".",
        "▂": ".",
        "▃": ":",
        "▄": ":",
        "▅": "|",
        "▆": "|",
        "▇": "#",
    }
)


def speaks_utf8(encoding: str | None) -> bool:
    """Whether a stream with this encoding can show more than ASCII."""
    return (encoding or "").lower().replace("-", "").startswith("utf")


def shown(text: str, utf8: bool = True) -> str:
    """The text on one line, without control characters, in ASCII if it must be."""
    clean = "".join(char if char.isprintable() or char == "\u00a0" else " " for char in text)
    if utf8:
        return clean
    return clean.translate(_ASCII).encode("ascii", "replace").decode("ascii")


def bounded(text: str) -> str:
    """One line without control characters, cut to 500 characters."""
    clean = shown(text)
    return clean if len(clean) <= MOST_CHARACTERS else f"{clean[:MOST_CHARACTERS]}…"
