"""Openings that a pause happens to cut, while others of their kind are done in one go.

A pause inside an opening is a cut where the file stays open while the program computes. Where it
is an accident (the storage stalled, another rank was late) the opening stays whole, so that it is
like its sisters.
"""

from __future__ import annotations

import re

import numpy as np

from venturi.model.operation import KIND_CODES, Column, Kind

MOST_ACCIDENTS = 2
"""An opening with more pauses inside is one that lasts."""
ACCIDENT_SHARE = 0.5
"""Of the openings of files with the same name but for digits, fewer than this are cut."""
_DIGITS = re.compile(r"\d+")


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
    _, family = np.unique([_DIGITS.sub("#", path) for path in paths], return_inverse=True)
    of_opening = family[file[first]]
    cut = is_opening & (high > low)
    cuts = np.bincount(of_opening, weights=cut)
    count = np.bincount(of_opening, weights=is_opening)
    is_rare = cuts < ACCIDENT_SHARE * count
    heals = cut & (high - low <= MOST_ACCIDENTS) & is_rare[of_opening]
    length = np.diff(np.append(first, len(stretch)))
    whole: Column = np.where(np.repeat(heals, length), np.repeat(low, length), stretch)
    return whole


def makes_file(
    asks: Column, begins_anew: Column, gone: Column, file: Column, rank: Column
) -> Column:
    """Which opens make their file, of those that ask for it if it is not there.

    All columns are masks or numbers of rows in the order of time: opens that may make the file,
    opens that in any case begin it anew, and removals of the file. A rank's first open since the
    last removal may make it; later ones find it there.
    """
    order = np.argsort(file, kind="stable")
    removals = np.cumsum(gone[order])
    epoch = np.empty(len(file), np.int64)
    epoch[order] = removals
    opens = np.flatnonzero(asks)
    keys = np.stack((file[opens], rank[opens], epoch[opens]))
    _, first = np.unique(keys, axis=1, return_index=True)
    result = np.zeros(len(file), bool)
    result[opens[first]] = True
    return result | (asks & begins_anew)
