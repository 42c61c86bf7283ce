"""One time line of a machine: days with runs, health, how slow its probes were, known changes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from venturi.model.health import HealthState
from venturi.model.history import KnownChange
from venturi.model.site import SiteHealth, SiteProbe, SiteProbeDay, SiteSubject
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import BLUE, INK, MUTED, VERMILLION

_MOST_SUBJECTS = 30
_FINE = (HealthState.OK, HealthState.NEW, HealthState.NOT_RUN)
_ROW_PX = 24
_MOST_TICKS = 8
_WIDTH_PX = 760


_MOST_PROBES = 10
_SLOW = ("slow", "very slow", "stalled")
_BAR = 0.84
"""Of the height of a row, for the largest slowdown."""


@dataclass(frozen=True)
class MachineDays:
    """What a time line of one machine shows."""

    subjects: Sequence[SiteSubject]
    known: Sequence[KnownChange] = ()
    health: Sequence[SiteHealth] = ()
    probes: Sequence[SiteProbe] = ()

    def rows(self) -> list[SiteSubject]:
        """The subjects that are drawn, in their order."""
        return sorted(self.subjects, key=lambda one: one.name)[:_MOST_SUBJECTS]

    def probe_rows(self) -> list[SiteProbe]:
        """The probes that are drawn, below subjects and health."""
        shown = (one for one in self.probes if one.days)
        return sorted(shown, key=lambda one: one.target)[:_MOST_PROBES]

    def days(self) -> list[str]:
        """Every day on which something was, oldest first."""
        found = {day for one in self.rows() for day in one.days}
        found |= {one.started[:10] for one in self.health}
        return sorted(found | {one.day for probe in self.probe_rows() for one in probe.days})


def figure(shown: MachineDays) -> Figure | None:
    """The picture; None where everything was on one day."""
    days = shown.days()
    if len(days) < 2:
        return None
    first = date.fromisoformat(days[0])

    def place(day: str) -> int:
        return (date.fromisoformat(day) - first).days

    subjects, probes = shown.rows(), shown.probe_rows()
    points = [
        {"day": place(day), "y": index, "runs": count}
        for index, one in enumerate(subjects)
        for day, count in sorted(one.days.items())
    ]
    breaks = [
        {"day": place(change.point.started[:10]), "y": index}
        for index, one in enumerate(subjects)
        for change in one.changes
    ]
    names = [theme.shortened(one.name) for one in subjects]
    if sessions := Counter(one.started[:10] for one in shown.health):
        row = len(names)
        points += [{"day": place(d), "y": row, "runs": n} for d, n in sorted(sessions.items())]
        bad = {one.started[:10] for one in shown.health if one.state not in _FINE}
        breaks += [{"day": place(day), "y": row} for day in sorted(bad)]
        names.append("health")
    bars = [
        {"day": place(one.day), "low": low, "high": high}
        for index, probe in enumerate(probes, len(names))
        for one, low, high in _bars(probe.days, index)
    ]
    breaks += [
        {"day": place(one.day), "y": index}
        for index, probe in enumerate(probes, len(names))
        for one in probe.days
        if one.word in _SLOW
    ]
    names += [theme.shortened(f"probe {one.target}") for one in probes]
    rules = [
        {"day": place(one.at[:10])} for one in shown.known if days[0] <= one.at[:10] <= days[-1]
    ]
    marks = _DayMarks(points, bars, breaks, rules)
    return Figure(
        name="run-days",
        title="Day by day",
        finding=_finding(shown, days),
        reading="A circle is a day with runs, larger with more; a square is a day on which some "
        "series changed its level, the machine's health was not OK, or a probe's target was slow; "
        "dashed rules are known changes."
        + (_OF_BARS if bars else "")
        + _left_out(len(shown.subjects)),
        spec=theme.whole(_spec(marks, names, _axis(first, place(days[-1])))),
        table=_table(subjects, probes),
    )


_OF_BARS = (
    " The bars of a probe are its slowdown, the median of a day by the usual time for the "
    "operation that was slowest, on a logarithmic scale of its own row: none is the usual time or "
    "less."
)


@dataclass(frozen=True)
class _DayMarks:
    """The marks of a time line, by the row and the day of each."""

    points: list[dict[str, Any]]
    bars: list[dict[str, Any]]
    breaks: list[dict[str, Any]]
    rules: list[dict[str, Any]]


def _bars(days: Sequence[SiteProbeDay], row: int) -> Iterator[tuple[SiteProbeDay, float, float]]:
    """Each day that was slower than usual, with the bottom and the top of its bar."""
    most = math.log(max(2.0, *(one.slowdown for one in days)))
    bottom = row + _BAR / 2
    for one in days:
        if one.slowdown > 1:
            yield one, bottom, bottom - _BAR * math.log(one.slowdown) / most


def _finding(shown: MachineDays, days: Sequence[str]) -> str:
    total = sum(sum(one.days.values()) for one in shown.rows())
    text = (
        f"{quantity.counted(total, 'run')} on {quantity.counted(len(days), 'day')}, from "
        f"{days[0]} to {days[-1]}."
    )
    worst = [
        (day.slowdown, probe.target, day) for probe in shown.probe_rows() for day in probe.days
    ]
    if worst:
        slowdown, target, day = max(worst, key=lambda one: (one[0], one[1], one[2].day))
        slow = sum(day.word in _SLOW for _, _, day in worst)
        text += (
            f" Probes were slow on {quantity.counted(slow, 'day')}; {target} most on {day.day}: "
            f"{day.operation.value} took {quantity.number(slowdown)} times its usual time."
        )
    told = "; ".join(f"{one.at[:10]} {one.about}" for one in shown.known)
    return f"{text} Known changes: {told}." if told else text


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


def _spec(marks: _DayMarks, names: Sequence[str], x: dict[str, Any]) -> dict[str, Any]:
    y = theme.rows(len(names))
    most = max((point["runs"] for point in marks.points), default=1)
    size = {
        "field": "runs",
        "type": "quantitative",
        "scale": {"domain": [0, most], "range": [16, 130]},
        "legend": None,
    }
    layers = [
        {
            "data": {"values": marks.rules},
            "mark": {"type": "rule", "strokeDash": [4, 3], "color": INK},
            "encoding": {"x": x},
        },
        {
            "data": {"values": marks.bars},
            "mark": {"type": "rule", "strokeWidth": 5, "color": MUTED},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {
            "data": {"values": marks.points},
            "mark": {"type": "point", "filled": True, "opacity": 1, "color": BLUE},
            "encoding": {"x": x, "y": y, "size": size},
        },
        {
            "data": {"values": marks.breaks},
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
        theme.names([{"y": row, "name": name} for row, name in enumerate(names)], y),
    ]
    return {"width": _WIDTH_PX, "height": _ROW_PX * len(names) + 10, "layer": layers}


def _table(subjects: Sequence[SiteSubject], probes: Sequence[SiteProbe]) -> TableBlock:
    rows = [
        (
            one.name,
            quantity.count(len(one.days)),
            quantity.count(one.runs),
            one.first[:10],
            one.last[:10],
            "–",
        )
        for one in subjects
    ]
    rows += [
        (
            f"probe {one.target}",
            quantity.count(len(one.days)),
            "–",
            one.days[0].day,
            one.days[-1].day,
            quantity.count(sum(day.word in _SLOW for day in one.days)),
        )
        for one in probes
    ]
    titles = ("Subject", "Days", "Runs", "First", "Last", "Slow days")
    columns = tuple(Column(title, title in ("Days", "Runs", "Slow days")) for title in titles)
    return TableBlock("The numbers", columns, tuple(rows), folded=True)
