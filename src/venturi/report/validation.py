"""The page of a validation: errors over applications and file systems, and where they come from."""

from __future__ import annotations

import statistics

from venturi.model.validation import Validation, ValidationCell
from venturi.report import quantity
from venturi.report.block import (
    Block,
    Chapter,
    Column,
    Facts,
    Headline,
    Page,
    Paragraph,
    Section,
    TableBlock,
)
from venturi.report.figure import predicted
from venturi.report.figure.predicted import AIM, compared
from venturi.report.quantity import Units


def page_of(found: Validation, units: Units) -> Page:
    """The whole page."""
    del units
    sections = (_pictures(found), _matrix(found), _differences(found), _others(found), _made(found))
    chapter = Chapter(
        name="validation",
        title=found.name,
        headlines=_headlines(found),
        remarks=(Paragraph(found.note),) if found.note else (),
        sections=tuple(section for section in sections if section is not None),
        facts=f"{len(found.applications)} applications · {len(found.systems)} file systems · "
        f"{_runs(found)} runs of each side · {found.started[:10]}",
    )
    title = "How well proxies predict applications"
    return Page(title, summary_of(found), (chapter,), None, f"Venturi {found.venturi}")


def summary_of(found: Validation) -> str:
    """Median and worst error over all cells, in one sentence."""
    cells = _counted(found)
    if not cells:
        return "Nothing could be compared."
    worst = max(cells, key=_off)
    assert worst.error is not None
    refused = sum(bool(cell.refused) for cell in found.cells)
    return (
        f"Median |error| {quantity.percent(statistics.median(map(_off, cells)))}, worst "
        f"{quantity.signed_percent(worst.error.signed)} ({worst.application} on {worst.system}); "
        f"{sum(map(_is_near, cells))} of {len(cells)} within 10 % or the application's own spread"
        + (f"; {refused} refused" if refused else "")
        + "."
        + _by_hand(found)
    )


def _counted(found: Validation) -> list[ValidationCell]:
    """The cells of derived proxies that have an error."""
    derived = {tried.name for tried in found.applications if tried.is_derived}
    return [cell for cell in compared(found) if cell.application in derived]


def _by_hand(found: Validation) -> str:
    """What is beside them."""
    derived = {tried.name for tried in found.applications if tried.is_derived}
    others = [cell for cell in compared(found) if cell.application not in derived]
    if not others:
        return ""
    middle = quantity.percent(statistics.median(map(_off, others)))
    return f" Workloads written by hand, not counted: median |error| {middle}."


def _off(cell: ValidationCell) -> float:
    assert cell.error is not None
    return abs(cell.error.signed)


def _is_near(cell: ValidationCell) -> bool:
    """Within 10 %, or within what the application's own runs differ by."""
    return _off(cell) <= max(AIM, cell.spread)


def _headlines(found: Validation) -> tuple[Headline, ...]:
    lines = [_headline("Median error, without its sign", _counted(found))]
    for system in found.systems:
        cells = [cell for cell in _counted(found) if cell.system == system.name]
        lines.append(_headline(f"on {system.name}", cells))
    return tuple(lines)


def _headline(name: str, cells: list[ValidationCell]) -> Headline:
    if not cells:
        return Headline(name, "–", "nothing could be compared")
    near = sum(map(_is_near, cells))
    middle = quantity.percent(statistics.median(map(_off, cells)))
    return Headline(name, middle, f"{near} of {len(cells)} within 10 % or their own spread")


def _pictures(found: Validation) -> Section | None:
    if not compared(found):
        return None
    figures = (predicted.against(found), predicted.errors(found))
    return Section("pictures", "All at once", "", figures)


def _matrix(found: Validation) -> Section:
    names = [system.name for system in found.systems]
    columns = (Column("Application"), Column("Proxy"), *(Column(name) for name in names))
    cells = {(cell.application, cell.system): cell for cell in found.cells}
    rows = tuple(
        (
            f"{tried.name}: {tried.about}",
            tried.failure or tried.proxy + (f", {tried.lines} lines" if tried.lines else ""),
            *(_text(cells.get((tried.name, name))) for name in names),
        )
        for tried in found.applications
    )
    lead = (
        "Error of the I/O time, its 95 % interval, and the application's own I/O time with the "
        "spread of its runs. ! is an error beyond 10 % and beyond that spread."
    )
    table = TableBlock("Applications by file systems", columns, rows)
    return Section("matrix", "Application by application", lead, (table,))


def _text(cell: ValidationCell | None) -> str:
    if cell is None:
        return "–"
    if cell.error is None:
        return "refused"
    error = cell.error
    mark = "" if _is_near(cell) else " !"
    return (
        f"{quantity.signed_percent(error.signed)}{mark} [{quantity.signed_percent(error.low)}, "
        f"{quantity.signed_percent(error.high)}]; {quantity.seconds(cell.seconds)} ± "
        f"{quantity.percent(cell.spread)}"
    )


def _differences(found: Validation) -> Section | None:
    """The two sorts of calls that differ most, of each cell that misses."""
    rows = []
    for cell in compared(found):
        if _is_near(cell):
            continue
        assert cell.error is not None
        parts = sorted(cell.sorts, key=lambda part: -abs(part.proxy - part.application))[:2]
        text = "; ".join(
            f"{part.name} {quantity.seconds(part.application)} → {quantity.seconds(part.proxy)}"
            for part in parts
        )
        signed = quantity.signed_percent(cell.error.signed)
        rows.append((cell.application, cell.system, signed, text))
    if not rows:
        return None
    columns = (
        Column("Application"),
        Column("File system"),
        Column("Error", True),
        Column("Where: application → proxy"),
    )
    table = TableBlock("Where they differ", columns, tuple(rows))
    return Section("differences", "Misses", "Those beyond 10 % and their own spread.", (table,))


def _others(found: Validation) -> Section | None:
    rows = [(cell.application, cell.system, cell.refused) for cell in found.cells if cell.refused]
    if not rows:
        return None
    columns = (Column("Application"), Column("File system"), Column("Why"))
    blocks: tuple[Block, ...] = (TableBlock("Refused", columns, tuple(rows)),)
    return Section("refused", "What was not compared", "", blocks)


def _runs(found: Validation) -> str:
    """How many runs of each side the cells have."""
    counts = [cell.repetitions or found.repetitions for cell in found.cells if not cell.refused]
    low, high = min(counts, default=found.repetitions), max(counts, default=found.repetitions)
    return str(low) if low == high else f"{low} to {high}"


def _made(found: Validation) -> Section:
    rows = [
        ("Proxies", f"derived once, from one run on {found.captured_on}, then used unedited"),
        ("Order", "application and proxy in turn, there and back (ABBA), pages dropped before"),
        ("Runs", f"{_runs(found)} of each side in each cell; one of each before not counted"),
        *((system.name, system.about) for system in found.systems),
        ("CPU", f"{found.cpu}, {found.cores} cores"),
        ("System", found.kernel),
        ("Load", f"up to {quantity.number(found.highest_load)} before a cell"),
        ("Date", found.started[:16].replace("T", " ")),
    ]
    return Section("making", "How it was made", "", (Facts(tuple(rows)),))
