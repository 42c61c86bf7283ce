"""Published numbers and ours along one axis: ours as lines, published marks, levels and limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from venturi.model.published_figure import (
    PublishedFigure,
    PublishedSeries,
    Relation,
    amount_of,
)
from venturi.model.workload import Scalar
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import label_place, theme
from venturi.report.figure.scaling import number_of
from venturi.report.palette import INK, MUTED, SERIES

if TYPE_CHECKING:
    from venturi.report.published_figure import OwnPoint

_WIDTH_PX = 520
_HEIGHT_PX = 320
_MOST_WORDS = 6
"""More marks have no words beside them; the table has those."""
_WIDE = 8.0
"""A larger span of values is drawn on a scale of logarithms."""

_LINE_PX = 13.0
"""From one line of words to the next."""
_LEADER_PX = 14
"""Room for strokes that lead to words."""
_WORDS = {"type": "text", "color": INK, "fontSize": 11}
_RULE = {"type": "rule", "color": MUTED, "strokeWidth": 1.5, "strokeDash": [5, 4]}

Pairs = Sequence[tuple[PublishedSeries, "Sequence[OwnPoint]"]]


def figure(name: str, published: PublishedFigure, pairs: Pairs) -> Figure | None:
    """The picture of one published figure; None where there is nothing of ours to draw.

    A published value with a place is a diamond, one without is a dashed level across the picture,
    and a place without a value is a vertical line. Bars are our intervals.
    """
    own = _unique([point for _, points in pairs for point in points])
    if not own or (published.over is not None and all(point.place is None for point in own)):
        return None
    is_numeric = published.over is not None and all(
        point.place is not None and number_of(point.place) is not None for point in own
    )
    unit = own[0].unit
    every = list(dict.fromkeys(point.label for point in own))
    lines = every[: len(SERIES)]
    ours = [_own(point, is_numeric) for point in own if point.label in lines]
    marks, levels, limits = _published(pairs, published.unit, is_numeric)
    spec = _spec(published, ours, (marks, levels, limits), lines, unit, is_numeric)
    return Figure(
        name=name,
        title=f"{published.figure} beside ours",
        finding=_finding(pairs),
        reading=_reading(published, marks, levels, limits) + _left_out(lines, every),
        spec=theme.whole(spec),
        table=_table(own, unit, published.over or "case"),
    )


def _unique(points: Sequence[OwnPoint]) -> list[OwnPoint]:
    return list({(point.label, str(point.place)): point for point in points}.values())


def _own(point: OwnPoint, is_numeric: bool) -> dict[str, Any]:
    return {
        "x": _x(point.place, is_numeric),
        "tick": "" if point.place is None else str(point.place),
        "y": point.median,
        "low": point.low,
        "high": point.high,
        "series": point.label,
    }


def _x(place: Scalar | None, is_numeric: bool) -> float | str | None:
    if is_numeric:
        return None if place is None else number_of(place)
    return str(place) if place is not None else "ours"


def _published(pairs: Pairs, unit: str, is_numeric: bool) -> tuple[list[dict[str, Any]], ...]:
    """Marks with a place and a value, levels without a place, limits without a value."""
    marks: list[dict[str, Any]] = []
    levels: list[dict[str, Any]] = []
    limits: list[dict[str, Any]] = []
    for series, _ in pairs:
        relation = "" if series.relation is Relation.ABOUT else f"{series.relation.value} "
        for point in series.points:
            x = _x(point.at, is_numeric) if point.at is not None else None
            place = {"x": x, "tick": str(point.at)}
            case = f" ({point.case})" if point.case else ""
            if point.value is None:
                limits.append({**place, "text": f"{series.label}{case}"})
                continue
            own = point.value if isinstance(point.value, str) else f"{point.value:g} {unit}"
            said = f"{series.label}{case}: {relation}{own}".rstrip()
            entry = {"y": amount_of(point.value, unit), "text": said}
            if x is None:
                levels.append(entry)
            else:
                marks.append({**entry, **place})
    return marks, levels, limits


def _spec(
    published: PublishedFigure,
    ours: list[dict[str, Any]],
    drawn: tuple[list[dict[str, Any]], ...],
    lines: list[str],
    unit: str,
    is_numeric: bool,
) -> dict[str, Any]:
    marks, levels, limits = drawn
    x = _axis(published.over or "", [*ours, *marks, *limits], is_numeric)
    scale = _scale(ours, [point["y"] for point in (*ours, *marks, *levels)])
    y = {
        "field": "y",
        "type": "quantitative",
        "scale": scale,
        "axis": {**theme.unit_title(unit), "grid": True},
    }
    looks = SERIES[: len(lines)]
    colour = {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": lines, "range": [look for look, _ in looks]},
        "legend": {"orient": "top", "direction": "vertical", "labelLimit": 520},
    }
    shape = {**colour, "scale": {"domain": lines, "range": [look for _, look in looks]}}
    beside = {} if is_numeric else {"xOffset": {"field": "series", "scale": {"paddingOuter": 2}}}
    bars = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour, **beside}
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": ours},
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": bars,
        },
        {
            "data": {"values": ours},
            "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": colour, "shape": shape, **beside},
        },
    ]
    if is_numeric:
        line = {"type": "line", "strokeWidth": 1.5, "opacity": 0.7}
        layers.insert(
            0,
            {
                "data": {"values": ours},
                "mark": line,
                "encoding": {"x": x, "y": y, "color": colour},
            },
        )
    layers += _published_layers(marks, levels, limits, x, y)
    return {"width": _WIDTH_PX, "height": _HEIGHT_PX, "layer": layers}


def _scale(ours: list[dict[str, Any]], heights: list[float]) -> dict[str, Any]:
    """A scale with a stated domain, so that it is known where a value stands in the picture."""
    ends = [*heights, *(point[end] for point in ours for end in ("low", "high"))]
    if min(heights) > 0 and max(heights) / min(heights) >= _WIDE:
        low, high = min(end for end in ends if end > 0), max(ends)
        domain = [10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))]
        return {"type": "log", "domain": domain, "nice": False}
    low, high = min(0.0, *ends), max(0.0, *ends)
    return {"type": "linear", "domain": [low, high if high > low else 1.0], "nice": False}


def _height_px(value: float, scale: dict[str, Any]) -> float:
    """How far below the upper edge of the picture a value stands."""
    ends: list[float] = scale["domain"]
    is_log = scale["type"] == "log"
    low, high, own = (math.log10(one) if is_log else one for one in (*ends, value))
    return _HEIGHT_PX * (high - own) / (high - low)


def _level_layers(levels: list[dict[str, Any]], y: dict[str, Any]) -> list[dict[str, Any]]:
    """Dashed levels with their words at the right; where some were moved, strokes lead to them."""
    places = [_height_px(level["y"], y["scale"]) for level in levels]
    moved = label_place.apart(places, _LINE_PX, 0.0, float(_HEIGHT_PX))
    rows = [
        {**level, "from_px": own, "to_px": to}
        for level, own, to in zip(levels, places, moved, strict=True)
    ]
    is_led = any(abs(own - to) >= 1 for own, to in zip(places, moved, strict=True))
    words_px = _WIDTH_PX + (_LEADER_PX if is_led else 0)
    from_px, to_px = (
        {"field": name, "type": "quantitative", "scale": None} for name in ("from_px", "to_px")
    )
    layers = [
        {"data": {"values": rows}, "mark": _RULE, "encoding": {"y": y}},
        {
            "data": {"values": rows},
            "mark": {**_WORDS, "align": "left", "dx": 6},
            "encoding": {"x": {"value": words_px}, "y": to_px, "text": {"field": "text"}},
        },
    ]
    if is_led:
        ends = {"x": {"value": _WIDTH_PX + 2}, "x2": {"value": words_px + 3}}
        layers.append(
            {
                "data": {"values": rows},
                "mark": {"type": "rule", "color": MUTED, "strokeWidth": 0.75},
                "encoding": {**ends, "y": from_px, "y2": {"field": "to_px"}},
            }
        )
    return layers


def _published_layers(
    marks: list[dict[str, Any]],
    levels: list[dict[str, Any]],
    limits: list[dict[str, Any]],
    x: dict[str, Any],
    y: dict[str, Any],
) -> list[dict[str, Any]]:
    """Diamonds, dashed levels and vertical limits, each with its words."""
    text = {"field": "text"}
    diamond = {"type": "point", "shape": "diamond", "size": 130, "color": INK, "filled": False}
    found = _level_layers(levels, y) if levels else []
    if marks:
        found.append({"data": {"values": marks}, "mark": diamond, "encoding": {"x": x, "y": y}})
    if len(marks) <= _MOST_WORDS and x["type"] == "quantitative":
        found += [
            {
                "data": {"values": marks},
                "mark": {**_WORDS, "align": "left", "dx": 9, "dy": -9},
                "encoding": {"x": x, "y": y, "text": text},
            }
        ]
    for index, limit in enumerate(limits):
        found += [
            {"data": {"values": [limit]}, "mark": _RULE, "encoding": {"x": x}},
            {
                "data": {"values": [limit]},
                "mark": {**_WORDS, "align": "right", "dx": -5},
                "encoding": {"x": x, "y": {"value": 10 + 16 * index}, "text": text},
            },
        ]
    return found


def _axis(over: str, points: list[dict[str, Any]], is_numeric: bool) -> dict[str, Any]:
    places = [point["x"] for point in points if point["x"] is not None]
    if not is_numeric:
        order = list(dict.fromkeys(map(str, places)))
        return {
            "field": "x",
            "type": "ordinal",
            "sort": order,
            "axis": {
                "title": over or None,
                "labelAngle": 0,
                "labelExpr": "split(datum.label, ' ')",
                "labelOverlap": False,
                "titleAnchor": "end",
            },
        }
    is_log = min(places) > 0 and max(places) / min(places) >= _WIDE
    ticks = {point["x"]: point["tick"] for point in points if point["x"] is not None}
    return {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": "log" if is_log else "linear", "nice": False, "padding": 24},
        "axis": {
            "title": over,
            "titleAnchor": "end",
            "values": sorted(ticks),
            "labelOverlap": True,
            "labelExpr": "".join(
                f"datum.value == {place!r} ? '{label}' : " for place, label in ticks.items()
            )
            + "''",
        },
    }


def _finding(pairs: Pairs) -> str:
    """How many published numbers are drawn, and how many of ours."""
    numbers = sum(point.value is not None for series, _ in pairs for point in series.points)
    own = len(_unique([point for _, points in pairs for point in points]))
    return (
        f"{quantity.counted(numbers, 'published number')} beside "
        f"{quantity.counted(own, 'point')} of this campaign."
    )


def _left_out(lines: list[str], every: list[str]) -> str:
    """That not all lines are drawn, where there are more than can be told apart."""
    if len(lines) == len(every):
        return ""
    return f" The first {len(lines)} lines of {len(every)} are drawn; the table has all."


def _reading(
    published: PublishedFigure,
    marks: list[dict[str, Any]],
    levels: list[dict[str, Any]],
    limits: list[dict[str, Any]],
) -> str:
    parts = ["Filled marks are our medians with their intervals"]
    if marks:
        parts.append("diamonds are published values at their place")
    if levels:
        parts.append("dashed levels are published values for which our axis has no place")
    if limits:
        parts.append("vertical lines are published limits along the axis")
    over = f"; {published.over} along the axis" if published.over else ""
    return f"{', '.join(parts)}{over}."


def _table(own: list[OwnPoint], unit: str, over: str) -> TableBlock:
    titles = ("Ours", over, f"Median, {unit}" if unit else "Median", "Interval", "Best", "Runs")
    rows = [
        (
            point.label.removeprefix("ours: "),
            "–" if point.place is None else str(point.place),
            quantity.number(point.median),
            f"{quantity.number(point.low)} to {quantity.number(point.high)}",
            quantity.number(point.best),
            str(point.runs),
        )
        for point in own
    ]
    columns = tuple(Column(title, index > 1) for index, title in enumerate(titles))
    return TableBlock("Our numbers", columns, tuple(rows), folded=True)
