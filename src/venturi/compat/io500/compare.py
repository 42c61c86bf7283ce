"""Two results side by side, and how one is found by what its owner calls it."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.compat.io500.ranking import NUMBERS, RankingFilter, unit_of, value_of
from venturi.model.error import UserError
from venturi.model.published import Io500Result
from venturi.model.review import ComparedValue

_MOST_NAMED = 5


def compared_values(first: Io500Result, second: Io500Result) -> list[ComparedValue]:
    """Every number of a list that one of the two has."""
    rows = []
    for name in NUMBERS:
        pairs = [
            [value_of(one, RankingFilter(name, per)) for one in (first, second)]
            for per in ("run", "process")
        ]
        if pairs[0] == [None, None]:
            continue
        rows.append(
            ComparedValue(
                name=name,
                unit=unit_of(RankingFilter(name)),
                a=pairs[0][0],
                b=pairs[0][1],
                ratio=_ratio(*pairs[0]),
                each=_ratio(*pairs[1]),
            )
        )
    return rows


def _ratio(first: float | None, second: float | None) -> float | None:
    return first / second if first is not None and second else None


def matching(results: Sequence[Io500Result], name: str) -> list[Io500Result]:
    """The results that a name fits: the start of a key, else words of owner and place."""
    found = [one for one in results if one.key.startswith(name)]
    if found:
        return found
    words = name.lower().split()
    return [one for one in results if words and all(word in _words(one) for word in words)]


def named(results: Sequence[Io500Result], name: str) -> Io500Result:
    """The one result that a name fits: the start of its key, or words of its owner and place.

    UserError where none or several fit.
    """
    found = matching(results, name)
    if len(found) == 1:
        return found[0]
    if not found:
        raise UserError(
            f"{name}: neither a run nor an imported result",
            "venturi results rank --all lists them; venturi results import PATH brings some",
        )
    shown = ", ".join(f"{one.key} ({_place(one)})" for one in found[:_MOST_NAMED])
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    raise UserError(f"{name}: {len(found)} results fit", f"name one by its key: {shown}{more}")


def _place(result: Io500Result) -> str:
    known = (result.institution, result.system, str(result.year or ""))
    return " ".join(part for part in known if part) or result.source


def _words(result: Io500Result) -> str:
    parts = (result.institution, result.system, result.filesystem, result.source, result.year or "")
    return " ".join(map(str, parts)).lower()
