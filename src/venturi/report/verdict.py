"""What a result is worth, in words."""

from __future__ import annotations

from venturi.model.record import Level, MetricValue, Record
from venturi.model.verdict import Outcome, Use, UseKind
from venturi.report import quantity
from venturi.report.block import Headline, Paragraph, Tone
from venturi.report.phase import MedianSpread, PhaseSummary, named, phases
from venturi.report.quantity import Units

_MOST_HEADLINES = 8

MEANING: dict[Level, tuple[Tone, str]] = {
    Level.VALID: ("good", "The numbers are what their labels say."),
    Level.INDICATIVE: (
        "fair",
        "Nothing failed, but another cause cannot be excluded, or there is no interval.",
    ),
    Level.INVALID: ("bad", "Something failed. Do not use these numbers."),
}
OUTCOME_TONES: dict[Outcome, Tone] = {
    Outcome.PASS: "good",
    Outcome.FAIL: "bad",
    Outcome.UNDECIDED: "fair",
}


def threshold_sentences(record: Record) -> list[tuple[Outcome, str]]:
    """Each threshold with what became of it, in a sentence."""
    return [
        (row.outcome, f"{row.metric} {row.rule}: {row.says}") for row in record.verdict.thresholds
    ]


def use_sentences(record: Record) -> list[str]:
    """Which use is not allowed although the run is not INVALID, and by which rules."""
    if record.verdict.level is Level.INVALID:
        return []
    own = record.name
    return [
        f"not for use in a ranking ({use.rule_set}): {'; '.join(use.broken)}"
        for use in record.verdict.use
        if use.what is UseKind.RANK
        and not use.allowed
        and (use.rule_set == own or _is_of_labels(use))
    ]


def _is_of_labels(use: Use) -> bool:
    """Whether more stands against a use than that the run is not VALID."""
    return any(not rule.startswith("the run is ") for rule in use.broken)


def label_lines(record: Record) -> list[str]:
    """Validity and labels of a record in plain lines, for output in the form of other tools.

    The first line is the level with its reasons; then a line for each phase that has labels, one
    for the labels of all numbers, and one for each threshold.
    """
    lines = [f"{record.verdict.level.value}: {'; '.join(record.verdict.reasons)}"]
    lines += [f"{path}: {', '.join(own)}" for path, own in record.labels.items() if own]
    if record.run_labels:
        lines.append(f"all numbers: {', '.join(record.run_labels)}")
    lines += [f"{outcome.value}: {text}" for outcome, text in threshold_sentences(record)]
    return [*lines, *(f"note: {note}" for note in record.verdict.notes)]


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
    own = _of_metrics(record, units)[:_MOST_HEADLINES]
    room = _MOST_HEADLINES - len(own)
    longest = sorted(active, key=lambda p: -p.median_sample.total_s)[:room]
    return own + tuple(
        Headline(
            name=p.title,
            value=p.text(p.rate.median, units),
            detail=interval(p.rate, p, units),
        )
        for p in active
        if p in longest
    )


def _of_metrics(record: Record, units: Units) -> tuple[Headline, ...]:
    """Those that are no phase's rate: what the workload was made to find."""
    paths = {row.path for row in record.phases}
    return tuple(
        Headline(
            name=named(name, [label for label in found.labels if label not in record.run_labels]),
            value=quantity.with_unit(found.median, found.unit, units),
            detail=_interval(found, units),
        )
        for name, found in record.metrics.items()
        if name not in paths
    )


def _interval(metric: MetricValue, units: Units) -> str:
    if metric.n < 2:
        return "one repetition, no interval"
    low, high = (
        quantity.with_unit(value, metric.unit, units) for value in (metric.low, metric.high)
    )
    sure = quantity.percent(metric.coverage)
    return f"{low} to {high}, {sure} sure, n\u00a0=\u00a0{metric.n}"


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
    found += [
        Paragraph(f"{outcome.value}: {text}", OUTCOME_TONES[outcome])
        for outcome, text in threshold_sentences(record)
    ]
    found += [Paragraph(f"{text[:1].upper()}{text[1:]}.", "fair") for text in use_sentences(record)]
    found += [Paragraph(f"{text[:1].upper()}{text[1:]}.") for text in record.verdict.notes]
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
