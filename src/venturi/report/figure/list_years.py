"""Scores over the years: a mark for each result, and the best and the middle of each year."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from venturi.model.published import Io500Result
from venturi.model.statistic import median
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import BLUE, INK, MUTED

_HEIGHT_PX = 280
_WIDTH_PX = 820


def figure(results: Sequence[Io500Result]) -> Figure | None:
    """The picture of the results that may stand in a list; None with fewer than two years."""
    scores: dict[int, list[float]] = {}
    for one in results:
        if one.ranked and one.year and one.recomputed.score:
            scores.setdefault(one.year, []).append(one.recomputed.score)
    if len(scores) < 2:
        return None
    years = sorted(scores)
    points = [{"x": year, "y": value} for year in years for value in scores[year]]
    lines = [
        {"x": year, "y": value, "of": of}
        for year in years
        for of, value in (("best", max(scores[year])), ("median", median(scores[year])))
    ]
    rows = tuple(
        (
            str(year),
            quantity.count(len(scores[year])),
            quantity.number(max(scores[year])),
            quantity.number(median(scores[year])),
        )
        for year in years
    )
    columns = tuple(Column(t, True) for t in ("Year", "Results", "Best score", "Median score"))
    best = max(years, key=lambda year: max(scores[year]))
    return Figure(
        name="list-years",
        title="Score by year",
        finding=f"The highest score is {quantity.number(max(scores[best]))}, of {best}; the median "
        f"of {years[-1]} is {quantity.number(median(scores[years[-1]]))}.",
        reading="A mark is a result that may stand in a list; the lines join the best of each year "
        "and its median. The scale is logarithmic.",
        spec=theme.whole(_spec(points, lines, years)),
        table=TableBlock("The numbers", columns, rows, folded=True),
    )


def _spec(
    points: list[dict[str, Any]], lines: list[dict[str, Any]], years: list[int]
) -> dict[str, Any]:
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"domain": [years[0] - 0.5, years[-1] + 0.5], "nice": False},
        "axis": {"title": None, "format": "d", "values": years},
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "scale": {"type": "log"},
        "axis": {**theme.unit_title("score"), "grid": True},
    }
    dash = {
        "field": "of",
        "type": "nominal",
        "scale": {"domain": ["best", "median"], "range": [[1, 0], [6, 4]]},
        "legend": {"orient": "top"},
    }
    return {
        "width": _WIDTH_PX,
        "height": _HEIGHT_PX,
        "layer": [
            {
                "data": {"values": points},
                "mark": {"type": "point", "size": 30, "opacity": 1, "color": MUTED},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"values": lines},
                "mark": {"type": "line", "color": INK, "strokeWidth": 2},
                "encoding": {"x": x, "y": y, "strokeDash": dash},
            },
            {
                "data": {"values": [line for line in lines if line["of"] == "best"]},
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1, "color": BLUE},
                "encoding": {"x": x, "y": y},
            },
        ],
    }
