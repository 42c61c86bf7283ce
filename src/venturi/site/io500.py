"""The lists of IO500 that a site has, and the systems in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from venturi.compat.io500.ranking import RankingFilter, RankingRow, rank
from venturi.compat.io500.repetition import (
    RepetitionInterval,
    repetition_intervals,
    shared_places,
)
from venturi.model.published import Io500Result
from venturi.model.site import (
    ListInterval,
    ListRow,
    SiteList,
    SiteNeighbour,
    SiteRankingPosition,
    SiteScore,
    SiteSubject,
    SystemPage,
)
from venturi.report import quantity
from venturi.report.published import name_of
from venturi.report.site.io500 import owner_of

_NEAR = 3
"""Results that are shown above, and below."""
_HISTORICAL = "historical"
"""The list of single results: what repeated results cannot tell apart shares no place in it."""
_LISTS = (
    (
        "production",
        "Production",
        ("production", "best"),
        "Systems that their owners call production; the best result of each.",
    ),
    (
        "ten-node-production",
        "Ten-node production",
        ("production", "ten-node", "best"),
        "Production systems; the best result of each with exactly 10 client nodes.",
    ),
    (
        "research",
        "Research",
        ("research", "best"),
        "Systems that their owners call research; the best result of each.",
    ),
    (
        "ten-node-research",
        "Ten-node research",
        ("research", "ten-node", "best"),
        "Research systems; the best result of each with exactly 10 client nodes.",
    ),
    ("full", "Full", ("best",), "The best result of each system."),
    (
        _HISTORICAL,
        "Historical",
        (),
        "Every imported result, each with a place by its own score; those that may not stand in a "
        "list come last, without a place.",
    ),
)
_CLASSES = {"production", "research"}
_UNCLASSED = " Results that name no class ({}) are only in the full and the historical list."


def lists_of(results: Sequence[Io500Result]) -> list[SiteList]:
    """All lists, each best first; scores are computed again."""
    intervals = repetition_intervals(results)
    unclassed = sum(not one.classification for one in results)
    more = _UNCLASSED.format(quantity.count(unclassed)) if unclassed else ""
    found = []
    for key, title, lists, about in _LISTS:
        said = about + more if _CLASSES & set(lists) else about
        rows = rank(results, RankingFilter(lists=lists, every=key == _HISTORICAL))
        found.append(SiteList(key=key, title=title, about=said, rows=_rows(key, rows, intervals)))
    return found


def _rows(
    key: str, rows: Sequence[RankingRow], intervals: Mapping[str, RepetitionInterval]
) -> list[ListRow]:
    placed = [row for row in rows if row.place is not None]
    known = [None if key == _HISTORICAL else intervals.get(row.result.key) for row in placed]
    places = {
        row.result.key: place for row, place in zip(placed, shared_places(known), strict=True)
    }
    found = []
    for row in rows:
        place, is_shared = places.get(row.result.key, (None, False))
        interval = _interval(intervals.get(row.result.key))
        found.append(ListRow(place=place, result=row.result, interval=interval, shared=is_shared))
    return found


def _interval(found: RepetitionInterval | None) -> ListInterval | None:
    if found is None:
        return None
    return ListInterval(
        low=found.low, high=found.high, coverage=found.coverage, repetitions=found.count
    )


class SizeRanking:
    """Published results by their size, the best of each system; those that may stand in a list."""

    def __init__(self, results: Sequence[Io500Result]) -> None:
        self._ordered = [
            (row.result.nodes, row.value, row.result)
            for row in rank([one for one in results if one.format != "venturi"], RankingFilter())
            if row.result.nodes
        ]
        self._sizes: dict[tuple[int, int], list[tuple[float, Io500Result]]] = {}

    def ranking_positions(self, subjects: Sequence[SiteSubject]) -> list[SiteRankingPosition]:
        """Where the newest scores of some subjects stand."""
        found = [self._ranking_position(one.name, one.score) for one in subjects if one.score]
        return sorted(found, key=lambda one: (-one.score.value, one.name))

    def _ranking_position(self, name: str, score: SiteScore) -> SiteRankingPosition:
        least, most = size_of(score.nodes)
        own = self._of_size(least, most)
        place = 1 + sum(value > score.value for value, _ in own)
        first = max(place - 1 - _NEAR, 0)
        return SiteRankingPosition(
            name=name,
            score=score,
            least=least,
            most=most,
            place=place,
            of=len(own),
            near=[
                SiteNeighbour(place=number, result=result)
                for number, (_, result) in enumerate(own[first : place - 1 + _NEAR], first + 1)
            ],
        )

    def _of_size(self, least: int, most: int) -> list[tuple[float, Io500Result]]:
        """The best of each system with so many client nodes, best first."""
        if (least, most) in self._sizes:
            return self._sizes[least, most]
        seen: set[tuple[str, str, str]] = set()
        found = self._sizes[least, most] = []
        for nodes, value, result in self._ordered:
            if least <= nodes <= most and (owner := owner_of(result)) not in seen:
                seen.add(owner)
                found.append((value, result))
        return found

    def place_of(self, result: Io500Result) -> tuple[str, int] | None:
        """Which list of its size a result stands in, and at which place."""
        if not result.nodes or not result.ranked:
            return None
        least, most = size_of(result.nodes)
        own = self._of_size(least, most)
        for place, (_, one) in enumerate(own, 1):
            if one.key == result.key:
                return f"{len(own)} with {least} to {most} nodes", place
        return None


def size_of(nodes: int) -> tuple[int, int]:
    """The client nodes of systems of one size: from half as many to twice as many."""
    return -(-nodes // 2), 2 * nodes


def systems_of(results: Sequence[Io500Result], lists: Sequence[SiteList]) -> list[SystemPage]:
    """Every system with its results, newest first, and the places that they have."""
    owned: dict[tuple[str, str, str], list[Io500Result]] = {}
    for one in results:
        owned.setdefault(owner_of(one), []).append(one)
    places: dict[str, dict[str, str]] = {}
    for found in lists:
        for row in found.rows:
            if row.place is not None:
                places.setdefault(row.result.key, {})[found.title] = row.place_text
    by_size = SizeRanking(results)
    for one in results:
        if (found_place := by_size.place_of(one)) is not None:
            places.setdefault(one.key, {})[found_place[0]] = str(found_place[1])
    return [
        SystemPage(
            title=name_of(own[0]),
            results=sorted(own, key=lambda one: (-(one.year or 0), one.key)),
            places={one.key: places[one.key] for one in own if one.key in places},
        )
        for _, own in sorted(owned.items())
    ]
