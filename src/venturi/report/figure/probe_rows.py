"""Rows of times over the clock, one below the other: dots, lines, bands of runs, two scales.

Times stand at the left. Where the usual time of each row is known, the right says how many times
that is, and all rows have the same range of it, so their heights can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from venturi.model.probe_history import ProbePoints
from venturi.report import quantity
from venturi.report.figure import theme
from venturi.report.figure.probe_bands import ClockAxis, RunBand, layers_of, names_over
from venturi.report.palette import INK

_ROW_PX = 92
_GAP_PX = 26
_RIGHT_PX = 64
WIDTH_PX = theme.WIDTH - theme.AXIS_PX - _RIGHT_PX
"""Of a row that has the page to itself."""
_MOST_TICKS = 4
_NEVER_S = 1e-9
_LABEL = (
    "utcFormat(datum.value, utchours(datum.value) + utcminutes(datum.value) + "
    "utcseconds(datum.value) == 0 ? '%b %d' : utcseconds(datum.value) ? '%H:%M:%S' : '%H:%M')"
)
"""Of a tick: the day at midnight, else the time."""


@dataclass(frozen=True)
class RowMarks:
    """Points of one look: dots that are one path, or a line with them."""

    points: Sequence[tuple[float, float]]
    """Seconds after the begin, and a time in seconds; in the order of time."""
    colour: str
    width: float = 2.2
    is_square: bool = False
    is_line: bool = False
    gap_s: float = math.inf
    """A line ends where the next point is later than that."""
    dash: tuple[int, ...] = (1, 0)
    name: str = ""
    """Of a line, which stands at its end."""


@dataclass(frozen=True)
class ClockRow:
    """One row of a figure."""

    title: str
    usual_s: float | None
    marks: Sequence[RowMarks]


def dots(points: ProbePoints, colour: str, is_square: bool = False, width: float = 2.2) -> RowMarks:
    """Points of a document as dots."""
    return RowMarks(list(zip(points.at_s, points.value_s, strict=True)), colour, width, is_square)


def spec(
    rows: Sequence[ClockRow],
    clock: ClockAxis,
    bands: Sequence[RunBand],
    width_px: int = WIDTH_PX,
    common: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """The rows as a specification, without what `theme.whole` adds.

    `common` is a range of times for all rows; None: one that holds what they have.
    """
    domains = _domains(rows) if common is None else [common] * len(rows)
    panels = [
        _panel(row, domain, clock, bands, width_px, is_last=index == len(rows) - 1)
        for index, (row, domain) in enumerate(zip(rows, domains, strict=True))
    ]
    names = names_over(bands, clock, width_px)
    return {"vconcat": [*names, *panels], "spacing": _GAP_PX if not names else 20}


def _domains(rows: Sequence[ClockRow]) -> list[tuple[float, float]]:
    """The range of times of each row: the same one of slowdowns where all know what is usual."""
    is_known = all(row.usual_s for row in rows)
    lows, highs = [], []
    for row in rows:
        unit = (row.usual_s if is_known else None) or 1.0
        values = [max(value, _NEVER_S) / unit for marks in row.marks for _, value in marks.points]
        if values:
            lows.append(min(values))
            highs.append(max(values))
    low, high = (min(lows) / 1.15, max(highs) * 1.25) if lows else (0.5, 2.0)
    if is_known:
        low, high = min(low, 0.8), max(high, 1.6)
        return [(low * (row.usual_s or 1.0), high * (row.usual_s or 1.0)) for row in rows]
    return [(low, high)] * len(rows)


def _panel(
    row: ClockRow,
    domain: tuple[float, float],
    clock: ClockAxis,
    bands: Sequence[RunBand],
    width_px: int,
    is_last: bool,
) -> dict[str, Any]:
    x = _x_axis(clock, is_last)
    y = _y_axis("y", domain, _seconds, "left")
    layers = [
        *layers_of(bands, clock, x, width_px),
        *(_mark_layer(one, clock, x, y) for one in row.marks),
    ]
    layered: list[dict[str, Any]]
    resolve: dict[str, Any] = {}
    if row.usual_s:
        rule = {
            "data": {"values": [{"y": row.usual_s}]},
            "mark": {"type": "rule", "color": INK, "strokeDash": [5, 4], "strokeWidth": 1},
            "encoding": {"y": y},
        }
        slow = (domain[0] / row.usual_s, domain[1] / row.usual_s)
        right = _y_axis("slow", slow, _times, "right")
        times = {
            "data": {"values": [{"slow": 1.0}]},
            "mark": {"type": "point", "opacity": 0},
            "encoding": {"y": right},
        }
        layered = [{"layer": [*layers, rule]}, times]
        resolve = {"resolve": {"scale": {"y": "independent"}}}
    else:
        layered = layers
    title = {"text": row.title, "fontSize": 12, "offset": 4}
    return {"title": title, "width": width_px, "height": _ROW_PX, "layer": layered, **resolve}


def _x_axis(clock: ClockAxis, is_shown: bool) -> dict[str, Any]:
    ends = [clock.place(clock.begin_s), clock.place(clock.end_s)]
    axis: dict[str, Any] = {"title": "UTC" if is_shown else None, "titleAnchor": "end"}
    axis["labelExpr"] = _LABEL
    axis |= {} if is_shown else {"labels": False, "ticks": False}
    scale = {"type": "utc", "domain": ends, "nice": False}
    return {"field": "x", "type": "temporal", "scale": scale, "axis": axis}


def _y_axis(
    field: str, domain: tuple[float, float], said: Callable[[float], str], side: str
) -> dict[str, Any]:
    ticks = _ticks(*domain)
    labels = "".join(f"datum.value == {value!r} ? '{said(value)}' : " for value in ticks)
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"type": "log", "domain": list(domain), "nice": False, "clamp": True},
        "axis": {
            "title": None, "values": ticks, "labelExpr": f"{labels}''", "orient": side,
            "grid": side == "left",
        },
    }  # fmt: skip


def _times(value: float) -> str:
    return f"{value:,g} ×"


def _seconds(value: float) -> str:
    """The time of a tick: `1 ms` where a measured one would be `1.00 ms`."""
    number, _, unit = quantity.seconds(value).partition(" ")
    return f"{float(number):g} {unit}" if value < 60 else f"{number} {unit}"


def _ticks(low: float, high: float) -> list[float]:
    """Powers of ten, a few; within one of them also twos and fives."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    whole = [float(f"1e{power}") for power in powers if low <= 10.0**power <= high]
    if len(whole) >= 2:
        step = math.ceil(len(whole) / _MOST_TICKS)
        return whole[::step]
    fine = [float(f"{d}e{power}") for power in powers for d in (1, 2, 5)]
    return [value for value in fine if low <= value <= high][:_MOST_TICKS]


def _mark_layer(
    marks: RowMarks, clock: ClockAxis, x: dict[str, Any], y: dict[str, Any]
) -> dict[str, Any]:
    """A path with a break behind each dot: a dot takes a dozen bytes of the picture."""
    values: list[dict[str, Any]] = []
    before_s = -math.inf
    for at_s, value in marks.points:
        if not clock.begin_s <= at_s <= clock.end_s:
            continue
        place = clock.place(at_s)
        if marks.is_line and at_s - before_s > marks.gap_s and values:
            values.append({"x": place, "y": None})
        values.append({"x": place, "y": max(value, _NEVER_S)})
        if not marks.is_line:
            values.append({"x": place, "y": None})
        before_s = at_s
    return {
        "data": {"values": values or [{"x": clock.place(clock.begin_s), "y": None}]},
        "mark": {
            "type": "line",
            "color": marks.colour,
            "strokeWidth": marks.width,
            "strokeCap": "square" if marks.is_square else "round",
            "strokeJoin": "round",
            **({"strokeDash": list(marks.dash)} if marks.is_line else {}),
        },
        "encoding": {"x": x, "y": y},
    }
