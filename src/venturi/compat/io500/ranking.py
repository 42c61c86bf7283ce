"""Lists of results: who is first by a number, in all or per client."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from venturi.compat.io500.score import METADATA, SCORED
from venturi.model.error import UserError
from venturi.model.published import Io500Result

TEN_NODES = 10
LISTS = ("production", "research", "ten-node", "best")
"""The lists of the site: by what owners call their system, by nodes, one for each system."""
NUMBERS = ("score", "bw", "md", *SCORED)
SHARES: tuple[Literal["run", "process", "node"], ...] = ("run", "process", "node")


@dataclass(frozen=True)
class RankingFilter:
    """Which results a list holds, and by what it is ordered."""

    by: str = "score"
    """One of `NUMBERS`."""
    per: str = "run"
    """One of `SHARES`: the number of the whole run, or of each of its client processes or nodes."""
    nodes: int | None = None
    filesystem: str = ""
    """A part of the file system's name, in whatever case."""
    year: int | None = None
    lists: tuple[str, ...] = ()
    """Of `LISTS`: only results that stand in each of them."""
    every: bool = False
    """With those that may not stand in a list: they come last, without a place."""


@dataclass(frozen=True)
class RankingRow:
    """A line of a list."""

    place: int | None
    value: float
    result: Io500Result


def rank(results: Iterable[Io500Result], choice: RankingFilter) -> list[RankingRow]:
    """The results of a choice, best first.

    A result that a flag excludes has no place, however high its score. Whatever lacks the number
    that is asked for (or the number of clients) is left out. Runs of our own stand among the
    others whatever the choice, at the place that they would take.
    """
    if choice.by not in NUMBERS:
        raise UserError(f"--by {choice.by}: there is no such number", f"use {', '.join(NUMBERS)}")
    found = [
        (value, result)
        for result in results
        if _is_chosen(result, choice) and (value := value_of(result, choice)) is not None
    ]
    rows = []
    place = 1
    shown = sorted((one for one in found if _is_shown(one[1])), key=_order)
    for value, result in _best(shown) if "best" in choice.lists else shown:
        rows.append(RankingRow(place, value, result))
        place += not is_own(result)
    others = sorted((one for one in found if not _is_shown(one[1])), key=_order)
    return rows + [RankingRow(None, value, result) for value, result in others if choice.every]


def _best(ordered: Sequence[tuple[float, Io500Result]]) -> list[tuple[float, Io500Result]]:
    """The first of each institution, system and file system; what names none stays."""
    seen: set[tuple[str, str, str]] = set()
    kept = []
    for value, result in ordered:
        owner = (result.institution, result.system, result.filesystem)
        name = (owner[0].lower(), owner[1].lower(), owner[2].lower())
        if is_own(result) or not any(name) or name not in seen:
            kept.append((value, result))
        seen.add(name)
    return kept


def is_own(result: Io500Result) -> bool:
    """Whether a result is a run of our own: its place is what it would be, and moves nobody."""
    return result.format == "venturi"


def _is_shown(result: Io500Result) -> bool:
    return result.ranked or is_own(result)


def unit_of(choice: RankingFilter) -> str:
    """The unit of the list's number; empty for the score, whose unit nobody names."""
    unit = {"score": "", "bw": "GiB/s", "md": "kIOPS"}.get(choice.by)
    if unit is None:
        unit = "kIOPS" if choice.by in METADATA else "GiB/s"
    return unit if choice.per == "run" else f"{unit}/{choice.per}".lstrip("/")


def _order(one: tuple[float, Io500Result]) -> tuple[float, str]:
    return -one[0], one[1].key


def _is_chosen(result: Io500Result, choice: RankingFilter) -> bool:
    if is_own(result):
        return True
    if choice.nodes is not None and result.nodes != choice.nodes:
        return False
    if choice.year is not None and result.year != choice.year:
        return False
    return choice.filesystem.lower() in result.filesystem.lower() and _is_listed(result, choice)


def _is_listed(result: Io500Result, choice: RankingFilter) -> bool:
    """Whether it stands in all lists of the choice; who says nothing of a system is in neither."""
    for name in ("production", "research"):
        if name in choice.lists and result.classification != name:
            return False
    return "ten-node" not in choice.lists or result.nodes == TEN_NODES


def value_of(result: Io500Result, choice: RankingFilter) -> float | None:
    value: float | None
    if choice.by in ("score", "bw", "md"):
        value = getattr(result.recomputed, choice.by)
    else:
        value = next((p.value for p in result.phases if p.name == choice.by), None)
    if value is None or choice.per == "run":
        return value
    clients = result.procs if choice.per == "process" else result.nodes
    return value / clients if clients else None
