"""Rows of marks on a logarithmic axis of ratios: a dashed line at 1, thin strokes behind."""

from __future__ import annotations

import math
from typing import Any

from venturi.report.figure import theme
from venturi.report.palette import INK, MUTED, PAPER

ROW_PX = 34
_MANY = 300
"""Over more than so large a factor the axis has its powers of ten only."""

Row = dict[str, Any]
"""`y` (its row), `x`, `name`, `word` (its style), `text` (at the right); `low` and `high` of an
interval."""


def domain_of(values: list[float], low: float, high: float) -> list[float]:
    """The axis around all values above 0, at least from `low` to `high`."""
    known = [value for value in values if value > 0]
    return [min([*known, low]) * 0.85, max([*known, high]) * 1.2]


def spec(
    marks: list[Row],
    strokes: list[Row],
    styles: dict[str, tuple[str, str]],
    domain: list[float],
    title: str,
    value_px: int,
) -> dict[str, Any]:
    """The plot; `styles` are colour and shape of each word, `value_px` the room for texts."""
    count = 1 + max(mark["y"] for mark in marks)
    width = theme.WIDTH - theme.NAME_PX - value_px
    x = _axis(title, domain)
    y = theme.rows(count)
    words = [word for word in styles if any(mark["word"] == word for mark in marks)]
    colour, shape = (
        {
            "field": "word",
            "type": "nominal",
            "scale": {"domain": words, "range": [styles[word][index] for word in words]},
        }
        for index in (0, 1)
    )
    spans = [{**mark, "low": max(mark["low"], domain[0])} for mark in marks if "low" in mark]
    interval = {
        "data": {"values": spans},
        "mark": {"type": "rule", "strokeWidth": 3},
        "encoding": {
            "x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, "color": colour,
        },
    }  # fmt: skip
    return {
        "width": width,
        "height": ROW_PX * count + 8,
        "layer": [
            {
                "data": {"values": [{"x": 1.0}]},
                "mark": {"type": "rule", "color": INK, "strokeDash": [5, 4]},
                "encoding": {"x": x},
            },
            {
                "data": {"values": strokes or [{}]},
                "mark": {"type": "tick", "color": MUTED, "opacity": 0.5, "thickness": 1.5,
                         "size": 14},
                "encoding": {"x": x, "y": y},
            },
            *([interval] if spans else []),
            {
                "data": {"values": marks},
                "mark": {"type": "point", "filled": True, "size": 115, "opacity": 1,
                         "stroke": PAPER, "strokeWidth": 0.5},
                "encoding": {"x": x, "y": y, "color": colour, "shape": shape},
            },
            theme.names([{"y": mark["y"], "name": mark["name"]} for mark in marks], y),
            {
                "data": {"values": marks},
                "mark": {"type": "text", "align": "left", "fontSize": 13, "color": INK},
                "encoding": {"x": {"value": width + 16}, "y": y, "text": {"field": "text"}},
            },
        ],
    }  # fmt: skip


def _axis(title: str, domain: list[float]) -> dict[str, Any]:
    return {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": "log", "domain": domain, "nice": False},
        "axis": {
            "title": f"{title}, logarithmic scale", "titleAnchor": "end", "grid": True,
            "format": ",~g", "values": _ticks(*domain),
        },
    }  # fmt: skip


def _ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1,) if high / low > _MANY else (1, 2, 5)
    return [d * 10.0**p for p in powers for d in digits if low <= d * 10.0**p <= high]
