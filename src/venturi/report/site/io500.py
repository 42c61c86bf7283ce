"""Lists of IO500 and the pages of its systems, from imported results."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from venturi.model.published import Check, Io500Result
from venturi.model.site import SiteList, SystemPage
from venturi.report import quantity
from venturi.report.block import (
    Block,
    Cell,
    Chapter,
    Column,
    Facts,
    Headline,
    Note,
    Notes,
    Page,
    Paragraph,
    Section,
    TableBlock,
)
from venturi.report.figure import list_years
from venturi.report.published import name_of
from venturi.report.quantity import Units
from venturi.report.site import address

CSV = "io500/results.csv"
JSON = "io500/results.json"
FILTER = "io500"
_CHECKS = {Check.RIGHT: "right", Check.WRONG: "WRONG", Check.ABSENT: "absent"}
_COLUMNS = (
    "#",
    "Year",
    "Institution",
    "System",
    "File system",
    "Class",
    "Nodes",
    "Processes",
    "Score",
    "BW, GiB/s",
    "MD, kIOPS",
    "Remarks",
)
_NUMERIC = frozenset({"#", "Year", "Nodes", "Processes", "Score", "BW, GiB/s", "MD, kIOPS"})


def owner_of(result: Io500Result) -> tuple[str, str, str]:
    """What a system is told apart by; the result itself where nothing is known of it."""
    owner = (result.institution, result.system, result.filesystem)
    return owner if any(owner) else ("", "", result.key)


def list_page(found: SiteList, units: Units) -> Page:
    """One list."""
    del units
    rows = tuple(
        (
            "–" if row.place is None else str(row.place),
            str(row.result.year or ""),
            row.result.institution,
            Cell(row.result.system or name_of(row.result), address.system(owner_of(row.result))),
            row.result.filesystem,
            row.result.classification,
            str(row.result.nodes or ""),
            str(row.result.procs or ""),
            _number(row.result.recomputed.score),
            _number(row.result.recomputed.bw),
            _number(row.result.recomputed.md),
            "; ".join(flag.id for flag in row.result.flags),
        )
        for row in found.rows
    )
    columns = tuple(Column(title, title in _NUMERIC) for title in _COLUMNS)
    block = TableBlock(found.title, columns, rows, name=FILTER)
    empty = Paragraph("No imported result is in this list.")
    return _page(found.title, found.about, (block if rows else empty,), "list")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def index_page(lists: Sequence[SiteList], results: Sequence[Io500Result]) -> Page:
    """All lists, and how scores went over the years."""
    rows = tuple(
        (
            Cell(one.title, address.io500_list(one.key)),
            one.about,
            quantity.count(sum(row.place is not None for row in one.rows)),
            name_of(one.rows[0].result) if one.rows and one.rows[0].place else "–",
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


def system_page(found: SystemPage, units: Units) -> Page:
    """One system: what it is, and each of its results with what a reader must know."""
    del units
    newest = found.results[0]
    facts = (
        ("Institution", newest.institution),
        ("System", newest.system),
        ("File system", newest.filesystem),
        ("Class", newest.classification),
    )
    known = Facts(tuple((name, value) for name, value in facts if value))
    sections = [
        Section("summary", "Summary", "", (known, _results(found))),
        *(_result(one, index) for index, one in enumerate(found.results)),
    ]
    best = max(found.results, key=lambda one: one.recomputed.score or 0.0)
    places = found.places.get(best.key, {})
    score = best.recomputed
    chapter = Chapter(
        name="system",
        title=found.title,
        headlines=tuple(
            Headline(name, quantity.number(value), detail)
            for name, value, detail in (
                ("Score", score.score, f"the best of {len(found.results)}"),
                ("Bandwidth", score.bw, "GiB/s"),
                ("Metadata", score.md, "kIOPS"),
            )
            if value is not None
        ),
        sections=tuple(sections),
        facts=" · ".join(f"{place} in {name}" for name, place in places.items()),
    )
    return Page(found.title, "", (chapter,))


def _results(found: SystemPage) -> TableBlock:
    rows = tuple(
        (
            str(one.year or "–"),
            str(one.nodes or "–"),
            str(one.procs or "–"),
            _number(one.recomputed.score) or "–",
            _number(one.recomputed.bw) or "–",
            _number(one.recomputed.md) or "–",
            ", ".join(f"{place} in {name}" for name, place in found.places.get(one.key, {}).items())
            or "–",
        )
        for one in found.results
    )
    titles = ("Year", "Nodes", "Processes", "Score", "BW, GiB/s", "MD, kIOPS", "Places")
    columns = tuple(Column(title, title != "Places") for title in titles)
    return TableBlock("Results", columns, rows, stacked=True)


def _result(result: Io500Result, index: int) -> Section:
    """One result: its phases, and whether its numbers hold."""
    rows = tuple(
        (
            phase.name,
            quantity.number(phase.value),
            phase.unit,
            "–" if phase.seconds is None else quantity.seconds(phase.seconds),
            "INVALID" if phase.invalid else "scored" if phase.scored else "not scored",
        )
        for phase in result.phases
    )
    titles = ("Phase", "Value", "Unit", "Time", "Counts")
    columns = tuple(Column(title, title in ("Value", "Time")) for title in titles)
    checks = Facts(
        (
            ("Published scores", "follow from the phases" if result.match else "do NOT follow"),
            ("Hash of the score", _CHECKS[result.score_hash]),
            ("Hash of the configuration", _CHECKS[result.config_hash]),
            ("Version", result.version or "not said"),
            ("Mode", result.mode),
            ("Known by", result.key),
        )
    )
    blocks: list[Block] = [TableBlock("Phases", columns, rows, stacked=True)] if rows else []
    if result.flags:
        notes = tuple(
            Note("not ranked" if flag.excludes else "note", "bad" if flag.excludes else "fair",
                 flag.id, (("", flag.what),))
            for flag in result.flags
        )  # fmt: skip
        blocks.append(Notes(notes))
    year = f"Result of {result.year}" if result.year else f"Result {index + 1}"
    return Section(f"result-{index}", year, "", (checks, *blocks))


def csv_of(results: Sequence[Io500Result]) -> str:
    """All results as a table for other programs; cells that a spreadsheet would compute are not."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    phases = list(dict.fromkeys(phase.name for one in results for phase in one.phases))
    table.writerow(
        ("key", "year", "institution", "system", "filesystem", "classification", "nodes", "procs",
         "score", "bw", "md", "ranked", "flags", *phases)
    )  # fmt: skip
    for one in results:
        values = {phase.name: phase.value for phase in one.phases}
        score = one.recomputed
        table.writerow(
            [
                *(_guarded(text) for text in (one.key, one.year, *owner_words(one))),
                *(one.nodes, one.procs, score.score, score.bw, score.md),
                int(one.ranked),
                " ".join(flag.id for flag in one.flags),
                *(values.get(name) for name in phases),
            ]
        )
    return out.getvalue()


def owner_words(result: Io500Result) -> tuple[str, str, str, str]:
    """Institution, system, file system and class."""
    return result.institution, result.system, result.filesystem, result.classification


def _guarded(value: object) -> object:
    """A text that no spreadsheet takes for a formula."""
    is_formula = isinstance(value, str) and value[:1] in tuple("=+-@\t\r") and value
    return f"'{value}" if is_formula else value


def _page(title: str, lead: str, blocks: tuple[Block, ...], name: str) -> Page:
    chapter = Chapter(
        name=name,
        title=title,
        sections=(Section("content", title, "", blocks),),
    )
    return Page(title, lead, (chapter,))
