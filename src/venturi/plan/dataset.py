"""Datasets of self-describing files: what a plan says of them, and a rank's part as requests.

Where the interface knows datasets, a request is a box of elements; elsewhere the datasets lie
behind each other as rows of bytes, and the same part is an affine nest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import Literal, Tree
from venturi.model.workload import DatasetSpec, DataStep, FileSpec, Value
from venturi.plan.part import Access, Boxes, Sharers
from venturi.plan.regular import row_strides, runs
from venturi.plan.scope import Scope, over, plus, rest, times
from venturi.plan.uneven_partition import refuse_cuts, uneven_part_of

MOST_DIMENSIONS = 8


@dataclass(frozen=True)
class _Part:
    """A rank's part of a dataset: the same shape for all, at a place of its own."""

    shape: list[int]
    local: list[int]
    start: list[Tree]
    element_bytes: int
    copies: int
    first_copy: Tree
    copy_step: int

    @property
    def inner(self) -> int:
        """The innermost dimension that is split; 0 if none is."""
        split = [d for d, part in enumerate(self.local) if part < self.shape[d]]
        return max(split, default=0)


def lower_datasets(spec: FileSpec, scope: Scope, where: str) -> list[p.Dataset]:
    """All datasets of a file, in the order in which they are made."""
    return [
        _lower(name, dataset, scope, f"{where}.datasets.{name}")
        for name, dataset in spec.datasets.items()
    ]


def _lower(name: str, dataset: DatasetSpec, scope: Scope, where: str) -> p.Dataset:
    shape = _whole_list(dataset.shape, scope, f"{where}.shape")
    chunk = _whole_list(dataset.chunks, scope, f"{where}.chunks")
    copies = scope.whole(dataset.count, f"{where}.count", least=1)
    if dataset.partition is not None and (dataset.individual or dataset.split):
        raise UserError(f"{where}: 'partition' goes with neither 'split' nor 'individual'")
    if dataset.individual:
        split = _split_of(dataset.split, shape, scope, where)
        shape = [extent // parts for extent, parts in zip(shape, split, strict=True)]
        copies *= math.prod(split)
    if len(shape) > MOST_DIMENSIONS:
        raise UserError(f"{where}.shape: at most {MOST_DIMENSIONS} dimensions")
    if chunk and len(chunk) != len(shape):
        raise UserError(f"{where}: 'chunks' and 'shape' need the same number of dimensions")
    if any(part > whole for part, whole in zip(chunk, shape, strict=False)):
        raise UserError(f"{where}: a chunk of {chunk} is larger than the dataset, {shape}")
    if (dataset.deflate or dataset.shuffle) and not chunk:
        raise UserError(f"{where}: only chunks are compressed or shuffled", "say 'chunks: [...]'")
    return p.Dataset(
        name=name,
        copies=copies,
        type=dataset.type,
        shape=shape,
        chunk=chunk,
        deflate=dataset.deflate,
        shuffle=dataset.shuffle,
    )


def _whole_list(values: list[Value], scope: Scope, where: str) -> list[int]:
    return [scope.whole(value, f"{where}[{i}]", least=1) for i, value in enumerate(values)]


def dataset_accesses(
    datasets: Mapping[str, DatasetSpec],
    name: str,
    step: DataStep,
    sharers: Sharers,
    scope: Scope,
    where: str,
    *,
    as_boxes: bool,
) -> list[Access]:
    """A rank's part of every dataset of one name, copy by copy.

    Parts are dealt to the sharers in row-major order of `split`; each dimension must divide.
    `transfer` is the most that one call moves; absent, one call moves a rank's part of one copy.
    """
    index = list(datasets).index(name)
    if datasets[name].partition is not None and not step.split:
        before = 0 if as_boxes else _bytes_before(datasets, name, scope, where)
        shape = _whole_list(datasets[name].shape, scope, f"{where}.shape")
        window = _window(datasets[name], step, scope, where)
        uneven = uneven_part_of(datasets[name], shape, window, sharers, scope, where)
        refuse_cuts(step, where)
        access = uneven.as_box(index) if as_boxes else uneven.as_rows(before)
        rest_of = [Literal(extent) for extent in shape[1:]]
        return [replace(access, extent=[uneven.rows, *rest_of])]
    part = _part_of(datasets[name], step, sharers, scope, where)
    transfer = None
    if step.transfer is not None:
        transfer = scope.whole(step.transfer, f"{where}.transfer", least=1)
    own: list[Tree] = [Literal(extent) for extent in part.local]
    if as_boxes:
        return [replace(access, extent=own) for access in _boxes(index, part, transfer)]
    rows = _rows(_bytes_before(datasets, name, scope, where), part, transfer)
    return [replace(access, extent=own) for access in rows]


def _bytes_before(datasets: Mapping[str, DatasetSpec], name: str, scope: Scope, where: str) -> int:
    """Bytes of the datasets that lie before one, where they are rows of bytes."""
    before = 0
    for other, dataset in datasets.items():
        if other == name:
            break
        shape = _whole_list(dataset.shape, scope, f"{where}.shape")
        before += math.prod(shape) * dataset.type.bytes * scope.whole(dataset.count, where)
    return before


def _part_of(
    dataset: DatasetSpec, step: DataStep, sharers: Sharers, scope: Scope, where: str
) -> _Part:
    shape = _whole_list(dataset.shape, scope, f"{where}.shape")
    split = _split_of(step.split or dataset.split, shape, scope, where)
    index = sharers.index
    if step.part is not None:
        index = scope.tree(step.part, f"{where}.part")
    elif sharers.count != Literal(math.prod(split)):
        ranks = sharers.count.value if isinstance(sharers.count, Literal) else "?"
        raise UserError(
            f"{where}: split into {math.prod(split)} parts, but {ranks} ranks share the file",
            "the product of 'split' must be the number of ranks",
        )
    start: list[Tree] = [Literal(0)] * len(shape)
    local = [extent // parts for extent, parts in zip(shape, split, strict=True)]
    below = 1
    for dim in range(len(shape) - 1, -1, -1):
        if split[dim] > 1:
            start[dim] = times(rest(over(index, below), split[dim]), local[dim])
        below *= split[dim]
    first, copies = _window(dataset, step, scope, where)
    element = dataset.type.bytes
    if not dataset.individual:
        return _Part(shape, local, start, element, copies, first, 1)
    if step.split or step.part is not None:
        raise UserError(f"{where}: parts that are datasets of their own cannot be split otherwise")
    nowhere: list[Tree] = [Literal(0)] * len(local)
    parts = math.prod(split)
    own = plus(times(first, parts), sharers.index)
    return _Part(local, local, nowhere, element, copies, own, parts)


def _window(dataset: DatasetSpec, step: DataStep, scope: Scope, where: str) -> tuple[Tree, int]:
    """The first of several equal datasets that a step moves, and how many."""
    copies = scope.whole(dataset.count, f"{where}.count", least=1)
    first = Literal(0) if step.first is None else scope.tree(step.first, f"{where}.first")
    before = first.value if isinstance(first, Literal) else 0
    if step.count is not None:
        wanted = scope.whole(step.count, f"{where}.count", least=1)
    elif isinstance(first, Literal):
        wanted = copies - int(before)
    else:
        raise UserError(
            f"{where}: 'first' changes from turn to turn, so 'count' must say how many follow",
            "say 'count: 1' to move one dataset at a time",
        )
    if before < 0 or before != int(before) or wanted < 1 or before + wanted > copies:
        raise UserError(
            f"{where}: {wanted} datasets from number {before} on are moved, but there are {copies}"
        )
    return first, wanted


def _split_of(values: list[Value], shape: list[int], scope: Scope, where: str) -> list[int]:
    if not values:
        raise UserError(f"{where}: 'split' is missing (parts along each dimension)")
    split = _whole_list(values, scope, f"{where}.split")
    if len(split) != len(shape):
        raise UserError(f"{where}: 'split' and 'shape' need the same number of dimensions")
    for dim, (extent, parts) in enumerate(zip(shape, split, strict=True)):
        if extent % parts:
            raise UserError(f"{where}: dimension {dim}: {parts} parts do not divide {extent}")
    return split


def _boxes(dataset: int, part: _Part, transfer: int | None) -> list[Access]:
    """Slabs along the outermost dimensions that one call can take; the rest as a second part."""
    element = part.element_bytes
    below = [math.prod(part.local[dim + 1 :]) * element for dim in range(len(part.local))]
    whole = below[0] * part.local[0]
    most = whole if transfer is None else max(min(transfer, whole), element)
    cut = next(dim for dim, size in enumerate(below) if size <= most)
    thick = min(most // below[cut], part.local[cut])
    turns, tail = divmod(part.local[cut], thick)
    outer = [(-1, part.copies, part.copy_step)] + [(dim, part.local[dim], 1) for dim in range(cut)]
    outer = [loop for loop in outer if loop[1] > 1]

    def slab(first: int, thickness: int, count: int) -> Access:
        start = [*part.start[:cut], plus(part.start[cut], first), *part.start[cut + 1 :]]
        extents = [1] * cut + [thickness] + part.local[cut + 1 :]
        extent: list[Tree] = [Literal(elements) for elements in extents]
        loops = outer + ([(cut, count, thickness)] if count > 1 else [])
        size = Literal(thickness * below[cut])
        boxes = Boxes(dataset, part.first_copy, start, extent, loops)
        return Access(size, Literal(0), boxes=boxes)

    slabs = [slab(0, thick, turns)]
    return [*slabs, slab(turns * thick, tail, 1)] if tail else slabs


def _rows(before: int, part: _Part, transfer: int | None) -> list[Access]:
    """The same as runs of bytes that lie together, cut into transfers."""
    strides = row_strides(part.shape, part.element_bytes)
    copy_bytes = strides[0] * part.shape[0]
    base = plus(before, times(part.first_copy, copy_bytes))
    for start, stride in zip(part.start, strides, strict=True):
        base = plus(base, times(start, stride))
    run = part.local[part.inner] * strides[part.inner]
    loops: list[tuple[Tree, Tree]] = [
        (Literal(part.copies), Literal(part.copy_step * copy_bytes)),
        *((Literal(part.local[d]), Literal(strides[d])) for d in range(part.inner)),
    ]
    loops = [loops[0], *(loop for loop in loops[1:] if loop[0] != Literal(1))]
    return runs(base, loops, run, None if transfer is None else Literal(transfer))
