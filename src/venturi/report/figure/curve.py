"""Curves that a workload asks for: rates of its phases over a number that they stand for."""

from __future__ import annotations

from venturi.model.expression import (
    ExpressionError,
    Number,
    compile_tree,
    evaluate,
    tree_of,
)
from venturi.model.measure import RateCurve
from venturi.model.output import Better
from venturi.model.record import MetricValue, Record
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import scaling, theme
from venturi.report.palette import SERIES
from venturi.report.quantity import Units

Point = tuple[str, Number, MetricValue]
"""The line, the place along it, and what was measured there."""


def figures(record: Record, units: Units) -> list[Figure]:
    """One for each curve of the workload of which two places or more were measured."""
    curves = record.workload.get("curves", {})
    found = [
        _figure(record, n, RateCurve.model_validate(data), units) for n, data in curves.items()
    ]
    return [figure for figure in found if figure is not None]


def _figure(record: Record, name: str, curve: RateCurve, units: Units) -> Figure | None:
    points = _points(record, curve)
    if len({place for _, place, _ in points}) < 2 or len(curve.lines) > len(SERIES):
        return None
    first = points[0][2]
    highest = max(value.high for *_, value in points)
    factor, shown = quantity.axis_unit(highest, first.unit, units, first.of)
    marks = [
        {
            "x": place,
            "label": _said(place, curve, units),
            "y": value.median / factor,
            "low": value.low / factor,
            "high": value.high / factor,
            "series": line,
        }
        for line, place, value in points
    ]
    return Figure(
        name=f"curve-{name}",
        title=f"{name[:1].upper()}{name[1:]} over {curve.over}",
        finding=_finding(points, curve, units),
        reading=scaling.reading_of(marks, f"{curve.over} below"),
        spec=theme.whole(scaling.spec(marks, list(curve.lines), curve.over, f"{name}, {shown}")),
        table=_table(points, curve, units),
    )


def _points(record: Record, curve: RateCurve) -> list[Point]:
    """Every place of every line that was measured; lines in their order, places as they come."""
    places = [_number(text, record) for text in curve.at]
    return [
        (line, place, record.metrics[phase])
        for line, phases in curve.lines.items()
        for place, phase in zip(places, phases, strict=False)
        if place is not None and phase in record.metrics
    ]


def _number(text: int | float | str, record: Record) -> Number | None:
    """The value of an expression over the run's parameters; None where it has none."""
    known = {n: v for n, v in record.parameters.items() if isinstance(v, int | float)}
    try:
        code = compile_tree(tree_of(text), {name: index for index, name in enumerate(known)})
        return evaluate(code, list(known.values()))
    except ExpressionError:
        return None


def _said(place: Number, curve: RateCurve, units: Units) -> str:
    """A place along a curve, in words."""
    return quantity.with_unit(place, curve.unit, units) if curve.unit else f"{place:g}"


def _finding(points: list[Point], curve: RateCurve, units: Units) -> str:
    """Where each line is at its best."""
    said = []
    for line in curve.lines:
        own = [(place, value) for name, place, value in points if name == line]
        if own:
            sign = -1 if curve.better is Better.LOWER else 1
            place, value = max(own, key=lambda pair: sign * pair[1].median)
            best = quantity.with_unit(value.median, value.unit, units, value.of)
            said.append(f"{line}: best with {_said(place, curve, units)} ({best})")
    return "; ".join(said) + "."


def _table(points: list[Point], curve: RateCurve, units: Units) -> TableBlock:
    """Every mark as a row."""
    rows = []
    for line, place, value in points:
        texts = [
            quantity.with_unit(v, value.unit, units, value.of)
            for v in (value.median, value.low, value.high)
        ]
        where = _said(place, curve, units)
        rows.append((line, where, texts[0], f"{texts[1]} to {texts[2]}", str(value.n)))
    titles = ("Line", curve.over, "Median", "Interval", "Repetitions")
    columns = tuple(Column(title, index > 0) for index, title in enumerate(titles))
    return TableBlock("The numbers", columns, tuple(rows), folded=True)
