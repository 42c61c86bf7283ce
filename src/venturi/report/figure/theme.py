"""The look that all figures share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from venturi.report.palette import GRID, INK, MUTED, style

VEGA_LITE = "5.20"
WIDTH = 960
"""Pixels of a full-width figure, with its labels."""

NAME_PX = 190
"""Room for the names of phases at the left of bars and strips."""

VALUE_PX = 130
"""Room for a number at their right."""

GAP_PX = 30
"""Between plots."""

AXIS_PX = 42
"""Room for the labels of a vertical axis."""

FONT = "sans-serif"

_AXIS = {
    "labelColor": MUTED,
    "titleColor": MUTED,
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "domainColor": MUTED,
    "tickColor": MUTED,
    "gridColor": GRID,
    "labelPadding": 5,
    "titlePadding": 8,
}

CONFIG: dict[str, Any] = {
    "aria": False,
    "font": FONT,
    "view": {"stroke": None},
    "axis": _AXIS,
    "axisY": {"domain": False, "ticks": False, "tickCount": 4},
    "axisX": {"grid": False, "tickSize": 4, "tickCount": 6},
    "header": {
        "labelColor": INK,
        "labelFontSize": 13,
        "labelFontWeight": "bold",
        "title": None,
    },
    "legend": {
        "labelColor": INK,
        "labelFontSize": 12,
        "title": None,
        "orient": "top",
        "direction": "horizontal",
        "columnPadding": 18,
        "symbolSize": 90,
        "symbolStrokeWidth": 2,
        "offset": 14,
    },
    "title": {
        "color": INK,
        "fontSize": 13,
        "fontWeight": "bold",
        "anchor": "start",
        "subtitleColor": MUTED,
        "subtitleFontSize": 12,
        "offset": 10,
    },
    "concat": {"spacing": 34},
}


def whole(spec: dict[str, Any]) -> dict[str, Any]:
    """A complete specification from the part that a figure describes."""
    return {"background": None, "padding": 4, "config": CONFIG, **spec}


def column_px(columns: int) -> int:
    """Width of a plot when so many stand side by side, each with room for its axis."""
    return (WIDTH + GAP_PX) // columns - GAP_PX - AXIS_PX


def unit_title(text: str) -> dict[str, Any]:
    """Axis properties that put a vertical axis' unit above it, where it reads level."""
    return {
        "title": text,
        "titleAngle": 0,
        "titleAlign": "left",
        "titleAnchor": "end",
        "titleBaseline": "bottom",
        "titleX": -36,
        "titleY": -11,
    }


def kind_scales(kinds: list[str]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The fixed colour, shape and dash scales, restricted to the operations that occur."""
    styles = [style(kind) for kind in kinds]
    return (
        {"domain": kinds, "range": [s.colour for s in styles]},
        {"domain": kinds, "range": [s.shape for s in styles]},
        {"domain": kinds, "range": [list(s.dash) for s in styles]},
    )


def has_interval(rows: Iterable[dict[str, Any]]) -> bool:
    """Whether any row's interval, `low` to `high`, is drawn longer than a mark."""
    return any(row["low"] < row["high"] for row in rows)


def rows(count: int) -> dict[str, Any]:
    """The vertical place of marks in so many rows, the first on top."""
    scale = {"domain": [-0.5, count - 0.5], "reverse": True, "nice": False}
    return {"field": "y", "type": "quantitative", "axis": None, "scale": scale}


def names(rows: list[dict[str, Any]], y: dict[str, Any]) -> dict[str, Any]:
    """A layer that writes `name` of each row at the figure's left edge."""
    return {
        "data": {"values": rows},
        "mark": {"type": "text", "align": "left", "fontSize": 13, "color": INK},
        "encoding": {"x": {"value": -NAME_PX}, "y": y, "text": {"field": "name"}},
    }


def shortened(text: str, most: int = 26) -> str:
    """A label that fits: the middle of a long one is left out."""
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[:half]}…{text[-half:]}"
