"""Where the requests of one data step lie: patterns and datasets as affine nests.

Every function yields `Access` parts: requests of one size in one nest or random pattern.
A remainder that is shorter than the transfer becomes a part of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from venturi.model.error import UserError
from venturi.model.expression import Literal, Tree, Variable, names_in
from venturi.model.plan import Operator
from venturi.model.workload import Dataset, DataStep, PatternKind
from venturi.plan.scope import Scope, apply, over, plus, rest, times

RANK = Variable("rank")
RANKS = Variable("ranks")


@dataclass(frozen=True)
class Sharers:
    """How many ranks share a file, and which of them one is."""

    count: Tree
    index: Tree

    @property
    def alone(self) -> bool:
        """Whether each rank has its own file."""
        return self.count == Literal(1)


@dataclass(frozen=True)
class Shuffle:
    """What a random pattern needs beside its base."""

    slots: Tree
    count: Tree
    first: Tree
    step: Tree
    replacement: bool


@dataclass(frozen=True)
class Access:
    """Requests of `size` bytes at base + sum(index * stride), or at random slots."""

    size: Tree
    base: Tree
    loops: list[tuple[Tree, Tree]] = field(default_factory=list)
    """(count, stride in bytes), outermost first."""
    shuffle: Shuffle | None = None


def sharers_of(shared: str) -> Sharers:
    """The sharers of a file by the word of the language."""
    if shared == "all":
        return Sharers(RANKS, RANK)
    if shared == "rank":
        return Sharers(Literal(1), Literal(0))
    if shared == "node":
        return Sharers(Literal(0), Literal(0))
    count = int(shared.split()[1])
    return Sharers(Literal(count), rest(RANK, count))


class _Sizes:
    """The numbers of a data step, as trees; absent ones are None."""

    def __init__(self, step: DataStep, scope: Scope, where: str) -> None:
        def tree(key: str) -> Tree | None:
            value = getattr(step, key)
            return None if value is None else scope.tree(value, f"{where}.{key}")

        self.transfer = tree("transfer")
        self.size = tree("size")
        self.block = tree("block")
        self.segments = tree("segments")
        self.count = tree("count")
        self.total = tree("total")
        self.at = tree("at") or Literal(0)
        self.where = where

    def need_transfer(self) -> Tree:
        """The transfer, or an error that asks for it."""
        if self.transfer is None:
            raise UserError(f"{self.where}: 'transfer' is missing (bytes of one request)")
        return self.transfer

    def only(self, *allowed: str) -> None:
        """Refuse keys that the pattern does not use."""
        for key in ("size", "block", "segments", "count", "total"):
            if getattr(self, key) is not None and key not in allowed:
                words = ", ".join(allowed)
                raise UserError(f"{self.where}: '{key}' does not go with this pattern ({words} do)")


def accesses(step: DataStep, sharers: Sharers, scope: Scope, where: str) -> list[Access]:
    """The parts of a `write` or `read` on a plain file."""
    sizes = _Sizes(step, scope, where)
    if step.pattern is PatternKind.SEGMENTED:
        return _segmented(sizes, sharers)
    if step.pattern is PatternKind.STRIDED:
        return _strided(sizes, sharers)
    if step.pattern is PatternKind.RANDOM:
        return _random(sizes, sharers, step.replacement)
    return _contiguous(sizes, sharers)


def _contiguous(sizes: _Sizes, sharers: Sharers) -> list[Access]:
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
    base = plus(sizes.at, _part_start(part, sharers, sizes))
    return _pieces(base, part, transfer)


def _part_start(part: Tree, sharers: Sharers, sizes: _Sizes) -> Tree:
    """Where a rank's part begins: behind those of the ranks before it."""
    if sharers.alone or (sizes.at != Literal(0) and "rank" in names_in(sizes.at)):
        return Literal(0)
    if "rank" in names_in(part):
        raise UserError(
            f"{sizes.where}: ranks that move different sizes into one file need an 'at' that "
            "says where each begins"
        )
    return times(sharers.index, part)


def _pieces(base: Tree, part: Tree, transfer: Tree) -> list[Access]:
    """A part in requests of `transfer`, the last one shorter where it does not divide."""
    full, tail = over(part, transfer), rest(part, transfer)
    pieces = [] if full == Literal(0) else [Access(transfer, base, [(full, transfer)])]
    if tail != Literal(0):
        is_there = apply(Operator.GREATER, tail, 0)
        size = apply(Operator.MAXIMUM, tail, 1)
        pieces.append(Access(size, plus(base, times(full, transfer)), [(is_there, size)]))
    return pieces


def _segmented(sizes: _Sizes, sharers: Sharers) -> list[Access]:
    sizes.only("size", "block", "segments")
    if sizes.block is None:
        raise UserError(f"{sizes.where}: 'block' is missing (bytes that lie together)")
    block = sizes.block
    transfer = block if sizes.transfer is None else sizes.transfer
    _must_divide(transfer, block, f"{sizes.where}: the transfer must divide the block")
    segments = sizes.segments
    if segments is None:
        if sizes.size is None:
            raise UserError(f"{sizes.where}: say how many: 'segments' or 'size'")
        _must_divide(block, sizes.size, f"{sizes.where}: the block must divide the size")
        segments = over(sizes.size, block)
    base = plus(sizes.at, times(sharers.index, block))
    loops = [(segments, times(sharers.count, block)), (over(block, transfer), transfer)]
    return [Access(transfer, base, loops)]


def _must_divide(part: Tree, whole: Tree, message: str) -> None:
    if not isinstance(part, Literal) or not isinstance(whole, Literal):
        return
    if part.value <= 0 or whole.value % part.value:
        raise UserError(f"{message} ({part.value} does not divide {whole.value})")


def _strided(sizes: _Sizes, sharers: Sharers) -> list[Access]:
    sizes.only("size", "count")
    transfer = sizes.need_transfer()
    count = _request_count(sizes, transfer)
    base = plus(sizes.at, times(sharers.index, transfer))
    return [Access(transfer, base, [(count, times(sharers.count, transfer))])]


def _request_count(sizes: _Sizes, transfer: Tree) -> Tree:
    if sizes.count is not None:
        return sizes.count
    if sizes.size is None:
        raise UserError(f"{sizes.where}: say how much: 'size' or 'count'")
    _must_divide(transfer, sizes.size, f"{sizes.where}: the transfer must divide the size")
    return over(sizes.size, transfer)


def _random(sizes: _Sizes, sharers: Sharers, replacement: bool) -> list[Access]:
    sizes.only("size", "count")
    transfer = sizes.need_transfer()
    count = _request_count(sizes, transfer)
    region = times(count, transfer) if sizes.size is None else sizes.size
    slots = over(times(sharers.count, region), transfer)
    shuffle = Shuffle(slots, count, sharers.index, sharers.count, replacement)
    return [Access(transfer, sizes.at, shuffle=shuffle)]


def dataset_bytes(dataset: Dataset, scope: Scope, where: str) -> int:
    """Bytes of one of the datasets."""
    total = dataset.type.bytes
    for index, extent in enumerate(dataset.shape):
        total *= scope.whole(extent, f"{where}.shape[{index}]", least=1)
    return total


def dataset_accesses(
    dataset: Dataset, step: DataStep, offset: int, scope: Scope, where: str
) -> list[Access]:
    """A rank's part of every dataset of one name, laid out row by row from `offset` on.

    Parts are dealt in row-major order of `split`; each dimension must divide.
    """
    shape = [scope.whole(v, f"{where}.shape[{i}]", least=1) for i, v in enumerate(dataset.shape)]
    split = _split_of(dataset, shape, scope, where)
    strides = [dataset.type.bytes] * len(shape)
    for dim in range(len(shape) - 2, -1, -1):
        strides[dim] = strides[dim + 1] * shape[dim + 1]
    local = [extent // parts for extent, parts in zip(shape, split, strict=True)]
    base: Tree = Literal(offset)
    below = 1
    for dim in range(len(shape) - 1, -1, -1):
        place = rest(over(RANK, below), split[dim]) if split[dim] > 1 else Literal(0)
        base = plus(base, times(place, local[dim] * strides[dim]))
        below *= split[dim]
    inner = max((dim for dim in range(len(shape)) if split[dim] > 1), default=0)
    run = local[inner] * strides[inner]
    loops: list[tuple[Tree, Tree]] = [
        (Literal(scope.whole(dataset.count, f"{where}.count")), Literal(strides[0] * shape[0]))
    ]
    loops += [(Literal(local[d]), Literal(strides[d])) for d in range(inner) if local[d] > 1]
    return _runs(base, loops, run, step, scope, where)


def _split_of(dataset: Dataset, shape: list[int], scope: Scope, where: str) -> list[int]:
    if not dataset.split:
        raise UserError(f"{where}: 'split' is missing (parts along each dimension)")
    split = [scope.whole(v, f"{where}.split[{i}]", least=1) for i, v in enumerate(dataset.split)]
    if len(split) != len(shape):
        raise UserError(f"{where}: 'split' and 'shape' need the same number of dimensions")
    for dim, (extent, parts) in enumerate(zip(shape, split, strict=True)):
        if extent % parts:
            raise UserError(f"{where}: dimension {dim}: {parts} parts do not divide {extent}")
    return split


def _runs(
    base: Tree, loops: list[tuple[Tree, Tree]], run: int, step: DataStep, scope: Scope, where: str
) -> list[Access]:
    """Runs of contiguous bytes, cut into transfers."""
    if step.transfer is None:
        return [Access(Literal(run), base, loops)]
    transfer = scope.whole(step.transfer, f"{where}.transfer", least=1)
    if transfer >= run:
        return [Access(Literal(run), base, loops)]
    pieces = _pieces(base, Literal(run), Literal(transfer))
    return [Access(piece.size, piece.base, loops + piece.loops) for piece in pieces]
