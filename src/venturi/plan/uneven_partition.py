"""Parts of a dataset of which ranks have different numbers of rows, one call for each copy."""

from __future__ import annotations

import math
from dataclasses import dataclass

from venturi.model.error import UserError
from venturi.model.expression import Literal, Tree, bind
from venturi.model.workload import DatasetSpec, DataStep
from venturi.plan.part import Access, Boxes, Sharers
from venturi.plan.scope import Scope, plus, times

_MOST_CHECKED = 4096
"""Of more ranks the first and the last are looked at."""


@dataclass(frozen=True)
class UnevenPart:
    """A rank's rows of every copy."""

    shape: list[int]
    first: Tree
    rows: Tree
    element_bytes: int
    first_copy: Tree
    copies: int

    @property
    def row_bytes(self) -> int:
        """Of one step along the first dimension."""
        return math.prod(self.shape[1:]) * self.element_bytes

    def as_box(self, dataset: int) -> Access:
        """For interfaces that keep datasets."""
        nowhere: list[Tree] = [Literal(0)] * (len(self.shape) - 1)
        whole: list[Tree] = [Literal(extent) for extent in self.shape[1:]]
        loops = [(-1, self.copies, 1)] if self.copies > 1 else []
        start, extent = [self.first, *nowhere], [self.rows, *whole]
        boxes = Boxes(dataset, self.first_copy, start, extent, loops)
        return Access(times(self.rows, self.row_bytes), Literal(0), boxes=boxes)

    def as_rows(self, before: int) -> Access:
        """The same as bytes, behind `before` others."""
        copy_bytes = self.shape[0] * self.row_bytes
        base = plus(before, times(self.first_copy, copy_bytes))
        base = plus(base, times(self.first, self.row_bytes))
        loops: list[tuple[Tree, Tree]] = [(Literal(self.copies), Literal(copy_bytes))]
        return Access(times(self.rows, self.row_bytes), base, loops)


def uneven_part_of(
    dataset: DatasetSpec,
    shape: list[int],
    window: tuple[Tree, int],
    sharers: Sharers,
    scope: Scope,
    where: str,
) -> UnevenPart:
    """The rows of the acting rank in the copies of `window` (the first of them, how many).

    Raises UserError where ranks leave a gap, overlap, or do not fill the dataset.
    """
    assert dataset.partition is not None
    first = scope.tree(dataset.partition.first, f"{where}.partition.first")
    rows = scope.tree(dataset.partition.rows, f"{where}.partition.rows")
    assert isinstance(sharers.count, Literal)
    _check_filled(first, rows, int(sharers.count.value), shape[0], where)
    return UnevenPart(shape, first, rows, dataset.type.bytes, *window)


def refuse_cuts(step: DataStep, where: str) -> None:
    """Raise UserError where a step would cut a rank's rows into several calls, or move others."""
    if step.part is not None:
        raise UserError(f"{where}: 'part' needs a 'split' of the step, since ranks' rows differ")
    if step.transfer is not None:
        raise UserError(
            f"{where}: rows that ranks have different numbers of are moved with one call",
            "leave out 'transfer'",
        )


def _check_filled(first: Tree, rows: Tree, ranks: int, length: int, where: str) -> None:
    every = range(ranks) if ranks <= _MOST_CHECKED else (0, ranks - 1)
    end = 0
    for rank in every:
        begin, count = (_number(tree, rank, ranks, where) for tree in (first, rows))
        if count < 1:
            raise UserError(
                f"{where}.partition: rank {rank} has {count} rows; it needs one or more"
            )
        if begin != end and (rank == 0 or ranks <= _MOST_CHECKED):
            raise UserError(
                f"{where}.partition: rank {rank} begins at row {begin}, but those "
                f"before it end at {end}"
            )
        end = begin + count
    if end != length:
        raise UserError(f"{where}.partition: ranks end at row {end} of {length}")


def _number(tree: Tree, rank: int, ranks: int, where: str) -> int:
    bound = bind(tree, {"rank": Literal(rank), "ranks": Literal(ranks), "world": Literal(ranks)})
    if not isinstance(bound, Literal) or not isinstance(bound.value, int):
        raise UserError(
            f"{where}.partition: a whole number is needed, which depends on the rank alone"
        )
    return bound.value
