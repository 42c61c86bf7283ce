"""A subject of a site: the runs with one name on one machine, and what is said of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from venturi.analyse.history import history_of
from venturi.analyse.left_out import is_invalid
from venturi.model.campaign import CampaignRow, MetricSummary
from venturi.model.history import KnownChange, Series, Trend
from venturi.model.output import Better
from venturi.model.result import Measure, Result
from venturi.model.site import (
    SiteBest,
    SiteGroup,
    SiteRun,
    SiteScore,
    SiteSubject,
    SubjectChange,
    SubjectLine,
)
from venturi.model.statistic import median, median_interval
from venturi.model.workload import Scalar

_LINE = 40
_RECENT = 20
_FEWEST_SESSIONS = 3


def group_of(results: Sequence[Result], known: Sequence[KnownChange]) -> SiteGroup:
    """A subject with its runs in their order and its history; `results` is not empty."""
    ordered = sorted(results, key=lambda one: (one.started, one.id))
    series = history_of(ordered, known=known).series
    newest = [one for own in _newest(ordered).values() for one in own]
    return SiteGroup(subject=_subject(ordered, series), newest=newest, series=series)


def metric_name(metric: str, condition: str) -> str:
    """A metric with the condition under which it was measured."""
    return f"{metric} ({condition})" if condition else metric


def _subject(ordered: Sequence[Result], series: Sequence[Series]) -> SiteSubject:
    lines = [run_line(one) for one in reversed(ordered)]
    newest = ordered[-1]
    facts = next((one.facts for one in reversed(ordered) if one.facts), {})
    return SiteSubject(
        machine=newest.machine,
        name=newest.name,
        runs=len(ordered),
        invalid=sum(map(is_invalid, ordered)),
        first=ordered[0].started,
        last=newest.started,
        period_s=_period_s(ordered),
        line=_line(series),
        series=len(series),
        worse=sum(one.trend is Trend.WORSE for one in series),
        changes=[
            SubjectChange(
                title=title_of(one),
                metric=one.metric,
                unit=one.unit,
                of=one.of,
                point=change,
            )
            for one in series
            for change in one.changes
        ],
        failed=[line for line in lines if line.level == "INVALID"][:_RECENT],
        recent=lines[:_RECENT],
        days=dict(sorted(Counter(one.started[:10] for one in ordered).items())),
        facts=facts,
        score=next(filter(None, map(_score, reversed(ordered))), None),
    )


def _score(result: Result) -> SiteScore | None:
    """The score of a valid run that measured what IO500 does; `score` alone may be any other."""
    units = {name: one.unit for name, one in result.metrics.items()}
    is_io500 = units.get("bandwidth") == "GiB/s" and units.get("metadata") == "kIOPS"
    measure = result.metrics.get("score")
    if measure is None or not is_io500 or is_invalid(result):
        return None
    value = median(measure.values)
    return SiteScore(run=result.id, level=result.level, nodes=result.nodes, value=value)


def title_of(series: Series) -> str:
    """What was measured where, in a line."""
    said = " ".join(f"{name}={value}" for name, value in series.parameters.items())
    ranks = f"{series.ranks} rank{'s' if series.ranks != 1 else ''}"
    text = f"{series.name} on {series.machine}, {ranks}"
    return ", ".join(part for part in (text, said, series.variant) if part)


def run_line(result: Result) -> SiteRun:
    """A run in a line."""
    name, measure = next(iter(result.metrics.items()), ("", None))
    shown = measure is not None and not is_invalid(result)
    return SiteRun(
        id=result.id,
        name=result.name,
        machine=result.machine,
        step=result.step,
        started=result.started,
        level=result.level,
        metric=name if shown else "",
        value=median(measure.values) if shown and measure else None,
        unit=measure.unit if shown and measure else "",
        of=measure.of if shown and measure else "",
        tags=result.tags,
    )


def _period_s(ordered: Sequence[Result]) -> float | None:
    """The median time from a session to the next one."""
    begins: dict[str, str] = {}
    for one in ordered:
        begins.setdefault(one.session, one.started)
    if len(begins) < _FEWEST_SESSIONS:
        return None
    try:
        times = [datetime.fromisoformat(text).replace(tzinfo=None) for text in begins.values()]
    except ValueError:
        return None
    return median([(b - a).total_seconds() for a, b in pairwise(sorted(times))])


def _line(series: Sequence[Series]) -> SubjectLine | None:
    """The series that stands for all: what got worse is first, else the one with most sessions."""
    if not series:
        return None
    worse = [one for one in series if one.trend is Trend.WORSE]
    one = (
        max(worse, key=lambda one: abs(one.changes[-1].change))
        if worse
        else max(series, key=lambda one: len(one.sessions))
    )
    last = one.changes[-1] if one.changes else None
    return SubjectLine(
        title=title_of(one),
        metric=one.metric,
        unit=one.unit,
        of=one.of,
        better=one.better,
        values=[session.value for session in one.sessions[-_LINE:]],
        sessions=len(one.sessions),
        trend=one.trend,
        change=last.change if last else None,
        since=last.started if last else "",
    )


def points_of(groups: Sequence[SiteGroup]) -> list[CampaignRow]:
    """The newest session of every configuration, by step, ranks, nodes, machine and parameters."""
    several = len(groups) > 1
    rows = []
    for group in groups:
        for (step, _), own in _newest(group.newest).items():
            first = own[0]
            place: dict[str, Scalar] = {"ranks": first.ranks, "nodes": first.nodes}
            if several:
                place["machine"] = first.machine
            rows.append(
                CampaignRow(
                    step=step,
                    point=first.point,
                    parameters={**place, **first.parameters},
                    states={},
                    metrics=_summaries(own),
                )
            )
    return rows


def best_of(groups: Sequence[SiteGroup]) -> list[SiteBest]:
    """The best of the configurations of each metric, where there are several of them."""
    found = []
    for group in groups:
        by_metric: dict[tuple[str, str, str, str], list[tuple[float, Result, Measure]]] = {}
        for (step, _), own in _newest(group.newest).items():
            for name, measure in own[0].metrics.items():
                values = [v for one in own if name in one.metrics for v in one.metrics[name].values]
                key = (step, name, measure.unit, measure.condition)
                by_metric.setdefault(key, []).append((median(values), own[0], measure))
        for (step, name, unit, condition), rows in by_metric.items():
            better = rows[0][2].better
            if len(rows) < 2 or better is Better.NONE:
                continue
            rows.sort(key=lambda row: row[0], reverse=better is Better.HIGHER)
            value, result, measure = rows[0]
            found.append(
                SiteBest(
                    machine=result.machine,
                    step=step,
                    metric=name,
                    condition=condition,
                    of=measure.of,
                    unit=unit,
                    configurations=len(rows),
                    ranks=result.ranks,
                    parameters=result.parameters,
                    value=value,
                    worst=rows[-1][0],
                )
            )
    return found


def _newest(results: Sequence[Result]) -> dict[tuple[str, str], list[Result]]:
    """The valid runs of the newest session of each configuration."""
    found: dict[tuple[str, str], list[Result]] = {}
    for one in results:
        if is_invalid(one) or not one.metrics:
            continue
        own = found.setdefault((one.step, one.key), [])
        if own and own[0].session != one.session:
            own.clear()
        own.append(one)
    return found


def _summaries(own: Sequence[Result]) -> list[MetricSummary]:
    found = []
    for name, measure in own[0].metrics.items():
        values = [v for one in own if name in one.metrics for v in one.metrics[name].values]
        middle = median_interval(values)
        found.append(
            MetricSummary(
                name=f"{name} ({measure.condition})" if measure.condition else name,
                unit=measure.unit,
                better=measure.better,
                values=values,
                median=middle.median,
                low=middle.low,
                high=middle.high,
                coverage=middle.coverage,
                of=measure.of,
            )
        )
    return found
