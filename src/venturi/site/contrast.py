"""Sets of runs that a site compares by itself: machines, the last week and before, tags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import combinations

from venturi.analyse.left_out import is_invalid
from venturi.analyse.set_comparison import compared_sets
from venturi.model.comparison import ComparisonSet
from venturi.model.error import UserError
from venturi.model.result import Result
from venturi.model.site import SiteContrast, SiteGroup
from venturi.report.site import address

_MOST_PAIRS = 6
_FEWEST = 3
"""Sessions on each side of two weeks."""
_WEEK = timedelta(days=7)
_BEFORE = timedelta(days=35)

Sets = tuple[str, list[Result], str, list[Result]]


def contrasts_of(groups: Sequence[SiteGroup]) -> Iterator[tuple[SiteContrast, ComparisonSet]]:
    """The comparisons of one workload that say anything."""
    name = groups[0].subject.name
    for first, own, second, others in _sets(groups):
        try:
            found = compared_sets(own, others, (first, second))
        except UserError:
            continue  # nothing alike
        key = address.plain(f"{name} {first} {second}")
        yield (
            SiteContrast(key=key, first=f"{name}, {first}", second=second, headline=found.headline),
            found,
        )


def _sets(groups: Sequence[SiteGroup]) -> Iterator[Sets]:
    pairs = list(combinations(groups, 2))[:_MOST_PAIRS]
    for a, b in pairs:
        yield a.subject.machine, _newest(a.results), b.subject.machine, _newest(b.results)
    for group in groups:
        yield from _weeks(group)
    tags = sorted({tag for group in groups for one in group.results for tag in one.tags})
    for one, other in list(combinations(tags, 2))[:_MOST_PAIRS]:
        yield f"tag {one}", _tagged(groups, one), f"tag {other}", _tagged(groups, other)


def _newest(results: Sequence[Result]) -> list[Result]:
    """The runs of the five weeks before the newest run."""
    valid = [one for one in results if not is_invalid(one)]
    last = _moment(valid[-1].started) if valid else None
    return [one for one in valid if last and (_moment(one.started) or last) >= last - _BEFORE]


def _weeks(group: SiteGroup) -> Iterator[Sets]:
    """The last week of a subject, and the four before."""
    newest = _newest(group.results)
    if not newest:
        return
    last = _moment(newest[-1].started)
    if last is None:
        return
    now = [one for one in newest if (_moment(one.started) or last) > last - _WEEK]
    before = [one for one in newest if (_moment(one.started) or last) <= last - _WEEK]
    if min(len({one.session for one in side}) for side in (now, before)) >= _FEWEST:
        machine = group.subject.machine
        yield f"{machine} in the weeks before", before, f"{machine} in the last week", now


def _tagged(groups: Sequence[SiteGroup], tag: str) -> list[Result]:
    return [one for group in groups for one in group.results if tag in one.tags]


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None
