"""Lists of IO500, from imported results."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from venturi.model.published import Io500Result
from venturi.model.site import ListInterval, ListRow, SiteList
from venturi.report import quantity
from venturi.report.block import (
    Block,
    Cell,
    Chapter,
    Column,
    Facts,
    Page,
    Paragraph,
    Section,
    TableBlock,
)
from venturi.report.character import bounded
from venturi.report.figure import list_years
from venturi.report.published import name_of
from venturi.report.quantity import Units
from venturi.report.site import address

CSV = "io500/results.csv"
JSON = "io500/results.json"
FILTER = "io500"
_COLUMNS = (
    "#",
    "BoF",
    "Year",
    "Institution",
    "System",
    "Vendor",
    "File system",
    "Class",
    "Nodes",
    "Processes",
    "Score",
    "Interval",
    "BW, GiB/s",
    "MD, kIOPS",
    "Reproducibility",
    "Remarks",
)
_NUMERIC = frozenset({"#", "Year", "Nodes", "Processes", "Score", "BW, GiB/s", "MD, kIOPS"})
_REPEATED = (
    "Interval: for the median score of repeated results, which are those of one institution, "
    "system and file system with as many client nodes and processes in the same year. Of fewer "
    "than six it goes from the lowest to the highest, and how sure it is stands beside it; 95 % "
    "needs six. One result has no interval."
)
_SHARED = (
    "A place with = is shared: where two intervals overlap, no difference of rank is claimed "
    "between them or for what stands between them."
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def owner_of(result: Io500Result) -> tuple[str, str, str]:
    """What a system is told apart by; the result itself where nothing is known of it."""
    owner = (result.institution, result.system, result.filesystem)
    return owner if any(owner) else ("", "", result.key)


def list_page(found: SiteList, units: Units) -> Page:
    """One list."""
    del units
    rows = tuple(_row(row) for row in found.rows)
    if not rows:
        empty = Paragraph("No imported result is in this list.")
        return _page(found.title, found.about, (empty,), "list")
    columns = tuple(Column(title, title in _NUMERIC) for title in _COLUMNS)
    path = address.io500_list_csv(found.key)
    blocks: list[Block] = [Facts((("This list, CSV", Cell(path.rpartition("/")[2], path)),))]
    if any(row.interval for row in found.rows):
        blocks.append(Paragraph(_REPEATED))
    if any(row.shared for row in found.rows):
        blocks.append(Paragraph(_SHARED))
    blocks.append(TableBlock(found.title, columns, rows, name=FILTER))
    return _page(found.title, found.about, tuple(blocks), "list")


def _row(row: ListRow) -> tuple[str, ...]:
    one = row.result
    return (
        row.place_text or "–",
        bounded(one.release),
        str(one.year or ""),
        bounded(one.institution),
        Cell(bounded(one.system or name_of(one)), address.system(owner_of(one))),
        bounded(one.storage_vendor),
        bounded(one.filesystem),
        bounded(one.classification),
        str(one.nodes or ""),
        str(one.procs or ""),
        _number(one.recomputed.score),
        interval_text(row.interval),
        _number(one.recomputed.bw),
        _number(one.recomputed.md),
        bounded(one.reproducibility),
        bounded("; ".join(flag.id for flag in one.flags)),
    )


def interval_text(found: ListInterval | None) -> str:
    """An interval with the number of results and how sure it is; empty without one."""
    if found is None:
        return ""
    ends = f"{found.low:.2f} to {found.high:.2f}"
    return f"{ends} ({found.repetitions} results, {100 * found.coverage:.3g} %)"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def index_page(lists: Sequence[SiteList], results: Sequence[Io500Result]) -> Page:
    """All lists, and how scores went over the years."""
    rows = tuple(
        (
            Cell(one.title, address.io500_list(one.key)),
            one.about,
            quantity.count(sum(row.place is not None for row in one.rows)),
            bounded(name_of(one.rows[0].result)) if one.rows and one.rows[0].place else "–",
        )
        for one in lists
    )
    columns = (Column("List"), Column("What it holds"), Column("Results", True), Column("First"))
    years = list_years.figure(results)
    blocks: list[Block] = [
        TableBlock("Lists", columns, rows, stacked=True),
        *([years] if years else []),
        Facts((("All results, CSV", Cell("results.csv", CSV)),
               ("All results, JSON", Cell("results.json", JSON)))),
    ]  # fmt: skip
    matching = sum(one.match for one in results)
    lead = (
        f"{quantity.counted(len(results), 'imported result')}; the published scores of {matching} "
        "follow from their phases. All scores here are computed again."
    )
    return _page("IO500", lead, tuple(blocks), "lists")


_CSV_COLUMNS = (
    "key",
    "release",
    "year",
    "institution",
    "system",
    "storage_vendor",
    "filesystem",
    "classification",
    "reproducibility",
    "nodes",
    "procs",
    "score",
    "bw",
    "md",
    "ranked",
    "flags",
)
_CSV_PLACE = (
    "place",
    "shared",
    "interval_low",
    "interval_high",
    "interval_coverage",
    "repetitions",
)


def csv_of(results: Sequence[Io500Result]) -> str:
    """All results as a table for other programs; cells that a spreadsheet would compute are not."""
    phases = _phases_of(results)
    rows = [_values(one, phases) for one in results]
    return _csv((*_CSV_COLUMNS, *phases), rows)


def list_csv_of(found: SiteList) -> str:
    """A list in its order, with places and intervals, as `csv_of` writes results."""
    phases = _phases_of([row.result for row in found.rows])
    rows = [[*_place_values(row), *_values(row.result, phases)] for row in found.rows]
    return _csv((*_CSV_PLACE, *_CSV_COLUMNS, *phases), rows)


def _phases_of(results: Sequence[Io500Result]) -> list[str]:
    return list(dict.fromkeys(phase.name for one in results for phase in one.phases))


def _place_values(row: ListRow) -> list[object]:
    place = [row.place, int(row.shared)]
    one = row.interval
    if one is None:
        return [*place, None, None, None, None]
    return [*place, one.low, one.high, one.coverage, one.repetitions]


def _values(one: Io500Result, phases: Sequence[str]) -> list[object]:
    rates = {phase.name: phase.value for phase in one.phases}
    score = one.recomputed
    return [
        *(one.key, one.release, one.year, one.institution, one.system, one.storage_vendor),
        *(one.filesystem, one.classification, one.reproducibility, one.nodes, one.procs),
        *(score.score, score.bw, score.md, int(one.ranked)),
        " ".join(flag.id for flag in one.flags),
        *(rates.get(name) for name in phases),
    ]


def _csv(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerows([_guarded(cell) for cell in row] for row in (columns, *rows))
    return out.getvalue()


def _guarded(value: object) -> object:
    """A text that no spreadsheet takes for a formula."""
    is_formula = isinstance(value, str) and value.lstrip(" \u00a0").startswith(_FORMULA)
    return f"'{value}" if is_formula else value


def _page(title: str, lead: str, blocks: tuple[Block, ...], name: str) -> Page:
    chapter = Chapter(
        name=name,
        title=title,
        sections=(Section("content", title, "", blocks),),
    )
    return Page(title, lead, (chapter,))
