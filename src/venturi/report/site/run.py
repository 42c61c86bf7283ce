"""The page of one run, from the fields of its result that are shared."""

from __future__ import annotations

from venturi.model.record import Level
from venturi.model.result import Measure, Result
from venturi.model.site import SiteRunPage
from venturi.report import quantity
from venturi.report.block import (
    Block,
    Cell,
    Chapter,
    Column,
    Facts,
    Headline,
    Page,
    Section,
    TableBlock,
    Tone,
)
from venturi.report.phase import interval_title, spread, with_coverage
from venturi.report.quantity import Units
from venturi.report.site import address
from venturi.report.verdict import MEANING

_MOST_HEADLINES = 6
_MOST_VALUES = 60


def page_of(document: SiteRunPage, units: Units) -> Page:
    """The whole page."""
    result = document.result
    tone, meaning = level_of(result.level)
    sections = [Section("metrics", "Metrics", "", tuple(_metrics(result, units)))]
    if result.parameters:
        rows = tuple((name, str(value)) for name, value in result.parameters.items())
        sections.append(Section("parameters", "Parameters", "", (Facts(rows),)))
    sections.append(Section("making", "Where its figures come from", "", (_making(document),)))
    is_invalid = result.level == Level.INVALID.value
    chapter = Chapter(
        name="run",
        title=result.name,
        level=result.level,
        tone=tone,
        meaning=meaning,
        headlines=() if is_invalid else _headlines(result, units),
        sections=tuple(sections),
        withheld="It is INVALID: no figure of it counts." if is_invalid else "",
        facts=" · ".join(
            (
                quantity.counted(result.ranks, "rank"),
                quantity.counted(result.nodes, "node"),
                *result.facts.values(),
            )
        ),
    )
    step = f" {result.step}" if result.step else ""
    started = result.started[:16].replace("T", " ")
    return Page(
        f"{result.name}{step} on {result.machine}", f"{result.id}, {started} UTC", (chapter,)
    )


def level_of(level: str) -> tuple[Tone, str]:
    """The tone and the meaning of a verdict's word, which may be another tool's."""
    known = {one.value: meaning for one, meaning in MEANING.items()}
    return known.get(level, ("plain", ""))


def _headlines(result: Result, units: Units) -> tuple[Headline, ...]:
    found = []
    for name, measure in list(result.metrics.items())[:_MOST_HEADLINES]:
        middle = spread(measure.values)
        count = quantity.counted(middle.n, "repetition")
        detail = f"median of {count}" if middle.n > 1 else "one repetition"
        found.append(
            Headline(
                name,
                quantity.with_unit(middle.median, measure.unit, units, measure.of),
                detail,
                measure.condition,
            )
        )
    return tuple(found)


def _metrics(result: Result, units: Units) -> list[Block]:
    spreads = {name: spread(measure.values) for name, measure in result.metrics.items()}
    rows = []
    for name, middle in spreads.items():
        measure = result.metrics[name]
        low, high = (_text(measure, v, units) for v in (middle.low, middle.high))
        rows.append(
            (
                name,
                measure.condition or "–",
                Cell(
                    _text(measure, middle.median, units),
                    line=tuple(measure.values) if middle.n > 1 else (),
                ),
                with_coverage(f"{low} to {high}", middle.coverage) if middle.n > 1 else "–",
                quantity.count(middle.n),
            )
        )
    interval = interval_title(one.coverage for one in spreads.values() if one.n > 1)
    titles = ("Metric", "Condition", "Median", interval, "Repetitions")
    columns = tuple(Column(title, index > 1) for index, title in enumerate(titles))
    blocks: list[Block] = [TableBlock("Every metric", columns, tuple(rows), stacked=True)]
    values = tuple(
        (name, str(number), _text(measure, value, units))
        for name, measure in result.metrics.items()
        for number, value in enumerate(measure.values[:_MOST_VALUES], 1)
    )
    if len(values) > len(rows):
        columns = (Column("Metric"), Column("Repetition", True), Column("Value", True))
        blocks.append(TableBlock("Every repetition", columns, values, folded=True))
    return blocks


def _text(measure: Measure, value: float, units: Units) -> str:
    return quantity.with_unit(value, measure.unit, units, measure.of)


def _making(document: SiteRunPage) -> Facts:
    result = document.result
    source = result.source
    rows = [
        ("Machine", Cell(result.machine, address.machine(result.machine))),
        ("Workload", Cell(result.name, address.workload(result.name))),
        ("Session", result.session),
        ("Tool", f"{source.tool} {source.version}".rstrip()),
        ("Kind", source.kind.value),
    ]
    if result.metrics and result.level != Level.INVALID.value:
        beside = Cell("any other run", address.choose_run(result.name, result.id))
        rows.append(("Compare with", beside))
    if result.campaign:
        rows.append(("Campaign", result.campaign))
    if result.tags:
        rows.append(("Tags", ", ".join(result.tags)))
    rows += list(result.facts.items())
    if result.archive_sha256:
        rows.append(("SHA-256 of its archive's list", result.archive_sha256))
    return Facts(tuple(rows))
