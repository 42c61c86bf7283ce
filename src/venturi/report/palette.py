"""Colours, marks and dashes: fixed for each operation, readable without colour.

The hues are those of Okabe and Ito (2008) that keep a contrast of 3:1 on white; where two
operations share a hue, mark and dash tell them apart. `DARK` says what each becomes on a dark
page.
"""

from __future__ import annotations

from dataclasses import dataclass

INK = "#1b1f24"
MUTED = "#59626d"
GRID = "#e4e7eb"
SHADE = "#c9d0d8"
PAPER = "#fefefe"

BLUE = "#0072b2"
VERMILLION = "#d55e00"
GREEN = "#009e73"
PURPLE = "#cc79a7"
ORANGE = "#e69f00"
BROWN = "#7a4419"
"""Not theirs: a last one where phases have colours only."""

SERIES = (
    (BLUE, "circle"),
    (VERMILLION, "square"),
    (GREEN, "triangle-up"),
    (PURPLE, "diamond"),
    (ORANGE, "triangle-down"),
    (MUTED, "cross"),
    (INK, "triangle-right"),
)
"""Colour and mark of series that are told apart by their order alone."""

DARK = {
    INK: "#e9ebee",
    MUTED: "#a7b0bb",
    GRID: "#2d333a",
    SHADE: "#4b5560",
    PAPER: "#15181c",
    BLUE: "#56b4e9",
    VERMILLION: "#f0894a",
    GREEN: "#2fc196",
    PURPLE: "#dd93bb",
    ORANGE: "#b57d00",
    BROWN: "#c9996b",
}
"""Light colour to dark colour."""


@dataclass(frozen=True)
class Style:
    """How one operation is drawn: colour, point shape and dash pattern (pixels on, off)."""

    colour: str
    shape: str
    dash: tuple[int, ...]


OPERATIONS = {
    "write": Style(BLUE, "circle", (1, 0)),
    "read": Style(VERMILLION, "square", (7, 3)),
    "open": Style(GREEN, "triangle-up", (2, 2)),
    "create": Style(PURPLE, "diamond", (8, 2, 2, 2)),
    "close": Style(INK, "cross", (1, 3)),
    "stat": Style(GREEN, "triangle-down", (10, 3)),
    "unlink": Style(PURPLE, "triangle-right", (4, 2)),
    "mkdir": Style(BLUE, "triangle-left", (2, 4)),
    "rmdir": Style(VERMILLION, "stroke", (1, 2)),
    "sync": Style(INK, "arrow", (12, 2, 2, 2)),
    "rename": Style(BLUE, "triangle-right", (6, 2)),
    "link": Style(GREEN, "square", (3, 1)),
    "symlink": Style(GREEN, "diamond", (3, 3)),
    "mknod": Style(PURPLE, "square", (9, 3)),
    "read_dir": Style(VERMILLION, "triangle-down", (5, 5)),
    "set_xattr": Style(INK, "triangle-up", (2, 1)),
    "get_xattr": Style(INK, "circle", (6, 1)),
    "truncate": Style(BLUE, "triangle-down", (4, 4)),
    "find": Style(GREEN, "circle", (10, 4)),
    "exec": Style(INK, "square", (12, 4)),
    "copy": Style(PURPLE, "diamond", (7, 2)),
    "clone": Style(PURPLE, "circle", (3, 2)),
    "seek": Style(INK, "triangle-right", (2, 5)),
    "empty_read": Style(VERMILLION, "circle", (2, 6)),
    "set_attribute": Style(PURPLE, "triangle-up", (5, 3)),
    "miss": Style(GREEN, "stroke", (3, 4)),
}
"""In the order in which they are listed everywhere."""


TIMES = {
    "service": Style(GREEN, "circle", (1, 0)),
    "response": Style(PURPLE, "square", (7, 3)),
}
"""What a request at a rate took: from its real start, and from the intended one."""


def style(kind: str) -> Style:
    """The style of an operation or a time; unknown ones are grey."""
    return (OPERATIONS | TIMES).get(kind, Style(MUTED, "circle", (1, 0)))


def ordered(kinds: set[str]) -> list[str]:
    """Operations in their fixed order, unknown ones last."""
    known = [kind for kind in OPERATIONS if kind in kinds]
    return known + sorted(kinds - set(known))
