"""The end of a capture on the terminal: what was recorded, what was not, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from venturi.report import quantity
from venturi.report.layer_name import LAYER_NAMES
from venturi.report.printer import Printer
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from rich.console import Console

_TITLES = {
    "writes": ("WRITES", "WRITTEN"),
    "reads": ("READS", "READ"),
    "copies": ("COPIES", "COPIED"),
}
"""Calls that move data, and what they moved; copies in the kernel, by few programs."""


def print_capture(summary: Mapping[str, Any], console: Console, units: Units = Units.IEC) -> None:
    """Calls and bytes per layer, what was not seen, and the next command."""
    out = Printer(console)
    ranks = f"{quantity.counted(summary['ranks'], 'rank')}, " if summary["ranks"] else ""
    what = (
        f"{ranks}{_counted(summary['processes'], 'process', 'processes')}, "
        f"{quantity.counted(summary['files'], 'file')}, {quantity.seconds(summary['seconds'])}"
    )
    out.line()
    out.line((f" {Path(summary['folder']).name}", "bold"), f"   {what}")
    layers = summary["layers"]
    kinds = [kind for kind in _TITLES if kind != "copies" or any(row[kind] for row in layers)]
    rows = [
        (
            LAYER_NAMES.get(row["layer"], row["layer"]),
            *(cell for kind in kinds for cell in _cells(row, kind, units)),
            quantity.count(row["others"]),
        )
        for row in layers
    ]
    if rows:
        titles = [title for kind in kinds for title in _TITLES[kind]]
        out.table(("LAYER", *titles, "OTHER CALLS"), rows)
    else:
        out.line(" no I/O was recorded")
    for text in _remarks(summary, units):
        out.wrapped("- ", text)
    folder = Path(summary["folder"])
    shown = folder.name if folder.parent == Path.cwd() else str(folder)
    # A line that is to be copied is not wrapped.
    console.print(f" next    venturi derive {shlex.quote(shown)}", markup=False, soft_wrap=True)


def _cells(row: Mapping[str, Any], kind: str, units: Units) -> tuple[str, str]:
    return quantity.count(row[kind]), quantity.size(row[f"bytes_{kind}"], units)


def _counted(value: int, one: str, many: str) -> str:
    return f"{quantity.count(value)} {one if value == 1 else many}"


def _remarks(summary: Mapping[str, Any], units: Units) -> list[str]:
    """What the numbers do not hold."""
    texts = [f"not seen: {gap}" for gap in summary["gaps"]]
    texts += summary["remarks"]
    if summary["without_end"]:
        count = _counted(summary["without_end"], "process", "processes")
        texts.append(
            f"{count} without an end that was seen: killed, ended by a system call of its own (as "
            "programs in Go end), or still running; all calls that were seen till then are there"
        )
    left_out = summary["left_out"]
    if left_out["operations"]:
        texts.append(
            f"left out: {quantity.count(left_out['operations'])} calls "
            f"({quantity.size(left_out['bytes'], units)}) on system directories, pipes, sockets "
            "and what --only and --skip exclude; --all-paths keeps them"
        )
    return texts
