"""Where a sequence repeats itself, followed while parts of it become one symbol each."""

from __future__ import annotations

import numpy as np

from venturi.model.operation import Column

LONGEST_PERIOD = 32


class Repetitions:
    """For each period the stretches in which each symbol is the one so many before, if they hold a
    whole turn of it.

    A part that becomes one symbol changes the stretches around it only, so only they are looked for
    again.
    """

    def __init__(self, symbols: list[int]) -> None:
        self._symbols = symbols
        rows = [_stretches(np.array(symbols), period) for period in _periods(len(symbols))]
        self._rows = np.concatenate([np.zeros((0, 3), np.int64), *rows])
        """Period, first symbol, and how many symbols are those one period before."""

    def best(self) -> tuple[int, int, int] | None:
        """(start, period, count) of the repetition that saves most; the shorter period at a tie."""
        if not len(self._rows):
            return None
        period, start, length = self._rows.T
        gain = length // period * period
        most = np.flatnonzero(gain == gain.max())
        row = most[np.lexsort((start[most], period[most]))[0]]
        return int(start[row]), int(period[row]), int(length[row] // period[row]) + 1

    def replace(self, start: int, end: int, symbol: int) -> None:
        """The symbols from `start` to before `end` become one."""
        self._symbols[start:end] = [symbol]
        period, first, length = self._rows.T
        is_before, is_behind = first + length + period < start, first > end
        first[is_behind] -= end - start - 1
        found = [
            row for period in _periods(len(self._symbols)) for row in self._around(start, period)
        ]
        kept = self._rows[is_before | is_behind]
        self._rows = np.concatenate([kept, np.array(found, np.int64).reshape(-1, 3)])

    def _around(self, place: int, period: int) -> list[tuple[int, int, int]]:
        """The stretches that a new symbol at `place` may have changed."""
        symbols, last = self._symbols, len(self._symbols) - period - 1
        at, high = max(0, place - period - 1), min(place + 1, last)
        if at <= last and symbols[at] == symbols[at + period]:
            while at > 0 and symbols[at - 1] == symbols[at - 1 + period]:
                at -= 1
        found = []
        while at <= high:
            first = at
            while at <= last and symbols[at] == symbols[at + period]:
                at += 1
            if at - first >= period:
                found.append((period, first, at - first))
            at += 1
        return found


def _periods(count: int) -> range:
    return range(1, min(LONGEST_PERIOD, count // 2) + 1)


def _stretches(symbols: Column, period: int) -> Column:
    same = np.concatenate([[False], symbols[period:] == symbols[:-period], [False]])
    edges = np.flatnonzero(same[1:] != same[:-1])
    first, length = edges[::2], edges[1::2] - edges[::2]
    rows: Column = np.stack([np.full(len(first), period), first, length], axis=1)
    return rows[length >= period]
