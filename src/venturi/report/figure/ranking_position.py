"""Where a run stands among published results: each phase for each process, theirs and ours."""

from __future__ import annotations

import statistics
from typing import Any

from venturi.model.review import RankingPosition, ReviewedPhase, ReviewLimit
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import marks, theme
from venturi.report.palette import BLUE, GREEN, ORANGE, VERMILLION

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


def _word(phase: ReviewedPhase, ranking_position: RankingPosition) -> str:
    low, high = _THIRDS
    if phase.limit is ReviewLimit.CACHE:
        return "from memory"
    return (
        "weak"
        if ranking_position.share <= low
        else "strong"
        if ranking_position.share >= high
        else "middle"
    )


def _rows(
    found: list[tuple[ReviewedPhase, RankingPosition]],
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


def _spec(found: list[tuple[ReviewedPhase, RankingPosition]]) -> dict[str, Any]:
    ours, theirs = _rows(found)
    domain = marks.domain_of([one["x"] for one in ours + theirs], 0.5, 2.0)
    title = "per process, relative to the median of the results"
    return marks.spec(ours, theirs, _MARKS, domain, title, _VALUE_PX)


def figure(phases: list[ReviewedPhase], finding: str) -> Figure | None:
    """The picture; none where no result says how many processes it had."""
    found = [
        (phase, one)
        for phase in phases
        for one in phase.ranking_positions
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
        table=TableBlock(
            "Rates per process",
            tuple(Column(title, index > 0) for index, title in enumerate(titles)),
            rows,
            folded=True,
        ),
    )
