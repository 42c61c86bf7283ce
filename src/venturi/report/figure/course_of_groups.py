"""Groups over time: when each instance of each group was in which phase of a repetition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from venturi.model.record import PhaseRow, Record
from venturi.report import quantity
from venturi.report.block import Column, Figure, Table
from venturi.report.figure import theme
from venturi.report.palette import BLUE, GREEN, INK, ORANGE, PAPER, PURPLE, SHADE, VERMILLION

_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, INK)
_LANE_PX = 26
_MOST_LANES = 40
_MOST_BARS = 2000


def figure(record: Record) -> Figure | None:
    """A lane for each instance of a group, a bar for each time it was in a phase.

    None where all ranks act as one group, or where there are too many to see anything.
    """
    rows = _first_repetition(record)
    lanes = list(dict.fromkeys((row.group, row.instance) for row in rows))
    if not 1 < len(lanes) <= _MOST_LANES or len(rows) > _MOST_BARS:
        return None
    start = min(row.at_s for row in rows)
    names = _lane_names(lanes)
    paths = list(dict.fromkeys(row.path for row in rows))
    bars = [
        {
            "lane": names[row.group, row.instance],
            "from": row.at_s - start,
            "to": row.at_s - start + row.seconds.total,
            "phase": row.path,
        }
        for row in rows
    ]
    waits = [
        {
            "lane": names[row.group, row.instance],
            "from": row.at_s - start,
            "to": row.at_s - start + min(row.seconds.wait, row.seconds.total),
        }
        for row in rows
        if row.seconds.wait > 0
    ]
    return Figure(
        name="course-of-groups",
        title="Groups over time, first repetition",
        finding=_finding(rows),
        reading=(
            "A lane for each instance of a group, a bar from the beginning to the end of each "
            "phase; between bars it computes or waits for others. What a bar waited inside of its "
            "phase is drawn grey from its beginning on."
        ),
        spec=theme.whole(_spec(bars, waits, list(names.values()), paths)),
        table=_table(rows, names, start),
    )


def overlap_s(rows: Sequence[PhaseRow]) -> float:
    """Seconds in which phases of two or more groups ran at the same time."""
    edges = sorted(
        edge
        for row in rows
        for edge in ((row.at_s, 1, row.group), (row.at_s + row.seconds.total, -1, row.group))
    )
    running: Counter[str] = Counter()
    total, before = 0.0, 0.0
    for at, change, group in edges:
        if sum(count > 0 for count in running.values()) > 1:
            total += at - before
        running[group] += change
        before = at
    return total


def _first_repetition(record: Record) -> list[PhaseRow]:
    """Its rows, without phases that only hold others."""
    if not record.phases:
        return []
    first = min(row.repetition for row in record.phases)
    rows = [row for row in record.phases if row.repetition == first]
    outer = {row.path.rpartition("/")[0] for row in rows}
    return [row for row in rows if row.path not in outer]


def _lane_names(lanes: list[tuple[str, int]]) -> dict[tuple[str, int], str]:
    instances = Counter(group for group, _ in lanes)
    ordered = sorted(lanes, key=lambda lane: ([g for g, _ in lanes].index(lane[0]), lane[1]))
    return {
        lane: theme.shortened(lane[0] if instances[lane[0]] == 1 else f"{lane[0]} {lane[1]}", 20)
        for lane in ordered
    }


def _finding(rows: Sequence[PhaseRow]) -> str:
    groups = {row.group for row in rows}
    span = max(row.at_s + row.seconds.total for row in rows) - min(row.at_s for row in rows)
    if len(groups) == 1:
        return f"The instances of {rows[0].group} took {quantity.seconds(span)} together."
    both = overlap_s(rows)
    share = quantity.percent(both / span) if span > 0 else "0 %"
    if both == 0:
        return f"Groups never were in phases at the same time, in {quantity.seconds(span)}."
    return (
        f"For {quantity.seconds(both)} of {quantity.seconds(span)} ({share}) several groups were "
        "in their phases at the same time."
    )


def _spec(
    bars: list[dict[str, Any]], waits: list[dict[str, Any]], lanes: list[str], paths: list[str]
) -> dict[str, Any]:
    y = {
        "field": "lane",
        "type": "nominal",
        "sort": lanes,
        "axis": None,
        "scale": {"paddingInner": 0.25},
    }
    x = {
        "field": "from",
        "type": "quantitative",
        "axis": {"title": "s since the repetition began", "titleAnchor": "end", "tickCount": 8},
        "scale": {"nice": False, "zero": True},
    }
    colours = [_COLOURS[index % len(_COLOURS)] for index in range(len(paths))]
    scale = {"domain": paths, "range": colours}
    mark = {"type": "bar", "strokeWidth": 1}
    phases = {
        "data": {"values": bars},
        "mark": mark,
        "encoding": {
            "x": x,
            "x2": {"field": "to"},
            "y": y,
            "color": {"field": "phase", "type": "nominal", "sort": paths, "scale": scale},
            # A bar that is too short to be seen has its edge.
            "stroke": {"field": "phase", "type": "nominal", "scale": scale, "legend": None},
        },
    }
    waiting = {
        "data": {"values": waits},
        "mark": {"type": "bar", "color": SHADE, "stroke": PAPER, "strokeWidth": 0.6},
        "encoding": {"x": x, "x2": {"field": "to"}, "y": y},
    }
    names = theme.names([{"lane": lane, "name": lane} for lane in lanes], y)
    return {
        "width": theme.WIDTH - theme.NAME_PX,
        "height": _LANE_PX * len(lanes),
        "layer": [phases, *([waiting] if waits else []), names],
    }


def _table(rows: Sequence[PhaseRow], names: dict[tuple[str, int], str], start: float) -> Table:
    titles = ("Group", "Phase", "Iteration", "From", "To", "Waiting")
    cells = tuple(
        (
            names[row.group, row.instance],
            row.path,
            ", ".join(f"{name} {value}" for name, value in row.iteration.items()),
            quantity.seconds(row.at_s - start),
            quantity.seconds(row.at_s - start + row.seconds.total),
            quantity.seconds(row.seconds.wait),
        )
        for row in rows
    )
    columns = tuple(Column(title, index > 2) for index, title in enumerate(titles))
    return Table("Phases of the first repetition", columns, cells, folded=True)
