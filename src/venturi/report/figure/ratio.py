"""Metrics of two runs: the second's values relative to the first's, with intervals."""

from __future__ import annotations

from typing import Any

from venturi.model.comparison import ComparisonRow, MetricChange
from venturi.report import quantity
from venturi.report.block import Figure, TableBlock
from venturi.report.figure import marks, theme
from venturi.report.palette import BLUE, INK, MUTED, VERMILLION

_VALUE_PX = 150
_MOST_ROWS = 40
_LINES = ", lines their intervals; an interval that does not reach the dashed line is significant."
_MARKS = {
    "differs": (BLUE, "circle"),
    "worse": (VERMILLION, "triangle-up"),
    "differs by less than 5 %": (BLUE, "square"),
    "apart, not significant": (INK, "diamond"),
    "not significant": (MUTED, "square"),
    "not compared": (MUTED, "cross"),
}
_WORDS = {
    MetricChange.SMALL: "differs by less than 5 %",
    MetricChange.APART: "apart, not significant",
    MetricChange.UNLIKE: "not compared",
}


def figure(name: str, rows: list[ComparisonRow], finding: str, table: TableBlock) -> Figure | None:
    """Return the figure, called `name` on its page; None where no metric has a ratio."""
    drawn = [row for row in rows if row.ratio is not None and row.ratio > 0]
    left_out = len(drawn) - _MOST_ROWS
    if left_out > 0:
        drawn = sorted(drawn, key=lambda row: not row.is_significant)[:_MOST_ROWS]
    if not drawn:
        return None
    own = [_mark(row, place) for place, row in enumerate(drawn)]
    domain = marks.domain_of([mark[k] for mark in own for k in ("low", "high", "x")], 0.8, 1.25)
    title = "second relative to first"
    return Figure(
        name=name,
        title="The second beside the first",
        finding=finding,
        reading=(
            "Right of the dashed line the second run's values are higher. Marks are the medians of "
            "the ratios of all pairs of values"
            + (_LINES if theme.has_interval(own) else "; none has an interval.")
            + (f" {left_out} more metrics are in the table." if left_out > 0 else "")
        ),
        spec=theme.whole(marks.spec(own, [], _MARKS, domain, title, _VALUE_PX)),
        table=table,
    )


def _mark(row: ComparisonRow, place: int) -> dict[str, Any]:
    word = "worse" if row.is_worse else _WORDS.get(row.change, "not significant")
    if row.is_significant and not row.is_worse:
        word = "differs"
    assert row.ratio is not None
    return {
        "y": place,
        "x": row.ratio,
        "low": row.ratio if row.low is None else row.low,
        "high": row.ratio if row.high is None else row.high,
        "name": theme.shortened(row.name),
        "word": word,
        "text": f"{quantity.number(row.ratio)} x",
    }
