"""What the application did: its streams, its requests, and what it does badly."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from venturi.model.record import Record
from venturi.model.workload import Audience, Confidence, Finding, Observed, Origin, Severity
from venturi.report import coverage, quantity
from venturi.report.block import (
    Block,
    Code,
    Column,
    Facts,
    Note,
    Notes,
    Paragraph,
    Section,
    TableBlock,
    Tone,
)
from venturi.report.figure import request
from venturi.report.quantity import Units

_MOST_STREAM_COLUMNS = 4
NOTHING = "–"
"""In a cell of which there is nothing to say."""
_EVERY_STREAM = "all"
"""The name under which derive puts what holds for every stream."""

_TONES: dict[Severity, Tone] = {
    Severity.HIGH: "bad",
    Severity.MEDIUM: "fair",
    Severity.LOW: "plain",
    Severity.NOTE: "plain",
}

_TRY = {
    Audience.DEVELOPER: "Try (developer)",
    Audience.USER: "Try (user)",
    Audience.ADMINISTRATOR: "Try (administrator)",
}


def origin_of(workload: dict[str, Any]) -> Origin | None:
    """The workload's origin; none where it has none or it cannot be read."""
    data = workload.get("origin")
    if data is None:
        return None
    try:
        return Origin.model_validate_json(json.dumps(data))
    except ValidationError:
        return None


def _value(entry: Confidence) -> str:
    """An inferred value, marked where it is unsure; `unknown` stays a word."""
    if entry.value == "unknown":
        return "unknown"
    return entry.value if entry.confidence >= 0.95 else f"{entry.value} (likely)"


def stream_table(confidence: list[Confidence]) -> TableBlock | None:
    """The inferred fields of each stream: few streams stand side by side."""
    confidence = [entry for entry in confidence if entry.stream != _EVERY_STREAM]
    streams = list(dict.fromkeys(entry.stream for entry in confidence))
    if not streams:
        return None
    found: dict[tuple[str, str], list[str]] = {}
    for entry in confidence:
        direction, dot, field = entry.field.partition(".")
        name, lead = (field, f"{direction}: ") if dot else (direction, "")
        found.setdefault((entry.stream, name), []).append(f"{lead}{_value(entry)}")
    fields = list(dict.fromkeys(field for _, field in found))
    cells = {place: "; ".join(values) for place, values in found.items()}
    if len(streams) <= _MOST_STREAM_COLUMNS:
        columns = (Column(""), *(Column(stream) for stream in streams))
        rows = tuple((f, *(cells.get((s, f), NOTHING) for s in streams)) for f in fields)
    else:
        columns = (Column("Stream"), *(Column(field) for field in fields))
        rows = tuple((s, *(cells.get((s, f), NOTHING) for f in fields)) for s in streams)
    return TableBlock("Streams of I/O that the log shows", columns, rows)


def blind_spots(confidence: list[Confidence]) -> str:
    """What the source cannot show for any stream, as a sentence; empty if there is nothing."""
    names = [
        entry.field
        for entry in confidence
        if entry.stream == _EVERY_STREAM and entry.value == "unknown"
    ]
    return f"Unknown, because the log cannot show it: {', '.join(names)}." if names else ""


def confidence_table(confidence: list[Confidence]) -> TableBlock:
    """Every inferred field with the rule that gave it."""
    columns = (
        Column("Stream"),
        Column("Field"),
        Column("Value"),
        Column("Sure", True),
        Column("Why"),
    )
    rows = tuple(
        (
            entry.stream,
            entry.field,
            entry.value,
            NOTHING if entry.value == "unknown" else quantity.percent(entry.confidence),
            entry.rule,
        )
        for entry in confidence
    )
    return TableBlock("How sure each field is, and by which rule", columns, rows, folded=True)


def notes(findings: list[Finding]) -> Notes:
    """Findings, the costliest first."""
    order = list(Severity)
    ranked = sorted(findings, key=lambda finding: order.index(finding.severity))
    return Notes(
        tuple(
            Note(
                finding.severity.value,
                _TONES[finding.severity],
                finding.what,
                (("Seen", finding.evidence), (_TRY[finding.audience], finding.advice)),
            )
            for finding in ranked
        )
    )


def _totals(origin: Origin, observed: Observed, units: Units) -> Facts:
    rows = [
        ("Ranks", quantity.count(observed.ranks)),
        ("Written", quantity.size(observed.bytes_written, units)),
        ("Read", quantity.size(observed.bytes_read, units)),
    ]
    kinds = [f"{quantity.count(n)} {kind}" for kind, n in observed.operations.items() if n]
    rows.append(("Operations", ", ".join(kinds) or "none"))
    if observed.seconds is not None:
        rows.append(("Run time", quantity.seconds(observed.seconds)))
    if observed.io_seconds is not None:
        rows.append(("In I/O, slowest rank", quantity.seconds(observed.io_seconds)))
    rows.append(("Counted at", observed.layer))
    rows.append(("Reproduced", coverage.reproduced_text(origin)))
    rows += coverage.left_out_texts(observed, units)
    return Facts(tuple(rows))


def _lead(origin: Origin | None, about: str) -> str:
    if origin is None:
        return ""
    if origin.observed is None:
        return f"{about} Source: {origin.source}." if about else f"Source: {origin.source}."
    return f"As counted in {origin.source}."


def section(record: Record, units: Units) -> Section | None:
    """The application's own numbers; of a workload without a log, what it is made of.

    None where neither the log nor a finished phase says anything.
    """
    origin = origin_of(record.workload)
    observed = origin.observed if origin is not None else None
    blocks: list[Block] = []
    if origin is not None and observed is not None:
        blocks.append(_totals(origin, observed, units))
    if origin is not None and origin.truncated:
        blocks.append(Paragraph("The capture was incomplete: counts are lower bounds.", "fair"))
    if origin is not None and (table := stream_table(origin.confidence)) is not None:
        blocks.append(table)
    if origin is not None and (unseen := blind_spots(origin.confidence)):
        blocks.append(Paragraph(unseen))
    figure = request.figure(record, observed, units)
    if figure is not None:
        blocks.append(figure)
    if origin is not None:
        if origin.findings:
            blocks.append(notes(origin.findings))
        elif observed is not None:
            blocks.append(Paragraph("Nothing in the log looks costly by the rules we check."))
        if origin.ior:
            blocks.append(Code("The same I/O as an IOR command", origin.ior, "sh"))
        if origin.assumed:
            text = "; ".join(entry.rstrip(".") for entry in origin.assumed)
            blocks.append(Paragraph(f"Assumed: {text}."))
        if origin.confidence:
            blocks.append(confidence_table(origin.confidence))
    title = "What the application does" if observed is not None else "What the workload does"
    lead = _lead(origin, record.about)
    return Section("application", title, lead, tuple(blocks)) if lead or blocks else None
