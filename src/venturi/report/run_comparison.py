"""Runs that did the same, on a terminal: what differs around them, then metrics side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from venturi.model.comparison import (
    ComparisonRow,
    ComparisonSet,
    Difference,
    MedianInterval,
    MetricChange,
    RunComparison,
)
from venturi.report import quantity
from venturi.report.printer import Printer
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from rich.console import Console

_TITLES = ("METRIC", "", "MEDIAN", "INTERVAL", "VALUES", "CHANCE")
MOST_POINTS = 60


def print_run_comparison(
    comparison: RunComparison, console: Console, units: Units = Units.IEC
) -> None:
    """The comparison of two runs: headline, differing surroundings, metrics with intervals."""
    out = Printer(console)
    ranks = quantity.counted(comparison.ranks, "rank")
    out.line((f" {comparison.name}", "bold"), f" on {ranks}")
    out.wrapped("", comparison.headline)
    out.line()
    out.line(f" first   {comparison.first}")
    out.line(f" second  {comparison.second}")
    _print_differences(out, comparison.differences)
    _print_rows(out, comparison.rows, units)


def print_set_comparison(found: ComparisonSet, console: Console, units: Units = Units.IEC) -> None:
    """The comparison of two sets of runs, point by point; those that differ first."""
    out = Printer(console)
    out.line((f" {found.first} and {found.second}", "bold"))
    out.wrapped("", found.headline)
    _print_differences(out, found.differences)
    parts = sorted(found.parts, key=lambda part: not any(row.is_significant for row in part.rows))
    for part in parts[:MOST_POINTS]:
        said = ", ".join(f"{name} {value}" for name, value in part.parameters.items())
        out.line()
        out.line((f" {part.name}", "bold"), f" on {quantity.counted(part.ranks, 'rank')}")
        if said:
            out.wrapped("", said)
        _print_rows(out, part.rows, units)
    if len(parts) > MOST_POINTS:
        out.line(f" and {len(parts) - MOST_POINTS} more points; all of them: --json")
    for side, only in ((found.first, found.only_first), (found.second, found.only_second)):
        if only:
            out.wrapped("- ", f"only in {side}: {quantity.counted(len(only), 'point')}: {only[0]}")


def _print_differences(out: Printer, differences: Sequence[Difference]) -> None:
    if differences:
        out.line()
        out.line((" Not the same", "bold"))
        for other in differences:
            out.wrapped("- ", f"{other.what}: {other.first}, then {other.second}")


def _print_rows(out: Printer, rows: Sequence[ComparisonRow], units: Units) -> None:
    out.line()
    lines = [line for row in rows for line in cells_of(row, units)]
    out.table(_TITLES, lines, left=("",))
    for row in rows:
        out.wrapped("- ", f"{row.name}: {verdict(row)}")
    if any(row.change is MetricChange.UNSURE for row in rows):
        out.wrapped("- ", "unsure: fewer than four values a side cannot show anything")


def cells_of(row: ComparisonRow, units: Units) -> list[tuple[str, ...]]:
    """Three lines of the table: both runs, and the second by the first."""
    ratio = span = "–"
    if row.ratio is not None:
        ratio = f"{row.ratio:.3g}"
    if row.low is not None and row.high is not None:
        span = f"{row.low:.3g} to {row.high:.3g}"
    p_value = (
        "–"
        if row.change in (MetricChange.UNLIKE, MetricChange.UNSURE)
        else _p_value_text(row.p_value)
    )
    return [
        (row.name, "first", *_measured(row.first, row, units), ""),
        ("", "second", *_measured(row.second, row, units), ""),
        ("", "ratio", ratio, span, "", p_value),
    ]


def verdict(row: ComparisonRow) -> str:
    """What a row says, in a few words."""
    if row.change is MetricChange.SAME and row.detectable:
        return f"no evidence (could detect ≥ {quantity.percent(row.detectable)})"
    if row.change is MetricChange.SMALL:
        return "differs, by less than 5 %"
    if row.why:
        return f"not compared: {row.why}"
    return f"{row.change.value}, which is WORSE" if row.is_worse else row.change.value


def _p_value_text(value: float) -> str:
    return f"{value:.2g}" if value >= 0.001 else "< 0.001"


def _measured(value: MedianInterval, row: ComparisonRow, units: Units) -> tuple[str, str, str]:
    median, low, high = (
        quantity.with_unit(v, row.unit, units, row.of)
        for v in (value.median, value.low, value.high)
    )
    return median, f"{low} to {high}", quantity.count(value.n)
