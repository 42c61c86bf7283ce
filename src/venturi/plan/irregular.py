"""Patterns that are no nests: random, by a table, at the end of a file; and mixes of sizes."""

from __future__ import annotations

from itertools import groupby

from venturi.model.error import UserError
from venturi.model.expression import Literal, Tree
from venturi.model.workload import DataStep, PatternKind
from venturi.plan.part import (
    Access,
    ContiguousRequests,
    MixShare,
    RequestTable,
    Sharers,
    Shuffle,
    Sizes,
    part_start,
    pieces,
    requests_of,
)
from venturi.plan.scope import Scope, minus, over, plus, times

_MOST_ROWS = 4096
_MOST_ZIPF = 100


def random(step: DataStep, sizes: Sizes, sharers: Sharers, scope: Scope) -> list[Access]:
    """Places of `transfer` bytes in the region of all sharers: each once, or drawn."""
    sizes.only("size", "count")
    transfer = sizes.need_transfer()
    count = sizes.need_count(transfer)
    region = times(count, transfer) if sizes.size is None else sizes.size
    slots = over(times(sharers.count, region), transfer)
    zipf = 0.0
    if step.zipf is not None:
        zipf = float(scope.constant(step.zipf, f"{sizes.where}.zipf"))
        if not 0 < zipf <= _MOST_ZIPF:
            raise UserError(f"{sizes.where}.zipf: above 0 and at most {_MOST_ZIPF}, not {zipf:g}")
    drawn = step.replacement or zipf > 0
    shuffle = Shuffle(slots, count, sharers.index, sharers.count, drawn, zipf)
    return [Access(transfer, sizes.at, shuffle=shuffle)]


def append(sizes: Sizes) -> list[Access]:
    """Requests where the file ends, the last one shorter where the transfer does not divide."""
    sizes.only("size", "count")
    transfer = sizes.need_transfer()
    if sizes.at != Literal(0):
        raise UserError(f"{sizes.where}: 'at' does not go with 'append'")
    if sizes.count is not None or sizes.size is None:
        requests = [(transfer, sizes.need_count(transfer))]
    else:
        requests = requests_of(sizes.size, transfer)
    return [
        Access(size, Literal(0), run=ContiguousRequests(count, appends=True))
        for size, count in requests
    ]


def sequential(step: DataStep, sizes: Sizes) -> list[Access]:
    """Requests from the file's position on, the last one shorter where the transfer does not
    divide."""
    sizes.only("size", "count")
    requests: list[tuple[Tree, Tree]]
    if sizes.transfer is None and sizes.count is None and sizes.size is not None:
        requests = [(sizes.size, Literal(1))]
    elif sizes.count is not None or sizes.size is None:
        transfer = sizes.need_transfer()
        requests = [(transfer, sizes.need_count(transfer))]
    else:
        requests = requests_of(sizes.size, sizes.need_transfer())
    found = []
    for number, (size, count) in enumerate(requests):
        moves = step.at is not None and number == 0
        run = ContiguousRequests(count, appends=False, is_sequential=True, moves_position=moves)
        found.append(Access(size, sizes.at, run=run))
    return found


def table(step: DataStep, sizes: Sizes, scope: Scope) -> list[Access]:
    """The rows of a table, `segments` times, each time `block` bytes further on; of `transfer`
    bytes at a time where that is said."""
    sizes.only("block", "segments")
    where = sizes.where
    if not step.table:
        raise UserError(f"{where}: 'table' is missing: [[offset, bytes], ...]")
    rows = []
    for i, row in enumerate(step.table):
        if len(row) != 2:
            raise UserError(f"{where}.table[{i}]: a row is [offset, bytes]")
        offset = scope.whole(row[0], f"{where}.table[{i}][0]")
        rows.append((offset, scope.whole(row[1], f"{where}.table[{i}][1]", least=1)))
    if step.transfer is not None:
        return _in_requests(rows, sizes, scope.whole(step.transfer, f"{where}.transfer", least=1))
    turns = sizes.segments or Literal(1)
    if sizes.block is None and turns != Literal(1):
        raise UserError(f"{where}: 'block' is missing (bytes from one turn to the next)")
    return [_listed(rows, sizes.at, turns, sizes.block or Literal(0))]


def _listed(rows: list[tuple[int, int]], at: Tree, turns: Tree, stride: Tree) -> Access:
    """One request for each row."""
    return Access(
        Literal(max(size for _, size in rows)), at, rows=RequestTable(rows, turns, stride)
    )


def _in_requests(rows: list[tuple[int, int]], sizes: Sizes, transfer: int) -> list[Access]:
    """Each row in requests of `transfer` bytes, the last of which may be shorter."""
    if sizes.segments is not None or sizes.block is not None:
        raise UserError(
            f"{sizes.where}: 'transfer' cuts the rows of a table that comes once, without "
            "'segments' and 'block'"
        )
    found: list[Access] = []
    for is_one, some in groupby(rows, lambda row: row[1] <= transfer):
        if is_one:
            found.append(_listed(list(some), sizes.at, Literal(1), Literal(0)))
            continue
        for offset, size in some:
            found += pieces(plus(sizes.at, offset), Literal(size), Literal(transfer))
    return found


def shares_of(step: DataStep, scope: Scope, where: str) -> list[MixShare]:
    """The sizes of a mix."""
    shares = []
    for i, spec in enumerate(step.mix):
        size = scope.tree(spec.bytes, f"{where}.mix[{i}].bytes")
        if isinstance(size, Literal):
            scope.whole(spec.bytes, f"{where}.mix[{i}].bytes", least=1)
        weight = scope.whole(spec.weight, f"{where}.mix[{i}].weight", least=1)
        shares.append(MixShare(size, weight))
    return shares


def mixed(
    step: DataStep, shares: list[MixShare], sizes: Sizes, sharers: Sharers, scope: Scope
) -> list[Access]:
    """Requests of several sizes: one behind the other, or each at a random place."""
    where = sizes.where
    if step.pattern is PatternKind.RANDOM:
        if sizes.transfer is None:
            sizes.transfer = _largest(shares, where)
        found = random(step, sizes, sharers, scope)[0]
        return [Access(found.size, found.base, shuffle=found.shuffle, mix=shares)]
    if step.pattern not in (PatternKind.CONTIGUOUS, PatternKind.APPEND):
        raise UserError(
            f"{where}: 'mix' does not go with the pattern '{step.pattern.value}'",
            "contiguous, random and append have mixes of sizes",
        )
    sizes.only("count", transfer=False)
    if sizes.count is None:
        raise UserError(f"{where}: say how many requests: 'count'")
    appends = step.pattern is PatternKind.APPEND
    base: Tree = Literal(0)
    if not appends:
        base = plus(sizes.at, part_start(_bytes_of(shares, sizes.count), sharers, sizes))
    return [
        Access(
            _largest(shares, where), base, run=ContiguousRequests(sizes.count, appends), mix=shares
        )
    ]


def _bytes_of(shares: list[MixShare], count: Tree) -> Tree:
    """Bytes of `count` requests of a mix; each size has its share of them, rounded down in sum."""
    whole = sum(share.weight for share in shares)
    total: Tree = Literal(0)
    before: Tree = Literal(0)
    weight = 0
    for share in shares:
        weight += share.weight
        end = over(times(count, weight), whole)
        total = plus(total, times(minus(end, before), share.bytes))
        before = end
    return total


def _largest(shares: list[MixShare], where: str) -> Tree:
    known = [share.bytes for share in shares if isinstance(share.bytes, Literal)]
    if len(known) != len(shares):
        raise UserError(f"{where}: the sizes of a mix must be fixed numbers")
    return max(known, key=lambda size: size.value)
