"""What a data step becomes before it is written into a plan: parts, and the numbers behind them."""

from __future__ import annotations

from dataclasses import dataclass, field

from venturi.model.error import UserError
from venturi.model.expression import Literal, Tree, Variable, names_in
from venturi.model.plan import Operator
from venturi.model.workload import DataStep
from venturi.plan.rank_placement import NAMES_BY_RANK
from venturi.plan.scope import Scope, apply, over, plus, rest, times

RANK = Variable("rank")
RANKS = Variable("ranks")
NODE_RANK = Variable("node_rank")
NODE_RANKS = Variable("node_ranks")


@dataclass(frozen=True)
class Sharers:
    """How many ranks share a file, and which of them one is."""

    count: Tree
    index: Tree

    @property
    def alone(self) -> bool:
        """Whether each rank has its own file."""
        return self.count == Literal(1)


def sharers_of(shared: str) -> Sharers:
    """The sharers of a file by the word of the language."""
    if shared == "all":
        return Sharers(RANKS, RANK)
    if shared == "rank":
        return Sharers(Literal(1), Literal(0))
    if shared == "node":
        return Sharers(NODE_RANKS, NODE_RANK)
    count = int(shared.split()[1])
    return Sharers(Literal(count), rest(RANK, count))


def fixed_sharers_of(shared: str, ranks: int, where: str) -> Sharers:
    """The sharers of a file as a fixed number, and which of them a rank is.

    UserError where they are none.
    """
    kind = shared.partition(" ")[0]
    if kind == "node":
        raise UserError(f"{where}: datasets cannot be split over the ranks of a node")
    if kind == "all":
        return Sharers(Literal(ranks), RANK)
    sharers = sharers_of(shared)
    if kind == "every" and rest(ranks, sharers.count) != Literal(0):
        raise UserError(f"{where}: 'shared: {shared}' does not divide {ranks} ranks")
    return sharers


@dataclass(frozen=True)
class Shuffle:
    """What a random pattern needs beside its base; `zipf` above 0 is the exponent of its law."""

    slots: Tree
    count: Tree
    first: Tree
    step: Tree
    replacement: bool
    zipf: float = 0.0


@dataclass(frozen=True)
class ContiguousRequests:
    """Requests one behind the other, from the part's base on, from the end of the file on, or from
    the position of the open file on."""

    count: Tree
    appends: bool
    is_sequential: bool = False
    moves_position: bool = False
    """To the part's base, before the first request."""


@dataclass(frozen=True)
class RequestTable:
    """A table of (offset, bytes), turned through."""

    rows: list[tuple[int, int]]
    turns: Tree
    stride: Tree


@dataclass(frozen=True)
class MixShare:
    """A size of requests and its weight."""

    bytes: Tree
    weight: int


@dataclass(frozen=True)
class Boxes:
    """Parts of a dataset: a box that moves along dimensions, or (-1) from copy to copy."""

    dataset: int
    copy: Tree
    start: list[Tree]
    extent: list[Tree]
    loops: list[tuple[int, int, int]]
    """(dimension, count, step in elements), outermost first."""


@dataclass(frozen=True)
class Access:
    """Requests of `size` bytes at base + sum(index * stride), or at other places.

    At most one of `shuffle`, `run`, `rows` and `boxes` is there instead of the loops; with a
    `mix`, `size` is the largest.
    """

    size: Tree
    base: Tree
    loops: list[tuple[Tree, Tree]] = field(default_factory=list)
    """(count, stride in bytes), outermost first."""
    shuffle: Shuffle | None = None
    run: ContiguousRequests | None = None
    rows: RequestTable | None = None
    boxes: Boxes | None = None
    mix: list[MixShare] = field(default_factory=list)
    extent: list[Tree] = field(default_factory=list)
    """Elements of the rank's part of a dataset along each dimension."""


class Sizes:
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
        if self.size is not None and self.transfer == Literal(0):
            raise UserError(f"{where}.transfer: requests of 0 bytes never come to a size")
        self.apart = step.apart
        self.where = where

    def need_transfer(self) -> Tree:
        """The transfer, or an error that asks for it."""
        if self.transfer is None:
            raise UserError(f"{self.where}: 'transfer' is missing (bytes of one request)")
        return self.transfer

    def need_count(self, transfer: Tree) -> Tree:
        """The requests of a rank, by their number or by its bytes."""
        if self.count is not None:
            return self.count
        if self.size is None:
            raise UserError(f"{self.where}: say how much: 'size' or 'count'")
        must_divide(transfer, self.size, f"{self.where}: the transfer must divide the size")
        return over(self.size, transfer)

    def only(self, *allowed: str, transfer: bool = True) -> None:
        """Refuse keys that the pattern does not use."""
        known = [*allowed, "transfer"] if transfer else list(allowed)
        for key in ("transfer", "size", "block", "segments", "count", "total"):
            if getattr(self, key) is not None and key not in known:
                words = ", ".join(known)
                raise UserError(f"{self.where}: '{key}' does not go with this pattern ({words} do)")


def must_divide(part: Tree, whole: Tree, message: str) -> None:
    """Refuse known numbers of which one does not divide the other."""
    if not isinstance(part, Literal) or not isinstance(whole, Literal):
        return
    if part.value <= 0 or whole.value % part.value:
        raise UserError(f"{message} ({part.value} does not divide {whole.value})")


def part_start(part: Tree, sharers: Sharers, sizes: Sizes) -> Tree:
    """Where a rank's part begins: behind those of the ranks before it."""
    if (
        sharers.alone
        or not sizes.apart
        or (sizes.at != Literal(0) and names_in(sizes.at) & {"rank", "node_rank"})
    ):
        return Literal(0)
    alike = {"node", "node_ranks"} if sharers.count == NODE_RANKS else set()
    if names_in(part) & NAMES_BY_RANK - alike:
        raise UserError(
            f"{sizes.where}: ranks that move different sizes into one file need an 'at' that "
            "says where each begins"
        )
    return times(sharers.index, part)


def requests_of(part: Tree, transfer: Tree) -> list[tuple[Tree, Tree]]:
    """A part as (bytes of a request, how many), the last one shorter where the transfer does not
    divide it."""
    full, tail = over(part, transfer), rest(part, transfer)
    found = [] if full == Literal(0) else [(transfer, full)]
    if tail != Literal(0):
        is_there = apply(Operator.GREATER, tail, 0)
        found.append((apply(Operator.MAXIMUM, tail, 1), is_there))
    return found


def pieces(base: Tree, part: Tree, transfer: Tree) -> list[Access]:
    """A part in requests of `transfer`, the last one shorter where it does not divide."""
    before = times(over(part, transfer), transfer)
    return [
        Access(size, base if size is transfer else plus(base, before), [(count, size)])
        for size, count in requests_of(part, transfer)
    ]
