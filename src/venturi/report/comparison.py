"""The page of a comparison: two runs, or two sets of runs point by point, metric by metric."""

from __future__ import annotations

from venturi.model.comparison import ComparisonSet, Difference, RunComparison
from venturi.report import quantity
from venturi.report.block import Block, Chapter, Column, Page, Paragraph, Section, TableBlock
from venturi.report.figure import ratio
from venturi.report.quantity import Units
from venturi.report.run_comparison import (
    MOST_POINTS,
    Places,
    cells_of,
    method_of,
    places_of,
    sentences_of,
    verdict,
)

_TITLES = ("Metric", "Side", "Median", "Interval", "Values", "p (adjusted)", "Verdict")


def page_of(found: RunComparison | ComparisonSet, units: Units) -> Page:
    """Ratios with their intervals, the figures behind them, and what else was not the same."""
    parts = [found] if isinstance(found, RunComparison) else found.parts
    one = parts[0] if isinstance(found, RunComparison) else None
    title = f"{found.first} and {found.second}" if one is None else _title(one)
    shown = sorted(parts, key=lambda part: not any(row.is_significant for row in part.rows))[
        :MOST_POINTS
    ]
    places = places_of(found)
    sections = [_section(part, index, units, places) for index, part in enumerate(shown)]
    sections.append(_surroundings(found))
    worse = places is None and any(row.is_worse for part in parts for row in part.rows)
    chapter = Chapter(
        name="comparison",
        title=title,
        about=found.headline,
        tone="bad" if worse else "plain",
        remarks=_suspects(parts) + _how(found) + _remarks(parts, len(parts) - len(shown)),
        sections=tuple(sections),
        facts=_facts(found),
    )
    return Page(title, found.headline, (chapter,))


def _title(part: RunComparison) -> str:
    """Return a title that tells the two runs apart by where they ran."""
    if part.first_on == part.second_on:
        return f"{part.name}, two runs"
    return f"{part.name}: {part.first_on}, and {part.second_on}"


def _facts(found: RunComparison | ComparisonSet) -> str:
    sides = [("first", found.first, ""), ("second", found.second, "")]
    if isinstance(found, RunComparison):
        sides = [
            ("first", found.first, found.first_on),
            ("second", found.second, found.second_on),
        ]
    return " · ".join(f"{side}: {run}" + (f" on {on}" if on else "") for side, run, on in sides)


def _suspects(parts: list[RunComparison]) -> tuple[Paragraph, ...]:
    """What else can explain differences before all, as probes felt."""
    said = dict.fromkeys(part.suspect for part in parts if part.suspect)
    return tuple(Paragraph(f"{text[0].upper()}{text[1:]}.", "fair") for text in said)


def _how(found: RunComparison | ComparisonSet) -> tuple[Paragraph, ...]:
    """Which runs there are not, and how those of two directories were made."""
    said = sentences_of(found) if isinstance(found, ComparisonSet) else []
    return tuple(Paragraph(f"{text[0].upper()}{text[1:]}.") for text in said)


def _remarks(parts: list[RunComparison], left_out: int) -> tuple[Paragraph, ...]:
    rows = [row for part in parts for row in part.rows]
    said = method_of(rows, parts[0])
    if left_out:
        said.append(f"{left_out} more points are in the JSON: venturi compare A B --json.")
    return tuple(Paragraph(text) for text in said)


def _section(part: RunComparison, index: int, units: Units, places: Places | None) -> Section:
    said = ", ".join(f"{name} {value}" for name, value in part.parameters.items())
    drawn = ratio.figure(f"ratio-{index}", part.rows, part.headline, _table(part, units, places))
    blocks: list[Block] = [drawn or _table(part, units, places)]
    ranks = quantity.counted(part.ranks, "rank")
    return Section(f"point-{index}", f"{part.name} on {ranks}", said, tuple(blocks))


def _table(part: RunComparison, units: Units, places: Places | None) -> TableBlock:
    """Three rows for each metric: both sides, and the second by the first."""
    rows = []
    for row in part.rows:
        lines = cells_of(row, units)
        rows += [(*line, "") for line in lines[:-1]]
        rows.append((*lines[-1], verdict(row, places)))
    columns = tuple(Column(title, 1 < index < 6) for index, title in enumerate(_TITLES))
    return TableBlock("Metrics", columns, tuple(rows))


def _surroundings(found: RunComparison | ComparisonSet) -> Section:
    """What differs around them, and points that only one side has."""
    blocks: list[Block] = []
    if found.differences:
        blocks.append(_differences(found.differences))
    if isinstance(found, ComparisonSet):
        for side, only in ((found.first, found.only_first), (found.second, found.only_second)):
            if only:
                blocks.append(Paragraph(f"Only in {side}: {'; '.join(only)}."))
    lead = "" if blocks else "Nothing that is known of their surroundings differs."
    return Section("surroundings", "What was not the same", lead, tuple(blocks))


def _differences(found: list[Difference]) -> TableBlock:
    columns = (Column("What"), Column("First"), Column("Second"))
    return TableBlock("Around the runs", columns, tuple((d.what, d.first, d.second) for d in found))
