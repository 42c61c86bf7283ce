"""Two runs of one workload on a terminal: metrics side by side, and what else differed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from venturi.model.comparison import Change, ComparisonRow, Measured, RunComparison
from venturi.report import quantity
from venturi.report.printer import Printer
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from rich.console import Console

_TITLES = ("METRIC", "", "MEDIAN", "INTERVAL", "REPETITIONS")


def print_run_comparison(
    comparison: RunComparison, console: Console, units: Units = Units.IEC
) -> None:
    """The comparison: headline, metrics with their intervals, and differing surroundings."""
    out = Printer(console)
    ranks = quantity.counted(comparison.ranks, "rank")
    out.line((f" {comparison.name}", "bold"), f" on {ranks}")
    out.line(f" {comparison.headline}")
    out.line()
    out.line(f" first   {comparison.first}")
    out.line(f" second  {comparison.second}")
    out.line()
    rows = [line for row in comparison.rows for line in _lines(row, units)]
    out.table(_TITLES, rows, left=("",))
    for row in comparison.rows:
        if row.why:
            out.wrapped("- ", f"{row.name}: {row.why}")
    if any(row.change is Change.UNSURE for row in comparison.rows):
        out.wrapped("- ", "unsure: fewer than six repetitions have no interval of 95 %")
    if comparison.differences:
        out.line()
        out.line((" Not the same", "bold"))
        for other in comparison.differences:
            out.wrapped("- ", f"{other.what}: {other.first}, then {other.second}")


def _lines(row: ComparisonRow, units: Units) -> list[tuple[str, ...]]:
    """Three lines of the table: both runs, and the second by the first."""
    ratio = span = "–"
    if row.ratio is not None:
        ratio = f"{row.ratio:.2f}"
    if row.low is not None and row.high is not None:
        span = f"{row.low:.2f} to {row.high:.2f}"
    return [
        (row.name, "first", *_measured(row.first, row.unit, units)),
        ("", "second", *_measured(row.second, row.unit, units)),
        ("", "ratio", ratio, span, row.change.value),
    ]


def _measured(value: Measured, unit: str, units: Units) -> tuple[str, str, str]:
    median, low, high = (
        quantity.with_unit(v, unit, units) for v in (value.median, value.low, value.high)
    )
    return median, f"{low} to {high}", quantity.count(value.n)
