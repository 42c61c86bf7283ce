"""What a result is worth, in words."""

from __future__ import annotations

from venturi.model.record import Level, MetricValue, Record
from venturi.report import caveat, quantity
from venturi.report.block import Headline, Paragraph, Tone
from venturi.report.phase import MedianSpread, PhaseSummary, phases
from venturi.report.quantity import Units

_MOST_HEADLINES = 8

MEANING: dict[Level, tuple[Tone, str]] = {
    Level.RULES_OK: ("good", "The suite's own rules are met."),
    Level.VALID: ("good", "A measurement to quote."),
    Level.INDICATIVE: ("fair", "A hint, not yet a measurement to quote."),
    Level.INVALID: ("bad", "Do not use these numbers."),
}


def interval(spread: MedianSpread, phase: PhaseSummary, units: Units) -> str:
    """The interval of a phase's median rate, how sure it is and from how many repetitions."""
    if spread.n == 1:
        return "one repetition, no interval"
    sure = quantity.percent(spread.coverage)
    bounds = phase.bounds(spread.low, spread.high, units)
    return f"{bounds}, {sure} sure, n\u00a0=\u00a0{spread.n}"


def headlines(record: Record, units: Units) -> tuple[Headline, ...]:
    """The workload's own metrics, then the rates of the phases that took longest, as they ran.

    None of an INVALID run: `withheld` says so in their place.
    """
    if record.verdict.level is Level.INVALID:
        return ()
    active = [phase for phase in phases(record) if not phase.idle]
    whole = caveat.without_storage(record)
    own = _of_metrics(record, units, whole or _of_some(active))[:_MOST_HEADLINES]
    room = _MOST_HEADLINES - len(own)
    longest = sorted(active, key=lambda p: -p.median_sample.total_s)[:room]
    return own + tuple(
        Headline(
            name=p.title,
            value=p.text(p.rate.median, units),
            detail=interval(p.rate, p, units),
            beside=whole or caveat.beside(p),
        )
        for p in active
        if p in longest
    )


def _of_metrics(record: Record, units: Units, beside: str) -> tuple[Headline, ...]:
    """Those that are no phase's rate: what the workload was made to find."""
    paths = {row.path for row in record.phases}
    return tuple(
        Headline(
            name=name,
            value=quantity.with_unit(found.median, found.unit, units),
            detail=_interval(found, units),
            beside=beside,
        )
        for name, found in record.metrics.items()
        if name not in paths
    )


def _of_some(active: list[PhaseSummary]) -> str:
    """What must be known of a number that may be of any phase."""
    words = dict.fromkeys(word for p in active for word in caveat.beside(p).split(", ") if word)
    return f"some phases {', '.join(words)}" if words else ""


def _interval(metric: MetricValue, units: Units) -> str:
    if metric.n < 2:
        return "one repetition, no interval"
    low, high = (
        quantity.with_unit(value, metric.unit, units) for value in (metric.low, metric.high)
    )
    return f"{low} to {high}, n\u00a0=\u00a0{metric.n}"


def withheld(record: Record) -> str:
    """Why there are no headlines although something was measured; empty where there are."""
    if record.verdict.level is not Level.INVALID or not record.phases:
        return ""
    return "Headline rates are withheld: the run is INVALID. The tables keep its numbers."


def remarks(record: Record) -> tuple[Paragraph, ...]:
    """What must not be missed: a partial run, a failure, warnings, files that were left."""
    found = []
    asked = quantity.counted(record.repetitions_asked, "repetition")
    if not record.phases:
        found.append(Paragraph("No phase was finished, so there are no rates to show.", "bad"))
    if record.partial:
        found.append(
            Paragraph(
                f"The run is partial: it completed {record.repetitions} of {asked}."
                + (" Phases that ended before are kept." if record.phases else ""),
                "bad",
            )
        )
    if record.failure and record.failure not in record.verdict.reasons:
        found.append(Paragraph(f"It failed: {record.failure}", "bad"))
    found += [Paragraph(f"Warning: {text}", "fair") for text in record.warnings]
    if record.left:
        names = ", ".join(record.left[:5]) + (" …" if len(record.left) > 5 else "")
        command = f" Remove them with: {record.left_command}" if record.left_command else ""
        files = quantity.counted(len(record.left), "file")
        found.append(Paragraph(f"{files} of the run still there: {names}.{command}"))
    return tuple(found)


def substitutions(record: Record) -> list[str]:
    """One sentence for each interface that ran in place of the workload's own."""
    return [
        f"{entry.file} should go through {entry.wanted}; here it went through {entry.used} "
        f"({entry.why.rstrip('.')}). Rates and latencies are those of {entry.used}."
        for entry in record.substituted
    ]
