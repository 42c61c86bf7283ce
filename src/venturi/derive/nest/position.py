"""What requests do to the position of the open file, where only their offsets are known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from venturi.model.operation import Column

MOST_POSITIONS = 4
"""Ways to tell the requests so far that are kept; more never told real programs better."""


class PositionMove(IntEnum):
    """How a request comes to its place."""

    GO_ON = 0
    """At the position, which moves behind it: read and write."""
    STAY = 1
    """At a place of its own; the position stays: pread and pwrite."""
    JUMP = 2
    """The position is moved there before: lseek, and read or write."""


_COST = {PositionMove.GO_ON: 0.0, PositionMove.STAY: 1.0, PositionMove.JUMP: 1.5}


@dataclass(frozen=True)
class _Way:
    """How the requests so far are told."""

    cost: float = 0.0
    before: _Way | None = None
    position: int = 0
    move: PositionMove = PositionMove.STAY


def moves_of(offset: Column, size: Column) -> tuple[Column, Column]:
    """The position before each request of one open file, and what the request does to it: of all
    ways to tell them the one in which most of them go on."""
    until = np.cumsum(size)
    if np.array_equal(offset, until - size):
        return offset.copy(), np.full(len(offset), int(PositionMove.GO_ON))
    ways: dict[int, _Way] = {0: _Way()}
    for at, length in zip(offset.tolist(), size.tolist(), strict=True):
        after: dict[int, _Way] = {}
        for position, way in ways.items():
            on = (
                (PositionMove.GO_ON, PositionMove.STAY)
                if at == position
                else (PositionMove.STAY, PositionMove.JUMP)
            )
            for move in on:
                to = position if move is PositionMove.STAY else at + length
                cost = way.cost + _COST[move]
                if to not in after or cost < after[to].cost:
                    after[to] = _Way(cost, way, position, move)
        kept = sorted(after.items(), key=lambda item: item[1].cost)[:MOST_POSITIONS]
        ways = dict(kept)
    way = min(ways.values(), key=lambda one: one.cost)
    positions, moves = [], []
    while way.before is not None:
        positions.append(way.position)
        moves.append(int(way.move))
        way = way.before
    return np.array(positions[::-1], np.int64), np.array(moves[::-1], np.int64)


def positions_of(offset: Column, size: Column, move: Column) -> Column:
    """The position before each request of one open file, whose moves are known."""
    found, position = np.zeros(len(offset), np.int64), 0
    for place, (at, length, how) in enumerate(
        zip(offset.tolist(), size.tolist(), move.tolist(), strict=True)
    ):
        found[place] = position
        if how != PositionMove.STAY:
            position = at + length
    return found
