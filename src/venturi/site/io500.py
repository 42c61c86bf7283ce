"""The lists of IO500 that a site has, and the systems in them."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.compat.io500.ranking import RankingFilter, rank
from venturi.model.published import Io500Result
from venturi.model.site import ListRow, SiteList, SystemPage
from venturi.report.published import name_of
from venturi.report.site.io500 import owner_of

_LISTS = (
    ("production", "Production", ("production",), "Systems that their owners call production."),
    (
        "ten-node-production",
        "Ten-node production",
        ("production", "ten-node"),
        "Production systems, with exactly 10 client nodes.",
    ),
    ("research", "Research", ("research",), "Systems that their owners call research."),
    (
        "ten-node-research",
        "Ten-node research",
        ("research", "ten-node"),
        "Research systems, with exactly 10 client nodes.",
    ),
    ("full", "Full", ("best",), "The best result of each system."),
    (
        "historical",
        "Historical",
        (),
        "Every imported result; those that may not stand in a list come last, without a place.",
    ),
)


def lists_of(results: Sequence[Io500Result]) -> list[SiteList]:
    """All lists, each best first; scores are computed again."""
    return [
        SiteList(
            key=key,
            title=title,
            about=about,
            rows=[
                ListRow(place=row.place, result=row.result)
                for row in rank(results, RankingFilter(lists=lists, every=key == "historical"))
            ],
        )
        for key, title, lists, about in _LISTS
    ]


def systems_of(results: Sequence[Io500Result], lists: Sequence[SiteList]) -> list[SystemPage]:
    """Every system with its results, newest first, and the places that they have."""
    owned: dict[tuple[str, str, str], list[Io500Result]] = {}
    for one in results:
        owned.setdefault(owner_of(one), []).append(one)
    places: dict[str, dict[str, int]] = {}
    for found in lists:
        for row in found.rows:
            if row.place is not None:
                places.setdefault(row.result.key, {})[found.title] = row.place
    return [
        SystemPage(
            title=name_of(own[0]),
            results=sorted(own, key=lambda one: (-(one.year or 0), one.key)),
            places={one.key: places[one.key] for one in own if one.key in places},
        )
        for _, own in sorted(owned.items())
    ]
