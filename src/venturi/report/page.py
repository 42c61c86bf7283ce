"""The whole report as blocks: one chapter for each record, and their comparison before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from venturi.model.record import Record
from venturi.model.review import Io500Review
from venturi.report import (
    application,
    background,
    caveat,
    command,
    efficiency,
    fidelity,
    io500,
    kernel,
    provenance,
    quantity,
    server,
    service,
    verdict,
)
from venturi.report.block import Chapter, Column, Page, TableBlock
from venturi.report.phase import RepetitionSample, interval_title, phases
from venturi.report.quantity import Units
from venturi.report.title import page_title, titles


def _facts(record: Record) -> str:
    here = record.environment
    return " · ".join(
        (
            quantity.counted(record.ranks, "rank"),
            quantity.counted(record.repetitions, "repetition"),
            caveat.place(record),
            *record.run_labels,
            here.host,
            record.started[:16].replace("T", " "),
        )
    )


def chapter(
    record: Record, units: Units, name: str, title: str, review: Io500Review | None = None
) -> Chapter:
    """Return everything about one run; one of io500 begins with its review."""
    tone, meaning = verdict.MEANING[record.verdict.level]
    sections = (
        *(io500.sections(review) if review else ()),
        application.section(record, units),
        fidelity.section(record, units),
        kernel.section(record, units),
        service.section(record, units),
        server.section(record, units),
        efficiency.section(record, units),
        background.section(record, units),
        command.section(record, units),
        provenance.environment(record, units),
        provenance.making(record),
    )
    return Chapter(
        name=name,
        title=title,
        about=record.about,
        level=record.verdict.level.value,
        tone=tone,
        meaning=meaning,
        reasons=tuple(record.verdict.reasons),
        headlines=io500.headlines(review, record) if review else verdict.headlines(record, units),
        fidelity=fidelity.sentence(record.fidelity) if record.phases else "",
        remarks=verdict.remarks(record),
        sections=tuple(section for section in sections if section is not None),
        withheld=verdict.withheld(record),
        facts=_facts(record),
    )


def _request_text(sample: RepetitionSample, units: Units) -> str:
    """The mean size of a write or read."""
    requests = sum(r.count for row in sample.rows for r in row.request_sizes)
    return quantity.size(sample.bytes / requests, units) if requests else "–"


def _comparison(records: Sequence[Record], own: Sequence[str], units: Units) -> TableBlock:
    rows = []
    for record, title in zip(records, own, strict=True):
        found = phases(record)
        if not found:
            nothing = ("none finished", *["–"] * 5)
            rows.append((title, *nothing, record.verdict.level.value))
        for index, phase in enumerate(found):
            sample = phase.median_sample
            rows.append(
                (
                    "" if index else title,
                    phase.title,
                    "–" if phase.idle else phase.text(phase.rate.median, units),
                    service.interval_text(phase, units),
                    quantity.seconds(sample.total_s),
                    quantity.size(sample.bytes, units) if sample.bytes else "–",
                    _request_text(sample, units),
                    "" if index else record.verdict.level.value,
                )
            )
    sure = interval_title(
        phase.rate.coverage for record in records for phase in phases(record) if phase.has_interval
    )
    titles = ("Application", "Phase", "Rate", sure, "Time", "Bytes", "Mean request", "Verdict")
    columns = tuple(Column(title, 1 < index < 7) for index, title in enumerate(titles))
    return TableBlock("All phases side by side", columns, tuple(rows))


Reviews = Mapping[str, Io500Review]
"""Of runs of io500, by the run's id."""


def build(records: Sequence[Record], units: Units, reviews: Reviews | None = None) -> Page:
    """The page for one or several records, in their order."""
    own = titles(records)
    chapters = tuple(
        chapter(record, units, f"run-{index + 1}", own[index], (reviews or {}).get(record.id))
        for index, record in enumerate(records)
    )
    versions = sorted({record.environment.venturi for record in records})
    made_with = f"Venturi {', '.join(versions)}"
    if len(records) == 1:
        return Page(own[0], records[0].about, chapters, None, made_with)
    return Page(
        title=page_title(records),
        lead="What each application does, how well its proxy reproduces it, and how this storage "
        "serves it.",
        chapters=chapters,
        comparison=_comparison(records, own, units) if records else None,
        made_with=made_with,
    )
