"""The parts of a report, before any form: what HTML and Markdown both draw."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

Tone = Literal["plain", "good", "fair", "bad"]


@dataclass(frozen=True)
class Paragraph:
    """A few sentences."""

    text: str
    tone: Tone = "plain"


class Cell(str):
    """The text of a cell, with what pages of a site put beside it."""

    href: str
    """The page that it leads to, from the root of the site; empty: none."""
    line: tuple[float, ...]
    """Values that are drawn as a line behind the text."""
    tone: Tone

    def __new__(
        cls, text: str, href: str = "", line: tuple[float, ...] = (), tone: Tone = "plain"
    ) -> Cell:
        cell = super().__new__(cls, text)
        cell.href, cell.line, cell.tone = href, line, tone
        return cell


@dataclass(frozen=True)
class Column:
    """A column of a table; numbers are set to the right."""

    title: str
    numeric: bool = False


@dataclass(frozen=True)
class TableBlock:
    """Cells as text, one tuple a row."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    folded: bool = False
    name: str = ""
    """What a site's filters know the table by; empty: it has none."""
    stacked: bool = False
    """On a narrow screen the cells of a row stand below each other."""


@dataclass(frozen=True)
class Figure:
    """A picture: its finding in words, how to read it, the Vega-Lite spec and the numbers."""

    name: str
    title: str
    finding: str
    reading: str
    spec: dict[str, Any]
    table: TableBlock


@dataclass(frozen=True)
class Facts:
    """Names and values."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Note:
    """Something found: how serious, what, and sentences on it."""

    label: str
    tone: Tone
    title: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Notes:
    """A list of findings."""

    items: tuple[Note, ...]


_PACKED = re.compile(r"[A-Za-z0-9+/=]{400,}")
"""No word is so long."""


@dataclass(frozen=True)
class Code:
    """Text as a machine reads it."""

    title: str
    text: str
    language: str = ""
    folded: bool = False

    @property
    def shown(self) -> str:
        """The text as people read it: of a packed column of a table, how long it is."""
        return _PACKED.sub(lambda found: f"({len(found[0])} characters)", self.text)


Block = Paragraph | TableBlock | Figure | Facts | Notes | Code


@dataclass(frozen=True)
class Section:
    """A heading, a sentence under it, and blocks."""

    name: str
    title: str
    lead: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Headline:
    """One number that stands for a phase."""

    name: str
    value: str
    detail: str
    beside: str = ""
    """Why the number is not the storage's: short words, empty where it is."""


@dataclass(frozen=True)
class Chapter:
    """One run."""

    name: str
    title: str
    about: str = ""
    answer: str = ""
    """What a reader of its card alone must know, in place of the headlines; empty: these."""
    level: str = ""
    tone: Tone = "plain"
    meaning: str = ""
    reasons: tuple[str, ...] = ()
    headlines: tuple[Headline, ...] = ()
    fidelity: str = ""
    remarks: tuple[Paragraph, ...] = ()
    sections: tuple[Section, ...] = ()
    withheld: str = ""
    """Why there are no headlines; empty where there are."""
    facts: str = ""
    """One line: ranks, repetitions, host, file system, date."""


@dataclass(frozen=True)
class Page:
    """The whole report."""

    title: str
    lead: str
    chapters: tuple[Chapter, ...]
    comparison: TableBlock | None = None
    made_with: str = field(default="Venturi")
