"""A history on a terminal: the headline, and a line for each series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from venturi.model.history import ChangePoint, History, Series, Trend
from venturi.report import quantity
from venturi.report.printer import Printer
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from rich.console import Console

_MOST_ROWS = 40
_TITLES = ("METRIC", "SESSIONS", "NOW", "DETECTS", "TREND")


def print_history(history: History, console: Console, units: Units) -> None:
    """What got worse first; each change with what is known of it."""
    out = Printer(console)
    out.line((f" {history.chosen}", "bold"))
    out.wrapped("", history.headline)
    out.line()
    shown = history.series[:_MOST_ROWS]
    for title in dict.fromkeys(title_of(series) for series in shown):
        out.wrapped("", title)
        rows = [row_of(series, units)[1:] for series in shown if title_of(series) == title]
        out.table(_TITLES, rows, left=("TREND",))
        out.line()
    if len(history.series) > _MOST_ROWS:
        out.line(f" and {len(history.series) - _MOST_ROWS} more; all of them: --json, or -o FILE")
    for series in history.series[:_MOST_ROWS]:
        for change in series.changes:
            out.wrapped(
                "- ", f"{series.name}, {series.metric}: {change_text(change, series, units)}"
            )


def row_of(series: Series, units: Units) -> tuple[str, ...]:
    """The cells of a series that text and page share."""
    return (
        title_of(series),
        series.metric,
        quantity.count(len(series.sessions)),
        quantity.with_unit(series.sessions[-1].value, series.unit, units, series.of),
        _detected(series),
        trend_text(series),
    )


def _detected(series: Series) -> str:
    """Which change would be found, and how many sessions after it."""
    if series.detectable is None:
        return "–"
    after = f" after {series.seen_after}" if series.seen_after else ""
    return f"≥ {quantity.percent(series.detectable)}{after}"


def title_of(series: Series) -> str:
    """What was measured where, in a line."""
    said = " ".join(f"{name}={value}" for name, value in series.parameters.items())
    text = f"{series.name} on {series.machine}, {quantity.counted(series.ranks, 'rank')}"
    return ", ".join(part for part in (text, said, series.variant) if part)


def trend_text(series: Series) -> str:
    """How a series stands, with its last change."""
    word = series.trend.value.upper() if series.trend is Trend.WORSE else series.trend.value
    if not series.changes:
        return word
    return f"{word} ({quantity.signed_percent(series.changes[-1].change)})"


def change_text(change: ChangePoint, series: Series, units: Units) -> str:
    """A change in a sentence: when, how much, and what is known of it."""
    before, after = (
        quantity.with_unit(value, series.unit, units, series.of)
        for value in (change.before, change.after)
    )
    text = f"{change.started[:10]}: {before}, then {after}"
    if change.known:
        text += f"; known: {change.known}"
    if change.differences:
        told = ", ".join(f"{d.what} {d.first} → {d.second}" for d in change.differences)
        text += f"; at that time: {told}"
    return text
