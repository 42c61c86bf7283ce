"""Foretold: predicted against measured, and the error of each application and file system."""

from __future__ import annotations

import math
from typing import Any

from venturi.model.validation import Validation, ValidationCell
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import INK, SERIES, SHADE

AIM = 0.10
"""What proxies of this kind have reached on other machines (Shan, Antypas and Shalf 2008)."""

_SIDE_PX = 520
_ROW_PX = 21
_GAP_ROWS = 0.8
_ALONG = ("x", "low", "high")
_LEAST_REACH, _MOST_REACH = 0.3, 2.0
"""Errors are drawn up to between these; what lies beyond stands at the edge."""


def compared(found: Validation) -> list[ValidationCell]:
    """The cells that have an error."""
    return [cell for cell in found.cells if cell.error is not None]


def _scales(found: Validation) -> tuple[dict[str, Any], dict[str, Any]]:
    """Colour and shape of each file system."""
    names = [system.name for system in found.systems]
    looks = [SERIES[i % len(SERIES)] for i in range(len(names))]
    return (
        {"domain": names, "range": [colour for colour, _ in looks]},
        {"domain": names, "range": [shape for _, shape in looks]},
    )


def _marks(found: Validation, *, beside: bool = False) -> dict[str, Any]:
    """Both scales; `beside`: their legend stands at the right."""
    colour, shape = _scales(found)
    legend = {"legend": {"orient": "right", "direction": "vertical"}} if beside else {}
    return {
        "color": {"field": "system", "type": "nominal", "scale": colour, **legend},
        "shape": {"field": "system", "type": "nominal", "scale": shape, **legend},
    }


def against(found: Validation) -> Figure:
    """The proxy's I/O time over the application's, one mark for each cell."""
    cells = [cell for cell in compared(found) if cell.seconds > 0 and cell.proxy_seconds > 0]
    points = [{"x": cell.seconds, "y": cell.proxy_seconds, "system": cell.system} for cell in cells]
    values = [value for cell in cells for value in (cell.seconds, cell.proxy_seconds)]
    low, high = min(values) / 1.5, max(values) * 1.5
    ends = [{"x": low, "y": low}, {"x": high, "y": high}]
    band = [{"x": end["x"], "y": end["y"] * 0.9, "y2": end["y"] * 1.1} for end in ends]
    axis = {"type": "log", "domain": [low, high], "nice": False}
    ticks = [10.0**p for p in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    look = {"titleAnchor": "end", "values": ticks, "format": "~g"}
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": axis,
        "axis": {**look, "title": "measured: application, s in I/O", "grid": True},
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "scale": axis,
        "axis": {
            **look,
            **theme.unit_title("predicted: proxy, s in I/O"),
            "values": ticks,
            "grid": True,
        },
    }
    spec = {
        "width": _SIDE_PX,
        "height": _SIDE_PX,
        "layer": [
            {
                "data": {"values": band},
                "mark": {"type": "area", "color": SHADE, "opacity": 0.5},
                "encoding": {"x": x, "y": y, "y2": {"field": "y2"}},
            },
            {
                "data": {"values": ends},
                "mark": {"type": "line", "color": INK, "strokeDash": [5, 4], "strokeWidth": 1},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"values": points},
                "mark": {"type": "point", "filled": True, "size": 90, "opacity": 0.9},
                "encoding": {"x": x, "y": y, **_marks(found, beside=True)},
            },
        ],
    }
    near = sum(abs(cell.error.signed) <= AIM for cell in cells if cell.error is not None)
    return Figure(
        name="against",
        title="Predicted against measured",
        finding=f"{near} of {len(cells)} pairs lie within 10 % of each other.",
        reading="Each mark is one application on one file system: medians of the I/O time of its "
        "slowest rank. On the dashed line both are equal; in the grey band they are within 10 %.",
        spec=theme.whole(spec),
        table=table(found),
    )


def errors(found: Validation) -> Figure:
    """The signed error by application and file system, with its interval."""
    rows, names, bands = _rows(found)
    reach = 1.15 * max([_LEAST_REACH, *(abs(row["x"]) for row in rows)])
    domain = [-min(reach, 1.0), min(reach, _MOST_REACH)]
    for row in [*rows, *bands]:
        row |= {key: min(max(row[key], domain[0]), domain[1]) for key in row if key in _ALONG}
    height = max((row["y"] for row in [*rows, *names]), default=0.0) + 1.0
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"domain": domain, "nice": False},
        "axis": {
            "title": "(proxy - application) / application",
            "titleAnchor": "end",
            "format": "+.0%",
            "grid": True,
        },
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "axis": None,
        "scale": {"domain": [-1, height], "reverse": True, "nice": False},
    }
    spread = {"x": {**x, "field": "low"}, "x2": {"field": "high"}}
    spec = {
        "width": theme.WIDTH - theme.NAME_PX - theme.VALUE_PX,
        "height": _ROW_PX * (height + 1),
        "layer": [
            {
                "data": {"values": [{"x": -AIM, "x2": AIM}]},
                "mark": {"type": "rect", "color": SHADE, "opacity": 0.35},
                "encoding": {"x": x, "x2": {"field": "x2"}},
            },
            {
                "data": {"values": bands or [{}]},
                "mark": {"type": "bar", "color": SHADE, "height": 9},
                "encoding": {"y": y, **spread},
            },
            {
                "data": {"values": [{"x": 0.0}]},
                "mark": {"type": "rule", "color": INK, "strokeDash": [5, 4]},
                "encoding": {"x": x},
            },
            {
                "data": {"values": rows},
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {"y": y, **spread, "color": _marks(found)["color"]},
            },
            {
                "data": {"values": rows},
                "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
                "encoding": {"x": x, "y": y, **_marks(found)},
            },
            theme.names(names, y),
        ],
    }
    return Figure(
        name="errors",
        title="Error by application and file system",
        finding=_worst(found),
        reading="Marks right of the dashed line: the proxy takes longer than the application. "
        "Lines are 95 % intervals; what lies beyond the edge stands at it; grey bars are the "
        "spread of the application's own runs; the grey band is 10 % to both sides.",
        spec=theme.whole(spec),
        table=table(found),
    )


def _rows(
    found: Validation,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Marks, names of applications, and the applications' own spreads."""
    rows, names, bands = [], [], []
    at = 0.0
    for tried in found.applications:
        cells = [cell for cell in compared(found) if cell.application == tried.name]
        if not cells:
            continue
        names.append({"y": at + (len(cells) - 1) / 2, "name": theme.shortened(tried.name)})
        for cell in cells:
            assert cell.error is not None
            rows.append(
                {
                    "y": at,
                    "x": cell.error.signed,
                    "low": cell.error.low,
                    "high": cell.error.high,
                    "system": cell.system,
                }
            )
            spread = min(cell.spread, 1.0)
            bands.append({"y": at, "low": -spread, "high": spread})
            at += 1.0
        at += _GAP_ROWS
    return rows, names, bands


def _worst(found: Validation) -> str:
    cells = compared(found)
    worst = max(cells, key=lambda cell: abs(cell.error.signed) if cell.error else 0.0)
    assert worst.error is not None
    return (
        f"The largest error is {quantity.signed_percent(worst.error.signed)}: {worst.application} "
        f"on {worst.system}."
    )


def table(found: Validation) -> TableBlock:
    """Every cell as a row."""
    titles = (
        "Application",
        "File system",
        "Application in I/O",
        "Its spread",
        "Proxy in I/O",
        "Error",
        "95 % interval",
    )
    rows = tuple(
        (
            cell.application,
            cell.system,
            quantity.seconds(cell.seconds),
            quantity.percent(cell.spread),
            quantity.seconds(cell.proxy_seconds),
            quantity.signed_percent(cell.error.signed),
            f"{quantity.signed_percent(cell.error.low)} to "
            f"{quantity.signed_percent(cell.error.high)}",
        )
        for cell in found.cells
        if cell.error is not None
    )
    columns = tuple(Column(title, i > 1) for i, title in enumerate(titles))
    return TableBlock("Every pair", columns, rows, folded=True)
