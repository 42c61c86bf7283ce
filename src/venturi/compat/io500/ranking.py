"""Lists of results: who is first by a number, in all or per client."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from venturi.compat.io500.score import METADATA, SCORED
from venturi.model.error import UserError
from venturi.model.published import Io500Result

TEN_NODES = 10
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

    A result with a phase that is missing or 0 has no place, however high its score. Whatever
    lacks the number that is asked for (or the number of clients) is left out. Runs of our own
    stand among the others whatever the choice, at the place that they would take.
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
    for value, result in sorted((one for one in found if _is_shown(one[1])), key=_order):
        rows.append(RankingRow(place, value, result))
        place += not is_own(result)
    others = sorted((one for one in found if not _is_shown(one[1])), key=_order)
    return rows + [RankingRow(None, value, result) for value, result in others if choice.every]


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
    return choice.filesystem.lower() in result.filesystem.lower()


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
