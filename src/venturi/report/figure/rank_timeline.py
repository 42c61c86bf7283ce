"""The course of a capture: who moved data when, as a strip of phases over maps of ranks by time."""

from __future__ import annotations

from typing import Any

from venturi.model.characterization_data import CharacterizationData
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import BLUE, GREEN, INK, PURPLE, SHADE, VERMILLION
from venturi.report.quantity import Units

_MOST_ROWS = 32
_LEVELS = 5
_LABEL_PX = 116
_LETTER_PX = 7.5
"""Room for a letter of a label, whatever font the reader's browser takes."""
_PADDING_PX = 8
_LOW_PX, _HIGH_PX, _MOST_PX = 9, 22, 260
_STRIP_PX = 20
_NAMES_SHARE = 0.25
"""Share of the time in calls from which on metadata operations has a map of its own."""

_ABOVE = "Above: phases, between pauses in which nobody does I/O. Below: who moved data when; "
_TITLE = {"offset": 6, "frame": "group"}
_COLOURS = {"write": BLUE, "read": VERMILLION, "both": PURPLE, "names": GREEN}
_TITLES = {"write": "writes", "read": "reads", "names": "calls"}


def time_unit(end_s: float) -> tuple[float, str]:
    """The unit of a time axis: its seconds, and its name."""
    if end_s < 0.2:
        return 1e-3, "ms"
    if end_s < 600:
        return 1.0, "s"
    return (60.0, "min") if end_s < 36_000 else (3600.0, "h")


def _maps(activity: CharacterizationData) -> dict[str, list[list[int]]]:
    """The maps worth drawing: data where there are any, calls where names take the time."""
    timeline = activity.timeline
    found = {}
    if activity.bytes_written:
        found["write"] = timeline.written
    if activity.bytes_read:
        found["read"] = timeline.read
    spent = sum(activity.seconds_by.values())
    names = activity.seconds_by.get("names", 0.0)
    if activity.phases and (not found or (spent > 0 and names > _NAMES_SHARE * spent)):
        found["names"] = timeline.operations
    return found


def _merged(rows: list[list[int]], labels: list[str]) -> tuple[list[list[int]], list[str]]:
    """At most 32 rows: neighbouring ones added up."""
    each = -(-len(rows) // _MOST_ROWS)
    if each <= 1:
        return rows, labels
    starts = range(0, len(rows), each)
    added = [[sum(bins) for bins in zip(*rows[at : at + each], strict=True)] for at in starts]
    names = []
    for at in starts:
        group = labels[at : at + each]
        last = group[-1].split(" to ")[-1].removeprefix("rank ")
        names.append(group[0] if len(group) == 1 else f"{group[0].split(' to ')[0]} to {last}")
    return added, names


def _level(value: int, highest: int) -> float:
    """One of five strengths by the square root of the share, so that little is seen too."""
    strength = (value / highest) ** 0.5
    return max(1, min(_LEVELS, -int(-strength * _LEVELS // 1))) / _LEVELS


def _x(end: float, title: str | None) -> dict[str, Any]:
    axis = {
        "title": title,
        "titleAnchor": "end",
        "labels": title is not None,
        "ticks": title is not None,
        "domain": title is not None,
    }
    scale = {"domain": [0, end], "nice": False}
    return {"field": "from", "type": "quantitative", "scale": scale, "axis": axis}


def _map(
    kind: str, rows: list[list[int]], activity: CharacterizationData, units: Units, last: bool
) -> Any:
    shown, labels = _merged(rows, activity.timeline.labels)
    highest = max(max(row) for row in shown)
    step, unit = time_unit(activity.seconds)
    bin_ = activity.timeline.bin_s / step
    values = [
        {
            "from": round(i * bin_, 9),
            "to": round((i + 1) * bin_, 9),
            "lane": label,
            "level": _level(value, highest),
        }
        for label, row in zip(labels, shown, strict=True)
        for i, value in enumerate(row)
        if value
    ]
    height = max(_LOW_PX, min(_HIGH_PX, _MOST_PX // len(labels)))
    x = _x(activity.seconds / step, f"{unit} since the start" if last else None)
    y = {
        "field": "lane",
        "type": "ordinal",
        "sort": None,
        "scale": {"domain": labels, "paddingInner": 0.12, "paddingOuter": 0},
        "axis": {
            "title": None,
            "labelOverlap": True,
            "labelLimit": _LABEL_PX,
            "ticks": False,
            "labelPadding": _PADDING_PX,
            "minExtent": _extent_px(labels),
            "values": _labelled(labels),
        },
    }
    bin_s = activity.timeline.bin_s
    per_s = highest / bin_s
    peak = quantity.rate(per_s, units) if kind != "names" else f"{quantity.number(per_s)} calls/s"
    return {
        "title": {"text": _TITLES[kind], "subtitle": f"strongest: {peak}", **_TITLE},
        "width": theme.WIDTH - _LABEL_PX - 20,
        "height": height * len(labels),
        "data": {"values": values},
        "mark": {"type": "rect", "color": _COLOURS[kind]},
        "encoding": {
            "x": x,
            "x2": {"field": "to"},
            "y": y,
            "opacity": {
                "field": "level",
                "type": "quantitative",
                "legend": None,
                "scale": {"domain": [0, 1], "range": [0.05, 1]},
            },
        },
    }


def _extent_px(labels: list[str]) -> float:
    """How far the longest label reaches to the left of the axis, at most."""
    return min(max(map(len, labels)) * _LETTER_PX, _LABEL_PX) + _PADDING_PX


def _labelled(labels: list[str]) -> list[str]:
    """Labels that fit: all, or every so many of a long list."""
    step = -(-len(labels) // 16)
    return labels[::step]


def _strip(activity: CharacterizationData) -> dict[str, Any]:
    step, _ = time_unit(activity.seconds)
    least = activity.seconds / step / 300
    names = {"both": "reads and writes at once", "names": "names only"}
    values = [
        {
            "from": phase.first_s / step,
            "to": max(phase.last_s / step, phase.first_s / step + least),
            "kind": names.get(phase.kind, phase.kind),
        }
        for phase in activity.phases
    ]
    kinds = [kind for kind in _COLOURS if any(phase.kind == kind for phase in activity.phases)]
    domain = [names.get(kind, kind) for kind in kinds]
    whole = {"from": 0, "to": activity.seconds / step}
    x = _x(activity.seconds / step, None)
    colour = {
        "field": "kind",
        "type": "nominal",
        "scale": {"domain": domain, "range": [_COLOURS[kind] for kind in kinds]},
        "legend": {"symbolType": "square"},
    }
    bar: dict[str, Any] = {"type": "rect", "stroke": INK, "strokeWidth": 0.4}
    return {
        "title": {
            "text": "phases",
            "subtitle": "grey: nobody does I/O",
            "offset": 6,
            "frame": "group",
        },
        "width": theme.WIDTH - _LABEL_PX - 20,
        "height": _STRIP_PX,
        "layer": [
            {
                "data": {"values": [whole]},
                "mark": {"type": "rect", "color": SHADE, "opacity": 0.55},
                "encoding": {"x": x, "x2": {"field": "to"}},
            },
            {
                "data": {"values": values},
                "mark": bar,
                "encoding": {"x": x, "x2": {"field": "to"}, "color": colour},
            },
        ],
    }


def _finding(activity: CharacterizationData) -> str:
    phases = activity.phases
    active_s = sum(phase.last_s - phase.first_s for phase in phases)
    share = quantity.percent(min(1.0, active_s / activity.seconds)) if activity.seconds else "all"
    kinds = {
        "write": "writing",
        "read": "reading",
        "both": "reading and writing at once",
        "names": "working on names only",
    }
    parts = []
    for kind, verb in kinds.items():
        count = sum(phase.kind == kind for phase in phases)
        if count:
            parts.append(f"{count} {verb}")
    return (
        f"{quantity.counted(len(phases), 'phase')} of I/O ({', '.join(parts)}) cover {share} of "
        f"the {quantity.seconds(activity.seconds)} that the run took."
        if len(phases) != 1
        else f"One phase of I/O, {kinds[phases[0].kind]}, covers {share} of the "
        f"{quantity.seconds(activity.seconds)} that the run took."
    )


def _busy(activity: CharacterizationData) -> str:
    """Without phases: in how much of the time bytes moved."""
    both = [*activity.timeline.written, *activity.timeline.read]
    active = sum(any(bins) for bins in zip(*both, strict=True))
    share = min(1.0, active * activity.timeline.bin_s / activity.seconds)
    return (
        f"Bytes moved in {quantity.percent(share)} of the {quantity.seconds(activity.seconds)} "
        f"that the run took, counted in steps of {quantity.seconds(activity.timeline.bin_s)}."
    )


def _table(activity: CharacterizationData, units: Units) -> TableBlock:
    columns = tuple(Column(title, True) for title in ("", "Written", "Read", "Calls"))
    timeline = activity.timeline
    rows = tuple(
        (
            label,
            quantity.size(sum(written), units),
            quantity.size(sum(read), units),
            quantity.count(sum(calls)),
        )
        for label, written, read, calls in zip(
            timeline.labels, timeline.written, timeline.read, timeline.operations, strict=True
        )
    )
    return TableBlock("Who moved how much", (Column("Who"), *columns[1:]), rows, folded=True)


def figure(activity: CharacterizationData, units: Units) -> Figure | None:
    """The picture; none where nobody made a call."""
    maps = {kind: rows for kind, rows in _maps(activity).items() if any(map(any, rows))}
    if not maps or activity.seconds <= 0:
        return None
    panels = [_strip(activity)] if activity.phases else []
    last = list(maps)[-1]
    panels += [_map(kind, rows, activity, units, kind == last) for kind, rows in maps.items()]
    return Figure(
        name="timeline",
        title="What happened when",
        finding=_finding(activity) if activity.phases else _busy(activity),
        reading=(
            f"{_ABOVE if activity.phases else 'Who moved data when; '}the stronger the colour, the "
            "more (each map has its own scale, by the square root, so that little is seen too)."
        ),
        spec=theme.whole(
            {
                "vconcat": panels,
                "spacing": 18,
                "resolve": {"scale": {"color": "independent", "opacity": "independent"}},
            }
        ),
        table=_table(activity, units),
    )
