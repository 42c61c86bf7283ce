"""The end of a session of health in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from venturi.model.health import Health, HealthState
from venturi.report import quantity
from venturi.report.health import state_of
from venturi.report.printer import Printer

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {
    HealthState.FAILED: "bold red",
    HealthState.OK: "bold green",
    HealthState.WATCH: "bold yellow",
    HealthState.FAIL: "bold red",
    HealthState.NOISY: "bold yellow",
    HealthState.NEW: "bold",
    HealthState.NOT_RUN: "bold",
}


def print_health(health: Health, console: Console, page: str) -> None:
    """The parts, the figures, what is broken, and where the page is."""
    out = Printer(console)
    out.line((f" health {health.suite}", "bold"), f"   {quantity.seconds(health.seconds)}")
    out.line()
    rows = [
        (
            row.metric,
            quantity.with_unit(row.value, row.unit),
            quantity.with_unit(row.reference.value, row.unit) if row.reference else "-",
            row.state.value,
        )
        for row in health.rows
    ]
    if rows:
        out.table(("FIGURE", "VALUE", "BASELINE", "STATE"), rows, left=("STATE",))
        out.line()
    state = state_of(health)
    out.line((f" {state.value}", _STYLES[state]))
    if health.noise:
        out.wrapped("- ", f"noisy: not comparable; {health.noise}")
    for part in health.parts:
        out.wrapped(f"- {part.name}: ", f"{part.state.value}; {part.says}")
    for one in health.consistency:
        if not one.holds:
            out.wrapped("- broken: ", f"{one.what}; it was {one.says}")
    for drift in health.drift:
        out.wrapped("- set otherwise: ", f"{drift.key}: {drift.before} -> {drift.now}")
    out.line()
    out.unbroken(" page    ", page)
