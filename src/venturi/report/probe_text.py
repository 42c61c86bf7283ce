"""A probe on a terminal: what it costs, and what users feel now."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from venturi.model.probe import (
    ProbeCheck,
    ProbeCost,
    ProbeRow,
    ProbeStatus,
    ProbeTargetStatus,
    learned_hours,
)
from venturi.report import quantity
from venturi.report.printer import Printer
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from rich.console import Console

_BARS = "▁▂▃▄▅▆▇█"
_GAP = " "
_DAYS = 60
_STYLES = {
    "normal": "green",
    "busy": "yellow",
    "slow": "bold yellow",
    "very slow": "bold red",
    "stalled": "bold red",
    "STALLED": "bold red",
    "cache?": "bold cyan",
}


def print_check(check: ProbeCheck, console: Console, units: Units = Units.IEC) -> None:
    """What watching each target costs it."""
    out = Printer(console)
    for cost in check.costs:
        target = cost.target
        out.line((f" {target.name}", "bold"), f"   {target.directory}   {cost.filesystem}")
        rate = quantity.number(cost.operations_per_s)
        a_day = quantity.size(cost.written_bytes_per_day, units)
        total = quantity.size(cost.written_bytes_per_day * _DAYS, units)
        share = cost.space_bytes / cost.free_bytes if cost.free_bytes else math.inf
        space = (
            f"{quantity.size(cost.space_bytes, units)} in {quantity.counted(cost.files, 'file')}"
        )
        out.wrapped("operations  ", f"{rate} per second, one at a time for each kind")
        out.wrapped("moved       ", f"{a_day} a day written and as much read; {total} in 60 days")
        out.wrapped("space       ", f"{space}, {quantity.percent(share)} of what is free")
        out.wrapped(
            "local disk  ", f"{quantity.size(cost.local_bytes, units)} of rings in the store"
        )
        if target.server is not None:
            out.wrapped("server      ", f"{target.server.name}, alone")
            out.wrapped("first start ", "; ".join(cost.placement))
        for operation, calls in cost.calls.items():
            out.wrapped(f"{operation.value:<10}  ", ", ".join(calls))
        for text in _check_warnings(cost):
            out.wrapped("- ", text, "bold yellow")
        out.line()
    for text in check.remarks:
        out.wrapped("- ", text, "bold yellow")


def _check_warnings(cost: ProbeCost) -> list[str]:
    found = []
    if cost.shares_disk:
        found.append("the store is on this file system, too: rings belong on another, local disk")
    if cost.needs_consent:
        found.append("the files take more than 1 % of the free space: a start asks for consent")
    return found


def print_status(status: ProbeStatus, console: Console) -> None:
    """A row for each operation of each target."""
    out = Printer(console)
    titles = ("TARGET", "OP", "NOW", "BASELINE", "60 s", "10 m", "4 h", "P95 4h", "ERR", "")
    rows = [
        (target.target.name, *_cells(row), row.word)
        for target in status.targets
        for row in target.rows
    ]
    for target in status.targets:
        for text in _worker_sentences(target):
            out.wrapped("- ", text)
    if rows:
        out.table(titles, rows, left=("OP", ""))
        out.line()
        out.line((" last 30 minutes, medians from lowest to highest on a logarithmic scale", "dim"))
        for target in status.targets:
            for row in target.rows:
                lead = f" {target.target.name} {row.operation.value} "
                style = _STYLES.get(row.word, "")
                out.line(f"{lead:<24}", (sparkline(row.minutes_s), style), f" {_range_of(row)}")
    for target in status.targets:
        for text in target.warnings:
            out.wrapped("- ", text, "bold yellow")


def _cells(row: ProbeRow) -> tuple[str, ...]:
    now = "-" if row.last_s is None else quantity.seconds(row.last_s)
    if row.in_flight_s > 1 and row.word == "STALLED":
        now = f"hung {quantity.seconds(row.in_flight_s)}"
    baseline = learned_hours(row.learning_hours or 0)
    if row.expected is not None:
        baseline = quantity.seconds(row.expected.value_s)
    slowdowns = ["-" if one.slowdown is None else _times(one.slowdown) for one in row.windows]
    p95 = "-" if row.p95_4h_s is None else quantity.seconds(row.p95_4h_s)
    return (row.operation.value, now, baseline, *slowdowns, p95, quantity.count(row.errors_4h))


def _times(slowdown: float) -> str:
    return ">1000x" if slowdown > 1000 else f"{slowdown:.{1 if slowdown < 100 else 0}f}x"


def sparkline(values_s: list[float | None]) -> str:
    """Bars of equal steps of the logarithm; one height where all values are about the same."""
    known = [value for value in values_s if value is not None and value > 0]
    if not known:
        return ""
    low = math.log(min(known))
    step = max(math.log(max(known)) - low, math.log(2)) / (len(_BARS) - 1)
    return "".join(
        _GAP if not value else _BARS[round((math.log(value) - low) / step)] for value in values_s
    )


def _range_of(row: ProbeRow) -> str:
    known = [value for value in row.minutes_s if value is not None]
    if not known:
        return "no samples"
    return f"{quantity.seconds(min(known))} .. {quantity.seconds(max(known))}"


def _worker_sentences(target: ProbeTargetStatus) -> list[str]:
    found = []
    for worker in target.workers:
        name = f"{target.target.name} {worker.kind.value}"
        if worker.state == "preparing":
            found.append(f"{name}: preparing, {quantity.percent(worker.prepared)} done")
        elif not worker.is_alive:
            found.append(f"{name}: no worker is running ({worker.state.replace('_', ' ')})")
    return found


def print_baseline(status: ProbeStatus, console: Console) -> None:
    """Expected values of each operation, and the reference beside them."""
    out = Printer(console)
    rows = []
    for target in status.targets:
        for row in target.rows:
            baseline, samples, since = learned_hours(row.learning_hours or 0), "-", "-"
            if row.expected is not None:
                baseline = quantity.seconds(row.expected.value_s)
                samples = quantity.count(row.expected.samples)
                since = quantity.seconds((row.expected.end_ns - row.expected.begin_ns) / 1e9)
            reference = "-" if row.reference is None else quantity.seconds(row.reference.value_s)
            drift = "-" if row.drift is None else f"{row.drift:.2f}"
            name = target.target.name
            rows.append((name, row.operation.value, baseline, samples, since, reference, drift))
    titles = ("TARGET", "OP", "BASELINE", "SAMPLES", "OVER", "REFERENCE", "RATIO")
    out.table(titles, rows, left=("OP",))
    for target in status.targets:
        for text in target.warnings:
            out.wrapped("- ", text, "bold yellow")
