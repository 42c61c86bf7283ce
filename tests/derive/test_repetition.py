"""Repetitions of a sequence, found again after a part of it became one symbol."""

from __future__ import annotations

import random

import pytest

from venturi.derive.operation.repetition import LONGEST_PERIOD, Repetitions


def best_of(symbols: list[int]) -> tuple[int, int, int] | None:
    """The same by looking at every place and period."""
    found: list[tuple[int, int, int, int]] = []
    for period in range(1, min(LONGEST_PERIOD, len(symbols) // 2) + 1):
        at = 0
        while at + period < len(symbols):
            length = 0
            while at + length + period < len(symbols) and (
                symbols[at + length] == symbols[at + length + period]
            ):
                length += 1
            if length >= period:
                found.append((-(length // period * period), period, at, length // period + 1))
            at += length + 1
    if not found:
        return None
    _, period, start, count = min(found)
    return start, period, count


def drawn(draw: random.Random) -> list[int]:
    """A sequence that repeats itself here and there, on several levels."""
    parts = [[draw.randrange(4) for _ in range(draw.randint(1, 5))] for _ in range(3)]
    symbols: list[int] = []
    for _ in range(draw.randint(1, 12)):
        symbols += draw.choice(parts) * draw.randint(1, 6)
        symbols += [draw.randrange(9) for _ in range(draw.randint(0, 2))]
    return symbols


@pytest.mark.parametrize("seed", range(8))
def test_what_is_followed_is_what_is_there(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(40):
        symbols = drawn(draw)
        repetitions = Repetitions(list(symbols))
        known: dict[tuple[int, ...], int] = {}
        while True:
            found = best_of(symbols)
            assert repetitions.best() == found
            if found is None:
                break
            start, period, count = found
            if draw.random() < 0.3:  # any other part will do as well
                start = draw.randrange(len(symbols))
                period, count = draw.randint(1, min(9, len(symbols) - start)), 1
            end = start + period * count
            name = known.setdefault(tuple(symbols[start:end]), 100 + len(known))
            if period * count == 1:
                name = 10000 + draw.randrange(3)
            symbols[start:end] = [name]
            repetitions.replace(start, end, name)


def test_the_work_grows_with_what_changes() -> None:
    """Of a long sequence only what is around a change is looked at again."""
    looked: list[int] = []

    class Counted(list[int]):
        def __getitem__(self, at):  # type: ignore[no-untyped-def]
            looked.append(1)
            return super().__getitem__(at)

    costs = []
    for count in (2000, 20000):
        draw = random.Random(1)
        symbols = Counted(draw.randrange(1000) for _ in range(count))
        repetitions = Repetitions(symbols)
        looked.clear()
        for at in range(0, 1000, 10):
            repetitions.replace(at, at + 2, 5000 + at)
        costs.append(len(looked))
    assert costs[1] < 1.5 * costs[0]
