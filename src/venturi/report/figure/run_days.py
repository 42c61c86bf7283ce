"""When what ran on a machine: a mark for each day, sized by its runs, with the known changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from venturi.model.health import HealthState
from venturi.model.history import KnownChange
from venturi.model.site import SiteHealth, SiteSubject
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import BLUE, INK, VERMILLION

_MOST_SUBJECTS = 30
_FINE = (HealthState.OK, HealthState.NEW, HealthState.NOT_RUN)
_ROW_PX = 24
_MOST_TICKS = 8
_WIDTH_PX = 760


def figure(
    subjects: Sequence[SiteSubject],
    known: Sequence[KnownChange],
    health: Sequence[SiteHealth] = (),
) -> Figure | None:
    """The picture; None where everything ran on one day."""
    shown = sorted(subjects, key=lambda one: one.name)[:_MOST_SUBJECTS]
    sessions = Counter(one.started[:10] for one in health)
    days = sorted({*sessions, *(day for one in shown for day in one.days)})
    if len(days) < 2:
        return None
    first = date.fromisoformat(days[0])

    def place(day: str) -> int:
        return (date.fromisoformat(day) - first).days

    points = [
        {"day": place(day), "y": index, "runs": count}
        for index, one in enumerate(shown)
        for day, count in sorted(one.days.items())
    ]
    breaks = [
        {"day": place(change.point.started[:10]), "y": index}
        for index, one in enumerate(shown)
        for change in one.changes
    ]
    if sessions:
        row = len(shown)
        points += [{"day": place(d), "y": row, "runs": n} for d, n in sorted(sessions.items())]
        bad = {one.started[:10] for one in health if one.state not in _FINE}
        breaks += [{"day": place(day), "y": row} for day in sorted(bad)]
    rules = [{"day": place(one.at[:10])} for one in known if days[0] <= one.at[:10] <= days[-1]]
    names = [{"y": index, "name": theme.shortened(one.name)} for index, one in enumerate(shown)]
    names += [{"y": len(shown), "name": "health"}] if sessions else []
    total = sum(sum(one.days.values()) for one in shown)
    told = "; ".join(f"{one.at[:10]} {one.about}" for one in known)
    return Figure(
        name="run-days",
        title="Runs by day",
        finding=f"{quantity.counted(total, 'run')} on {quantity.counted(len(days), 'day')}, from "
        f"{days[0]} to {days[-1]}." + (f" Known changes: {told}." if told else ""),
        reading="A circle is a day with runs, larger with more; a square is a day on which some "
        "series changed its level, or the machine's health was not OK; dashed rules are known "
        "changes." + _left_out(len(subjects)),
        spec=theme.whole(_spec(points, breaks, rules, names, _axis(first, place(days[-1])))),
        table=_table(shown),
    )


def _left_out(subjects: int) -> str:
    if subjects <= _MOST_SUBJECTS:
        return ""
    return f" The first {_MOST_SUBJECTS} of {subjects} subjects are drawn."


def _axis(first: date, last: int) -> dict[str, Any]:
    """Days since the first one, with dates below some of them."""
    step = max(1, -(-(last + 1) // _MOST_TICKS))
    values = list(range(0, last + 1, step))
    labels = "".join(
        f"datum.value == {value} ? '{first + timedelta(days=value)}' : " for value in values
    )
    return {
        "field": "day",
        "type": "quantitative",
        "scale": {"domain": [-0.5, last + 0.5], "nice": False},
        "axis": {"title": None, "values": values, "labelExpr": f"{labels}''"},
    }


def _spec(
    points: list[dict[str, Any]],
    breaks: list[dict[str, Any]],
    rules: list[dict[str, Any]],
    names: list[dict[str, Any]],
    x: dict[str, Any],
) -> dict[str, Any]:
    y = theme.rows(len(names))
    most = max(point["runs"] for point in points)
    size = {
        "field": "runs",
        "type": "quantitative",
        "scale": {"domain": [0, most], "range": [16, 130]},
        "legend": None,
    }
    layers = [
        {
            "data": {"values": rules},
            "mark": {"type": "rule", "strokeDash": [4, 3], "color": INK},
            "encoding": {"x": x},
        },
        {
            "data": {"values": points},
            "mark": {"type": "point", "filled": True, "opacity": 1, "color": BLUE},
            "encoding": {"x": x, "y": y, "size": size},
        },
        {
            "data": {"values": breaks},
            "mark": {
                "type": "point",
                "shape": "square",
                "size": 130,
                "strokeWidth": 2,
                "opacity": 1,
                "color": VERMILLION,
            },
            "encoding": {"x": x, "y": y},
        },
        theme.names(names, y),
    ]
    return {"width": _WIDTH_PX, "height": _ROW_PX * len(names) + 10, "layer": layers}


def _table(shown: Sequence[SiteSubject]) -> TableBlock:
    rows = tuple(
        (
            one.name,
            quantity.count(len(one.days)),
            quantity.count(one.runs),
            one.first[:10],
            one.last[:10],
        )
        for one in shown
    )
    titles = ("Subject", "Days", "Runs", "First", "Last")
    columns = tuple(Column(title, title in ("Days", "Runs")) for title in titles)
    return TableBlock("The numbers", columns, rows, folded=True)
