"""How this storage serves the workload: rates, times, latencies, balance."""

from __future__ import annotations

from venturi.model.record import Record
from venturi.report import caveat, quantity, reference
from venturi.report.block import Block, Column, Paragraph, Section, TableBlock
from venturi.report.figure import (
    arrival,
    balance,
    curve,
    distribution,
    group_timeline,
    rate,
    split,
    timeline,
)
from venturi.report.phase import PhaseSummary, interval_title, named, phases, with_coverage
from venturi.report.quantity import Units
from venturi.report.verdict import substitutions

_CHANGING = {
    "write",
    "create",
    "unlink",
    "mkdir",
    "rmdir",
    "rename",
    "link",
    "symlink",
    "mknod",
    "set_xattr",
    "truncate",
    "copy",
    "clone",
    "set_attribute",
    "miss",
}
_TOO_SHORT = Paragraph("The phases are too short to show their rate over time.")


def interval_text(phase: PhaseSummary, units: Units) -> str:
    """The interval of the median in the median's unit, marked where it is not 95 % sure."""
    if not phase.has_interval:
        return "–"
    found = phase.rate
    return with_coverage(phase.bounds(found.low, found.high, units), found.coverage)


def phase_table(found: list[PhaseSummary], units: Units) -> TableBlock:
    """One row for each phase: medians over the repetitions."""
    sure = interval_title(phase.rate.coverage for phase in found if phase.has_interval)
    titles = ["Phase", "Rate", sure, "Operations", "Time", "Bytes", "Errors", "Cache", "Flushed"]
    cut_short = any(phase.words("stopped_by") != "work" for phase in found)
    rows = []
    for phase in found:
        sample = phase.median_sample
        writes = phase.kinds & _CHANGING
        rows.append(
            (
                phase.title,
                "–" if phase.idle else phase.text(phase.rate.median, units),
                interval_text(phase, units),
                quantity.operation_rate(sample.operations_per_s()) if sample.operations else "–",
                quantity.seconds(sample.total_s),
                quantity.size(sample.bytes, units) if sample.bytes else "–",
                quantity.count(sum(s.errors for s in phase.samples)),
                phase.words("cache"),
                caveat.flushed(phase) if writes else "–",
                *([phase.words("stopped_by")] if cut_short else []),
            )
        )
    titles += ["Ended by"] if cut_short else []
    columns = tuple(Column(title, 0 < index < 7) for index, title in enumerate(titles))
    return TableBlock("Phases, medians over the repetitions", columns, tuple(rows))


def _caches(found: list[PhaseSummary]) -> TableBlock | None:
    """How the state of the caches is known."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for phase in found:
        for row in phase.rows:
            if row.cache_reason:
                names = reasons.setdefault((row.cache.value, row.cache_reason), [])
                if phase.title not in names:
                    names.append(phase.title)
    if not reasons:
        return None
    rows = tuple((", ".join(names), *key) for key, names in reasons.items())
    columns = (Column("Phases"), Column("Cache"), Column("How that is known"))
    return TableBlock("Caches before each phase", columns, rows, folded=True)


def _errors(found: list[PhaseSummary]) -> TableBlock | None:
    rows = tuple(
        (
            phase.title,
            str(row.repetition + 1),
            str(detail.rank),
            detail.operation.value,
            detail.path,
            quantity.count(detail.offset),
            "–" if detail.at_s is None else quantity.seconds(detail.at_s),
            detail.what,
        )
        for phase in found
        for row in phase.rows
        for detail in row.details
    )
    titles = ("Phase", "Repetition", "Rank", "Operation", "Path", "Offset", "After", "What")
    columns = tuple(Column(title, title in ("Repetition", "Offset", "After")) for title in titles)
    return TableBlock("The first errors", columns, rows) if rows else None


def _metrics(record: Record, found: list[PhaseSummary], units: Units) -> TableBlock | None:
    paths = {phase.path for phase in found if phase.metric is not None}
    own = {name: entry for name, entry in record.metrics.items() if name not in paths}
    values = own | record.scores
    if not values:
        return None
    rows = tuple(
        (
            named(name, [label for label in entry.labels if label not in record.run_labels]),
            quantity.with_unit(entry.median, entry.unit, units),
            f"{quantity.with_unit(entry.low, entry.unit, units)} to "
            f"{quantity.with_unit(entry.high, entry.unit, units)}"
            if entry.n > 1
            else "–",
            quantity.percent(entry.coverage) if entry.n > 1 else "–",
            quantity.count(entry.n),
            ", ".join(quantity.with_unit(value, entry.unit, units) for value in entry.values),
        )
        for name, entry in values.items()
    )
    titles = ("Metric", "Median", "Interval", "Sure", "n", "Every repetition")
    columns = tuple(Column(title, 0 < index < 5) for index, title in enumerate(titles))
    return TableBlock("Metrics that the workload names", columns, rows)


def _heading(record: Record) -> tuple[str, str]:
    """The section's title and the sentence on where it was measured."""
    ranks = quantity.counted(record.ranks, "rank")
    if kind := caveat.without_storage(record):
        lead = f"{kind.capitalize()}: no storage was touched. It ran with {ranks}."
        return "How it runs without storage", lead
    here = record.environment
    lead = f"Measured in {here.directory} ({here.file_system.type}) with {ranks}."
    return "How this storage serves it", lead


def section(record: Record, units: Units) -> Section | None:
    """Figures and tables of what was measured; none where no phase was finished."""
    found = [phase for phase in phases(record) if not phase.measures_machine]
    if not found:
        return None
    blocks: list[Block] = [Paragraph(text, "fair") for text in substitutions(record)]
    blocks.append(phase_table(found, units))
    candidates: tuple[Block | None, ...] = (
        _caches(found),
        _errors(found),
        _metrics(record, found, units),
        *curve.figures(record, units),
        *reference.blocks(record, units),
        group_timeline.figure(record),
        rate.figure(found, units),
        timeline.figure(found, units) or _TOO_SHORT,
        arrival.figure(found),
        distribution.figure(found),
        split.figure(found),
        balance.figure(found, units),
    )
    blocks += [block for block in candidates if block is not None]
    title, lead = _heading(record)
    return Section("service", title, lead, tuple(blocks))
