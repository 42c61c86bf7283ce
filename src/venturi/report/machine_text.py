"""A machine's profile on the terminal: a few points of it, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from venturi.model.interface import DEFAULT_INTERFACE
from venturi.model.machine import Machine
from venturi.model.profile import FileSharing, MeasuredCurve, Order
from venturi.report import quantity
from venturi.report.machine import names_table
from venturi.report.printer import Printer
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from rich.console import Console

_KIB, _MIB = 1024, 1024**2


def print_profile(machine: Machine, path: str, console: Console, units: Units = Units.IEC) -> None:
    """What small and large requests take, and names; then the next command."""
    profile = machine.profile
    assert profile is not None
    out = Printer(console)
    points = sum(len(curve.points) for curve in profile.curves)
    out.line()
    out.line(
        (f" {machine.name}", "bold"),
        f"   {profile.file_system.type}, {quantity.counted(points, 'point')}, "
        f"{quantity.seconds(profile.seconds)}",
    )
    out.line()
    ranks = sorted({point.ranks for curve in profile.curves for point in curve.points})
    shown = list(dict.fromkeys((ranks[0], ranks[-1])))
    titles = ["OF EACH RANK", *(f"{n} x {size}" for n in shown for size in ("4 KiB", "1 MiB"))]
    rows = [
        (_name(curve), *(_cell(curve, n, size) for n in shown for size in (4 * _KIB, _MIB)))
        for curve in profile.curves
        if _is_shown(curve)
    ]
    out.table(titles, [row for row in rows if any(cell != "-" for cell in row[1:])])
    out.line()
    names = names_table(profile)
    if names.rows:
        titles = [column.title.upper() for column in names.columns]
        out.table(titles, names.rows, left=("THROUGH", "DIRECTORY"))
        out.line()
    if not profile.complete:
        out.wrapped("- ", "the coarse grid was not finished: give it more --budget, or --resume")
    for note in profile.notes:
        out.wrapped("- ", note)
    console.print(f" next    venturi predict WORKLOAD --on {path}", markup=False, soft_wrap=True)
    console.print(f" report  venturi report {path}", markup=False, soft_wrap=True)


def _is_shown(curve: MeasuredCurve) -> bool:
    """Data through POSIX; shared files only where the ranks take turns."""
    access = curve.access
    if access.interface is not DEFAULT_INTERFACE or access.order is Order.ITEM:
        return False
    return access.place is FileSharing.OWN or access.order is Order.STRIDED


def _name(curve: MeasuredCurve) -> str:
    words = curve.access.text().split()
    return " ".join(word for word in words if word not in ("own", "sequential"))


def _cell(curve: MeasuredCurve, ranks: int, size: int) -> str:
    point = next((p for p in curve.points if p.ranks == ranks and p.bytes == size), None)
    return quantity.seconds(point.seconds) if point else "-"
