"""Rows of times over the clock, one below the other: dots, lines, bands of runs, two scales.

Times stand at the left. Where the usual time of each row is known, the right says how many times
that is, and all rows have the same range of it, so their heights can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from venturi.model.probe_history import ProbePhase, ProbePoints
from venturi.report import quantity
from venturi.report.figure import theme
from venturi.report.palette import INK, MUTED, SHADE

_ROW_PX = 92
_GAP_PX = 26
_NARROW_PX = 3.0
"""Bands of phases that are narrower in the middle are drawn as bands of runs."""
_RIGHT_PX = 64
WIDTH_PX = theme.WIDTH - theme.AXIS_PX - _RIGHT_PX
"""Of a row that has the page to itself."""
_MOST_TICKS = 4
_NAME_PX = 10.5
"""Height of a line of names of bands."""
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


@dataclass(frozen=True)
class RunBand:
    """A run, or a phase of one, in seconds after the begin."""

    name: str
    begin_s: float
    end_s: float


@dataclass(frozen=True)
class ClockAxis:
    """The horizontal axis: from `begin_s` to `end_s` after a moment since 1970."""

    zero_ns: int
    begin_s: float
    end_s: float

    def text(self, at_s: float) -> str:
        """A moment in words, as fine as the axis is long."""
        moment = datetime.fromtimestamp(self.zero_ns / 1e9 + at_s, UTC)
        is_long = self.end_s - self.begin_s > 2 * 86_400
        is_short = self.end_s - self.begin_s < 7200
        form = "%Y-%m-%d %H:%M" if is_long else "%H:%M:%S" if is_short else "%H:%M"
        return moment.strftime(form)

    def date(self, at_s: float) -> str:
        """A moment with its date."""
        return datetime.fromtimestamp(self.zero_ns / 1e9 + at_s, UTC).strftime("%Y-%m-%d %H:%M")

    def place(self, at_s: float) -> float:
        """A moment as the axis counts, in milliseconds since 1970."""
        return round(self.zero_ns / 1e6 + 1e3 * at_s)


def dots(points: ProbePoints, colour: str, is_square: bool = False, width: float = 2.2) -> RowMarks:
    """Points of a document as dots."""
    return RowMarks(list(zip(points.at_s, points.value_s, strict=True)), colour, width, is_square)


def bands_of(phases: Sequence[ProbePhase], clock: ClockAxis, width_px: int) -> list[RunBand]:
    """Bands of phases, or of whole runs where most phases are too narrow to be seen."""
    per_s = width_px / (clock.end_s - clock.begin_s)
    seen = [one for one in phases if one.end_s > clock.begin_s and one.begin_s < clock.end_s]
    widths = sorted((one.end_s - one.begin_s) * per_s for one in seen)
    if seen and widths[len(widths) // 2] < _NARROW_PX:
        whole: dict[str, RunBand] = {}
        for one in seen:
            old = whole.get(one.run, RunBand(one.run, one.begin_s, one.end_s))
            begin_s, end_s = min(old.begin_s, one.begin_s), max(old.end_s, one.end_s)
            whole[one.run] = RunBand(one.run, begin_s, end_s)
        return list(whole.values())
    several = len({one.repetition for one in seen}) > 1
    return [
        RunBand(
            f"{one.path}, rep {one.repetition + 1}" if several else one.path,
            one.begin_s,
            one.end_s,
        )
        for one in seen
    ]


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
    names = _names(bands, clock, width_px)
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
    layers = [*_band_layers(bands, clock, x), *(_mark_layer(one, clock, x, y) for one in row.marks)]
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


def _band_layers(
    bands: Sequence[RunBand], clock: ClockAxis, x: dict[str, Any]
) -> list[dict[str, Any]]:
    """Neighbours have another shade, so that one can see where the next phase begins."""
    layers = []
    for index, opacity in enumerate((0.55, 0.28)):
        values = [
            {
                "x": clock.place(max(band.begin_s, clock.begin_s)),
                "x2": clock.place(min(band.end_s, clock.end_s)),
            }
            for band in bands[index::2]
        ]
        if values:
            layers.append(
                {
                    "data": {"values": values},
                    "mark": {"type": "rect", "color": SHADE, "opacity": opacity},
                    "encoding": {"x": x, "x2": {"field": "x2"}},
                }
            )
    return layers


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


def _names(bands: Sequence[RunBand], clock: ClockAxis, width_px: int) -> list[dict[str, Any]]:
    """The names of bands above the rows, in as many lines as keep them apart; some may not fit."""
    per_s = width_px / (clock.end_s - clock.begin_s)
    ends: list[float] = []
    values: list[tuple[float, int, str]] = []
    for band in sorted(bands, key=lambda one: one.begin_s):
        at_px = (max(band.begin_s, clock.begin_s) - clock.begin_s) * per_s
        text = theme.shortened(band.name, 34)
        wide = 6.2 * len(text) + 8
        at_px = max(0.0, min(at_px, width_px - wide))
        line = next((i for i, end in enumerate(ends) if end <= at_px), len(ends))
        if line >= 6:
            continue
        if line == len(ends):
            ends.append(0.0)
        ends[line] = at_px + wide
        values.append((at_px, line, text))
    if not values:
        return []
    height = _NAME_PX * 1.3 * len(ends)
    placed = [
        {"px": at_px, "py": height - (line + 0.4) * _NAME_PX * 1.3, "name": text}
        for at_px, line, text in values
    ]
    pixels = {"type": "quantitative", "axis": None}
    return [
        {
            "width": width_px,
            "height": height,
            "data": {"values": placed},
            "mark": {"type": "text", "align": "left", "fontSize": _NAME_PX, "color": MUTED},
            "encoding": {
                "x": {**pixels, "field": "px", "scale": {"domain": [0, width_px], "nice": False}},
                "y": {
                    **pixels,
                    "field": "py",
                    "scale": {"domain": [0, height], "nice": False, "reverse": True},
                },
                "text": {"field": "name"},
            },
        }
    ]
