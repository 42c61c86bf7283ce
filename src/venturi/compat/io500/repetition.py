"""Repeated results of one system: the interval that they give, and places that are shared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from venturi.compat.io500.ranking import is_own
from venturi.model.published import Io500Result
from venturi.model.statistic import Interval, median_interval

_SAME = 1e-3
"""Results whose two means differ by less are copies of one, in several lists or rounded."""
_Repeated = tuple[str, str, str, int, int, int]


@dataclass(frozen=True)
class RepetitionInterval:
    """An interval for the median score of a system's repeated results."""

    low: float
    high: float
    coverage: float
    """How sure the interval is, from 0 to 1."""
    count: int
    """Repetitions, at least two."""


def repetition_intervals(results: Iterable[Io500Result]) -> dict[str, RepetitionInterval]:
    """The interval of each result that was repeated, by the result's key.

    Repetitions are results that may stand in a list, of one institution, system and file system,
    with the same number of client nodes and processes, in the same year; all six must be known.
    Results whose bandwidth and metadata both agree within 0.1 % are copies of one and count once.
    The interval is that of `median_interval` over the scores: with fewer than six repetitions it
    goes from the lowest to the highest, and its coverage is below 95 %. One result has none.
    """
    groups: dict[_Repeated, list[Io500Result]] = {}
    for one in results:
        if (name := _repeated(one)) is not None:
            groups.setdefault(name, []).append(one)
    found = {}
    for group in groups.values():
        scores = _distinct(group)
        if len(scores) >= 2:
            interval = _interval(median_interval(scores), len(scores))
            found.update({one.key: interval for one in group})
    return found


def _interval(found: Interval, count: int) -> RepetitionInterval:
    return RepetitionInterval(found.low, found.high, found.coverage, count)


def _repeated(one: Io500Result) -> _Repeated | None:
    """What repetitions have in common; None where something of it is not known."""
    if not one.ranked or is_own(one) or one.recomputed.score is None:
        return None
    if not (one.institution and one.system and one.filesystem):
        return None
    if not (one.nodes and one.procs and one.year):
        return None
    names = one.institution.lower(), one.system.lower(), one.filesystem.lower()
    return (*names, one.nodes, one.procs, one.year)


def _distinct(group: Sequence[Io500Result]) -> list[float]:
    """The scores of a group, copies once."""
    kept: list[Io500Result] = []
    for one in group:
        if not any(_is_copy(one, other) for other in kept):
            kept.append(one)
    return [one.recomputed.score for one in kept if one.recomputed.score is not None]


def _is_copy(one: Io500Result, other: Io500Result) -> bool:
    pairs = (
        (one.recomputed.bw, other.recomputed.bw),
        (one.recomputed.md, other.recomputed.md),
    )
    return all(
        first is not None and second is not None and abs(first - second) <= _SAME * second
        for first, second in pairs
    )


def shared_places(intervals: Sequence[RepetitionInterval | None]) -> list[tuple[int, bool]]:
    """The place of each row of a list, best first, and whether it is shared.

    Two rows whose intervals overlap share a place, and all rows between them share it, too; so do
    three of which one overlaps both others. So no two rows whose intervals overlap have different
    places. A row without an interval is told apart by its score alone.
    """
    first = list(range(len(intervals)))
    known = [(row, one) for row, one in enumerate(intervals) if one is not None]
    for index, (row, one) in enumerate(known):
        for below, other in known[index + 1 :]:
            if one.low <= other.high and other.low <= one.high:
                first[below] = min(first[below], row)
    starts: list[int] = []
    for row, is_new in enumerate(_begins(first)):
        starts.append(row if is_new else starts[-1])
    counts = Counter(starts)
    return [(start + 1, counts[start] > 1) for start in starts]


def _begins(first: Sequence[int]) -> list[bool]:
    """Of each row, whether no row at or below it overlaps one above it."""
    found = []
    reach = len(first)
    for row in range(len(first) - 1, -1, -1):
        reach = min(reach, first[row])
        found.append(reach >= row)
    return found[::-1]
