"""The report as Markdown, for issue trackers and mail: the same words and tables, no pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence

from venturi.model.record import Record
from venturi.report import page
from venturi.report.block import (
    Block,
    Chapter,
    Code,
    Facts,
    Figure,
    Notes,
    Page,
    Paragraph,
    TableBlock,
)
from venturi.report.quantity import Units

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")
_FEWEST_BACKTICKS = 3


def _plain(text: str) -> str:
    """Text that Markdown and HTML leave as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _table(table: TableBlock) -> list[str]:
    if not table.rows:
        return []
    head = " | ".join(_plain(column.title) for column in table.columns)
    rule = " | ".join("---:" if column.numeric else "---" for column in table.columns)
    rows = [f"| {' | '.join(_plain(cell) for cell in row)} |" for row in table.rows]
    return [f"**{_plain(table.title)}**", "", f"| {head} |", f"| {rule} |", *rows, ""]


def _code(block: Code) -> list[str]:
    longest = max((len(run) for run in re.findall(r"`+", block.shown)), default=0)
    fence = "`" * max(_FEWEST_BACKTICKS, longest + 1)
    text = block.shown.rstrip("\n")
    return [f"{_plain(block.title)}:", "", f"{fence}{block.language}", text, fence, ""]


def _notes(block: Notes) -> list[str]:
    lines = []
    for note in block.items:
        lines.append(f"- **{_plain(note.label)}: {_plain(note.title)}**")
        lines += [f"  {_plain(name)}: {_plain(text)}" for name, text in note.lines if text]
    return [*lines, ""]


def _figure(figure: Figure, told: list[TableBlock]) -> list[str]:
    """Its finding, and its numbers unless a picture of the chapter had the same ones before."""
    lines = [f"**{_plain(figure.title)}.** {_plain(figure.finding)}", ""]
    if not figure.table.rows:
        return lines
    if figure.table in told:
        return [*lines, f"Its numbers are those of the table *{_plain(figure.table.title)}*.", ""]
    told.append(figure.table)
    return [*lines, *_table(figure.table)]


def _block(block: Block, told: list[TableBlock]) -> list[str]:
    """One block; `told` are the tables of pictures that the chapter has so far."""
    match block:
        case Paragraph():
            mark = "> " if block.tone != "plain" else ""
            return [f"{mark}{_plain(block.text)}", ""]
        case TableBlock():
            return _table(block)
        case Figure():
            return _figure(block, told)
        case Facts():
            return [*(f"- {_plain(name)}: {_plain(value)}" for name, value in block.rows), ""]
        case Notes():
            return _notes(block)
        case Code():
            return _code(block)


def _chapter(chapter: Chapter, level: int) -> list[str]:
    head = "#" * level
    told: list[TableBlock] = []
    lines = [f"{head} {_plain(chapter.title)}", ""]
    if chapter.about:
        lines += [_plain(chapter.about), ""]
    lines += [_plain(chapter.facts), ""]
    if chapter.level:
        lines += [f"**{_plain(chapter.level)}**: {_plain(chapter.meaning)}", ""]
    if chapter.reasons:
        lines += [*(f"- {_plain(reason)}" for reason in chapter.reasons), ""]
    if chapter.withheld:
        lines += [_plain(chapter.withheld), ""]
    for remark in chapter.remarks:
        lines += _block(remark, told)
    for headline in chapter.headlines:
        parts = (headline.name, headline.value, headline.beside, headline.detail)
        name, value, beside, detail = (_plain(part) for part in parts)
        lines.append(f"- {name}: **{value}**{beside and f' {beside}'} ({detail})")
    lines.append("")
    for section in chapter.sections:
        lines += [f"{head}# {_plain(section.title)}", ""]
        if section.lead:
            lines += [_plain(section.lead), ""]
        for block in section.blocks:
            lines += _block(block, told)
    return lines


def render_markdown(
    records: Sequence[Record], units: Units = Units.IEC, reviews: page.Reviews | None = None
) -> str:
    """The report on one or several records as Markdown text."""
    return markdown_of(page.build(records, units, reviews))


def markdown_of(built: Page) -> str:
    """A page as Markdown text."""
    lines: list[str] = []
    alone = len(built.chapters) == 1
    if not alone:
        lines += [f"# {_plain(built.title)}", "", _plain(built.lead), ""]
    if built.comparison is not None:
        lines += _table(built.comparison)
    for chapter in built.chapters:
        lines += _chapter(chapter, 1 if alone else 2)
    lines += [f"Made with {_plain(built.made_with)}."]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
    return text + "\n"
