"""Openings that a pause happens to cut, while others of their kind are done in one go.

A pause inside an opening is a cut where the file stays open while the program computes. Where it
is an accident (the storage stalled, another rank was late) the opening stays whole, so that it is
like its sisters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venturi.derive.known_name import numbered
from venturi.model.operation import KIND_CODES, Column, Kind

MOST_ACCIDENTS = 2
"""An opening with more pauses inside is one that lasts."""
ACCIDENT_SHARE = 0.5
"""Of the openings of files with the same name but for digits, fewer than this are cut."""


def openings(owner: Column, kind: Column) -> Column:
    """Where openings begin, and what stands between them, in rows sorted by `owner` and time."""
    starts = np.ones(len(owner), bool)
    starts[1:] = (owner[1:] != owner[:-1]) | (kind[:-1] == KIND_CODES[Kind.CLOSE])
    starts |= kind == KIND_CODES[Kind.OPEN]
    return np.flatnonzero(starts)


def healed(paths: list[str], file: Column, rank: Column, kind: Column, stretch: Column) -> Column:
    """The stretches of rows sorted by file, rank and time, without accidental cuts."""
    first = openings(file.astype(np.int64) * (int(rank.max()) + 1) + rank, kind)
    low, high = np.minimum.reduceat(stretch, first), np.maximum.reduceat(stretch, first)
    is_opening = kind[first] == KIND_CODES[Kind.OPEN]
    _, family = np.unique([numbered(path) for path in paths], return_inverse=True)
    of_opening = family[file[first]]
    cut = is_opening & (high > low)
    cuts = np.bincount(of_opening, weights=cut)
    count = np.bincount(of_opening, weights=is_opening)
    is_rare = cuts < ACCIDENT_SHARE * count
    heals = cut & (high - low <= MOST_ACCIDENTS) & is_rare[of_opening]
    length = np.diff(np.append(first, len(stretch)))
    whole: Column = np.where(np.repeat(heals, length), np.repeat(low, length), stretch)
    return whole


@dataclass(frozen=True)
class NameUses:
    """What was done under names, in the order of time: columns of equal length."""

    name: Column
    """A number for each name."""
    rank: Column
    asks: Column
    """Whether it opens, and makes the file if it is not there."""
    anew: Column
    """Whether it opens what is made or emptied in any case."""
    needs: Column
    """Whether it could not be done if the file were not there."""
    removes: Column
    gives: Column
    """The name that a file gets; -1: it keeps its own."""

    def with_given(self) -> tuple[NameUses, Column]:
        """The same, and a row more for each name that a file got, behind the one that gives it; and
        where its own rows are in that."""
        given = np.flatnonzero(self.gives >= 0)
        in_time = np.argsort(np.concatenate([np.arange(len(self.name)), given]), kind="stable")
        none = np.zeros(len(given), bool)
        uses = NameUses(
            name=np.concatenate([self.name, self.gives[given]])[in_time],
            rank=np.concatenate([self.rank, self.rank[given]])[in_time],
            asks=np.concatenate([self.asks, none])[in_time],
            anew=np.concatenate([self.anew, none])[in_time],
            needs=np.concatenate([self.needs, ~none])[in_time],
            removes=np.concatenate([self.removes, none])[in_time],
            gives=np.full(len(in_time), -1),
        )
        return uses, np.argsort(in_time)[: len(self.name)]


def makes_file(uses: NameUses) -> Column:
    """Which openings make their file, or empty it.

    A rank's first one since the last removal may make it, unless it was there: it got that name, or
    something was done to it, before anybody asked for it. Later ones find it there.
    """
    if np.any(uses.gives >= 0):
        uses, own = uses.with_given()
        found: Column = makes_file(uses)[own]
        return found
    order = np.argsort(uses.name, kind="stable")
    removals = np.cumsum(uses.removes[order])
    epoch = np.empty(len(order), np.int64)
    epoch[order] = removals
    opens = np.flatnonzero(uses.asks)
    keys = np.stack((uses.name[opens], uses.rank[opens], epoch[opens]))
    _, first = np.unique(keys, axis=1, return_index=True)
    result = np.zeros(len(order), bool)
    result[opens[first]] = True
    matters = np.flatnonzero(uses.asks | (uses.needs & ~uses.removes))
    keys = np.stack((uses.name[matters], epoch[matters]))
    _, first, inverse = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    was_there = np.zeros(len(order), bool)
    was_there[matters] = ~uses.asks[matters[first]][inverse]
    return (result & ~was_there) | (uses.asks & uses.anew)
