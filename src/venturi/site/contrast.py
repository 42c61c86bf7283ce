"""Sets of runs that a site compares by itself: machines, the last week and before, tags."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import combinations
from typing import NamedTuple

from venturi.analyse.set_comparison import compared_sets
from venturi.model.comparison import ComparisonSet
from venturi.model.error import UserError
from venturi.model.record import Level
from venturi.model.result import Result
from venturi.model.site import SiteContrast
from venturi.report.site import address
from venturi.site.output import digest_of_text
from venturi.site.run_index import KnownRun, RunLine

_MOST_PAIRS = 45
"""Of machines, and of tags: those of ten."""
_FEWEST = 3
"""Sessions on each side of two weeks."""
_WEEK = timedelta(days=7)
_BEFORE = timedelta(days=35)

Sets = tuple[str, list[KnownRun], str, list[KnownRun]]
ResultsOf = Callable[[Sequence[KnownRun]], list[Result]]


def contrasts_of(
    name: str, runs: Mapping[str, Sequence[KnownRun]], results_of: ResultsOf
) -> Iterator[tuple[SiteContrast, Callable[[], ComparisonSet | None]]]:
    """The comparisons of one workload, each with what makes it: None where nothing is alike.

    Of each machine the runs are given in their order. A comparison has no headline yet.
    """
    lines = {machine: [_SideRun(run, run.run()) for run in own] for machine, own in runs.items()}
    for first, own, second, others in _sets(lines):
        key = address.plain(f"{name} {first} {second}")
        inputs = digest_of_text(
            "\n".join([*(r.digest for r in own), "", *(r.digest for r in others)])
        )
        yield (
            SiteContrast(
                key=key, first=f"{name}, {first}", second=second, headline="", inputs=inputs
            ),
            partial(_compared, own, others, (first, second), results_of),
        )


def _compared(
    own: Sequence[KnownRun],
    others: Sequence[KnownRun],
    names: tuple[str, str],
    results_of: ResultsOf,
) -> ComparisonSet | None:
    try:
        return compared_sets(results_of(own), results_of(others), names)
    except UserError:
        return None  # nothing alike


class _SideRun(NamedTuple):
    """A run, and what says on which sides it is."""

    run: KnownRun
    line: RunLine


def _sets(runs: Mapping[str, Sequence[_SideRun]]) -> Iterator[Sets]:
    newest = {machine: _newest(own) for machine, own in runs.items()}
    for one, other in list(combinations(runs, 2))[:_MOST_PAIRS]:
        yield one, _plain(newest[one]), other, _plain(newest[other])
    for machine, own in newest.items():
        yield from _weeks(machine, own)
    every = [one for own in runs.values() for one in own]
    tags = sorted({tag for one in every for tag in one.line.tags})
    tagged = {tag: [one.run for one in every if tag in one.line.tags] for tag in tags}
    for tag, second in list(combinations(tags, 2))[:_MOST_PAIRS]:
        yield f"tag {tag}", tagged[tag], f"tag {second}", tagged[second]


def _plain(runs: Sequence[_SideRun]) -> list[KnownRun]:
    return [one.run for one in runs]


def _newest(runs: Sequence[_SideRun]) -> list[_SideRun]:
    """The valid runs of the five weeks before the newest run."""
    valid = [one for one in runs if one.line.level != Level.INVALID.value]
    last = _moment(valid[-1].run.started) if valid else None
    return [one for one in valid if last and (_moment(one.run.started) or last) >= last - _BEFORE]


def _weeks(machine: str, newest: Sequence[_SideRun]) -> Iterator[Sets]:
    """The last week of a subject, and the four before."""
    last = _moment(newest[-1].run.started) if newest else None
    if last is None:
        return
    now: list[KnownRun] = []
    before: list[KnownRun] = []
    for one in _plain(newest):
        (now if (_moment(one.started) or last) > last - _WEEK else before).append(one)
    if min(len({one.session for one in side}) for side in (now, before)) >= _FEWEST:
        yield f"{machine} in the weeks before", before, f"{machine} in the last week", now


def tags_of(runs: Sequence[KnownRun]) -> dict[str, list[tuple[str, str]]]:
    """For each tag the sessions, by machine and name, that have a run with it."""
    found: dict[str, dict[tuple[str, str], None]] = {}
    for run in runs:
        for tag in run.tags:
            found.setdefault(tag, {})[run.machine, run.session] = None
    return {tag: list(own) for tag, own in sorted(found.items())}


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None
