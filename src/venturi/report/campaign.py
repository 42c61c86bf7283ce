"""The page of a campaign: each metric over its parameters, the best points, what failed."""

from __future__ import annotations

from venturi.model.campaign import CampaignResult, CampaignRow, MetricSummary, TaskState
from venturi.model.output import Better
from venturi.report import efficiency, published_figure, quantity, scaling_study, traced_run
from venturi.report.block import (
    Block,
    Chapter,
    Column,
    Facts,
    Headline,
    Page,
    Paragraph,
    Section,
    TableBlock,
)
from venturi.report.campaign_text import (
    changing,
    gate_sentences,
    headline_metrics,
    metric_text,
    runs_text,
)
from venturi.report.figure import latency_scatter, scaling
from venturi.report.quantity import Units
from venturi.report.verdict import OUTCOME_TONES

_SURE = 0.95
_MOST_ALIKE = 4


def page_of(result: CampaignResult, units: Units) -> Page:
    """The whole page."""
    steps = dict.fromkeys(row.step for row in result.rows)
    measured = [step for step in steps if any(row.metrics for row in _of(result, step))]
    sections = [
        _measured(_of(result, step), step, units, _studied(result, step)) for step in measured
    ]
    study = result.study
    studied = () if study is None else (scaling_study.section(study, units),)
    first = () if study is None else scaling_study.headlines(study)
    chapter = Chapter(
        name="campaign",
        title=result.name,
        about=result.about,
        headlines=(*first, *_headlines(result, measured, units)),
        remarks=_remarks(result),
        sections=tuple(
            [
                *studied,
                *published_figure.sections(result),
                *filter(_is_full, sections),
                *efficiency.campaign_sections(result, units),
                *traced_run.sections(result, units),
                *_failures(result),
                _all(result, units),
            ]
        ),
        withheld="" if measured else "No run has measured anything yet.",
        facts=" · ".join(
            [
                quantity.counted(result.points, "point"),
                _said(result),
                *([f"scale {result.scale}"] if result.scale else []),
                result.machine,
                result.directory,
            ]
        ),
    )
    return Page(f"Campaign {result.name}", result.about, (chapter,))


def best_of(rows: list[CampaignRow], name: str) -> tuple[CampaignRow, list[CampaignRow]] | None:
    """The best point by a metric, and those whose intervals overlap its own.

    None for a metric without a direction or without values.
    """
    found = [(row, metric) for row in rows if (metric := metric_of(row, name)) is not None]
    if not found or found[0][1].better is Better.NONE:
        return None
    sign = 1.0 if found[0][1].better is Better.HIGHER else -1.0
    best, own = max(found, key=lambda pair: sign * pair[1].median)
    alike = [
        row
        for row, metric in found
        if row is not best and metric.low <= own.high and metric.high >= own.low
    ]
    return best, alike


def metric_of(row: CampaignRow, name: str) -> MetricSummary | None:
    """A metric of a row by its name."""
    return next((metric for metric in row.metrics if metric.name == name), None)


def _is_rate_again(rows: list[CampaignRow], name: str) -> bool:
    """Whether a metric is called as a phase and is nothing but that phase's rate."""
    pairs = [(metric_of(row, name), metric_of(row, f"{name}.rate")) for row in rows]
    return all(
        own is None or (rate is not None and own.values == rate.values) for own, rate in pairs
    )


def _of(result: CampaignResult, step: str) -> list[CampaignRow]:
    return [row for row in result.rows if row.step == step]


def _said(result: CampaignResult) -> str:
    return ", ".join(f"{count} {state}" for state, count in result.states.items())


def _point_text(row: CampaignRow, names: list[str]) -> str:
    return ", ".join(f"{name} {row.parameters[name]}" for name in names) or row.point


def _headlines(result: CampaignResult, measured: list[str], units: Units) -> tuple[Headline, ...]:
    lines = []
    for step in measured:
        rows = _of(result, step)
        for name in _judged(rows):
            found = best_of(rows, name)
            if found is None:
                continue
            best, _ = found
            metric = metric_of(best, name)
            assert metric is not None
            title = f"Best {name}" if len(measured) == 1 else f"Best {name} of {step}"
            point = _point_text(best, changing(rows))
            lines.append(Headline(title, metric_text(metric, units), point))
    return tuple(lines)


def _judged(rows: list[CampaignRow]) -> list[str]:
    """The metrics of the table; and the rates of phases, where none of those has a direction."""
    names = headline_metrics(rows)
    if any(best_of(rows, name) for name in names):
        return names
    every = dict.fromkeys(metric.name for row in rows for metric in row.metrics)
    return [name for name in every if name.endswith(".rate")] or names


def _remarks(result: CampaignResult) -> tuple[Paragraph, ...]:
    remarks = [
        Paragraph(f"{outcome.value}: {text}", OUTCOME_TONES[outcome])
        for outcome, text in gate_sentences(result)
    ]
    unfinished = sum(n for state, n in result.states.items() if not TaskState(state).is_final)
    if unfinished:
        remarks.append(
            Paragraph(f"{quantity.counted(unfinished, 'run')} have not come to an end yet.", "fair")
        )
    remarks += [Paragraph(f"{text}.", "fair") for text in result.left_out]
    metrics = [metric for row in result.rows for metric in row.metrics]
    if any(metric.coverage < _SURE for metric in metrics):
        remarks.append(
            Paragraph(
                "Fewer than six repetitions have no interval of 95 %: bars show their range.",
                "fair",
            )
        )
    return tuple(remarks)


def _studied(result: CampaignResult, step: str) -> set[str]:
    """The metrics of a step whose curves the study draws."""
    curves = result.study.curves if result.study is not None else []
    return {curve.metric for curve in curves if curve.step == step}


def _measured(rows: list[CampaignRow], step: str, units: Units, studied: set[str]) -> Section:
    """A picture for each metric, and the sentence that names the best point.

    None for metrics that are `studied`: what cannot be told apart is said there.
    """
    drawn = latency_scatter.over_time(rows)
    blocks: list[Block] = [] if drawn is None else [drawn]
    for name in [name for name in _judged(rows) if name not in studied]:
        finding = _finding(rows, name, units)
        blocks.append(scaling.over(rows, name, finding) or Paragraph(f"{name}: {finding}"))
    return Section(step, step, "", tuple(blocks))


def _is_full(section: Section) -> bool:
    return bool(section.blocks)


def _finding(rows: list[CampaignRow], name: str, units: Units) -> str:
    found = best_of(rows, name)
    if found is None:
        return _extremes(rows, name, units)
    best, alike = found
    metric = metric_of(best, name)
    assert metric is not None
    names = changing(rows)
    value = quantity.with_unit(metric.median, metric.unit, units, metric.of)
    text = f"Best: {_point_text(best, names)} with {value}"
    if not alike:
        return f"{text}; no other point's interval reaches it."
    others = "; ".join(_point_text(row, names) for row in alike[:_MOST_ALIKE])
    more = len(alike) - _MOST_ALIKE
    return f"{text}; not told apart from {others}" + (f" and {more} more." if more > 0 else ".")


def _extremes(rows: list[CampaignRow], name: str, units: Units) -> str:
    """The smallest and the largest value with their points: neither is known to be better."""
    found = [(metric, row) for row in rows if (metric := metric_of(row, name)) is not None]
    names = changing(rows)

    def said(pair: tuple[MetricSummary, CampaignRow]) -> str:
        metric, row = pair
        value = quantity.with_unit(metric.median, metric.unit, units, metric.of)
        return f"{value} with {_point_text(row, names)}"

    ordered = sorted(found, key=lambda pair: pair[0].median)
    smallest, largest = ordered[0], ordered[-1]
    if len(ordered) == 1:
        return f"The only value: {said(smallest)}."
    if smallest[0].median == largest[0].median:
        metric = smallest[0]
        value = quantity.with_unit(metric.median, metric.unit, units, metric.of)
        return f"The same median at all {len(ordered)} points: {value}."
    return f"Smallest: {said(smallest)}; largest: {said(largest)}."


def _failures(result: CampaignResult) -> list[Section]:
    rows = [(row.step, row.point, reason) for row in result.rows for reason in row.reasons]
    if not rows:
        return []
    columns = (Column("Step"), Column("Point"), Column("Why"))
    return [Section("failures", "What failed", "", (TableBlock("Failures", columns, tuple(rows)),))]


def _all(result: CampaignResult, units: Units) -> Section:
    """Every point of every step, with all its metrics."""
    blocks: list[Block] = [Facts((("Machine", result.machine), ("Directory", result.directory)))]
    for step in dict.fromkeys(row.step for row in result.rows):
        rows = _of(result, step)
        parameters = list(dict.fromkeys(name for row in rows for name in row.parameters))
        every = dict.fromkeys(metric.name for row in rows for metric in row.metrics)
        metrics = [name for name in every if not _is_rate_again(rows, name)]
        titles = (Column("Point"), *map(Column, parameters), Column("Runs"))
        lines = []
        for row in rows:
            own = [metric_of(row, name) for name in metrics]
            values = ["–" if metric is None else metric_text(metric, units) for metric in own]
            named = [str(row.parameters.get(name, "")) for name in parameters]
            lines.append((row.point, *named, runs_text(row), *values))
        columns = (*titles, *(Column(name, True) for name in metrics))
        blocks.append(TableBlock(step, columns, tuple(lines), folded=len(lines) > 40))
    return Section("all", "All points", "", tuple(blocks))
