"""Curves of a kernel over sizes: a line for each series, with the caches of the processor."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from venturi.model.kernel_value import STATISTIC_WORDS, PointSamples, place_text
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import INK, MUTED, SERIES
from venturi.report.quantity import Units

_HEIGHT_PX = 280
_WIDTH_PX = 760
_CACHE = re.compile(r"cache (L\d+), bytes")
_MOST_KNEES = 3
_LARGE_DROP = 0.15
"""A fall between two sizes, as a share, that is called a knee."""


def figures(
    path: str, points: Sequence[PointSamples], facts: Mapping[str, str], units: Units
) -> list[Figure]:
    """A picture for each unit of the series that have two places or more along one axis."""
    drawn = [point for point in points if len(point.series.axes) == 1]
    names = [name for name, own in _by_series(drawn).items() if len(own) > 1]
    drawn = [point for point in drawn if point.series.name in names]
    by_unit: dict[str, list[PointSamples]] = {}
    for point in drawn:
        by_unit.setdefault(point.series.unit, []).append(point)
    return [_figure(path, own, facts, units) for own in by_unit.values()]


def _figure(
    path: str, points: Sequence[PointSamples], facts: Mapping[str, str], units: Units
) -> Figure:
    unit, axis = points[0].series.unit, points[0].series.axes[0]
    lines = list(_by_series(points))[: len(SERIES)]
    drawn = [point for point in points if point.series.name in lines]
    factor, shown = _drawn_unit(max(point.value for point in drawn), unit, units)
    marks = [
        {
            "x": max(point.at[0], _first_place(drawn)),
            "y": point.value / factor,
            "low": min(point.samples) / factor,
            "high": max(point.samples) / factor,
            "series": point.series.name,
        }
        for point in drawn
    ]
    caches = _caches(facts) if axis.name == "array" else {}
    title = ", ".join(lines) if len(lines) < 5 else f"{len(lines)} series"
    return Figure(
        name=f"kernel-{path}-{lines[0]}".replace("/", "-").replace(" ", "-"),
        title=f"{path}: {title} over {axis.name}",
        finding=_finding(drawn, lines, caches, units),
        reading=_reading(points, lines, caches),
        spec=theme.whole(
            _spec(marks, lines, f"{axis.name}, {axis.unit}", shown, caches, unit == "s")
        ),
        table=_table(points, units),
    )


def _by_series(points: Sequence[PointSamples]) -> dict[str, list[PointSamples]]:
    found: dict[str, list[PointSamples]] = {}
    for point in points:
        found.setdefault(point.series.name, []).append(point)
    return found


def _first_place(points: Sequence[PointSamples]) -> float:
    """Where a size of 0 stands on a logarithmic axis: below the smallest one that is not."""
    return max(min((p.at[0] for p in points if p.at[0] > 0), default=1) / 2, 0.5)


def _drawn_unit(highest: float, unit: str, units: Units) -> tuple[float, str]:
    if unit != "s":
        return quantity.axis_unit(highest, unit, units)
    for factor, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if highest >= factor:
            return factor, name
    return 1e-9, "ns"


def _caches(facts: Mapping[str, str]) -> dict[str, int]:
    found = {}
    for name, value in facts.items():
        match = _CACHE.fullmatch(name)
        if match and value.isdigit():
            found[match[1]] = int(value)
    return found


def knees(points: Sequence[PointSamples]) -> list[int]:
    """The sizes behind which a rate falls at once by more than 15 %, the steepest first.

    Neighbouring falls are one: the steepest of them stands for it.
    """
    ordered = sorted(points, key=lambda point: point.at[0])
    falls = [
        (before.value / after.value, before.at[0])
        for before, after in pairwise(ordered)
        if after.value < (1 - _LARGE_DROP) * before.value
    ]
    kept: list[int] = []
    for _, size in sorted(falls, reverse=True):
        if all(size > 2 * other or 2 * size < other for other in kept):
            kept.append(size)
    return kept


def _is_rate(point: PointSamples) -> bool:
    return point.series.unit.endswith("/s")


def _finding(
    points: Sequence[PointSamples], lines: Sequence[str], caches: Mapping[str, int], units: Units
) -> str:
    said = []
    for name in lines:
        own = [point for point in points if point.series.name == name]
        ends = (own[0], own[-1])
        values = [quantity.with_unit(point.value, point.series.unit, units) for point in ends]
        places = [place_text(point.series, point.at) for point in ends]
        text = f"{name}: {values[0]} at {places[0]}, {values[1]} at {places[1]}"
        if caches and _is_rate(own[0]) and (found := sorted(knees(own)[:_MOST_KNEES])):
            text += f", falls behind {', '.join(quantity.size(size, units) for size in found)}"
        said.append(text)
    return "; ".join(said) + "."


def _reading(
    points: Sequence[PointSamples], lines: Sequence[str], caches: Mapping[str, int]
) -> str:
    statistic = STATISTIC_WORDS[points[0].series.statistic]
    text = f"Marks are the {statistic} of all samples, bars reach from the least to the most."
    if any(point.at[0] == 0 for point in points):
        text += " The first mark is of size 0."
    if caches:
        said = ", ".join(f"{name} {quantity.size(size)}" for name, size in caches.items())
        text += f" Grey lines are the caches of one core ({said}), by what the system says."
        if {point.series.name for point in points} & {"copy", "daxpy"}:
            text += (
                " COPY and DAXPY touch two arrays, so a cache is full for them at half of its"
                " size: dashed lines."
            )
    left_out = [name for name in _by_series(points) if name not in lines]
    return f"{text} Not drawn: {', '.join(left_out)}." if left_out else text


def _spec(
    marks: list[dict[str, Any]],
    lines: list[str],
    along: str,
    shown: str,
    caches: Mapping[str, int],
    is_time: bool,
) -> dict[str, Any]:
    looks = SERIES[: len(lines)]
    places = [mark["x"] for mark in marks]
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": "log", "base": 2, "domain": [min(places) / 1.2, max(places) * 1.2],
                  "nice": False},
        "axis": {"title": along, "titleAnchor": "end", "grid": False, "labelExpr": _SIZES},
    }  # fmt: skip
    y = {
        "field": "y",
        "type": "quantitative",
        "scale": {"type": "log"} if is_time else {"zero": True},
        "axis": {**theme.unit_title(shown), "grid": True},
    }
    colour = {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": lines, "range": [look for look, _ in looks]},
        "legend": None if len(lines) == 1 else {"orient": "top"},
    }
    shape = {**colour, "scale": {"domain": lines, "range": [shape for _, shape in looks]}}
    inside = [(name, size) for name, size in caches.items() if min(places) <= size <= max(places)]
    rules = [{"x": size, "name": name} for name, size in inside]
    halves = [{"x": size / 2} for _, size in inside] if len(lines) > 1 else []
    layers: list[dict[str, Any]] = []
    if rules:
        layers += [
            {"data": {"values": rules}, "mark": {"type": "rule", "color": MUTED},
             "encoding": {"x": x}},
            {"data": {"values": rules},
             "mark": {"type": "text", "color": INK, "fontSize": 12, "dx": 4, "align": "left"},
             "encoding": {"x": x, "y": {"value": 8}, "text": {"field": "name"}}},
        ]  # fmt: skip
    if halves:
        layers.append({"data": {"values": halves}, "encoding": {"x": x},
                       "mark": {"type": "rule", "color": MUTED, "strokeDash": [4, 4]}})  # fmt: skip
    layers += [
        {"mark": {"type": "line", "strokeWidth": 1.5, "opacity": 0.8},
         "encoding": {"x": x, "y": y, "color": colour}},
        {"mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.6},
         "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"},
                      "color": colour}},
        {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
         "encoding": {"x": x, "y": y, "color": colour, "shape": shape}},
    ]  # fmt: skip
    return {
        "width": _WIDTH_PX,
        "height": _HEIGHT_PX,
        "data": {"values": marks},
        "layer": layers,
    }


_SIZES = (
    "datum.value >= 1073741824 ? format(datum.value / 1073741824, '~g') + ' Gi' : "
    "datum.value >= 1048576 ? format(datum.value / 1048576, '~g') + ' Mi' : "
    "datum.value >= 1024 ? format(datum.value / 1024, '~g') + ' Ki' : format(datum.value, '~g')"
)


def _table(points: Sequence[PointSamples], units: Units) -> TableBlock:
    """Every mark as a row."""
    rows = tuple(
        (
            point.series.name,
            place_text(point.series, point.at),
            quantity.with_unit(point.value, point.series.unit, units),
            str(len(point.samples)),
        )
        for point in points
    )
    titles = ("Series", "At", "Value", "Samples")
    columns = tuple(Column(title, index > 0) for index, title in enumerate(titles))
    return TableBlock("The numbers", columns, rows, folded=True)
