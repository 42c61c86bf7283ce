"""Where the requests of a transfer go, one after the other: the twin of `engine/pattern/`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import repeat
from typing import NamedTuple

from venturi.model import plan as p
from venturi.model.shuffle import permute, uniform, uniform_real
from venturi.plan.request import count_of, turned_of

_WORD = 2**64 - 1


class DataRequest(NamedTuple):
    """One request of a rank; the offset is None where a shared file's end decides it in the run."""

    direction: p.Direction
    offset: int | None
    bytes: int


class Circumstances(NamedTuple):
    """What places depend on beside the step."""

    integer: Callable[[list[p.Instruction]], int]
    """The value of an expression on the rank whose place is taken: a whole number."""
    whole: Callable[[list[p.Instruction]], int]
    """The same, of 0 or more."""
    places_key: int
    """Chooses the places of random access, the same on all ranks."""
    order_key: Callable[[], int]
    """Chooses this rank's order of sizes and directions."""
    end_bytes: int | None
    """Where the file ends; None if other ranks make it longer at the same time."""
    position_bytes: int
    """The rank's position in the open file."""
    datasets: list[p.Dataset]


def requests_in_order(step: p.Transfer, at: Circumstances) -> Iterator[DataRequest]:
    """Yield the requests of a step in the order in which the engine begins them.

    Raises ExpressionError where an expression has no value.
    """
    size, pattern = at.whole(step.size), step.pattern
    if isinstance(pattern, p.Table):
        base, stride = at.integer(pattern.base), at.integer(pattern.stride)
        for turn in range(at.whole(pattern.turns)):
            for row in pattern.rows:
                yield DataRequest(step.operation, base + turn * stride + row.offset, row.bytes)
        return
    if isinstance(pattern, (p.Packed, p.Append, p.Sequential)):
        start = _start_of(pattern, at)
        for direction, size_bytes in _kinds(step, size, at):
            yield DataRequest(direction, start, size_bytes)
            start = None if start is None else start + size_bytes
        return
    places = _places(pattern, size, at)
    if not step.mix and not step.reads:
        for offset in places:
            yield DataRequest(step.operation, offset, size)
        return
    for (direction, size_bytes), offset in zip(_kinds(step, size, at), places, strict=True):
        yield DataRequest(direction, offset, size_bytes)


def _start_of(pattern: p.Packed | p.Append | p.Sequential, at: Circumstances) -> int | None:
    """Where requests begin that lie back to back; None where only a run knows."""
    if isinstance(pattern, p.Append):
        return at.end_bytes
    return at.position_bytes if pattern.base is None else at.whole(pattern.base)


def _kinds(step: p.Transfer, size: int, at: Circumstances) -> Iterator[tuple[p.Direction, int]]:
    """Direction and bytes of every request: exact shares of all, in an order chosen by a key."""
    count = count_of(step.pattern, at.whole)
    if not step.mix and not step.reads:
        yield from repeat((step.operation, size), count)
        return
    parts = [(at.whole(part.bytes), part.weight) for part in step.mix] or [(size, 1)]
    weights = sum(weight for _, weight in parts)
    quotas: list[tuple[int, tuple[p.Direction, int]]] = []
    begin = before = 0
    for part_bytes, weight in parts:
        before += weight
        end = count * before // weights
        others = turned_of(end, step.reads) - turned_of(begin, step.reads)
        quotas.append((begin + min(others, end - begin), (p.Direction.READ, part_bytes)))
        quotas.append((end, (step.operation, part_bytes)))
        begin = end
    order_key = at.order_key()
    for index in range(count):
        place = permute(index, count, order_key)
        yield next(kind for end, kind in quotas if place < end)


def _places(pattern: p.Nest | p.Random | p.Box, size: int, at: Circumstances) -> Iterator[int]:
    match pattern:
        case p.Nest():
            levels = [(at.whole(one.count), at.integer(one.stride)) for one in pattern.loops]
            return _nest(at.integer(pattern.base), levels)
        case p.Random():
            return _random(pattern, size, at)
        case p.Box():
            return _box(pattern, at)


def _nest(base: int, levels: list[tuple[int, int]]) -> Iterator[int]:
    if not levels:
        yield base
        return
    (count, stride), *inner = levels
    for index in range(count):
        yield from _nest(base + index * stride, inner)


def _random(pattern: p.Random, size: int, at: Circumstances) -> Iterator[int]:
    base, slots, key = at.integer(pattern.base), at.whole(pattern.slots), at.places_key
    first, step = at.whole(pattern.first), at.whole(pattern.step)
    if pattern.zipf > 0:
        zipf = Zipf(max(slots, 1), pattern.zipf)
        slot_of = partial(_frequent_slot, zipf, slots, key)
    elif pattern.replacement:
        slot_of = partial(_drawn_slot, slots, key)
    else:
        slot_of = partial(permute, size=slots, key=key)
    for number in range(at.whole(pattern.count)):
        yield base + slot_of(first + number * step) * size


def _drawn_slot(slots: int, key: int, index: int) -> int:
    return uniform(key, index, slots)


def _frequent_slot(zipf: Zipf, slots: int, key: int, index: int) -> int:
    return permute(zipf.draw(key, index) - 1, slots, key)


def _box(pattern: p.Box, at: Circumstances) -> Iterator[int]:
    """Offsets of the first element of every box; datasets lie behind each other."""
    before, dataset = at.datasets[: pattern.dataset], at.datasets[pattern.dataset]
    base = sum(_bytes_of(one) * one.copies for one in before)
    strides = [
        dataset.type.bytes * math.prod(dataset.shape[dimension + 1 :])
        for dimension in range(len(dataset.shape))
    ]
    copy = at.whole(pattern.first_copy) if pattern.first_copy else 0
    base += copy * _bytes_of(dataset)
    starts = [at.whole(start) for start in pattern.start]
    base += sum(start * stride for start, stride in zip(starts, strides, strict=True))
    levels = []
    for loop in pattern.loops:
        each = _bytes_of(dataset) if loop.dimension < 0 else strides[loop.dimension]
        levels.append((at.whole(loop.count), at.integer(loop.step) * each))
    return _nest(base, levels)


def _bytes_of(dataset: p.Dataset) -> int:
    return dataset.type.bytes * math.prod(dataset.shape)


class Zipf:
    """Numbers 1 ... n, of which k comes with a probability in proportion to k ** -exponent.

    Rejection-inversion (Hörmann and Derflinger 1996), as `engine/pattern/zipf.cpp` does it.
    """

    def __init__(self, n: int, exponent: float) -> None:
        self._n = n
        self._exponent = exponent
        self._lowest = self._integral(1.5) - 1.0
        self._highest = self._integral(n + 0.5)
        self._accepted = 2.0 - self._inverse(self._integral(2.5) - self._density(2.0))
        """Below this distance to a whole number a point is taken at once."""

    def draw(self, key: int, index: int) -> int:
        """Return the number for a key and an index."""
        attempt = 0
        while True:
            share = uniform_real((key + attempt) & _WORD, index)
            y = self._highest + share * (self._lowest - self._highest)
            x = self._inverse(y)
            nearest = min(max(math.floor(x + 0.5), 1), self._n)
            is_near = nearest - x <= self._accepted
            if is_near or y >= self._integral(nearest + 0.5) - self._density(nearest):
                return nearest
            attempt += 1

    def _integral(self, x: float) -> float:
        log_x = math.log(x)
        argument = (1.0 - self._exponent) * log_x
        relative = 1.0 if argument == 0.0 else math.expm1(argument) / argument
        return relative * log_x

    def _inverse(self, y: float) -> float:
        argument = max(y * (1.0 - self._exponent), -1.0)
        relative = 1.0 if argument == 0.0 else math.log1p(argument) / argument
        return math.exp(relative * y)

    def _density(self, x: float) -> float:
        return math.exp(-self._exponent * math.log(x))
