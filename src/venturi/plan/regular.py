"""Regular patterns of plain files: contiguous, segmented, strided and tiled, as affine nests."""

from __future__ import annotations

from venturi.model.error import UserError
from venturi.model.expression import Literal, Tree
from venturi.model.plan import Operator
from venturi.model.workload import DataStep
from venturi.plan.part import (
    NODE_RANKS,
    Access,
    Sharers,
    Sizes,
    must_divide,
    part_start,
    pieces,
)
from venturi.plan.scope import Scope, apply, over, plus, rest, times


def contiguous(sizes: Sizes, sharers: Sharers) -> list[Access]:
    """Each rank's part behind those of the ranks before it, or requests dealt to all."""
    sizes.only("size", "count", "total")
    if sizes.total is not None:
        transfer = sizes.need_transfer()
        share = apply(Operator.BLOCK, sizes.total, sharers.count, sharers.index)
        before = plus(
            times(sharers.index, over(sizes.total, sharers.count)),
            apply(Operator.MINIMUM, sharers.index, rest(sizes.total, sharers.count)),
        )
        base = plus(sizes.at, times(before, transfer))
        return [Access(transfer, base, [(share, transfer)])]
    if sizes.count is not None:
        transfer = sizes.need_transfer()
        part = times(sizes.count, transfer)
    elif sizes.size is not None:
        part = sizes.size
        transfer = part if sizes.transfer is None else sizes.transfer
    else:
        raise UserError(f"{sizes.where}: say how much: 'size', 'count' or 'total'")
    base = plus(sizes.at, part_start(part, sharers, sizes))
    return pieces(base, part, transfer)


def segmented(sizes: Sizes, sharers: Sharers) -> list[Access]:
    """IOR's nest: segments > ranks times block > block / transfer."""
    sizes.only("size", "block", "segments")
    if sizes.block is None:
        raise UserError(f"{sizes.where}: 'block' is missing (bytes that lie together)")
    block = sizes.block
    transfer = block if sizes.transfer is None else sizes.transfer
    must_divide(transfer, block, f"{sizes.where}: the transfer must divide the block")
    segments = sizes.segments
    if segments is None:
        if sizes.size is None:
            raise UserError(f"{sizes.where}: say how many: 'segments' or 'size'")
        must_divide(block, sizes.size, f"{sizes.where}: the block must divide the size")
        segments = over(sizes.size, block)
    base = plus(sizes.at, times(sharers.index, block))
    loops = [(segments, times(sharers.count, block)), (over(block, transfer), transfer)]
    return [Access(transfer, base, loops)]


def strided(sizes: Sizes, sharers: Sharers) -> list[Access]:
    """Request i of a rank stands before request i of the next one."""
    sizes.only("size", "count")
    transfer = sizes.need_transfer()
    count = sizes.need_count(transfer)
    base = plus(sizes.at, times(sharers.index, transfer))
    return [Access(transfer, base, [(count, times(sharers.count, transfer))])]


def tiled(step: DataStep, sizes: Sizes, sharers: Sharers, ranks: int, scope: Scope) -> list[Access]:
    """Tiles of an n-dimensional array, stored row by row, one tile for each sharer in order.

    `count` such arrays lie behind each other. Each contiguous run of a tile is one request, or
    several of `transfer` bytes.
    """
    sizes.only("count")
    where = sizes.where
    shape = [scope.whole(v, f"{where}.shape[{i}]", least=1) for i, v in enumerate(step.shape)]
    tile = [scope.whole(v, f"{where}.tile[{i}]", least=1) for i, v in enumerate(step.tile)]
    element = scope.whole(step.element, f"{where}.element", least=1)
    if not shape or len(shape) != len(tile):
        raise UserError(f"{where}: 'shape' and 'tile' need the same number of dimensions")
    for dim, (extent, part) in enumerate(zip(shape, tile, strict=True)):
        if extent % part:
            raise UserError(
                f"{where}: dimension {dim}: tiles of {part} elements do not fill {extent}"
            )
    split = [extent // part for extent, part in zip(shape, tile, strict=True)]
    needed = 1
    for parts in split:
        needed *= parts
    if sharers.count == NODE_RANKS:
        raise UserError(
            f"{where}: how many ranks share a node, and so a tile each, is known only in a run",
            "use another pattern, or say 'shared: all' or 'shared: every N'",
        )
    there = sharers.count.value if isinstance(sharers.count, Literal) else ranks
    if needed != there:
        raise UserError(
            f"{where}: the array has {needed} tiles, but {there} ranks share the file",
            "choose 'shape' and 'tile' so that each of them has one",
        )
    strides = row_strides(shape, element)
    base = plus(sizes.at, tile_start(split, tile, strides, sharers.index))
    inner, run = longest_run(split, tile, strides)
    loops: list[tuple[Tree, Tree]] = []
    if sizes.count is not None:
        loops.append((sizes.count, Literal(strides[0] * shape[0])))
    loops += [(Literal(tile[d]), Literal(strides[d])) for d in range(inner) if tile[d] > 1]
    return runs(base, loops, run, sizes.transfer)


def row_strides(shape: list[int], element: int) -> list[int]:
    """Bytes between neighbours along each dimension of an array stored row by row."""
    strides = [element] * len(shape)
    for dim in range(len(shape) - 2, -1, -1):
        strides[dim] = strides[dim + 1] * shape[dim + 1]
    return strides


def tile_start(split: list[int], tile: list[int], strides: list[int], index: Tree) -> Tree:
    """Where tile `index` begins, tiles counted in row-major order of the grid `split`."""
    start: Tree = Literal(0)
    below = 1
    for dim in range(len(split) - 1, -1, -1):
        place = rest(over(index, below), split[dim]) if split[dim] > 1 else Literal(0)
        start = plus(start, times(place, tile[dim] * strides[dim]))
        below *= split[dim]
    return start


def longest_run(split: list[int], tile: list[int], strides: list[int]) -> tuple[int, int]:
    """The innermost dimension that is divided, and how many bytes lie together there."""
    inner = max((dim for dim in range(len(split)) if split[dim] > 1), default=0)
    return inner, tile[inner] * strides[inner]


def runs(
    base: Tree, loops: list[tuple[Tree, Tree]], run: int, transfer: Tree | None
) -> list[Access]:
    """Runs of contiguous bytes, cut into transfers."""
    if transfer is None or (isinstance(transfer, Literal) and transfer.value >= run):
        return [Access(Literal(run), base, loops)]
    return [
        Access(piece.size, piece.base, loops + piece.loops)
        for piece in pieces(base, Literal(run), transfer)
    ]
