"""Requests in stretches: nearly equal ones, records of nearly equal parts, odd ones (rule 6).

A header, then compressed blocks, then an index; a look at a file's end before it is read from the
beginning. Sizes differ from block to block, so no table gives them exactly; that small and large
requests take turns, and what comes first, is what groups of sizes would lose.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venturi.model.operation import Column

MOST_PARTS = 4
"""Of a record."""
LEAST_RECORDS = 8
NEAR = 1.25
"""A part's largest size is at most so many times its smallest."""
MOST_STRETCHES = 6
MOST_ODD = 8
"""So many requests may stand between stretches, or before and behind them."""
MOST_LEFT = 0.1
"""Behind the last stretch such a share of the requests may follow no rule."""


@dataclass(frozen=True)
class Stretch:
    """Requests that follow each other."""

    first: int
    count: int
    parts: int
    """Requests of a record; 1: all are nearly equal; 0: they are odd."""
    is_rest: bool = False
    """Whether they are what is left, however many."""


def stretches_of(offset: Column, size: Column, near: float = NEAR) -> list[Stretch] | None:
    """The stretches of a run of requests, in order; None where it has too many, or none.

    Sizes are alike if the largest is at most `near` times the smallest.
    """
    count = len(size)
    jumps = np.flatnonzero(offset[1:] != offset[:-1] + size[:-1]) + 1
    found: list[Stretch] = []
    at = odd = regular = 0
    while at < count:
        after = jumps[np.searchsorted(jumps, at, side="right") :]
        end = int(after[0]) if len(after) else count
        longest = _longest(size[at:end], near)
        if longest is not None:
            found.append(Stretch(at, longest[0], longest[1]))
            at, regular = at + longest[0], regular + 1
        elif odd < MOST_ODD:
            _add_odd(found, at)
            at, odd = at + 1, odd + 1
        elif regular and not len(after) and count - at <= MOST_LEFT * count:
            found.append(Stretch(at, count - at, 0, is_rest=True))
            break
        else:
            return None
        if len(found) > MOST_STRETCHES:
            return None
    return found if regular else None


def classed_stretches(offset: Column, size: Column, least: Column) -> list[Stretch] | None:
    """The requests in the order of time, cut where one is of another class, or jumps; None where
    these are too many.

    `least` are the smallest sizes of the classes, rising.
    """
    group = np.searchsorted(least, size, side="right")
    cuts = (group[1:] != group[:-1]) | (offset[1:] != offset[:-1] + size[:-1])
    first = np.concatenate([[0], np.flatnonzero(cuts) + 1])
    if len(first) > MOST_STRETCHES:
        return None
    counts = np.diff(np.append(first, len(size)))
    return [Stretch(int(at), int(count), 1) for at, count in zip(first, counts, strict=True)]


def _add_odd(found: list[Stretch], at: int) -> None:
    """One more odd request, with those just before it."""
    last = found[-1] if found else None
    if last is not None and not last.parts:
        found[-1] = Stretch(last.first, last.count + 1, 0)
    else:
        found.append(Stretch(at, 1, 0))


def _longest(sizes: Column, near: float) -> tuple[int, int] | None:
    """(requests, parts) of the longest stretch with which these sizes begin; None: it is none."""
    best: tuple[int, int] | None = None
    for parts in range(1, MOST_PARTS + 1):
        covered = _reach(sizes, parts, near)
        if covered >= LEAST_RECORDS * parts and (best is None or covered > best[0] + parts):
            best = covered, parts
    return best


def _reach(sizes: Column, parts: int, near: float) -> int:
    """How many requests from the first one on are records of `parts` nearly equal parts."""
    most = len(sizes) // parts
    if most < LEAST_RECORDS:
        return 0
    # Few sizes tell of most runs that they are none.
    for some in (LEAST_RECORDS, most):
        table = sizes[: some * parts].reshape(some, parts)
        low = np.minimum.accumulate(table, axis=0)
        high = np.maximum.accumulate(table, axis=0)
        fits = np.all((high <= near * low) & (low > 0), axis=1)
        count = some if np.all(fits) else int(np.argmin(fits))
        if count < LEAST_RECORDS:
            return 0
    return count * parts
