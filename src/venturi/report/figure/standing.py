"""Where a run stands among published results: each phase for each process, theirs and ours."""

from __future__ import annotations

import math
import statistics
from typing import Any

from venturi.model.review import Limit, ReviewedPhase, Standing
from venturi.report import quantity
from venturi.report.block import Column, Figure, Table
from venturi.report.figure import theme
from venturi.report.palette import BLUE, GREEN, INK, MUTED, ORANGE, PAPER, VERMILLION

_ROW_PX = 32
_VALUE_PX = 150
_THIRDS = (1 / 3, 2 / 3)
_MARKS = {
    "weak": (VERMILLION, "triangle-down"),
    "middle": (BLUE, "circle"),
    "strong": (GREEN, "triangle-up"),
    "from memory": (ORANGE, "cross"),
}
_LEAST = 1e-4
"""Ratios below are drawn at this edge."""


def _word(phase: ReviewedPhase, standing: Standing) -> str:
    low, high = _THIRDS
    if phase.limit is Limit.CACHE:
        return "from memory"
    return "weak" if standing.share <= low else "strong" if standing.share >= high else "middle"


def _rows(
    found: list[tuple[ReviewedPhase, Standing]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Our marks, and the published ones."""
    ours, theirs = [], []
    for row, (phase, one) in enumerate(found):
        middle = statistics.median(one.others)
        ours.append(
            {
                "y": row,
                "x": max(one.value / middle, _LEAST),
                "word": _word(phase, one),
                "name": theme.shortened(phase.name),
                "text": f"ahead of {one.beaten} of {one.of}",
            }
        )
        theirs += [{"y": row, "x": max(value / middle, _LEAST)} for value in one.others]
    return ours, theirs


def _spec(found: list[tuple[ReviewedPhase, Standing]]) -> dict[str, Any]:
    ours, theirs = _rows(found)
    values = [one["x"] for one in ours + theirs]
    domain = [min([*values, 0.5]) * 0.8, max([*values, 2.0]) * 1.25]
    powers = range(math.floor(math.log10(domain[0])), math.ceil(math.log10(domain[1])) + 1)
    width = theme.WIDTH - theme.NAME_PX - _VALUE_PX
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": "log", "domain": domain, "nice": False},
        "axis": {
            "title": "per process, relative to the median of the results, logarithmic scale",
            "titleAnchor": "end", "grid": True, "format": ",~g",
            "values": [10.0**p for p in powers if domain[0] <= 10.0**p <= domain[1]],
        },
    }  # fmt: skip
    y = theme.rows(len(found))
    words = [word for word in _MARKS if any(one["word"] == word for one in ours)]
    scales = [
        {"domain": words, "range": [_MARKS[word][index] for word in words]} for index in (0, 1)
    ]
    return {
        "width": width,
        "height": _ROW_PX * len(found) + 8,
        "layer": [
            {
                "data": {"values": [{"x": 1.0}]},
                "mark": {"type": "rule", "color": INK, "strokeDash": [5, 4]},
                "encoding": {"x": x},
            },
            {
                "data": {"values": theirs},
                "mark": {"type": "tick", "color": MUTED, "opacity": 0.5, "thickness": 1.5,
                         "size": 14},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"values": ours},
                "mark": {"type": "point", "filled": True, "size": 120, "opacity": 1,
                         "stroke": PAPER, "strokeWidth": 0.5},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": {"field": "word", "type": "nominal", "scale": scales[0]},
                    "shape": {"field": "word", "type": "nominal", "scale": scales[1]},
                },
            },
            theme.names(ours, y),
            {
                "data": {"values": ours},
                "mark": {"type": "text", "align": "left", "fontSize": 13, "color": INK},
                "encoding": {"x": {"value": width + 16}, "y": y, "text": {"field": "text"}},
            },
        ],
    }  # fmt: skip


def figure(phases: list[ReviewedPhase], finding: str) -> Figure | None:
    """The picture; none where no result says how many processes it had."""
    found = [
        (phase, one)
        for phase in phases
        for one in phase.standings
        if one.per == "process" and statistics.median(one.others) > 0
    ]
    if not found:
        return None
    rows = tuple(
        (
            phase.name,
            quantity.number(one.value),
            quantity.number(statistics.median(one.others)),
            str(one.beaten),
            str(one.of),
        )
        for phase, one in found
    )
    titles = ("Phase", "Here", "Median of results", "Behind us", "Results")
    return Figure(
        name="standing",
        title="Each phase, for each client process",
        finding=finding,
        reading=(
            "Thin strokes are published results, the mark is this run, the dashed line their "
            "median; right is faster. Strong: ahead of two thirds of them; weak: of a third at "
            "most. What came from memory is not judged."
        ),
        spec=theme.whole(_spec(found)),
        table=Table(
            "Rates per process",
            tuple(Column(title, index > 0) for index, title in enumerate(titles)),
            rows,
            folded=True,
        ),
    )
