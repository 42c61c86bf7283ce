"""A history: a mark for each session, and the level that held between changes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from venturi.model.history import Series
from venturi.model.statistic import median
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.history_text import change_text, title_of
from venturi.report.palette import BLUE, INK, VERMILLION
from venturi.report.quantity import Units

_HEIGHT_PX = 220
_WIDTH_PX = 860


def over_sessions(series: Series, number: int, units: Units) -> Figure:
    """The figure of a series; `number` keeps its name apart from those of others."""
    values = [session.value for session in series.sessions]
    factor, shown = quantity.axis_unit(max(values), series.unit, units, series.of)
    bounds = [0, *(change.at for change in series.changes), len(values)]
    points = [
        {"n": n, "day": session.started[:10], "y": session.value / factor}
        for n, session in enumerate(series.sessions)
    ]
    levels = [
        {"from": start - 0.5, "to": end - 0.5, "y": median(values[start:end]) / factor}
        for start, end in pairwise(bounds)
    ]
    changes = [
        {"n": change.at - 0.5, "tone": VERMILLION if change.is_worse and not change.known else INK}
        for change in series.changes
    ]
    finding = "; ".join(change_text(change, series, units) for change in series.changes)
    finding = f"{finding}." if finding else "No change of its level."
    if series.detectable is not None:
        seen = quantity.percent(series.detectable)
        when = ""
        if series.seen_after:
            when = f", as a rule from {quantity.counted(series.seen_after, 'session')} after it on"
        finding += f" A lasting change of {seen} or more would be found{when}."
    return Figure(
        name=f"history-{number}",
        title=f"{series.metric}: {title_of(series)}",
        finding=finding,
        reading="Marks are sessions, each the median of its repetitions; "
        + (
            "lines are the level between changes, rules the changes."
            if changes
            else "the line is their level."
        ),
        spec=theme.whole(_spec(points, levels, changes, shown)),
        table=_table(series, units),
    )


def _spec(
    points: list[dict[str, Any]],
    levels: list[dict[str, Any]],
    changes: list[dict[str, Any]],
    title: str,
) -> dict[str, Any]:
    count = len(points)
    step = max(1, count // 8)
    labels = "".join(
        f"datum.value == {point['n']} ? '{point['day']}' : " for point in points[::step]
    )
    x = {
        "field": "n",
        "type": "quantitative",
        "scale": {"domain": [-0.5, count - 0.5], "nice": False},
        "axis": {
            "title": None,
            "values": list(range(0, count, step)),
            "labelExpr": f"{labels}''",
            "labelOverlap": True,
        },
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "scale": {"zero": False, "nice": True},
        "axis": {**theme.unit_title(title), "grid": True},
    }
    return {
        "width": _WIDTH_PX,
        "height": _HEIGHT_PX,
        "layer": [
            {
                "data": {"values": changes},
                "mark": {"type": "rule", "strokeDash": [4, 3]},
                "encoding": {"x": x, "color": {"field": "tone", "type": "nominal", "scale": None}},
            },
            {
                "data": {"values": levels},
                "mark": {"type": "rule", "strokeWidth": 2, "color": INK},
                "encoding": {"x": {**x, "field": "from"}, "x2": {"field": "to"}, "y": y},
            },
            {
                "data": {"values": points},
                "mark": {"type": "point", "filled": True, "size": 40, "opacity": 1, "color": BLUE},
                "encoding": {"x": x, "y": y},
            },
        ],
    }


def _table(series: Series, units: Units) -> TableBlock:
    """Every session as a row."""
    rows = tuple(
        (
            session.started[:16].replace("T", " "),
            session.session,
            quantity.with_unit(session.value, series.unit, units, series.of),
            quantity.count(session.repetitions),
        )
        for session in series.sessions
    )
    columns = (
        Column("Started (UTC)"),
        Column("Session"),
        Column(series.metric, True),
        Column("Repetitions", True),
    )
    return TableBlock("The numbers", columns, rows, folded=True)
