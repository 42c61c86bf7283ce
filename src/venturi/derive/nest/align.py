"""The turns of a loop side by side: which node of one is which of another."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

import numpy as np

from venturi.derive.nest.tree import Node, loose_key, strict_key

_SAME, _ALIKE = 3, 2
MOST_CELLS = 250_000
"""Of one table of matches; more differs than could be told in one body."""
MOST_CELLS_OF_RANKS = 16_000_000
"""The same of whole programs, which are laid side by side once."""

_Keys = tuple[tuple[Hashable, Hashable], ...]


def aligned(
    iterations: Sequence[Sequence[Node]], most_cells: int = MOST_CELLS
) -> list[list[Node | None]] | None:
    """The same iterations with nothing where one lacks a node that another has, so that all are of
    one length; None where too much differs."""
    keys: list[_Keys] = [
        tuple((loose_key(node), strict_key(node)) for node in iteration) for iteration in iterations
    ]
    often = Counter(keys)
    profile: list[tuple[Hashable, set[Hashable]]] = []
    columns_of: dict[_Keys, list[list[object]]] = {}
    ids: list[list[object]] = []
    """One mutable mark for each column, so that columns put in between renumber nothing."""
    for sequence in sorted(often, key=lambda one: (-len(one), -often[one])):
        if len(sequence) * len(profile) > most_cells:
            return None
        matches = _matched(sequence, profile)
        columns: list[list[object]] = []
        grown: list[tuple[Hashable, set[Hashable]]] = []
        marks: list[list[object]] = []
        at = 0
        for (loose, strict), match in zip(sequence, matches, strict=True):
            if match is None:
                grown.append((loose, {strict}))
                marks.append([])
            else:
                grown += profile[at : match + 1]
                marks += ids[at : match + 1]
                at = match + 1
                profile[match][1].add(strict)
            columns.append(marks[-1])
        profile, ids = grown + profile[at:], marks + ids[at:]
        columns_of[sequence] = columns
    number = {id(mark): place for place, mark in enumerate(ids)}
    found = []
    for iteration, sequence in zip(iterations, keys, strict=True):
        row: list[Node | None] = [None] * len(ids)
        for node, mark in zip(iteration, columns_of[sequence], strict=True):
            row[number[id(mark)]] = node
        found.append(row)
    return found


def _matched(
    sequence: _Keys, profile: Sequence[tuple[Hashable, set[Hashable]]]
) -> list[int | None]:
    """For each of a sequence the column of the profile that it is, in order, or none."""
    rows, columns = len(sequence), len(profile)
    if [loose for loose, _ in sequence] == [loose for loose, _ in profile]:
        return list(range(rows))
    value = _values(sequence, profile)
    best = np.zeros((rows + 1, columns + 1), np.int32)
    for row in range(rows - 1, -1, -1):
        diagonal = best[row + 1, 1:] + value[row]
        along = np.maximum(best[row + 1, :-1], np.where(value[row] > 0, diagonal, 0))
        best[row, :-1] = np.maximum.accumulate(along[::-1])[::-1]
    found: list[int | None] = []
    column = 0
    for row in range(rows):
        while column < columns and best[row, column] == best[row, column + 1]:
            column += 1
        taken = column < columns and value[row, column] > 0
        if taken and best[row, column] == best[row + 1, column + 1] + value[row, column]:
            found.append(column)
            column += 1
        else:
            found.append(None)
    return found


def _values(sequence: _Keys, profile: Sequence[tuple[Hashable, set[Hashable]]]) -> np.ndarray:
    """What each match is worth; 0 where there is none."""
    number: dict[Hashable, int] = {}
    rows = np.array([number.setdefault(loose, len(number)) for loose, _ in sequence])
    columns = np.array([number.setdefault(loose, len(number)) for loose, _ in profile])
    value = np.where(rows[:, None] == columns[None, :], _ALIKE, 0).astype(np.int32)
    places: dict[Hashable, list[int]] = defaultdict(list)
    for row, (_, strict) in enumerate(sequence):
        places[strict].append(row)
    for column, (_, stricts) in enumerate(profile):
        for strict in stricts & places.keys():
            same = places[strict]
            value[same, column] = np.where(value[same, column] > 0, _SAME, 0)
    return value
