"""A forecast: its page and its terminal table, seconds by phase and what limits them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from venturi.model.forecast import Forecast, ForecastPart, PhaseForecast, Range
from venturi.report import quantity
from venturi.report.block import (
    Block,
    Chapter,
    Column,
    Facts,
    Figure,
    Headline,
    Page,
    Paragraph,
    Section,
    TableBlock,
)
from venturi.report.figure import theme
from venturi.report.figure.turns import unit_of
from venturi.report.palette import BLUE, INK
from venturi.report.printer import Printer
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from rich.console import Console


_LEAST_SHARE = 0.01
"""Of a phase: parts that take less are not listed."""


def interval(time: Range) -> str:
    """`[low .. high]`."""
    return f"[{quantity.seconds(time.low)} .. {quantity.seconds(time.high)}]"


def _limit(phase: PhaseForecast) -> str:
    share = "" if phase.limit_share >= 0.995 else f", {quantity.percent(phase.limit_share)}"
    text = f"{phase.limit.value}{share}"
    return text if phase.done_share >= 1 else f"limit of time; {text}"


def print_forecast(forecast: Forecast, console: Console, units: Units = Units.IEC) -> None:
    """Phases with their times and limits, the total, and what it rests on."""
    out = Printer(console)
    out.line()
    out.line(
        (f" {forecast.name}", "bold"),
        f"   {quantity.counted(forecast.ranks, 'rank')} on {forecast.machine} "
        f"({forecast.file_system}), one repetition, not run",
    )
    out.line()
    rows = [
        (
            phase.path,
            quantity.seconds(phase.seconds.median),
            interval(phase.seconds),
            quantity.size(phase.bytes, units) if phase.bytes else "-",
            _limit(phase),
        )
        for phase in forecast.phases
    ]
    out.table(
        ("PHASE", "I/O TIME", "INTERVAL", "BYTES", "LIMIT"), rows, left=("LIMIT",), prose=True
    )
    out.line()
    out.line(
        (" total ", "dim"),
        (f"{quantity.seconds(forecast.seconds.median)} in I/O", "bold"),
        f"  {interval(forecast.seconds)}"
        + (f", computing {quantity.seconds(forecast.computing_s)}" if forecast.computing_s else ""),
    )
    for label, texts in _notes(forecast):
        for text in texts:
            out.wrapped("- ", f"{label}: {text}")


def _notes(forecast: Forecast) -> list[tuple[str, list[str]]]:
    return [
        ("cannot know", forecast.unknown),
        ("extrapolated", forecast.extrapolated),
        ("below saturation", forecast.unsaturated),
        ("assumed", forecast.assumed),
    ]


def page_of(forecast: Forecast, units: Units) -> Page:
    """The page of a forecast."""
    remarks = [
        Paragraph(f"{label.capitalize()}: {text}.", "fair")
        for label, texts in _notes(forecast)
        for text in texts
    ]
    making = Facts(
        (
            ("Machine", f"{forecast.machine}, {forecast.file_system} at {forecast.directory}"),
            ("Profiled", forecast.profiled),
            (
                "How",
                "each phase's operations, looked up on the machine's surface and added up; "
                "nothing was run",
            ),
            (
                "Interval",
                "the extremes of the profile's repetitions, and what runs differ from a "
                "profile of another hour, as if all came together",
            ),
        )
    )
    sections = (
        Section("phases", "I/O time by phase", "", (_figure(forecast, units),)),
        Section("parts", "What it is made of", "", _parts(forecast, units)),
        Section("making", "How it was made", "", (making,)),
    )
    chapter = Chapter(
        name="forecast",
        title=forecast.name,
        about=forecast.about,
        headlines=(
            Headline(
                "I/O time",
                quantity.seconds(forecast.seconds.median),
                f"{interval(forecast.seconds)}, slowest rank, one repetition",
            ),
            Headline("Bytes", quantity.size(forecast.bytes, units), "of all ranks"),
        ),
        remarks=tuple(remarks),
        sections=sections,
        facts=f"{quantity.counted(forecast.ranks, 'rank')} · predicted for {forecast.machine}",
    )
    lead = "How long its I/O takes there, from a profile of the machine; it was not run."
    return Page(f"{forecast.name} on {forecast.machine}", lead, (chapter,), None, "Venturi")


def _table(forecast: Forecast, units: Units) -> TableBlock:
    titles = ("Phase", "I/O time", "Interval", "Bytes", "Operations", "Work done", "Limit")
    rows = tuple(
        (
            phase.path,
            quantity.seconds(phase.seconds.median),
            interval(phase.seconds),
            quantity.size(phase.bytes, units) if phase.bytes else "–",
            quantity.count(phase.operations),
            quantity.percent(phase.done_share),
            _limit(phase),
        )
        for phase in forecast.phases
    )
    columns = tuple(Column(title, 0 < index < 6) for index, title in enumerate(titles))
    return TableBlock("Phases", columns, rows)


def _parts(forecast: Forecast, units: Units) -> tuple[Block, ...]:
    titles = (
        "Phase",
        "Operation",
        "Size",
        "Calls of a rank",
        "Seconds",
        "Read from the curve",
        "Limit",
    )
    rows = tuple(
        (
            phase.path,
            part.operation,
            quantity.size(part.bytes, units) if part.bytes else "–",
            quantity.count(part.count),
            quantity.seconds(part.seconds.median),
            part.by + (", extrapolated" if part.extrapolated else ""),
            part.limit.value,
        )
        for phase in forecast.phases
        for part in _longest(phase)
    )
    columns = tuple(Column(title, 1 < index < 5) for index, title in enumerate(titles))
    named = sum(len(_longest(phase)) for phase in forecast.phases)
    left_out = sum(len(phase.parts) for phase in forecast.phases) - named
    if not left_out:
        return (TableBlock("Operations", columns, rows),)
    least = quantity.percent(_LEAST_SHARE)
    text = f"{quantity.counted(left_out, 'more kind')} of less than {least} of a phase each."
    return TableBlock("Operations", columns, rows), Paragraph(text)


def _longest(phase: PhaseForecast) -> list[ForecastPart]:
    """The parts that count, the longest first."""
    parts = sorted(phase.parts, key=lambda part: -part.seconds.median)
    whole = sum(part.seconds.median for part in parts)
    return [part for part in parts if part.seconds.median >= _LEAST_SHARE * whole]


def bars_reading(times: Iterable[Range]) -> str:
    """Return what bars and lines of `time_bars` stand for."""
    lines = " Lines: its interval." if any(time.low < time.high for time in times) else ""
    return f"Bars: the forecast.{lines}"


def time_bars(times: Iterable[tuple[str, Range]]) -> dict[str, Any]:
    """The picture of named times: a bar to each median, a line over its interval."""
    drawn = list(times)
    factor, unit = unit_of(max((time.high for _, time in drawn), default=1.0))
    rows = [
        {
            "name": name,
            "x": time.median / factor,
            "low": time.low / factor,
            "high": time.high / factor,
        }
        for name, time in drawn
    ]
    y = {
        "field": "name",
        "type": "nominal",
        "sort": None,
        "axis": {
            "title": None,
            "labelLimit": theme.NAME_PX,
            "minExtent": theme.NAME_PX - 10,
            "ticks": False,
        },
    }
    x = {"type": "quantitative", "axis": {"title": f"{unit} in I/O, slowest rank", "grid": True}}
    spec = {
        "width": theme.WIDTH - theme.NAME_PX - theme.VALUE_PX,
        "height": {"step": 30},
        "data": {"values": rows},
        "encoding": {"y": y},
        "layer": [
            {
                "mark": {"type": "bar", "color": BLUE, "height": 14},
                "encoding": {"x": {"field": "x", **x}},
            },
            {
                "mark": {"type": "rule", "color": INK, "strokeWidth": 2},
                "encoding": {"x": {"field": "low", **x}, "x2": {"field": "high"}},
            },
        ],
    }
    return theme.whole(spec)


def _figure(forecast: Forecast, units: Units) -> Figure:
    longest = max(forecast.phases, key=lambda phase: phase.seconds.median)
    return Figure(
        name="forecast",
        title="Where the I/O time goes",
        finding=f"Longest: {longest.path}, {quantity.seconds(longest.seconds.median)}, by "
        f"{longest.limit.value}.",
        reading=bars_reading(phase.seconds for phase in forecast.phases),
        spec=time_bars((theme.shortened(phase.path), phase.seconds) for phase in forecast.phases),
        table=_table(forecast, units),
    )
