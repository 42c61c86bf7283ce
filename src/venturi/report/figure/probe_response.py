"""Every measurement of a probe over time: one row for each operation, or for each target."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.model.probe import ProbeOperation
from venturi.model.probe_history import ProbeHistory, ProbePoints, ProbeSeries, ProbeTargetHistory
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.figure.probe_bands import ClockAxis, bands_of, shaded_words
from venturi.report.figure.probe_rows import (
    WIDTH_PX,
    ClockRow,
    RowMarks,
    dots,
    spec,
)
from venturi.report.palette import BLUE, ORANGE, VERMILLION

LAST_S = 600.0
_SIDE_BY_SIDE = 2
_RULE = (
    "Blue: operations. Orange: moments that passed while an operation hung, with the time until "
    "the storage answered. Red squares: operations that failed. Scales are logarithmic."
)
_USUAL = "Dashed: the usual time; the right axis counts how many times that it took."


def axis_of(history: ProbeHistory, begin_s: float = 0.0) -> ClockAxis:
    """The time of a history from a moment on."""
    return ClockAxis(history.begin_ns, begin_s, (history.end_ns - history.begin_ns) / 1e9)


def times(slowdown: float) -> str:
    """A slowdown in words: `4.1 times`."""
    return f"{quantity.number(slowdown)} times"


def every(history: ProbeHistory, target: ProbeTargetHistory) -> Figure | None:
    """All measurements of a target, with what ran meanwhile; None where there is none."""
    rows = [_row(one, one.usual_s) for one in target.series if _all(one)]
    if not rows:
        return None
    axis = axis_of(history, history.single_s)
    phases = [history.phases[place] for place in target.phases]
    bands = bands_of(phases, axis, WIDTH_PX)
    reading = [
        _RULE,
        _USUAL if any(row.usual_s for row in rows) else "",
        shaded_words(phases, axis, WIDTH_PX),
    ]
    return Figure(
        name="every",
        title="Response times, and how many times the usual they are",
        finding=_longest(target, axis),
        reading=" ".join([*filter(None, reading), _thinned(target)]),
        spec=theme.whole(spec(rows, axis, bands)),
        table=_table(target.series),
    )


def last_minutes(history: ProbeHistory) -> Figure | None:
    """The last ten minutes of all targets, side by side if there are two; None without them."""
    axis = axis_of(history, axis_of(history).end_s - LAST_S)
    shown = [one for one in history.targets if any(series.last.at_s for series in one.series)]
    if not shown:
        return None
    columns = min(len(shown), _SIDE_BY_SIDE)
    width = theme.column_px(columns)
    parts = []
    for target in shown:
        rows = [
            ClockRow(series.operation.value, None, [dots(series.last, BLUE, width=3)])
            for series in target.series
        ]
        phases = [history.phases[place] for place in target.phases]
        whole = spec(rows, axis, bands_of(phases, axis, width), width, _range_of(shown))
        parts.append({**whole, "title": target.name} if len(shown) > 1 else whole)
    return Figure(
        name="last-minutes",
        title="Response times in the last ten minutes",
        finding=_steadiness(shown),
        reading="Every measurement, moments that passed while an operation hung included. All rows "
        "have one logarithmic scale.",
        spec=theme.whole({"concat": parts, "columns": columns, "spacing": theme.GAP_PX}),
        table=_last_table(shown),
    )


def creates(history: ProbeHistory) -> Figure | None:
    """How long creates took on each of several targets, on one scale; None for a single one."""
    found = [
        (target, series)
        for target in history.targets
        for series in target.series
        if series.operation is ProbeOperation.MD_CREATE and _all(series)
    ]
    if len(found) < _SIDE_BY_SIDE:
        return None
    rows = [_row(series, None, target.name) for target, series in found]
    medians = sorted((_middle(series), target.name) for target, series in found)
    return Figure(
        name="creates",
        title="Response times of creates",
        finding=f"A create takes {quantity.seconds(medians[0][0])} on {medians[0][1]} and "
        f"{quantity.seconds(medians[-1][0])} on {medians[-1][1]}, medians of what is drawn."
        if medians[0][0] < medians[-1][0]
        else "The medians of the creates are the same.",
        reading=f"{_RULE} All rows have one scale.",
        spec=theme.whole(spec(rows, axis_of(history, history.single_s), [])),
        table=_table([series for _, series in found], [target.name for target, _ in found]),
    )


def _row(series: ProbeSeries, usual_s: float | None, title: str = "") -> ClockRow:
    marks: list[RowMarks] = [
        dots(series.points, BLUE),
        dots(series.missed, ORANGE),
        dots(series.failed, VERMILLION, is_square=True, width=4.5),
    ]
    return ClockRow(title or series.operation.value, usual_s, marks)


def _all(series: ProbeSeries) -> int:
    return series.points.measured + series.missed.measured + series.failed.measured


def _middle(series: ProbeSeries) -> float:
    ordered = sorted(series.points.value_s) or [0.0]
    return ordered[len(ordered) // 2]


def _range_of(targets: Sequence[ProbeTargetHistory]) -> tuple[float, float]:
    """One range for all rows of some targets."""
    values = [v for one in targets for series in one.series for v in series.last.value_s if v > 0]
    return min(values) / 1.15, max(values) * 1.25


def longest_wait(target: ProbeTargetHistory) -> tuple[float, float, ProbeSeries] | None:
    """How long the longest wait took, when, and for what; None where nothing was measured."""
    values = [
        (value, at_s, series)
        for series in target.series
        for part in (series.points, series.missed)
        for at_s, value in zip(part.at_s, part.value_s, strict=True)
    ]
    return max(values, key=lambda one: one[0], default=None)


def _longest(target: ProbeTargetHistory, axis: ClockAxis) -> str:
    total = sum(series.points.measured for series in target.series)
    missed = sum(series.missed.measured for series in target.series)
    failed = sum(series.failed.measured for series in target.series)
    text = f"{quantity.counted(total, 'operation')}"
    text += f", {quantity.count(missed)} moments passed while one hung" if missed else ""
    text += f", {quantity.count(failed)} failed" if failed else ", none failed"
    longest = longest_wait(target)
    if longest is None:
        return f"{text}."
    value, at_s, series = longest
    said = f" ({times(value / series.usual_s)} the usual time)" if series.usual_s else ""
    return (
        f"{text}. The longest wait was {quantity.seconds(value)}{said}, for "
        f"{series.operation.value} at {axis.text(at_s)} UTC."
    )


def _thinned(target: ProbeTargetHistory) -> str:
    """How many points stand for how many, or that each is there."""
    parts = [(series, series.points) for series in target.series if series.points.thinned_from]
    if not parts:
        return "Every single measurement is drawn."
    series, points = max(parts, key=lambda one: one[1].stands_for)
    above = quantity.seconds(points.above_s or 0.0)
    return (
        f"Each measurement that took longer is drawn, such as every {series.operation.value} above "
        f"{above}; of the {quantity.count(points.thinned_from)} others "
        f"{quantity.count(points.thinned)} by random choice, so one point stands for "
        f"{quantity.number(points.stands_for)}. The table has all operations."
    )


def _steadiness(targets: Sequence[ProbeTargetHistory]) -> str:
    """Which operation varied most: its longest time by its median."""
    found = []
    for target in targets:
        for series in target.series:
            values = sorted(series.last.value_s)
            if values and values[len(values) // 2] > 0:
                middle = values[len(values) // 2]
                found.append((values[-1] / middle, values[-1], middle, target.name, series))
    if not found:
        return "Nothing was measured in them."
    ratio, longest, middle, name, series = max(found, key=lambda one: one[0])
    where = f" on {name}" if len(targets) > 1 else ""
    return (
        f"{series.operation.value}{where} varied most: its median is {quantity.seconds(middle)}, "
        f"its longest {quantity.seconds(longest)}, {times(ratio)} that."
    )


def _table(series: Sequence[ProbeSeries], names: Sequence[str] = ()) -> TableBlock:
    titles = (
        "Target" if names else "Operation", "Usual", "Measured", "Drawn", "All above",
        "One point of the others stands for", "Passed meanwhile", "Failed", "Longest",
    )  # fmt: skip
    rows = []
    for index, one in enumerate(series):
        points = one.points
        values = [*points.value_s, *one.missed.value_s]
        rows.append(
            (
                names[index] if names else one.operation.value,
                quantity.seconds(one.usual_s) if one.usual_s else "–",
                quantity.count(points.measured),
                quantity.count(len(points.at_s)),
                quantity.seconds(points.above_s) if points.above_s is not None else "all",
                quantity.number(points.stands_for),
                quantity.count(one.missed.measured),
                quantity.count(one.failed.measured),
                quantity.seconds(max(values)) if values else "–",
            )
        )
    columns = tuple(Column(title, index > 0) for index, title in enumerate(titles))
    return TableBlock("What was measured and what is drawn", columns, tuple(rows), folded=True)


def _last_table(targets: Sequence[ProbeTargetHistory]) -> TableBlock:
    rows = tuple(
        (target.name, series.operation.value, *_statistics(series.last))
        for target in targets
        for series in target.series
    )
    titles = ("Target", "Operation", "Measured", "Median", "Longest")
    columns = tuple(Column(title, index > 1) for index, title in enumerate(titles))
    return TableBlock("The numbers", columns, rows, folded=True)


def _statistics(points: ProbePoints) -> tuple[str, str, str]:
    values = sorted(points.value_s)
    if not values:
        return "0", "–", "–"
    middle, longest = values[len(values) // 2], values[-1]
    return quantity.count(points.measured), quantity.seconds(middle), quantity.seconds(longest)
