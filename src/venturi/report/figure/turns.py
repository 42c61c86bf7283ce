"""Turns: every run of an application and of its proxy in the order in which they came."""

from __future__ import annotations

from typing import Any

from venturi.model.prediction import Prediction, PredictionPart
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import BLUE, INK, PAPER, VERMILLION

_NAMES = ("application", "proxy")
_STYLES = {
    "domain": list(_NAMES),
    "range": [BLUE, VERMILLION],
}
_SHAPES = {"domain": list(_NAMES), "range": ["circle", "square"]}
_DASHES = {"domain": list(_NAMES), "range": [[1, 0], [6, 4]]}
_HEIGHT = 240
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_LEAST_SHARE = 0.01
"""Of the time of all parts: a part with less on both sides has no error that says anything."""


def unit_of(longest_s: float) -> tuple[float, str]:
    """The unit in which times up to this one are drawn: its seconds, and its name."""
    return next((unit for unit in _UNITS if longest_s >= unit[0]), _UNITS[-1])


def figure(found: Prediction) -> Figure:
    """A mark for each run, a line for each side's median."""
    sides = dict(zip(_NAMES, (found.application, found.proxy), strict=True))
    factor, unit = unit_of(max(turn.seconds for side in sides.values() for turn in side.runs))
    marks = [
        {"x": turn.place + 1, "y": turn.seconds / factor, "side": name}
        for name, side in sides.items()
        for turn in side.runs
    ]
    medians = [{"y": side.seconds / factor, "side": name} for name, side in sides.items()]
    return Figure(
        name="turns",
        title="Every run, in the order in which they came",
        finding=_finding(found),
        reading=(
            "Each mark is the time in I/O of one run (of its slowest rank); lines are the medians "
            "of both sides. Whatever drifts would move neighbours alike."
        ),
        spec=theme.whole(_spec(marks, medians, unit)),
        table=_table(found),
    )


def _spec(marks: list[dict[str, Any]], medians: list[dict[str, Any]], unit: str) -> dict[str, Any]:
    colour = {"field": "side", "type": "nominal", "scale": _STYLES}
    y = {
        "field": "y",
        "type": "quantitative",
        "axis": {**theme.unit_title(unit), "grid": True},
        "scale": {"zero": True},
    }
    x = {
        "field": "x",
        "type": "quantitative",
        "axis": {"title": "run", "titleAnchor": "end", "tickMinStep": 1, "format": "d"},
        "scale": {"domain": [0.5, len(marks) + 0.5], "nice": False},
    }
    lines = {
        "data": {"values": medians},
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {
            "y": y,
            "color": colour,
            "strokeDash": {"field": "side", "type": "nominal", "scale": _DASHES},
        },
    }
    points = {
        "data": {"values": marks},
        "mark": {
            "type": "point",
            "filled": True,
            "size": 90,
            "opacity": 1,
            "stroke": PAPER,
            "strokeWidth": 1,
        },
        "encoding": {
            "x": x,
            "y": y,
            "color": colour,
            "shape": {"field": "side", "type": "nominal", "scale": _SHAPES},
        },
    }
    return {"width": theme.column_px(1), "height": _HEIGHT, "layer": [lines, points]}


def _finding(found: Prediction) -> str:
    spreads = [quantity.percent(side.spread) for side in (found.application, found.proxy)]
    times = [quantity.seconds(side.seconds) for side in (found.application, found.proxy)]
    return (
        f"The application spends {times[0]} in I/O (its runs spread by {spreads[0]}), the proxy "
        f"{times[1]} ({spreads[1]})."
    )


def _table(found: Prediction) -> TableBlock:
    turns = sorted(
        (turn.place, name, turn)
        for name, side in zip(_NAMES, (found.application, found.proxy), strict=True)
        for turn in side.runs
    )
    rows = tuple(
        (
            str(place + 1),
            name,
            quantity.seconds(turn.seconds),
            *(quantity.seconds(value) for value in turn.seconds_by.values()),
            quantity.seconds(turn.run_seconds),
        )
        for place, name, turn in turns
    )
    sorts = list(found.application.runs[0].seconds_by)
    titles = ("Run", "Side", "In I/O", *(sort.capitalize() for sort in sorts), "Whole run")
    columns = tuple(Column(title, index > 1) for index, title in enumerate(titles))
    return TableBlock("Every run", columns, rows, folded=True)


def bars(found: Prediction) -> Figure | None:
    """Where the time goes on both sides, by sort of call."""
    parts = [part for part in found.sorts if part.application or part.proxy]
    if not parts:
        return None
    factor, unit = unit_of(max(max(part.application, part.proxy) for part in parts))
    values = [
        {"part": part.name, "side": name, "value": getattr(part, name) / factor}
        for part in parts
        for name in _NAMES
    ]
    spec = {
        "data": {"values": values},
        "width": theme.column_px(1),
        "height": 200,
        "mark": {"type": "bar", "stroke": INK, "strokeWidth": 0.4},
        "encoding": {
            "x": {
                "field": "part",
                "type": "nominal",
                "sort": None,
                "axis": {"title": None, "labelAngle": 0},
            },
            "xOffset": {"field": "side", "type": "nominal", "sort": list(_NAMES)},
            "y": {
                "field": "value",
                "type": "quantitative",
                "axis": {**theme.unit_title(unit), "grid": True},
            },
            "color": {"field": "side", "type": "nominal", "scale": _STYLES},
        },
    }
    largest = max(parts, key=lambda part: abs(part.proxy - part.application))
    off = largest.proxy - largest.application
    word = "more" if off > 0 else "less"
    return Figure(
        name="sorts",
        title="Where the time goes",
        finding=f"They differ most in {largest.name}: the proxy spends "
        f"{quantity.seconds(abs(off))} {word} there.",
        reading="Medians of the slowest rank's time by sort of call; metadata is all that neither "
        "moves data nor makes them persistent.",
        spec=theme.whole(spec),
        table=parts_table("Time by sort of call", parts),
    )


def parts_table(title: str, parts: list[PredictionPart]) -> TableBlock:
    """Parts with both sides' times and the error, or why there is none."""
    titles = ("", "Application", "Proxy", "Error", "95 % interval")
    least = _LEAST_SHARE * max(sum(p.application for p in parts), sum(p.proxy for p in parts))
    rows = tuple(
        (
            part.name,
            quantity.seconds(part.application),
            quantity.seconds(part.proxy),
            *_error_cells(part, least),
        )
        for part in parts
    )
    return TableBlock(title, tuple(Column(t, i > 0) for i, t in enumerate(titles)), rows)


def _error_cells(part: PredictionPart, least_s: float) -> tuple[str, str]:
    """The error and its interval; of a part that is too short, or one-sided, a few words."""
    if max(part.application, part.proxy) < least_s:
        return "–", "under 1 % of the time"
    if part.error is None:
        return "–", "–"
    signed = quantity.signed_percent(part.error.signed)
    if part.proxy == 0:
        return signed, "the proxy has none"
    return signed, interval(part.error.low, part.error.high)


def interval(low: float, high: float) -> str:
    """Two signed shares: `−3.0 % to +8.1 %`."""
    return f"{quantity.signed_percent(low)} to {quantity.signed_percent(high)}"
