"""Lists on the terminal: the library, the archive, and what a place is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from venturi.model.workload import Workload
from venturi.report import quantity
from venturi.report.quantity import Units


def _table(*titles: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for index, title in enumerate(titles):
        last = index == len(titles) - 1
        table.add_column(title, overflow="fold", no_wrap=not last, ratio=1 if last else None)
    return table


def print_library(workloads: Sequence[Workload], console: Console) -> None:
    """The workloads that ship, with a sentence each."""
    table = _table("WORKLOAD", "WHAT IT DOES")
    for workload in workloads:
        table.add_row(workload.name, " ".join(workload.about.split()))
    console.print(table)
    console.print("\nventuri library show NAME   venturi plan NAME   venturi run NAME -d DIR")


def print_archive(
    entries: Sequence[Mapping[str, Any]], store: str, concluded: Sequence[str], console: Console
) -> None:
    """The runs of the archive, and those that were killed and are concluded now."""
    for name in concluded:
        console.print(f"{name}: its command was killed; what it had measured is saved")
    if not entries:
        console.print(f"no runs in {store} yet\nventuri run quick -d DIR makes the first")
        return
    table = _table("RUN", "STARTED (UTC)", "RANKS", "REPS", "VERDICT", "LEFT")
    for entry in entries:
        left = f"{entry['left']} files" if entry["left"] else ""
        started = str(entry["started"])[:16].replace("T", " ")
        table.add_row(
            entry["id"],
            started,
            str(entry["ranks"]),
            str(entry["repetitions"]),
            str(entry["level"]),
            left,
        )
    console.print(table)
    with_files = [entry["id"] for entry in entries if entry["left"]]
    for name in with_files[:3]:
        console.print(f"venturi results rm --files {name}   removes its files")


def print_doctor(findings: Mapping[str, Any], console: Console, units: Units) -> None:
    """What a place is, in the order in which one asks."""
    place, here = findings["directory"], findings["host"]
    console.print(f"[bold]directory[/]  {place['path']}")
    if place["usable"]:
        system = place["file_system"]
        free = quantity.size(system["free_bytes"], units)
        total = quantity.size(system["total_bytes"], units)
        console.print(f"           {system['type']} from {system['source']} on {system['mount']}")
        console.print(f"           {free} of {total} free, {system['free_inodes']} inodes free")
    else:
        console.print(f"           [bold]not usable:[/] {place['problem']}")
    memory = quantity.size(here["memory_bytes"], units)
    console.print(f"[bold]host[/]       {here['name']}: {here['system']}, Linux {here['kernel']}")
    console.print(f"           {here['cores']} cores, {here['cpu']}, {memory} memory")
    for title, key in (("engines", "engines"), ("interfaces", "interfaces")):
        console.print(f"[bold]{title}[/]")
        table = _table("", "", "")
        table.show_header = False
        for entry in findings[key]:
            state = "built" if entry["built"] else "not built"
            table.add_row(f"  {entry['name']}", state, entry["reason"])
        console.print(table)
    missing = [tool["name"] for tool in findings["tools"] if not tool["path"]]
    if missing:
        console.print(f"[bold]not found[/]  {', '.join(missing)}")
