"""Many reads and writes at once, where nothing but reads, writes and seeks lies between them.

A *holder* keeps a place in a file: an open file description, or a process and a file where a
source names no descriptors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TextIO

import numpy as np
import numpy.typing as npt

from venturi.model.operation import UNKNOWN_OFFSET
from venturi.sources.rows import COLUMNS

Numbers = npt.NDArray[np.int64]

_BLOCK_CHARACTERS = 2**20

FEWEST = 64
"""Runs of fewer calls are quicker one by one."""

MOST_BYTES = 2**61
"""Larger sums of bytes are nobody's: such lines are read one by one, which names them."""


MOST_DIFFERENT = 4
"""Runs in which each call comes fewer times than this are read one by one."""


class Move(NamedTuple):
    """What calls have in common that differ in times and places alone."""

    head: tuple[int, ...]
    """The row's columns before `offset`."""
    size: int
    holder: int
    """Which of the run's places it begins at and moves; the last one is nobody's."""
    is_placed: bool = False
    """It is at a place of its own, and moves none."""
    is_seek: bool = False
    """It puts the holder to its place."""


@dataclass
class MoveRun:
    """Calls that follow each other: which move each is, its own place (-1: none), its times."""

    moves: Sequence[Move]
    code: Numbers
    place: Numbers
    start_ns: Numbers
    end_ns: Numbers

    def __post_init__(self) -> None:
        column = np.array([(m.size, m.holder, m.is_placed, m.is_seek) for m in self.moves]).T
        self.size, self.holder, self.is_placed, self.is_seek = (c[self.code] for c in column)

    def offsets(self, begin: Iterable[int]) -> tuple[Numbers, Numbers]:
        """Where each call is, and the places after all, given those before; -1: unknown."""
        is_moving = (self.is_placed == 0) & (self.is_seek == 0)
        before, after = follow(
            self.holder,
            np.where(is_moving, self.size, 0),
            self.is_seek != 0,
            self.place,
            np.fromiter(begin, np.int64),
        )
        return np.where(is_moving, before, self.place), after

    def table(self, offset: Numbers) -> npt.NDArray[np.int64]:
        """The rows."""
        heads = np.array([move.head for move in self.moves], np.int64)
        rows = np.empty((len(self.code), len(COLUMNS)), np.int64)
        rows[:, : heads.shape[1]] = heads[self.code]
        rows[:, -4], rows[:, -3] = offset, self.size
        rows[:, -2], rows[:, -1] = self.start_ns, self.end_ns
        return rows

    def ends(self, offset: Numbers, is_counted: Callable[[Move], bool]) -> dict[int, int]:
        """By file: one behind the last byte that moves which count reach."""
        counted = np.array([is_counted(move) for move in self.moves])
        some = counted[self.code] & (offset >= 0)
        files, index = np.unique([move.head[5] for move in self.moves], return_inverse=True)
        last = np.full(len(files), UNKNOWN_OFFSET, np.int64)
        np.maximum.at(last, index[self.code[some]], (offset + self.size)[some])
        return {f: e for f, e in zip(files.tolist(), last.tolist(), strict=True) if e >= 0}


def follow(
    holder: Numbers,
    step: Numbers,
    is_set: npt.NDArray[np.bool_],
    value: Numbers,
    begin: Numbers,
) -> tuple[Numbers, Numbers]:
    """The place of each row's holder before the row, and of each holder after all of them.

    A row moves its holder by `step`, or sets it to `value`. What is unknown (-1) stays so until
    it is set; holder -1, which is `begin`'s last, never is known.
    """
    order = np.argsort(holder, kind="stable")
    holder, step, is_set, value = holder[order], step[order], is_set[order], value[order]
    is_first = np.append(True, holder[1:] != holder[:-1])
    total = np.cumsum(step)
    anchor = np.where(is_first, begin[holder], UNKNOWN_OFFSET)
    after_set = np.append(False, is_set[:-1]) & ~is_first
    anchor[after_set] = value[:-1][after_set[1:]]
    begins = is_first | after_set
    place = np.maximum.accumulate(np.where(begins, np.arange(len(holder)), 0))
    moved = total - step
    before = np.where(anchor[place] >= 0, anchor[place] + moved - moved[place], UNKNOWN_OFFSET)
    after = begin.copy()
    last = np.append(is_first[1:], True)
    ends = np.where(is_set, value, np.where(before >= 0, before + step, UNKNOWN_OFFSET))
    after[holder[last]] = ends[last]
    back = np.empty_like(before)
    back[order] = before
    return back, after


def numbered(words: Sequence[Any]) -> tuple[list[Any], Numbers]:
    """The different ones of `words`, as they first come, and which of them each is."""
    index = {word: place for place, word in enumerate(dict.fromkeys(words))}
    codes = np.fromiter(map(index.__getitem__, words), np.int64, len(words))
    return list(index), codes


def blocks(file: TextIO) -> Iterator[str]:
    """A text in blocks of whole lines; the last line may lack its end."""
    while text := file.read(_BLOCK_CHARACTERS):
        yield text + file.readline()


def digits(texts: Sequence[str], width: int, point: int) -> Numbers:
    """Numbers of equal width in ASCII digits, with a point at one place that is left out."""
    table = np.frombuffer("".join(texts).encode("ascii"), np.uint8).reshape(-1, width)
    places = [place for place in range(width) if place != point]
    number = np.zeros(len(table), np.int64)
    for place in places:
        number = number * 10 + (table[:, place].astype(np.int64) - 48)
    return number


def runs(is_in: npt.NDArray[np.bool_]) -> list[tuple[int, int, bool]]:
    """Pieces of alike rows: from, to, and whether they are in; short ones count as out."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], is_in, [False])).astype(np.int8)))
    pieces, done = [], 0
    for begin, end in edges.reshape(-1, 2).tolist():
        if end - begin < FEWEST:
            continue
        if begin > done:
            pieces.append((done, begin, False))
        pieces.append((begin, end, True))
        done = end
    if done < len(is_in):
        pieces.append((done, len(is_in), False))
    return pieces
