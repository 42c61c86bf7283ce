"""Lists on the terminal: the library, the archive, and what a place is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from venturi.report import quantity
from venturi.report.phase import named
from venturi.report.printer import Printer
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from rich.console import Console

    from venturi.model.campaign import Campaign
    from venturi.model.workload import Workload

_MOST_HINTS = 3
_TITLE = re.compile(r".{24,}?(?=[.:](?: |$))")
"""The first thing that a text says; a bare name is none."""
_MAY_GO = ("STARTED (UTC)", "REPS", "RANKS")
"""Columns of the archive that the screen may be too narrow for."""
_PLACE, _LAST = "DIRECTORY", "LEFT"
_ARCHIVE = ("RUN", "STARTED (UTC)", "RANKS", "REPS", "ON", "VERDICT", _LAST)
_LEFT = ("STARTED (UTC)", "ON", "VERDICT", _PLACE, _LAST)
_LEAST_PLACE = 16
"""Characters of a directory that are shown at least."""


def print_library(
    workloads: Sequence[Workload],
    campaigns: Sequence[Campaign],
    console: Console,
    whole: bool = False,
) -> None:
    """The workloads and campaigns that ship: the first sentence on each, or all of its text."""
    out = Printer(console)
    for kind, shipped in (("WORKLOAD", workloads), ("CAMPAIGN", campaigns)):
        titles = (kind, "WHAT IT DOES")
        texts = [(one.name, " ".join(one.about.split())) for one in shipped]
        rows = texts if whole else [(name, _title(text)) for name, text in texts]
        out.table(titles, rows, titles, prose=True)
        out.line()
    out.line(" venturi library show NAME   venturi plan NAME   venturi run NAME -d DIR")
    out.line(" venturi campaign run NAME -d DIR")


def _title(text: str) -> str:
    found = _TITLE.match(text)
    return found[0] if found else text


def print_archive(
    entries: Sequence[Mapping[str, Any]],
    store: str,
    concluded: Sequence[str],
    console: Console,
    older: int = 0,
) -> None:
    """The runs of the archive, and those that were killed and are concluded now.

    `older`: how many are not shown.
    """
    out = Printer(console)
    for name in concluded:
        out.line(f" {name}: its command was killed; what it had measured is saved")
    if not entries:
        out.line(f" no runs in {store} yet")
        out.line(" venturi run quick -d DIR makes the first")
        return
    columns = _columns_of(entries, out)
    cells = list(zip(*columns, strict=True))
    out.table(cells[0], cells[1:], left=_LEFT)
    if older:
        out.line(f" and {quantity.counted(older, 'older run')}: --all")
    with_files = [entry["id"] for entry in entries if entry["left"]]
    for name in with_files[:_MOST_HINTS]:
        out.line(f" venturi results rm --files {name}   removes its files")


def _columns_of(entries: Sequence[Mapping[str, Any]], out: Printer) -> list[tuple[str, ...]]:
    """The columns of the archive that fit on the screen, each with its title first.

    Ids stay whole, because people copy them. They begin with the time.
    """
    rows = [
        (
            str(entry["id"]),
            str(entry["started"])[:16].replace("T", " "),
            quantity.count(entry["ranks"]),
            quantity.count(entry["repetitions"]),
            str(entry.get("file_system", "")),
            named(str(entry["level"]), [entry["labels"]] if entry.get("labels") else []),
            quantity.counted(entry["left"], "file") if entry["left"] else "",
        )
        for entry in entries
    ]
    columns = [column for column in zip(_ARCHIVE, *rows, strict=True) if any(column[1:])]
    places = [str(entry.get("directory", "")) for entry in entries]
    wanted = min(_LEAST_PLACE, max(map(len, places), default=0))
    needed = wanted + 1 if wanted else 0
    for title in _MAY_GO:
        if out.room(columns) < needed:
            columns = [column for column in columns if column[0] != title]
    room = out.room(columns) - 1
    if wanted and room >= wanted:
        last = next((i for i, column in enumerate(columns) if column[0] == _LAST), len(columns))
        columns.insert(last, (_PLACE, *(_end_of(place, room) for place in places)))
    return columns


def _end_of(path: str, most: int) -> str:
    """A path, or as much of its end as there is room for."""
    return path if len(path) <= most else f"...{path[len(path) - most + 3 :]}"


def _remark(entry: Mapping[str, Any]) -> str:
    """Where something is missing and why, with the libraries or the options of what is built."""
    options = [
        f"{option['name']}={option['default']}" if option["default"] else str(option["name"])
        for option in entry.get("options", [])
    ]
    told = "options: " + ", ".join(options) if options else ", ".join(entry.get("libraries", []))
    return "; ".join(text for text in (str(entry["reason"]), told) if text)


def print_doctor(findings: Mapping[str, Any], console: Console, units: Units) -> None:
    """What a place is, in the order in which one asks."""
    out = Printer(console)
    place, here = findings["directory"], findings["host"]
    out.line((" directory   ", "bold"), str(place["path"]))
    if place["usable"]:
        system = place["file_system"]
        free = quantity.size(system["free_bytes"], units)
        total = quantity.size(system["total_bytes"], units)
        counted = quantity.count(system["free_inodes"])
        inodes = f", {counted} inodes free" if system["free_inodes"] else ""
        out.line(f"             {system['type']} from {system['source']} on {system['mount']}")
        out.line(f"             {free} of {total} free{inodes}")
    else:
        out.line(("             not usable: ", "bold"), str(place["problem"]))
    memory = quantity.size(here["memory_bytes"], units)
    out.line((" host        ", "bold"), f"{here['name']}: {here['system']}, Linux {here['kernel']}")
    cores = quantity.counted(here["cores"], "core")
    out.line(f"             {cores}, {here['cpu']}, {memory} memory")
    for key in ("engines", "interfaces"):
        out.line((f" {key}", "bold"))
        rows = [
            (f"  {entry['name']}", "built" if entry["built"] else "not built", _remark(entry))
            for entry in findings[key]
        ]
        out.table(("", "", ""), rows, left=("",), prose=True)
    missing = [f"{tool['name']} ({tool['use']})" for tool in findings["tools"] if not tool["path"]]
    for place, text in enumerate(missing):
        out.wrapped("not found   " if place == 0 else " " * 12, text)
