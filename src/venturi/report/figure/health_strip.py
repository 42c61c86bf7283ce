"""Figures of a session over their baselines: a row for each, the sessions before as strokes."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.model.health import HealthRow, HealthState
from venturi.model.output import Better
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import marks, theme
from venturi.report.palette import BLUE, GREEN, MUTED, ORANGE, VERMILLION
from venturi.report.quantity import Units

_STYLES = {
    HealthState.OK.value: (GREEN, "circle"),
    HealthState.WATCH.value: (ORANGE, "triangle-up"),
    HealthState.FAIL.value: (VERMILLION, "square"),
    HealthState.NOISY.value: (MUTED, "diamond"),
    HealthState.NEW.value: (BLUE, "circle"),
}


def figure(rows: Sequence[HealthRow], units: Units) -> Figure | None:
    """The picture; None where no figure has anything to be compared with."""
    drawn = [(row, middle) for row in rows if (middle := _middle(row)) > 0 and row.value > 0]
    if not drawn:
        return None
    points = [
        {
            "y": index,
            "x": row.value / middle,
            "name": theme.shortened(row.metric),
            "word": row.state.value,
            "text": quantity.with_unit(row.value, row.unit, units),
        }
        for index, (row, middle) in enumerate(drawn)
    ]
    strokes = [
        {"y": index, "x": value / middle}
        for index, (row, middle) in enumerate(drawn)
        for value in row.before
        if value > 0
    ]
    ratios = [point["x"] for point in points] + [stroke["x"] for stroke in strokes]
    domain = marks.domain_of([float(ratio) for ratio in ratios], 0.8, 1.25)
    return Figure(
        name="health-strip",
        title="Each figure over its baseline",
        finding=_finding(drawn),
        reading="A mark is this session, a stroke one before it; the dashed line is the baseline.",
        spec=theme.whole(
            marks.spec(points, strokes, _STYLES, domain, "value / baseline", theme.VALUE_PX)
        ),
        table=_table(drawn, units),
    )


def _middle(row: HealthRow) -> float:
    """The baseline, or the middle of the sessions before where there are too few for one."""
    if row.reference is not None:
        return row.reference.value
    ordered = sorted(row.before)
    return ordered[len(ordered) // 2] if ordered else 0.0


def _finding(drawn: Sequence[tuple[HealthRow, float]]) -> str:
    def worse(pair: tuple[HealthRow, float]) -> float:
        row, middle = pair
        ratio = row.value / middle
        return ratio if row.better is Better.LOWER else 1 / ratio

    row, middle = max(drawn, key=worse)
    off = quantity.signed_percent(row.value / middle - 1)
    return f"Furthest to the worse side: {row.metric}, {off}."


def _table(drawn: Sequence[tuple[HealthRow, float]], units: Units) -> TableBlock:
    rows = tuple(
        (
            row.metric,
            quantity.with_unit(row.value, row.unit, units),
            quantity.with_unit(middle, row.unit, units),
            ", ".join(quantity.with_unit(value, row.unit, units) for value in row.before[-10:]),
        )
        for row, middle in drawn
    )
    columns = (Column("Figure"), Column("Value", True), Column("Baseline", True),
               Column("Sessions before"))  # fmt: skip
    return TableBlock("The numbers", columns, rows, folded=True)
