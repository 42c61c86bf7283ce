"""How slow storage was: means of 60 s over the usual time, and every four hours."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.model.probe_history import ProbeHistory, ProbeSeries, ProbeTargetHistory
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.figure.probe_bands import ClockAxis, bands_of, shaded_words
from venturi.report.figure.probe_response import axis_of, times
from venturi.report.figure.probe_rows import (
    WIDTH_PX,
    ClockRow,
    RowMarks,
    dots,
    spec,
)
from venturi.report.palette import BLUE, MUTED

_MINUTE_GAP_S = 150.0
_SPAN_S = 14_400.0
_SPAN_GAP_S = 2.5 * _SPAN_S
_MOST_ROWS = 60


def minute_means(history: ProbeHistory, target: ProbeTargetHistory) -> Figure | None:
    """Means of 60 s, as slowdowns where the usual times are known; None where there is none."""
    shown = [one for one in target.series if one.minutes.measured > 1]
    if not shown:
        return None
    axis = axis_of(history)
    phases = [history.phases[place] for place in target.phases]
    rows = [ClockRow(one.operation.value, one.usual_s, [_means(one)]) for one in shown]
    is_known = all(one.usual_s for one in shown)
    bands = bands_of(phases, axis, WIDTH_PX)
    shaded = shaded_words(phases, axis, WIDTH_PX)
    return Figure(
        name="minutes",
        title="Mean response times of each minute",
        finding=_worst_minute(shown, axis),
        reading=(
            "All rows have one range of slowdowns (the right axis), on a logarithmic scale, so "
            "their heights can be compared. "
            if is_known
            else "The scale is logarithmic. "
        )
        + "A line ends where nothing was measured."
        + _of_thinned(shown)
        + (f" {shaded}" if shaded else ""),
        spec=theme.whole(spec(rows, axis, bands)),
        table=_minute_table(shown, axis),
    )


def _means(series: ProbeSeries) -> RowMarks:
    points = series.minutes
    if points.thinned_from:
        return dots(points, BLUE)
    pairs = list(zip(points.at_s, points.value_s, strict=True))
    return RowMarks(pairs, BLUE, 1.6, is_line=True, gap_s=_MINUTE_GAP_S)


def _of_thinned(shown: Sequence[ProbeSeries]) -> str:
    most = max(shown, key=lambda one: one.minutes.stands_for).minutes
    if not most.thinned_from:
        return ""
    return (
        f" Of {quantity.count(most.measured)} minutes the slowest are all drawn, the others by "
        f"random choice: one point stands for up to {quantity.number(most.stands_for)}."
    )


def slowest_minute(series: ProbeSeries) -> tuple[float, float]:
    """Mean and moment of the slowest minute."""
    pairs = zip(series.minutes.value_s, series.minutes.at_s, strict=True)
    return max(pairs)


def worst_of(shown: Sequence[ProbeSeries]) -> ProbeSeries:
    """The operation with the slowest minute, by its usual time where that is known."""
    return max(shown, key=lambda one: slowest_minute(one)[0] / (one.usual_s or 1.0))


def _worst_minute(shown: Sequence[ProbeSeries], axis: ClockAxis) -> str:
    worst = worst_of(shown)
    value, at_s = slowest_minute(worst)
    name = worst.operation.value
    if worst.usual_s:
        return (
            f"The slowest minute: at {axis.text(at_s)} UTC {name} took "
            f"{times(value / worst.usual_s)} its usual time, {quantity.seconds(value)} in place of "
            f"{quantity.seconds(worst.usual_s)}."
        )
    return f"The slowest minute: at {axis.text(at_s)} UTC {name} took {quantity.seconds(value)}."


def _minute_table(shown: Sequence[ProbeSeries], axis: ClockAxis) -> TableBlock:
    rows = []
    for one in shown:
        value, at_s = slowest_minute(one)
        slowdown = times(value / one.usual_s) if one.usual_s else "–"
        rows.append(
            (
                one.operation.value,
                quantity.count(one.minutes.measured),
                quantity.seconds(one.usual_s) if one.usual_s else "–",
                quantity.seconds(value),
                slowdown,
                axis.text(at_s),
            )
        )
    titles = ("Operation", "Minutes", "Usual", "Slowest minute", "Slowdown", "When (UTC)")
    columns = tuple(Column(title, 0 < index < 5) for index, title in enumerate(titles))
    return TableBlock("The slowest minutes", columns, tuple(rows), folded=True)


def four_hours(history: ProbeHistory, target: ProbeTargetHistory) -> Figure | None:
    """Median and 95th percentile of every four hours; None of a shorter history."""
    shown = [one for one in target.series if one.spans]
    if not shown:
        return None
    axis = axis_of(history)
    rows = [ClockRow(one.operation.value, one.usual_s, _spans(one, axis)) for one in shown]
    return Figure(
        name="four-hours",
        title="Median and 95th percentile of four hours",
        finding=_finding(shown, axis),
        reading="Solid: the 95th percentile (5 % of the operations took longer); dashed: the "
        "median; both of response times of four hours, right within 1 %. Scales are logarithmic."
        + (
            " The right axis counts how many times the usual it is, with one range for all rows."
            if all(one.usual_s for one in shown)
            else ""
        ),
        spec=theme.whole(spec(rows, axis, [])),
        table=_span_table(shown, axis),
    )


def _spans(series: ProbeSeries, axis: ClockAxis) -> list[RowMarks]:
    def at(begin_s: float) -> float:
        return min(max(begin_s + _SPAN_S / 2, axis.begin_s), axis.end_s)

    p95 = [(at(one.begin_s), one.p95_s) for one in series.spans]
    p50 = [(at(one.begin_s), one.p50_s) for one in series.spans]
    return [
        RowMarks(p50, MUTED, 1.4, is_line=True, gap_s=_SPAN_GAP_S, dash=(4, 3)),
        RowMarks(p95, BLUE, 1.8, is_line=True, gap_s=_SPAN_GAP_S),
        RowMarks(p95, BLUE, 3.4),
    ]


def _finding(shown: Sequence[ProbeSeries], axis: ClockAxis) -> str:
    """The slowest four hours, and the largest change of level."""
    worst = max(
        ((span, one) for one in shown for span in one.spans),
        key=lambda pair: pair[0].p95_s / (pair[1].usual_s or 1.0),
    )
    span, series = worst
    usual = f", {times(span.p95_s / series.usual_s)} the usual time" if series.usual_s else ""
    text = (
        f"The slowest four hours began at {axis.text(max(0.0, span.begin_s))} UTC: 5 % of the "
        f"{series.operation.value} took longer than {quantity.seconds(span.p95_s)}{usual}."
    )
    changes = [(change, one) for one in shown for change in one.changes]
    if not changes:
        return text
    change, series = max(
        changes,
        key=lambda pair: max(
            pair[0].after_s / pair[0].before_s, pair[0].before_s / pair[0].after_s
        ),
    )
    return (
        f"{series.operation.value} changed its level at {axis.text(change.at_s)} UTC: medians of "
        f"{quantity.seconds(change.before_s)} before and {quantity.seconds(change.after_s)} after. "
        f"{text}"
    )


def _span_table(shown: Sequence[ProbeSeries], axis: ClockAxis) -> TableBlock:
    """The slowest parts of all operations."""
    pairs = [(span, one) for one in shown for span in one.spans]
    pairs.sort(key=lambda pair: -pair[0].p95_s / (pair[1].usual_s or 1.0))
    rows = tuple(
        (
            axis.text(span.begin_s),
            one.operation.value,
            quantity.count(span.samples),
            quantity.seconds(span.p50_s),
            quantity.seconds(span.p95_s),
            times(span.p50_s / one.usual_s) if one.usual_s else "–",
            times(span.p95_s / one.usual_s) if one.usual_s else "–",
        )
        for span, one in pairs[:_MOST_ROWS]
    )
    titles = (
        "From (UTC)", "Operation", "Measured", "Median", "95th percentile", "Median by usual",
        "95th by usual",
    )  # fmt: skip
    columns = tuple(Column(title, index > 1) for index, title in enumerate(titles))
    return TableBlock("The slowest first", columns, rows, folded=True)
