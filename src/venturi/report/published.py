"""Results of others on the terminal: what an import found, and lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from venturi.model.published import Io500Result
from venturi.model.review import ComparedValue
from venturi.report import quantity
from venturi.report.printer import Printer

if TYPE_CHECKING:
    from rich.console import Console

_MOST_SHOWN = 20


def name_of(result: Io500Result) -> str:
    """Institution, system and file system where they are known, else where it was found."""
    if result.format == "venturi":
        return f"run {result.key} on {result.filesystem}"
    known = [part for part in (result.institution, result.system, result.filesystem) if part]
    return ", ".join(known) or result.source.removesuffix("/result_summary.txt")


def print_import(
    results: Sequence[Io500Result],
    new: int,
    refused: Sequence[str],
    console: Console,
) -> None:
    """What came in, whether its numbers hold, and what its readers must know."""
    out = Printer(console)
    for result in results[:_MOST_SHOWN]:
        total = result.recomputed.score
        shown = f"{total:.2f}" if total is not None else "no score"
        holds = "as published" if result.match else "NOT as published"
        out.line((f" {shown:>10}  ", "bold"), f"{name_of(result)} ({holds})")
        for flag in sorted(result.flags, key=lambda one: not one.excludes):
            mark = "not ranked: " if flag.excludes else ""
            out.wrapped("              ", f"{mark}{flag.what}")
    if len(results) > _MOST_SHOWN:
        out.line(f" ... and {quantity.counted(len(results) - _MOST_SHOWN, 'more result')}")
    for sentence in refused[:_MOST_SHOWN]:
        out.wrapped("   refused ", sentence)
    matching = sum(result.match for result in results)
    flags = Counter(name for result in results for name in {flag.id for flag in result.flags})
    out.line(
        f" {quantity.counted(len(results), 'result')}, {new} of them new; the scores of {matching} "
        "follow from their phases"
    )
    excluded = sum(not result.ranked for result in results)
    if excluded:
        out.line(f" {quantity.counted(excluded, 'result')} not ranked, because a flag excludes it")
    for name, count in flags.most_common():
        out.line(f"   {name}: {count}")
    if results:
        out.line(" venturi results rank   lists them")


def print_ranking(
    rows: Sequence[tuple[int | None, float, Io500Result]], unit: str, by: str, console: Console
) -> None:
    """A list: place, number, who, and how large; the place of a run of our own in brackets."""
    out = Printer(console)
    if not rows:
        out.line(" no result to rank; venturi results import PATH brings some")
        return
    title = f"{by} ({unit})" if unit else by
    titles = ("#", title, "NODES", "PROCS", "YEAR", "REMARKS", "RESULT")
    cells = [
        (
            _place_text(place, result),
            f"{value:,.2f}".replace(",", " "),
            str(result.nodes or ""),
            str(result.procs or ""),
            str(result.year or ""),
            str(len(result.flags) or ""),
            name_of(result),
        )
        for place, value, result in rows
    ]
    out.table(titles, cells, left=("RESULT",), prose=True)


def _place_text(place: int | None, result: Io500Result) -> str:
    if place is None:
        return "-"
    return f"({place})" if result.format == "venturi" else str(place)


def print_beside(
    first: Io500Result, second: Io500Result, rows: Sequence[ComparedValue], console: Console
) -> None:
    """Two results phase by phase, in all and for each client process."""
    out = Printer(console)
    for mark, result in (("A", first), ("B", second)):
        out.wrapped(f" {mark}  ", f"{name_of(result)}: {_size_text(result)}")
    cells = [
        (
            row.name,
            *(quantity.number(value) if value is not None else "-" for value in (row.a, row.b)),
            row.unit,
            *(f"{quantity.number(r)} x" if r is not None else "-" for r in (row.ratio, row.each)),
        )
        for row in rows
    ]
    titles = ("PHASE", "A", "B", "UNIT", "A/B", "A/B PER PROCESS")
    out.table(titles, cells, left=("UNIT",))
    for mark, result in (("A", first), ("B", second)):
        for flag in result.flags:
            out.wrapped(f" {mark}: ", flag.what)
    out.line()


def _size_text(result: Io500Result) -> str:
    processes = quantity.counted(result.procs, "process") if result.procs else "processes unknown"
    nodes = quantity.counted(result.nodes, "node") if result.nodes else "nodes unknown"
    return f"{processes.replace('processs', 'processes')} on {nodes}"
