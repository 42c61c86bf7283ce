"""The requests of a transfer step on one rank: how many of which size, and how far they reach."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from venturi.model import plan as p
from venturi.model.expression import ExpressionError

Whole = Callable[[list[p.Instruction]], int]
"""The value of an expression, a whole number of 0 or more, for the rank in question."""

Requests = list[tuple[p.Direction, int, int]]
"""(direction, bytes of one, how many)."""

_COUNTED = (p.Random, p.Packed, p.Append, p.Sequential)
"""Patterns that say how many requests there are."""


def count_of(pattern: p.Pattern, whole: Whole) -> int:
    """Requests of one rank."""
    if isinstance(pattern, _COUNTED):
        return whole(pattern.count)
    if isinstance(pattern, p.Table):
        return whole(pattern.turns) * len(pattern.rows)
    count = 1
    for loop in pattern.loops:
        count *= whole(loop.count)
    return count


def requests_of(step: p.Transfer, whole: Whole) -> Requests:
    """All requests of one rank. Shares are exact, as the engine deals them (`pattern/mix.cpp`)."""
    if isinstance(step.pattern, p.Table):
        turns = whole(step.pattern.turns)
        return [(step.operation, row.bytes, turns) for row in step.pattern.rows]
    count = count_of(step.pattern, whole)
    size = whole(step.size)
    if not step.mix and not step.reads:
        return [(step.operation, size, count)] if count > 0 else []
    parts = [(whole(part.bytes), part.weight) for part in step.mix] or [(size, 1)]
    weights = sum(weight for _, weight in parts)
    found: Requests = []
    begin, before = 0, 0
    for bytes_each, weight in parts:
        if bytes_each > size:
            raise ExpressionError("a size of the mix is above the 'transfer'")
        before += weight
        end = count * before // weights
        turned = turned_of(end, step.reads) - turned_of(begin, step.reads)
        found.append((p.Direction.READ, bytes_each, turned))
        found.append((step.operation, bytes_each, end - begin - turned))
        begin = end
    return [one for one in found if one[2] > 0]


def looks_of(step: p.Transfer, requests: int) -> Counter[str]:
    """The calls that move nothing among so many requests, as the engine deals them."""
    if not step.seeks and not step.empty_reads:  # nearly all
        return Counter()
    return +Counter(
        {
            p.OperationKind.SEEK.value: turned_of(requests, step.seeks),
            p.OperationKind.EMPTY_READ.value: turned_of(requests, step.empty_reads),
        }
    )


def turned_of(count: int, share: float) -> int:
    """Return how many of the first `count` requests fall to a share."""
    return math.floor(count * share + 0.5)


def codes_of(step: p.Transfer) -> list[list[p.Instruction]]:
    """The expressions on which the counts and sizes depend; places do not matter."""
    pattern = step.pattern
    codes = [step.size, *(part.bytes for part in step.mix)]
    if isinstance(pattern, _COUNTED):
        return [*codes, pattern.count]
    if isinstance(pattern, p.Table):
        return [*codes, pattern.turns]
    return codes + [loop.count for loop in pattern.loops]


def end_of(step: p.Transfer, whole: Whole) -> int:
    """The end of the last byte that a rank may touch; 0 where only the run can tell.

    Raises ExpressionError where a place would be touched twice without replacement.
    """
    size, pattern = whole(step.size), step.pattern
    match pattern:
        case p.Box() | p.Append():
            return 0
        case p.Packed() | p.Sequential():
            if pattern.base is None:
                return 0
            moved = sum(each * count for _, each, count in requests_of(step, whole))
            return whole(pattern.base) + moved
        case p.Table():
            far = max(row.offset + row.bytes for row in pattern.rows)
            turns = whole(pattern.turns)
            return whole(pattern.base) + max(turns - 1, 0) * whole(pattern.stride) + far
        case p.Random():
            return whole(pattern.base) + _slots_of(pattern, whole) * size
        case p.Nest():
            end = whole(pattern.base) + size
            for loop in pattern.loops:
                end += max(whole(loop.count) - 1, 0) * whole(loop.stride)
            return end


def _slots_of(pattern: p.Random, whole: Whole) -> int:
    slots, count = whole(pattern.slots), whole(pattern.count)
    reach = whole(pattern.first) + (count - 1) * whole(pattern.step)
    if count and not pattern.replacement and reach >= slots:
        raise ExpressionError(
            f"{count} requests on each rank do not fit {slots} places without touching one twice"
        )
    return max(slots, 1)
