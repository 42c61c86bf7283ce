"""The page of a history of probes: what users felt on each target, and what ran meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.model.probe import learned_hours
from venturi.model.probe_history import (
    PhaseSource,
    ProbeDuring,
    ProbeHistory,
    ProbePhase,
    ProbeSeries,
    ProbeTargetHistory,
    UsualSource,
)
from venturi.report import quantity
from venturi.report.block import (
    Block,
    Chapter,
    Column,
    Figure,
    Headline,
    Page,
    Paragraph,
    Section,
    TableBlock,
)
from venturi.report.figure.probe_response import (
    axis_of,
    creates,
    every,
    last_minutes,
    longest_wait,
    times,
)
from venturi.report.figure.probe_trend import four_hours, minute_means, slowest_minute, worst_of
from venturi.report.quantity import Units

_MOST_ROWS = 200
_TITLES = {
    "every": "Every measurement",
    "minutes": "Means of 60 s",
    "four-hours": "Every four hours",
    "last-minutes": "The last ten minutes",
    "creates": "Creates",
}
"""By the name of a section's figure."""
_FEWEST = 3
"""Measurements in a phase from which on something may be said of it."""


def page_of(history: ProbeHistory, units: Units) -> Page:
    """A chapter for each target, and one before them that sets several side by side."""
    names = ", ".join(one.name for one in history.targets)
    axis = axis_of(history)
    span = (history.end_ns - history.begin_ns) / 1e9
    lead = (
        f"What users felt on {names} from {axis.date(0.0)} UTC on, for {_length(span)}: "
        "one small operation after the other, timed from the moment at which it was due."
    )
    several = len(history.targets) > 1
    chapters = [_beside(history)] if several else []
    chapters += [_chapter(history, one, "" if several else lead) for one in history.targets]
    title = f"Probe of {names}" if not several else f"Probes of {names}"
    return Page(title, lead, tuple(chapters))


def _length(span_s: float) -> str:
    days = span_s / 86_400
    return f"{quantity.number(days)} days" if days >= 2 else quantity.seconds(span_s)


def _beside(history: ProbeHistory) -> Chapter:
    """All targets side by side."""
    drawn = [one for one in (last_minutes(history), creates(history)) if one is not None]
    return Chapter(name="beside", title="Side by side", sections=tuple(map(_section, drawn)))


def _chapter(history: ProbeHistory, target: ProbeTargetHistory, lead: str) -> Chapter:
    """One target; `lead` stands for the page's where it is the only one."""
    parts = [every(history, target), minute_means(history, target), four_hours(history, target)]
    if lead:
        parts.append(last_minutes(history))
    sections = [_section(one, _single(history)) for one in parts if one is not None]
    during = _during(history, target)
    if during is not None:
        sections.insert(1, during)
    return Chapter(
        name=f"target-{history.targets.index(target)}",
        title=target.name,
        about=lead,
        headlines=_headlines(history, target),
        remarks=(*_usual(target), *_levels(history, target)),
        sections=tuple(sections),
        facts=f"hosts of class {target.node_class} · each operation every "
        f"{quantity.seconds(target.interval_s)}",
    )


def _headlines(history: ProbeHistory, target: ProbeTargetHistory) -> tuple[Headline, ...]:
    """The longest wait, the slowest minute, and how many operations failed."""
    axis = axis_of(history)
    found = []
    single = f", since {axis.date(history.single_s)}" if history.single_s else ""
    if (longest := longest_wait(target)) is not None:
        value, at_s, series = longest
        detail = f"{series.operation.value}, {axis.date(at_s)} UTC"
        name = "Longest wait" if not single else f"Longest wait{single}"
        found.append(Headline(name, quantity.seconds(value), detail))
    shown = [one for one in target.series if one.minutes.measured]
    if shown:
        worst = worst_of(shown)
        value, at_s = slowest_minute(worst)
        said = f"{times(value / worst.usual_s)} usual" if worst.usual_s else quantity.seconds(value)
        detail = f"mean of {worst.operation.value}, {axis.date(at_s)} UTC"
        found.append(Headline("Slowest minute", said, detail))
    failed = sum(one.failed.measured for one in target.series)
    asked = failed + sum(one.points.measured for one in target.series)
    of = f"of {quantity.counted(asked, 'operation')}{single}"
    found.append(Headline("Failed", quantity.count(failed), of))
    return tuple(found)


def _section(figure: Figure, of_single: str = "") -> Section:
    lead = of_single if figure.name == "every" else ""
    return Section(figure.name, _TITLES[figure.name], lead, (figure,))


def _single(history: ProbeHistory) -> str:
    """Of which part single measurements are shown; empty: of all."""
    if not history.single_s:
        return ""
    span_s = (history.end_ns - history.begin_ns) / 1e9 - history.single_s
    return f"Of the last {_length(span_s)} alone; further back there are minutes."


def _usual(target: ProbeTargetHistory) -> tuple[Paragraph, ...]:
    """Where the usual times are from, which all slowdowns of the page refer to."""
    sources = {one.source for one in target.series}
    if sources == {UsualSource.BASELINE}:
        return (Paragraph("Usual times are baselines: medians of the 30 days before the end."),)
    hours = _hours(target)
    if UsualSource.SHOWN in sources:
        return (
            Paragraph(
                f"The baseline was still being learned ({hours}), so usual times are medians of "
                "what this page shows, outside of runs. Slowdowns by them say how times vary here, "
                "not how slow the storage was.",
                "fair",
            ),
        )
    return (Paragraph(f"The baseline was still being learned ({hours}): no slowdown.", "fair"),)


def _hours(target: ProbeTargetHistory) -> str:
    """How far the baselines are that are being learned; by operation where they differ."""
    learning: dict[int, list[str]] = {}
    for one in target.series:
        if one.learning_hours is not None:
            learning.setdefault(one.learning_hours, []).append(one.operation.value)
    if len(learning) < 2:
        return learned_hours(next(iter(learning), target.learning_hours or 0))
    parts = [f"{', '.join(names)}: {learned_hours(n)}" for n, names in learning.items()]
    return "; ".join(parts)


def _levels(history: ProbeHistory, target: ProbeTargetHistory) -> tuple[Paragraph, ...]:
    """Each change of level, with its date."""
    axis = axis_of(history)
    found = [(change, one) for one in target.series for change in one.changes]
    found.sort(key=lambda pair: pair[0].at_s)
    if not found:
        return ()
    said = "; ".join(
        f"{one.operation.value} from {quantity.seconds(change.before_s)} to "
        f"{quantity.seconds(change.after_s)} at {axis.text(change.at_s)}"
        for change, one in found[:_MOST_ROWS]
    )
    return (Paragraph(f"Changes of level (UTC): {said}."),)


Effect = tuple[ProbeDuring, ProbeSeries]


def _during(history: ProbeHistory, target: ProbeTargetHistory) -> Section | None:
    """What phases of runs did to each operation; None where no run went on."""
    effects = [(row, one) for one in target.series for row in one.during]
    if not effects:
        return None
    effects.sort(key=lambda pair: (pair[0].samples < _FEWEST, -_effect(pair)))
    blocks: list[Block] = [_during_table(history, effects)]
    lead = _during_sentence(history, effects)
    return Section("during", "While runs and jobs went on", lead, tuple(blocks))


def _effect(pair: Effect) -> float:
    row, _ = pair
    return row.slowdown if row.slowdown is not None else row.p50_s


def _during_sentence(history: ProbeHistory, effects: Sequence[Effect]) -> str:
    row, series = effects[0]
    if row.samples < _FEWEST:
        return "The phases were too short for the probe: it measured twice in them at most."
    phase = history.phases[row.phase]
    took = f"{quantity.seconds(row.p50_s)}"
    if row.slowdown is not None:
        took = f"{times(row.slowdown)} its usual time"
    repetition = f", repetition {phase.repetition + 1}" if _repeats(phase) else ""
    return (
        f"Most during {phase.path} of {phase.run}{repetition}: "
        f"{series.operation.value} took {took}, by the median of "
        f"{quantity.counted(row.samples, 'measurement')}. The probe feels what a run does to "
        "others, and what others do meanwhile: it cannot tell one from the other."
    )


def _repeats(phase: ProbePhase) -> bool:
    """Whether it is part of a run, which has repetitions."""
    return phase.source is PhaseSource.RUN


def _during_table(history: ProbeHistory, effects: Sequence[Effect]) -> TableBlock:
    rows = []
    for row, series in effects[:_MOST_ROWS]:
        phase = history.phases[row.phase]
        rows.append(
            (
                phase.run,
                phase.path,
                str(phase.repetition + 1) if _repeats(phase) else "–",
                series.operation.value,
                quantity.count(row.samples),
                quantity.seconds(row.p50_s),
                times(row.slowdown) if row.slowdown is not None else "–",
                quantity.seconds(row.max_s),
            )
        )
    titles = (
        "Run or job", "Phase or name", "Repetition", "Operation", "Measured", "Median", "By usual",
        "Longest",
    )  # fmt: skip
    columns = tuple(Column(title, index in (2, 4, 5, 6, 7)) for index, title in enumerate(titles))
    return TableBlock("Phases, by what the probe felt", columns, tuple(rows))
