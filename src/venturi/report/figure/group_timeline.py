"""Groups over time: when each instance of each group was in which phase, computed, or waited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from venturi.model.event import Paused
from venturi.model.record import PhaseRow, Record
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import BROWN, GRID, INK, MUTED, PAPER, SERIES, SHADE

_LANE_PX = 34
_NUMBER_PX = 16
"""Numbers of steps stand at least so far apart."""
_LEGEND_COLUMNS = 6
_MOST_LANES = 40
_MOST_BARS = 2000
COMPUTING, WAITING = "computing", "waiting"


def figure(record: Record) -> Figure | None:
    """A lane for each instance of a group, a bar for each time it was in a phase.

    None where all ranks act as one group, or where there are too many to see anything.
    """
    rows = _first_repetition(record)
    lanes = list(dict.fromkeys((row.group, row.instance) for row in rows))
    if not 1 < len(lanes) <= _MOST_LANES or len(rows) > _MOST_BARS:
        return None
    between = [one for one in record.pauses if one.repetition == rows[0].repetition]
    pauses = [pause.at_s for one in between for pause in one.pauses]
    start = min([row.at_s for row in rows] + pauses)
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
    shapes = _Shapes(
        bars=bars,
        waits=_waits(rows, names, start),
        pauses=_pauses(between, names, start),
        idle=_idle(bars),
        steps=_steps(rows, names, start),
        meetings=[{"from": a - start, "to": b - start} for a, b in _meetings(rows)],
    )
    return Figure(
        name="course-of-groups",
        title="Groups over time, first repetition",
        finding=" ".join((_finding(rows), _waiting(shapes))).strip(),
        reading=(
            "A lane for each instance of a group, a bar from the beginning to the end of each "
            f"phase, the number of its step above it. {_between(shapes)} What a bar waited inside "
            "of its phase is drawn grey from its beginning on. Where the ground is shaded, several "
            "groups are in phases at once."
        ),
        spec=theme.whole(_spec(shapes, list(names.values()), paths)),
        table=_table(rows, names, start),
    )


@dataclass(frozen=True)
class _Shapes:
    """What is drawn, each with its times in seconds since the repetition began."""

    bars: list[dict[str, Any]]
    waits: list[dict[str, Any]]
    pauses: list[dict[str, Any]]
    """Between phases, each with what the group did."""
    idle: list[dict[str, Any]]
    """From the beginning to the next bar, and between bars."""
    steps: list[dict[str, Any]]
    meetings: list[dict[str, Any]]
    """When several groups are in phases."""


def _waits(
    rows: Sequence[PhaseRow], names: dict[tuple[str, int], str], start: float
) -> list[dict[str, Any]]:
    return [
        {
            "lane": names[row.group, row.instance],
            "from": row.at_s - start,
            "to": row.at_s - start + min(row.seconds.wait, row.seconds.total),
        }
        for row in rows
        if row.seconds.wait > 0
    ]


def _pauses(
    between: Sequence[Paused], names: dict[tuple[str, int], str], start: float
) -> list[dict[str, Any]]:
    """Of many, the longest."""
    found: list[dict[str, Any]] = [
        {
            "lane": names[one.group, one.instance],
            "from": pause.at_s - start,
            "to": pause.at_s - start + pause.seconds,
            "does": WAITING if pause.waits else COMPUTING,
        }
        for one in between
        if (one.group, one.instance) in names
        for pause in one.pauses
        if pause.seconds > 0
    ]
    return sorted(found, key=lambda pause: pause["from"] - pause["to"])[:_MOST_BARS]


def _between(shapes: _Shapes) -> str:
    if not shapes.pauses:
        return "On the line between bars a group computes or waits for others."
    return (
        "Between bars a thick line is computing, a pale band is waiting for others, both as the "
        "group's first rank saw them; on a thin line its ranks put together what they measured in "
        "the phase before, which takes long where there are more ranks than cores."
    )


def _waiting(shapes: _Shapes) -> str:
    """Which lane waited longest, in its phases and between them."""
    waited: dict[str, float] = {}
    for pause in (*shapes.waits, *(one for one in shapes.pauses if one["does"] == WAITING)):
        waited[pause["lane"]] = waited.get(pause["lane"], 0.0) + pause["to"] - pause["from"]
    if not waited or not shapes.pauses:
        return ""
    span = max(bar["to"] for bar in (*shapes.bars, *shapes.pauses))
    lane, most = max(waited.items(), key=lambda entry: entry[1])
    return f"{lane} waited longest for others: {quantity.percent(most / span)} of the time."


def _idle(bars: list[dict[str, Any]]) -> list[dict[str, Any]]:
    lines = []
    until: dict[str, float] = {}
    for bar in sorted(bars, key=lambda bar: bar["from"]):
        before = until.get(bar["lane"], 0.0)
        if bar["from"] > before:
            lines.append({"lane": bar["lane"], "from": before, "to": bar["from"]})
        until[bar["lane"]] = max(before, bar["to"])
    return lines


def _steps(
    rows: Sequence[PhaseRow], names: dict[tuple[str, int], str], start: float
) -> list[dict[str, Any]]:
    """The turn of the outermost loop above the first bar of each turn, where there is room."""
    span = max(row.at_s + row.seconds.total for row in rows) - start
    room_s = span * _NUMBER_PX / (theme.WIDTH - theme.NAME_PX)
    last: dict[str, tuple[int, float]] = {}
    steps = []
    for row in sorted(rows, key=lambda row: row.at_s):
        turn = next(iter(row.iteration.values()), None)
        if turn is None:
            continue
        lane, at = names[row.group, row.instance], row.at_s - start
        before = last.get(lane)
        if before is None or (turn != before[0] and at - before[1] >= room_s):
            steps.append({"lane": lane, "from": at, "step": str(turn)})
            last[lane] = (turn, at)
    return steps


def overlap_s(rows: Sequence[PhaseRow]) -> float:
    """Seconds in which phases of two or more groups ran at the same time."""
    return sum(end - begin for begin, end in _meetings(rows))


def _meetings(rows: Sequence[PhaseRow]) -> list[tuple[float, float]]:
    """From when to when that was."""
    edges = sorted(
        edge
        for row in rows
        for edge in ((row.at_s, 1, row.group), (row.at_s + row.seconds.total, -1, row.group))
    )
    running: Counter[str] = Counter()
    found: list[tuple[float, float]] = []
    before = 0.0
    for at, change, group in edges:
        if sum(count > 0 for count in running.values()) > 1 and at > before:
            joins = bool(found) and found[-1][1] == before
            begin = found.pop()[0] if joins else before
            found.append((begin, at))
        running[group] += change
        before = at
    return found


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


def _spec(shapes: _Shapes, lanes: list[str], paths: list[str]) -> dict[str, Any]:
    y = {
        "field": "lane",
        "type": "nominal",
        "sort": lanes,
        "axis": None,
        "scale": {"domain": lanes, "paddingInner": 0.45, "paddingOuter": 0.3},
    }
    x = {
        "field": "from",
        "type": "quantitative",
        "axis": {"title": "s since the repetition began", "titleAnchor": "end", "tickCount": 8},
        "scale": {"nice": False, "zero": True},
    }
    hues = [*(colour for colour, _ in SERIES if colour != MUTED), BROWN]
    colours = [hues[index % len(hues)] for index in range(len(paths))]
    scale = {"domain": paths, "range": colours}
    legend = {"columns": _LEGEND_COLUMNS, "symbolType": "square"}
    place = {"x": x, "x2": {"field": "to"}, "y": y}
    meetings = {
        "data": {"values": shapes.meetings},
        "mark": {"type": "rect", "color": GRID},
        "encoding": {"x": x, "x2": {"field": "to"}},
    }
    pauses = _pause_layer(shapes.pauses, place, legend)
    idle = {
        "data": {"values": shapes.idle},
        "mark": {"type": "rule", "color": MUTED, "strokeWidth": 1},
        "encoding": place,
    }
    phases = {
        "data": {"values": shapes.bars},
        "mark": {"type": "bar", "strokeWidth": 1},
        "encoding": {
            **place,
            "color": {
                "field": "phase", "type": "nominal", "sort": paths, "scale": scale,
                "legend": legend,
            },
            # A bar that is too short to be seen has its edge.
            "stroke": {"field": "phase", "type": "nominal", "scale": scale, "legend": None},
        },
    }  # fmt: skip
    waiting = {
        "data": {"values": shapes.waits},
        "mark": {"type": "bar", "color": SHADE, "stroke": PAPER, "strokeWidth": 0.6},
        "encoding": place,
    }
    steps = {
        "data": {"values": shapes.steps},
        "mark": {
            "type": "text", "align": "left", "baseline": "bottom", "dy": -_LANE_PX / 3.4,
            "fontSize": 11, "color": INK,
        },
        "encoding": {"x": x, "y": y, "text": {"field": "step"}},
    }  # fmt: skip
    names = theme.names([{"lane": lane, "name": lane} for lane in lanes], y)
    drawn = [
        layer
        for layer in (meetings, idle, pauses, phases, waiting, steps)
        if layer["data"]["values"]  # type: ignore[index]
    ]
    return {
        "width": theme.WIDTH - theme.NAME_PX,
        "height": _LANE_PX * len(lanes),
        "layer": [*drawn, names],
        "resolve": {"scale": {"color": "independent"}},
    }


def _pause_layer(
    pauses: list[dict[str, Any]], place: dict[str, Any], legend: dict[str, Any]
) -> dict[str, Any]:
    """A thick line where a group computes, a band where it waits."""
    does = {
        "field": "does", "type": "nominal", "sort": [COMPUTING, WAITING],
        "scale": {"domain": [COMPUTING, WAITING], "range": [MUTED, SHADE]},
        "legend": {**legend, "orient": "bottom", "offset": 4},
    }  # fmt: skip
    height = {
        "condition": {"test": f"datum.does == '{WAITING}'", "value": _LANE_PX / 4},
        "value": _LANE_PX / 10,
    }
    return {
        "data": {"values": pauses},
        "mark": {"type": "bar"},
        "encoding": {**place, "color": does, "size": height},
    }


def _table(rows: Sequence[PhaseRow], names: dict[tuple[str, int], str], start: float) -> TableBlock:
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
    return TableBlock("Phases of the first repetition", columns, cells, folded=True)
