"""Histories: the sessions of each series in order, and where their level changed.

The value of a session is the median of its repetitions, which share the day's load; what is
followed is its logarithm, so a change is a share of what was before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from venturi.analyse.change_point import FEWEST, change_points, seen_after
from venturi.analyse.left_out import is_invalid, left_out_text
from venturi.model.comparison import Difference
from venturi.model.history import (
    ChangePoint,
    History,
    KnownChange,
    Series,
    SessionValue,
    Trend,
)
from venturi.model.output import Better
from venturi.model.result import Result
from venturi.model.statistic import median

LEAST = 0.05
"""The smallest change that counts as one."""
_NEAR = 2
"""Sessions between a known change and where it is seen."""
_REACH = 1.7
"""What is found, in deviations of the sessions (bench/history_rates.py)."""
_NORMAL_MAD = 1.4826
_DIGITS = 8


def history_of(
    results: Sequence[Result],
    chosen: str = "",
    known: Sequence[KnownChange] = (),
    metric: str = "",
    least: float = LEAST,
) -> History:
    """The series of all runs that measured something, those that got worse first."""
    groups: dict[tuple[str, ...], list[Result]] = {}
    for result in sorted(results, key=lambda result: result.started):
        if is_invalid(result):
            continue
        for name, measure in result.metrics.items():
            if metric in ("", name):
                key = (result.key, result.machine, name, measure.unit, measure.condition)
                groups.setdefault(key, []).append(result)
    order = list(Trend)
    ranked = [Trend.WORSE, *(trend for trend in order if trend is not Trend.WORSE)]
    series = [_series(own, key[2], known, least) for key, own in groups.items()]
    series = _told_apart(series, [own[-1].work for own in groups.values()])
    series.sort(key=lambda one: ranked.index(one.trend))
    return History(
        schema_="venturi.history/1",
        chosen=chosen or "all runs",
        least=least,
        series=series,
        headline=_headline(series) + left_out_text(results),
    )


def _series(
    results: Sequence[Result], name: str, known: Sequence[KnownChange], least: float
) -> Series:
    by_session: dict[str, list[Result]] = {}
    for result in results:
        by_session.setdefault(result.session, []).append(result)
    sessions = [_session(session, own, name) for session, own in by_session.items()]
    firsts = [own[0] for own in by_session.values()]
    newest = results[-1]
    better = newest.metrics[name].better
    values = [session.value for session in sessions]
    changes: list[ChangePoint] = []
    detectable = after = None
    if len(values) >= FEWEST and min(values) > 0.0:
        logs = [math.log(value) for value in values]
        points = change_points(logs, math.log1p(least))
        changes = [_change(sessions, firsts, points, i, better) for i in range(len(points))]
        changes = [_with_reason(change, firsts, known) for change in changes]
        detectable = max(least, math.expm1(_REACH * _deviation(logs)))
        after = seen_after(len(values) - max(points, default=0))
    return Series(
        name=f"{newest.name} {newest.step}".rstrip(),
        machine=newest.machine,
        metric=name,
        unit=newest.metrics[name].unit,
        of=newest.metrics[name].of,
        better=better,
        ranks=newest.ranks,
        parameters=newest.parameters,
        condition=newest.metrics[name].condition,
        sessions=sessions,
        changes=changes,
        detectable=detectable,
        seen_after=after,
        trend=_trend(changes, better) if detectable is not None else Trend.SHORT,
    )


def _told_apart(series: Sequence[Series], works: Sequence[str]) -> list[Series]:
    """The series, those that look alike and did other work with the beginning of its digest."""

    def look(one: Series) -> str:
        return repr((one.name, one.machine, one.ranks, sorted(one.parameters.items())))

    seen: dict[str, set[str]] = {}
    for one, work in zip(series, works, strict=True):
        seen.setdefault(look(one), set()).add(work)
    return [
        one.model_copy(update={"variant": f"work {work[:_DIGITS]}"})
        if len(seen[look(one)]) > 1
        else one
        for one, work in zip(series, works, strict=True)
    ]


def _session(session: str, results: Sequence[Result], name: str) -> SessionValue:
    values = [value for result in results for value in result.metrics[name].values]
    return SessionValue(
        session=session,
        started=results[0].started,
        value=median(values),
        repetitions=len(values),
    )


def _change(
    sessions: Sequence[SessionValue],
    firsts: Sequence[Result],
    points: Sequence[int],
    index: int,
    better: Better,
) -> ChangePoint:
    bounds = [0, *points, len(sessions)]
    before, after = (
        median([session.value for session in sessions[bounds[i] : bounds[i + 1]]])
        for i in (index, index + 1)
    )
    at = points[index]
    share = after / before - 1.0
    worse = {Better.HIGHER: share < 0.0, Better.LOWER: share > 0.0}.get(better, False)
    return ChangePoint(
        at=at,
        started=sessions[at].started,
        before=before,
        after=after,
        change=share,
        is_worse=worse,
        differences=_differences(firsts[at - 1], firsts[at]),
    )


def _differences(before: Result, after: Result) -> list[Difference]:
    names = dict.fromkeys((*before.facts, *after.facts))
    pairs = [(n, before.facts.get(n, "not said"), after.facts.get(n, "not said")) for n in names]
    return [Difference(what=n, first=a, second=b) for n, a, b in pairs if a != b]


def _with_reason(
    change: ChangePoint, firsts: Sequence[Result], known: Sequence[KnownChange]
) -> ChangePoint:
    """The change with what somebody did, up to two sessions from where it is seen."""
    newest = firsts[-1]
    early = firsts[max(change.at - 1 - _NEAR, 0)].started
    late = firsts[min(change.at + _NEAR, len(firsts) - 1)].started
    for one in known:
        day = one.at if "T" in one.at else f"{one.at}T00:00:00"
        fits = one.machine in ("", newest.machine) and one.name in ("", newest.name)
        if fits and early[:10] <= one.at[:10] and day <= late:
            return change.model_copy(update={"known": one.about})
    return change


def _trend(changes: Sequence[ChangePoint], better: Better) -> Trend:
    if not changes:
        return Trend.STEADY
    last = changes[-1]
    if better is Better.NONE or last.known:
        return Trend.CHANGED
    return Trend.WORSE if last.is_worse else Trend.BETTER


def _deviation(logs: Sequence[float]) -> float:
    """The standard deviation from session to session; changes of the level hardly raise it."""
    steps = [abs(b - a) for a, b in pairwise(logs)]
    return _NORMAL_MAD * median(steps) / math.sqrt(2)


def _headline(series: Sequence[Series]) -> str:
    if not series:
        return "No run measured anything."
    worse = [one for one in series if one.trend is Trend.WORSE]
    short = sum(one.trend is Trend.SHORT for one in series)
    told = len(series) - short
    if worse:
        first = worse[0]
        last = first.changes[-1]
        more = f"; {len(worse) - 1} more got worse" if len(worse) > 1 else ""
        return (
            f"{first.metric} of {first.name} on {first.machine} is worse by "
            f"{abs(last.change):.0%} since {last.started[:10]}{more}."
        )
    if not told:
        return f"Too few sessions to tell: a series needs {FEWEST}."
    left = f" ({short} more have too few sessions)" if short else ""
    return f"Nothing got worse in {told} series{left}."
