"""Forecasts of a folder's workloads: the page and the terminal table, a row for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from venturi.model.forecast import Forecast
from venturi.model.forecasts import Forecasts
from venturi.report import quantity
from venturi.report.block import Chapter, Column, Facts, Figure, Headline, Page, Paragraph, Section
from venturi.report.block import TableBlock as PageTable
from venturi.report.figure import theme
from venturi.report.forecast import bars_reading, interval, time_bars
from venturi.report.printer import Printer
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from rich.console import Console

_TITLES = ("Workload", "Ranks", "I/O time", "Interval", "Bytes", "Longest", "Limit")


def print_forecasts(found: Forecasts, console: Console, units: Units = Units.IEC) -> None:
    """A row for each workload, without its limit, then what was refused, and why."""
    out = Printer(console)
    out.line()
    out.line(
        (f" {found.folder}", "bold"),
        f"   {quantity.counted(len(found.rows), 'workload')} on {found.machine} "
        f"({found.file_system}), one repetition each, not run",
    )
    out.line()
    rows = [_row(source, forecast, units)[:-1] for source, forecast in _answered(found)]
    if rows:
        titles = [title.upper() for title in _TITLES[:-1]]
        out.table(titles, rows, left=titles[-1:], prose=True)
        out.line()
    for source, words in _remarks(found):
        out.wrapped("- ", f"{source}: {words}")


def _answered(found: Forecasts) -> list[tuple[str, Forecast]]:
    return [(row.source, row.forecast) for row in found.rows if row.forecast is not None]


def _row(source: str, forecast: Forecast, units: Units) -> tuple[str, ...]:
    longest = max(forecast.phases, key=lambda phase: phase.seconds.median, default=None)
    least = "≥ " if forecast.unknown else ""
    return (
        source,
        str(forecast.ranks),
        least + quantity.seconds(forecast.seconds.median),
        interval(forecast.seconds),
        quantity.size(forecast.bytes, units) if forecast.bytes else "-",
        longest.path if longest is not None else "-",
        longest.limit.value if longest is not None else "-",
    )


def _remarks(found: Forecasts) -> list[tuple[str, str]]:
    """Who has no forecast, and whose is a lower bound or goes beyond what was measured."""
    remarks = [(row.source, f"no forecast: {row.refused}") for row in found.rows if row.refused]
    for source, forecast in _answered(found):
        remarks += [(source, f"cannot know: {text}") for text in forecast.unknown]
        remarks += [(source, f"extrapolated: {text}") for text in forecast.extrapolated]
    if found.left_out:
        remarks.append(("left out, no workload", ", ".join(found.left_out)))
    return remarks


def page_of(found: Forecasts, units: Units) -> Page:
    """The page of a folder's forecasts."""
    answered = _answered(found)
    making = Facts(
        (
            ("Machine", f"{found.machine}, {found.file_system} at {found.directory}"),
            ("Profiled", found.profiled),
            (
                "How",
                "each workload's operations, looked up on the machine's surface and added up; "
                "nothing was run",
            ),
        )
    )
    sections = [Section("making", "How it was made", "", (making,))]
    if answered:
        sections.insert(0, Section("workloads", "I/O time", "", (_figure(answered, units),)))
    chapter = Chapter(
        name="forecasts",
        title=found.folder,
        headlines=(
            Headline("Workloads", str(len(answered)), f"of {len(found.rows)} in the folder"),
        ),
        remarks=tuple(Paragraph(f"{who}: {words}.", "fair") for who, words in _remarks(found)),
        sections=tuple(sections),
        facts=f"predicted for {found.machine}",
    )
    lead = "How long each workload's I/O takes there, from a profile; nothing was run."
    return Page(f"{found.folder} on {found.machine}", lead, (chapter,), None, "Venturi")


def _figure(answered: list[tuple[str, Forecast]], units: Units) -> Figure:
    source, longest = max(answered, key=lambda one: one[1].seconds.median)
    columns = tuple(Column(title, 0 < at < 5) for at, title in enumerate(_TITLES))
    rows = tuple(_row(name, forecast, units) for name, forecast in answered)
    return Figure(
        name="forecasts",
        title="I/O time of each workload",
        finding=f"Longest: {source}, {quantity.seconds(longest.seconds.median)}.",
        reading=bars_reading(one.seconds for _, one in answered),
        spec=time_bars((theme.shortened(name), one.seconds) for name, one in answered),
        table=PageTable("Workloads", columns, rows),
    )
