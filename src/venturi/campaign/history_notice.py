"""Changes of a campaign's history for the worse that nobody was told of yet, and those that ended.

A change is told once it stands without the newest session, too: a single bad night can bring
one about. Series show the same change on different nights, as each has its own noise: those whose
level moved as well, but not yet by more than chance, are named with the first ones, and are not
told again when they are sure. Where a change is seen moves by a session or two as more sessions
come, so changes that begin so near to each other are one.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from venturi.analyse.change_point import SHORTEST
from venturi.analyse.history import LEAST, history_of
from venturi.model.history import ChangePoint, KnownChange, Series, Trend
from venturi.model.notice import Event, Happening, ReportedChange, SeriesLevels
from venturi.model.output import Better
from venturi.model.result import Result
from venturi.model.statistic import median
from venturi.report import quantity

_NEAR = 2
"""Sessions between two beginnings of one change."""
_HALF = 0.5
_MOST_NAMED = 5


@dataclass(frozen=True)
class HistoryNews:
    """What is to be told of a history, and the changes that are known from then on."""

    happenings: list[Happening]
    changes: list[ReportedChange]


def history_news(
    results: Sequence[Result],
    reported: Sequence[ReportedChange],
    known: Sequence[KnownChange] = (),
    told_points: Collection[str] = (),
) -> HistoryNews:
    """What is new in the history of a campaign's results since the changes that were reported.

    Of points that miss a threshold people were told already, so that their history does as well is
    no news. `told_points` has what `point_of` calls them.
    """
    series = {name_of(one): one for one in history_of(results, known=known).series}
    changes, over = _still_open(series, reported)
    fresh = _unreported(series, changes)
    if fresh:
        session = max(results, key=lambda result: result.started).session
        earlier = [result for result in results if result.session != session]
        stood = {name_of(one): one for one in history_of(earlier, known=known).series}
        fresh = {
            name: one
            for name, one in fresh.items()
            if name in stood and _is_one(stood[name], _since(one))
        }
    news = {name: one for name, one in fresh.items() if _point(one) not in told_points}
    begun = [_with_likely(change, series) for change in _changes_of(fresh)]
    happenings = []
    for change, likely in begun:
        told = [name for name in change.series if name in news]
        happenings += [_worse(name, news[name], likely if name == told[0] else {}) for name in told]
    return HistoryNews([*happenings, *over], [*changes, *(change for change, _ in begun)])


def point_of(campaign: str, step: str, parameters: Mapping[str, object]) -> str:
    """The point of a campaign that a series is of, as a word."""
    return repr((f"{campaign} {step}".rstrip(), sorted(parameters.items())))


def _point(series: Series) -> str:
    return point_of(series.name, "", series.parameters)


def name_of(series: Series) -> str:
    """A series in words that tell it from the others of a campaign and a machine."""
    where = ", ".join(f"{name}={value}" for name, value in series.parameters.items())
    more = ", ".join(word for word in (where, series.condition, series.variant) if word)
    return f"{series.name}: {series.metric}" + (f" ({more})" if more else "")


def _since(series: Series) -> str:
    return series.changes[-1].started


def _is_one(series: Series, since: str) -> bool:
    """Whether a series is worse by a change that began as near to a moment as one change may."""
    if series.trend is not Trend.WORSE:
        return False
    moments = [session.started for session in series.sessions]
    return abs(series.changes[-1].at - bisect_left(moments, since)) <= _NEAR


def _unreported(series: dict[str, Series], changes: Iterable[ReportedChange]) -> dict[str, Series]:
    """Series that are worse by a change which is none of those reported."""
    return {
        name: one
        for name, one in series.items()
        if one.trend is Trend.WORSE and not any(_is_told(name, one, change) for change in changes)
    }


def _is_told(name: str, series: Series, change: ReportedChange) -> bool:
    """Whether what a series is worse by is a change that was reported.

    It is where it begins near it. A small change in much noise is seen some sessions from where
    it is, and perhaps as two: so it is also where the series belongs to the change and did not
    fall much below the level that was reported; and where it has no other change there, and the
    sessions since then alone show half of the step or more.
    """
    if series.trend is not Trend.WORSE:
        return False
    last, own = series.changes[-1], change.series.get(name)
    if _is_one(series, change.since):
        return True
    if own is not None:
        further = abs(math.log(last.after / own.before)) - abs(math.log(own.after / own.before))
        if further < math.log1p(max(LEAST, series.detectable or 0.0)):
            return True
    moments = [session.started for session in series.sessions]
    at = bisect_left(moments, change.since)
    if any(abs(other.at - at) <= _NEAR for other in series.changes[:-1]):
        return False
    levels = _levels_around(series, change.since)
    if levels is None or (levels.after < levels.before) != (last.after < last.before):
        return False
    return abs(math.log(levels.after / levels.before)) >= _HALF * abs(
        math.log(last.after / last.before)
    )


def _still_open(
    series: dict[str, Series], reported: Iterable[ReportedChange]
) -> tuple[list[ReportedChange], list[Happening]]:
    """Reported changes with what has joined them, and what is to be told of those that are over.

    One is over when half of its series are back: in much noise the last is seen late. A series
    that is gone, or whose change somebody explained, is dropped without a word.
    """
    changes, happenings = [], []
    for change in reported:
        levels = {
            name: own
            for name, own in change.series.items()
            if name in series and not _is_explained(series[name])
        }
        joined = {
            name: _joined(one, levels.get(name))
            for name, one in series.items()
            if _is_told(name, one, change)
        }
        back = [name for name, own in levels.items() if _is_back(series[name], own)]
        is_over = bool(back) and len(back) >= _HALF * len(levels)
        if is_over and not change.is_over:
            happenings.append(_recovered(change, back, len(levels)))
        left = levels | joined
        if is_over or change.is_over:
            left = {name: own for name, own in left.items() if name not in back}
        if left:
            is_over = is_over or change.is_over
            changes.append(change.model_copy(update={"series": left, "is_over": is_over}))
    return changes, happenings


def _joined(series: Series, before: SeriesLevels | None) -> SeriesLevels:
    """The levels of a series that is worse by a reported change; what it had before stays."""
    found = _levels(series.changes[-1])
    return found.model_copy(update={"before": before.before}) if before else found


def _is_explained(series: Series) -> bool:
    return bool(series.changes and series.changes[-1].known)


def _is_back(series: Series, levels: SeriesLevels) -> bool:
    """Whether the newest sessions are nearer to what was before a change than to what came."""
    if series.trend is Trend.WORSE:
        return False
    newest = median([session.value for session in series.sessions[-SHORTEST:]])
    if min(newest, levels.before, levels.after) <= 0.0:
        return False
    return abs(math.log(newest / levels.before)) < abs(math.log(newest / levels.after))


def _changes_of(fresh: dict[str, Series]) -> list[ReportedChange]:
    """A change for each beginning among series that are worse."""
    found: list[ReportedChange] = []
    for name, one in sorted(fresh.items(), key=lambda item: _since(item[1])):
        own = {name: _levels(one.changes[-1])}
        at = next((i for i, change in enumerate(found) if _is_one(one, change.since)), None)
        if at is None:
            found.append(ReportedChange(since=_since(one), series=own))
        else:
            found[at] = found[at].model_copy(update={"series": found[at].series | own})
    return found


def _with_likely(
    change: ReportedChange, series: dict[str, Series]
) -> tuple[ReportedChange, dict[str, SeriesLevels]]:
    """A change with the series whose level moved then as well, and these."""
    likely = {
        name: levels
        for name, one in series.items()
        if name not in change.series and (levels := _moved(one, change.since)) is not None
    }
    return change.model_copy(update={"series": change.series | likely}), likely


def _moved(series: Series, since: str) -> SeriesLevels | None:
    """The levels around a moment of a series that is worse from there on by what counts."""
    levels = _levels_around(series, since) if series.trend is Trend.STEADY else None
    if levels is None:
        return None
    share = levels.after / levels.before - 1.0
    worse = {Better.HIGHER: -share, Better.LOWER: share}.get(series.better, 0.0)
    return levels if worse >= LEAST else None


def _levels_around(series: Series, since: str) -> SeriesLevels | None:
    """What a series had from the change before a moment on, and since then; None: no such sessions,
    or one without a logarithm."""
    values = [session.value for session in series.sessions]
    at = bisect_left([session.started for session in series.sessions], since)
    begin = max((change.at for change in series.changes if change.at < at - _NEAR), default=0)
    if not values[begin:at] or not values[at:] or min(values) <= 0.0:
        return None
    return SeriesLevels(before=median(values[begin:at]), after=median(values[at:]))


def _share(levels: SeriesLevels) -> str:
    return quantity.signed_percent(levels.after / levels.before - 1.0)


def _levels(change: ChangePoint) -> SeriesLevels:
    return SeriesLevels(before=change.before, after=change.after)


def _worse(name: str, series: Series, likely: dict[str, SeriesLevels]) -> Happening:
    change = series.changes[-1]
    before, after = (
        quantity.with_unit(value, series.unit, of=series.of)
        for value in (change.before, change.after)
    )
    why = f"{quantity.signed_percent(change.change)} since {change.started[:10]}: "
    why += f"{before}, then {after}"
    if change.differences:
        said = ", ".join(f"{one.what}: {one.first} → {one.second}" for one in change.differences)
        why += f"; changed at that time: {said}"
    if likely:
        names = [f"{one} {_share(levels)}" for one, levels in likely.items()][:_MOST_NAMED]
        more = f" and {len(likely) - len(names)} more" if len(likely) > len(names) else ""
        why += f"; moved as well, not yet for sure: {', '.join(names)}{more}"
    return Happening(event=Event.REGRESSION, what=name, why=why)


def _recovered(change: ReportedChange, back: Sequence[str], of: int) -> Happening:
    more = f" and {len(back) - 1} more" if len(back) > 1 else ""
    why = f"near the level again that it had before {change.since[:10]}"
    if len(back) < of:
        why += f"; not yet for sure: {of - len(back)} more"
    return Happening(event=Event.RECOVERED, what=f"{back[0]}{more}", why=why)
