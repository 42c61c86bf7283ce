"""A result on a terminal: whose figures they are, and every metric with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from venturi.model.result import Result
from venturi.report import quantity
from venturi.report.phase import interval_title, spread, with_coverage
from venturi.report.printer import Printer
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from rich.console import Console


def print_result(result: Result, console: Console, units: Units, place: str) -> None:
    """What ran, where its figures come from, and the figures."""
    out = Printer(console)
    ranks = quantity.counted(result.ranks, "rank")
    out.line((f" {result.name}", "bold"), f" {result.step} on {result.machine}, {ranks}")
    source = result.source
    version = f" {source.version}" if source.version else ""
    out.line(f" {source.kind.value} of {source.tool}{version}, {result.started[:16]} UTC")
    if result.parameters:
        said = ", ".join(f"{name} {value}" for name, value in result.parameters.items())
        out.wrapped("", said)
    out.line((f" {result.level}", "bold"))
    for reason in result.reasons:
        out.wrapped("- ", reason)
    out.line()
    rows = []
    spreads = {name: spread(measure.values) for name, measure in result.metrics.items()}
    for name, found in spreads.items():
        measure = result.metrics[name]
        low, high = (
            quantity.with_unit(v, measure.unit, units, measure.of) for v in (found.low, found.high)
        )
        rows.append(
            (
                name,
                quantity.with_unit(found.median, measure.unit, units, measure.of),
                with_coverage(f"{low} to {high}", found.coverage) if found.n > 1 else "–",
                quantity.count(found.n),
            )
        )
    title = interval_title(one.coverage for one in spreads.values() if one.n > 1)
    out.table(("METRIC", "MEDIAN", title.upper(), "REPETITIONS"), rows)
    out.line()
    out.line(f" {place}")
