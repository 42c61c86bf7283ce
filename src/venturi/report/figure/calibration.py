"""Measured by forecast over time: a mark for each run, with the interval of its forecast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from venturi.model.calibration import ForecastTrial
from venturi.report.block import Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import BLUE, INK, SHADE, VERMILLION

_WIDTH_PX, _HEIGHT_PX = 720, 260
_MOST = 400
_LEAST_REACH = 2.0
_TICKS = (0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0)


def figure(name: str, trials: Sequence[ForecastTrial], table: TableBlock) -> Figure | None:
    """The picture; None where there is nothing to draw."""
    shown = [one for one in trials[-_MOST:] if one.measured > 0 and one.predicted.low > 0]
    if not shown:
        return None
    rows = [_row(at, one) for at, one in enumerate(shown)]
    far = [max(r["high"], 1 / r["low"], r["ratio"], 1 / r["ratio"]) for r in rows]
    reach = max(_LEAST_REACH, *far) * 1.2
    inside = sum(one.is_inside for one in shown)
    return Figure(
        name=name,
        title="Measured by forecast, run by run",
        finding=f"{inside} of {'the last ' if len(shown) < len(trials) else ''}{len(shown)} lie in "
        "the interval of their forecast.",
        reading="A mark is what a run took, divided by its forecast, in the order of the runs: "
        "a circle in the forecast's interval (the bar), a square out of it. At the dashed line "
        "both are equal; above it the run took longer.",
        spec=theme.whole(_spec(rows, reach, _days(shown))),
        table=table,
    )


def _row(at: int, one: ForecastTrial) -> dict[str, Any]:
    return {
        "at": at,
        "ratio": one.ratio,
        "low": one.predicted.low / one.predicted.median,
        "high": one.predicted.high / one.predicted.median,
        "in": one.is_inside,
    }


def _days(shown: Sequence[ForecastTrial]) -> dict[int, str]:
    """The first, the middle and the last day."""
    places = sorted({0, (len(shown) - 1) // 2, len(shown) - 1})
    return {at: _day(shown[at].started) for at in places}


def _day(text: str) -> str:
    """A day in a form that cannot end a text in the picture's expressions."""
    try:
        return datetime.fromisoformat(text).date().isoformat()
    except ValueError:
        return "?"


def _spec(rows: list[dict[str, Any]], reach: float, days: dict[int, str]) -> dict[str, Any]:
    labels = "".join(f"datum.value == {at} ? '{day}' : " for at, day in days.items())
    x = {
        "field": "at",
        "type": "quantitative",
        "scale": {"domain": [-0.5, len(rows) - 0.5], "nice": False},
        "axis": {"title": None, "values": list(days), "labelExpr": f"{labels}''"},
    }
    low, high = 1 / reach, reach
    y = {
        "field": "ratio",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {
            **theme.unit_title("measured / forecast"),
            "values": [tick for tick in _TICKS if low <= tick <= high],
            "format": "~g",
            "grid": True,
        },
    }
    width = max(2, min(12, math.floor(_WIDTH_PX / max(len(rows), 1) * 0.6)))
    bars = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    sides = ((True, "circle", BLUE), (False, "square", VERMILLION))
    marks = [
        {
            "data": {"values": [row for row in rows if row["in"] is is_inside]},
            "mark": {
                "type": "point",
                "shape": shape,
                "filled": True,
                "size": 60,
                "opacity": 1,
                "color": colour,
            },
            "encoding": {"x": x, "y": y},
        }
        for is_inside, shape, colour in sides
        if any(row["in"] is is_inside for row in rows)
    ]
    return {
        "width": _WIDTH_PX,
        "height": _HEIGHT_PX,
        "layer": [
            {
                "data": {"values": rows},
                "mark": {"type": "rule", "strokeWidth": width, "color": SHADE, "opacity": 0.6},
                "encoding": bars,
            },
            {
                "data": {"values": [{"ratio": 1.0}]},
                "mark": {"type": "rule", "color": INK, "strokeDash": [5, 4]},
                "encoding": {"y": y},
            },
            *marks,
        ],
    }
