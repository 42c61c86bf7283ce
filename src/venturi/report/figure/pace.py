"""What computing before a call costs it, which finds less in the processor's caches."""

from __future__ import annotations

from typing import Any

from venturi.model.profile import Order, Profile
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.figure.performance_model import TIME_TEXT, decades
from venturi.report.palette import SERIES
from venturi.report.quantity import Units

_HEIGHT = 220

Line = tuple[str, list[tuple[float, float]]]
"""A name; seconds of computing, and of a call after it, ascending."""


def figure(profile: Profile, units: Units) -> Figure | None:
    """Seconds of a call over what was computed before it; None where that was not measured."""
    groups = [
        (title, found)
        for title, of_names in (("reads and writes", False), ("names", True))
        if (found := _lines(profile, of_names, units))
    ]
    if not groups:
        return None
    plots = [_plot(title, lines) for title, lines in groups]
    spec = {
        "concat": plots,
        "columns": 2,
        "spacing": theme.GAP_PX,
        "resolve": {"scale": {"color": "independent", "shape": "independent"}},
    }
    lines = [line for _, found in groups for line in found]
    reading = (
        "Both axes are logarithmic. The rank computes for so long before each call, which uses up "
        "the processor's caches: the call brings its code and data from memory again. Applications "
        "compute between their calls, loops of benchmarks do not."
    )
    title = "What computing before a call costs it"
    return Figure("pace", title, _finding(lines), reading, theme.whole(spec), _table(lines))


def _lines(profile: Profile, of_names: bool, units: Units) -> list[Line]:
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for curve in profile.curves:
        access = curve.access
        if access.think_s and (access.order is Order.ITEM) is of_names:
            for point in curve.points:
                place = found.setdefault((access.operation.value, point.bytes), [])
                place.append((access.think_s, point.seconds))
    return [
        (f"{operation} of {quantity.size(size, units)}" if size else operation, sorted(points))
        for (operation, size), points in sorted(found.items())
    ]


def _plot(title: str, lines: list[Line]) -> dict[str, Any]:
    rows = [
        {"x": think_s, "y": taken_s, "line": name}
        for name, points in lines
        for think_s, taken_s in points
    ]
    seconds = [taken_s for _, points in lines for _, taken_s in points]
    names = [name for name, _ in lines][: len(SERIES)]
    looks = SERIES[: len(names)]
    axis = {"title": None, "grid": True, "labelExpr": TIME_TEXT}
    ticks = sorted({think_s for _, points in lines for think_s, _ in points})
    return {
        "title": title,
        "width": theme.column_px(2),
        "height": _HEIGHT,
        "data": {"values": [row for row in rows if row["line"] in names]},
        "encoding": {
            "x": {
                "field": "x",
                "type": "quantitative",
                "scale": {"type": "log"},
                "axis": {**axis, "values": ticks, "title": "computing before each call"},
            },
            "y": {
                "field": "y",
                "type": "quantitative",
                "scale": {"type": "log"},
                "axis": {**axis, "values": decades([min(seconds), max(seconds)])},
            },
            "color": {
                "field": "line",
                "type": "nominal",
                "scale": {"domain": names, "range": [colour for colour, _ in looks]},
                "legend": {"columns": 3},
            },
            "shape": {
                "field": "line",
                "type": "nominal",
                "scale": {"domain": names, "range": [shape for _, shape in looks]},
            },
        },
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 2}},
            {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1}},
        ],
    }


def _finding(lines: list[Line]) -> str:
    """The call that computing lengthens most."""
    name, points = max(lines, key=lambda line: line[1][-1][1] / max(line[1][0][1], 1e-12))
    (_, first), (think_s, last) = points[0], points[-1]
    return (
        f"After {quantity.seconds(think_s)} of computing a {name} takes {quantity.seconds(last)}, "
        f"with next to none before it {quantity.seconds(first)}."
    )


def _table(lines: list[Line]) -> TableBlock:
    columns = (Column("Call"), Column("Computing before it", True), Column("Seconds", True))
    rows = tuple(
        (name, quantity.seconds(think_s), quantity.seconds(seconds))
        for name, points in lines
        for think_s, seconds in points
    )
    return TableBlock("Calls after computing", columns, rows, folded=True)
