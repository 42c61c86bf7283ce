"""The page of a history: what got worse, its pictures, and all series in a table."""

from __future__ import annotations

from venturi.model.history import History, Trend
from venturi.report import quantity
from venturi.report.block import Block, Chapter, Column, Headline, Page, Section, TableBlock
from venturi.report.figure.history import over_sessions
from venturi.report.history_text import row_of, title_of
from venturi.report.quantity import Units

_MOST_FIGURES = 12
_MOST_HEADLINES = 4


def page_of(history: History, units: Units) -> Page:
    """The whole page; what got worse comes first."""
    told = [series for series in history.series if series.trend is not Trend.SHORT]
    figures: list[Block] = [
        over_sessions(series, number, units) for number, series in enumerate(told[:_MOST_FIGURES])
    ]
    sections = [Section("all", "All series", _lead(history, len(told)), (_table(history, units),))]
    if figures:
        sections.insert(0, Section("series", "Session by session", "", tuple(figures)))
    chapter = Chapter(
        name="history",
        title=f"History of {history.chosen}",
        about=history.headline,
        tone="bad" if history.worse else "plain",
        headlines=tuple(
            Headline(
                series.metric,
                quantity.signed_percent(series.changes[-1].change),
                f"{title_of(series)}, since {series.changes[-1].started[:10]}",
            )
            for series in history.worse[:_MOST_HEADLINES]
        ),
        sections=tuple(sections),
        facts=f"{len(history.series)} series · changes from {quantity.percent(history.least)} on",
    )
    return Page(f"History of {history.chosen}", history.headline, (chapter,))


def _lead(history: History, told: int) -> str:
    if told > _MOST_FIGURES:
        return f"The first {_MOST_FIGURES} of {told} series are drawn above."
    return "A series is one metric, with one set of parameters, on one machine."


def _table(history: History, units: Units) -> TableBlock:
    columns = (
        Column("Series"),
        Column("Metric"),
        Column("Sessions", True),
        Column("Now", True),
        Column("Detects", True),
        Column("Trend"),
        Column("Known"),
    )
    rows = tuple(
        (
            *row_of(series, units),
            "; ".join(change.known for change in series.changes if change.known),
        )
        for series in history.series
    )
    return TableBlock("Series", columns, rows, folded=len(rows) > 40)
