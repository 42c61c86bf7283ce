"""Every sample of kernels that measure at one size: a row of strokes for each series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from venturi.model.kernel_value import STATISTIC_WORDS, PointSamples
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import BLUE, INK
from venturi.report.quantity import Units

_ROW_PX = 34
_MOST_ROWS = 20


def figure(path: str, points: Sequence[PointSamples], units: Units) -> Figure | None:
    """The picture; None where no point has several samples."""
    if not points or max(len(point.samples) for point in points) < 2:
        return None
    unit = points[0].series.unit
    drawn = [p for p in points if p.series.unit == unit and len(p.samples) > 1][:_MOST_ROWS]
    factor, shown = quantity.axis_unit(max(max(p.samples) for p in drawn), unit, units)
    named = [
        {
            "y": row,
            "name": theme.shortened(point.series.name),
            "text": quantity.with_unit(point.value, unit, units),
            "x": point.value / factor,
        }
        for row, point in enumerate(drawn)
    ]
    strokes = [
        {"y": row, "x": sample / factor}
        for row, point in enumerate(drawn)
        for sample in point.samples
    ]
    widest = max(drawn, key=lambda point: max(point.samples) / max(min(point.samples), 1e-300))
    reach = max(widest.samples) / max(min(widest.samples), 1e-300) - 1
    return Figure(
        name=f"kernel-{path}".replace("/", "-").replace(" ", "-"),
        title=f"{path}: every sample",
        finding=(
            f"The samples of {widest.series.name} differ most: the largest is "
            f"{quantity.percent(reach)} above the least."
        ),
        reading=(
            f"A stroke is one sample, the dot the {STATISTIC_WORDS[drawn[0].series.statistic]}, "
            "which the metric is."
        ),
        spec=theme.whole(_spec(named, strokes, shown)),
        table=_table(drawn, units),
    )


def _spec(named: list[dict[str, Any]], strokes: list[dict[str, Any]], title: str) -> dict[str, Any]:
    width = theme.WIDTH - theme.NAME_PX - theme.VALUE_PX
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"zero": True, "nice": True},
        "axis": {"title": title, "titleAnchor": "end", "grid": True},
    }
    y = theme.rows(len(named))
    return {
        "width": width,
        "height": _ROW_PX * len(named) + 8,
        "layer": [
            {"data": {"values": strokes}, "encoding": {"x": x, "y": y},
             "mark": {"type": "tick", "color": BLUE, "opacity": 0.6, "thickness": 1.5, "size": 16}},
            {"data": {"values": named}, "encoding": {"x": x, "y": y},
             "mark": {"type": "point", "filled": True, "size": 70, "color": INK, "opacity": 1}},
            theme.names(named, y),
            {"data": {"values": named},
             "mark": {"type": "text", "align": "left", "fontSize": 13, "color": INK},
             "encoding": {"x": {"value": width + 16}, "y": y, "text": {"field": "text"}}},
        ],
    }  # fmt: skip


def _table(points: Sequence[PointSamples], units: Units) -> TableBlock:
    rows = tuple(
        (
            point.series.name,
            ", ".join(quantity.with_unit(s, point.series.unit, units) for s in point.samples[:30]),
        )
        for point in points
    )
    return TableBlock("The samples", (Column("Series"), Column("In order")), rows, folded=True)
