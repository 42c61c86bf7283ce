"""Sets of runs that a site compares by itself: machines, the last week and before, tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import combinations

from venturi.analyse.set_comparison import compared_sets
from venturi.model.comparison import ComparisonSet
from venturi.model.error import UserError
from venturi.model.record import Level
from venturi.model.site import SiteContrast
from venturi.report.site import address
from venturi.site.kept_result import KeptResult
from venturi.site.output import digest_of_text

_MOST_PAIRS = 45
"""Of machines, and of tags: those of ten."""
_FEWEST = 3
"""Sessions on each side of two weeks."""
_WEEK = timedelta(days=7)
_BEFORE = timedelta(days=35)

Sets = tuple[str, list[KeptResult], str, list[KeptResult]]


def contrasts_of(
    name: str, results: Mapping[str, list[KeptResult]], before: Sequence[SiteContrast]
) -> Iterator[tuple[SiteContrast, ComparisonSet | None]]:
    """The comparisons of one workload; those whose runs are as `before` are not made again.

    Of each machine the results are given in their order.
    """
    known = {one.key: one for one in before}
    for first, own, second, others in _sets(results):
        key = address.plain(f"{name} {first} {second}")
        inputs = digest_of_text(
            "\n".join([*(one.text for one in own), "", *(o.text for o in others)])
        )
        if key in known and known[key].inputs == inputs:
            yield known[key], None
            continue
        sides = [one.result() for one in own], [one.result() for one in others]
        try:
            found = compared_sets(*sides, (first, second))
        except UserError:
            found = None  # nothing alike
        headline = found.headline if found else ""
        first_title = f"{name}, {first}"
        yield (
            SiteContrast(
                key=key, first=first_title, second=second, headline=headline, inputs=inputs
            ),
            found,
        )


def _sets(results: Mapping[str, list[KeptResult]]) -> Iterator[Sets]:
    for one, other in list(combinations(results, 2))[:_MOST_PAIRS]:
        yield one, _newest(results[one]), other, _newest(results[other])
    for machine, own in results.items():
        yield from _weeks(machine, own)
    every = [one for own in results.values() for one in own]
    tags = sorted({tag for one in every for tag in one.tags})
    for tag, second in list(combinations(tags, 2))[:_MOST_PAIRS]:
        yield f"tag {tag}", _tagged(every, tag), f"tag {second}", _tagged(every, second)


def _newest(results: Sequence[KeptResult]) -> list[KeptResult]:
    """The valid runs of the five weeks before the newest run."""
    valid = [one for one in results if one.level != Level.INVALID.value]
    last = _moment(valid[-1].started) if valid else None
    return [one for one in valid if last and (_moment(one.started) or last) >= last - _BEFORE]


def _weeks(machine: str, results: Sequence[KeptResult]) -> Iterator[Sets]:
    """The last week of a subject, and the four before."""
    newest = _newest(results)
    if not newest:
        return
    last = _moment(newest[-1].started)
    if last is None:
        return
    now = [one for one in newest if (_moment(one.started) or last) > last - _WEEK]
    before = [one for one in newest if (_moment(one.started) or last) <= last - _WEEK]
    if min(len({one.session for one in side}) for side in (now, before)) >= _FEWEST:
        yield f"{machine} in the weeks before", before, f"{machine} in the last week", now


def _tagged(results: Sequence[KeptResult], tag: str) -> list[KeptResult]:
    return [one for one in results if tag in one.tags]


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None
