"""Metrics of two runs: the second's values relative to the first's, with intervals."""

from __future__ import annotations

from typing import Any

from venturi.model.comparison import ComparisonRow
from venturi.report import quantity
from venturi.report.block import Figure, TableBlock
from venturi.report.figure import marks, theme
from venturi.report.palette import BLUE, MUTED, VERMILLION

_VALUE_PX = 150
_MOST_ROWS = 40
_MARKS = {
    "differs": (BLUE, "circle"),
    "worse": (VERMILLION, "triangle-up"),
    "not shown to differ": (MUTED, "square"),
}


def figure(name: str, rows: list[ComparisonRow], finding: str, table: TableBlock) -> Figure | None:
    """The picture, called `name` on its page; none where no metric has a ratio."""
    drawn = [row for row in rows if row.ratio is not None and row.ratio > 0][:_MOST_ROWS]
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
            "Right of the dashed line the second's values are higher. Marks are the middle of the "
            "ratios of all pairs of values, lines its interval."
        ),
        spec=theme.whole(marks.spec(own, [], _MARKS, domain, title, _VALUE_PX)),
        table=table,
    )


def _mark(row: ComparisonRow, place: int) -> dict[str, Any]:
    word = "worse" if row.is_worse else "differs" if row.is_significant else "not shown to differ"
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
