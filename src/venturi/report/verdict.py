"""What a result is worth, in words."""

from __future__ import annotations

from venturi.model.record import Level, Record
from venturi.report import quantity
from venturi.report.block import Headline, Paragraph, Tone
from venturi.report.phase import Phase, Spread
from venturi.report.quantity import Units

_MOST_HEADLINES = 6

MEANING: dict[Level, tuple[Tone, str]] = {
    Level.RULES_OK: ("good", "The suite's own rules are met."),
    Level.VALID: ("good", "A measurement to quote."),
    Level.INDICATIVE: ("fair", "A hint, not yet a measurement to quote."),
    Level.INVALID: ("bad", "Do not use these numbers."),
}


def interval(spread: Spread, phase: Phase, units: Units) -> str:
    """The interval of a phase's median rate, how sure it is and from how many repetitions."""
    if spread.n == 1:
        return "one repetition, no interval"
    sure = quantity.percent(spread.coverage)
    bounds = phase.bounds(spread.low, spread.high, units)
    return f"{bounds}, {sure} sure, n\u00a0=\u00a0{spread.n}"


def headlines(phases: list[Phase], units: Units) -> tuple[Headline, ...]:
    """The rates of the phases that took longest, in the order in which they ran."""
    active = [phase for phase in phases if not phase.idle]
    longest = sorted(active, key=lambda p: -p.median_sample.total_s)[:_MOST_HEADLINES]
    return tuple(
        Headline(p.title, p.text(p.rate.median, units), interval(p.rate, p, units))
        for p in active
        if p in longest
    )


def remarks(record: Record) -> tuple[Paragraph, ...]:
    """What must not be missed: a partial run, a failure, warnings, files that were left."""
    found = []
    if record.partial:
        found.append(
            Paragraph(
                f"The run is partial: {record.repetitions} of {record.repetitions_asked} "
                "repetitions were completed. Phases that ended before are kept.",
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
