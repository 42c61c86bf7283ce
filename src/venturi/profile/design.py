"""The design: which points are measured first, and where the next one tells most.

A coarse grid comes first. Then each gap between two neighbouring sizes is halved where straight
lines miss the points most: by as much as a point lies off the line between its neighbours. A
gap whose middle was predicted within the noise is left alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from venturi.analyse.performance_model import bend_at, lines_of
from venturi.model.interface import DEFAULT_INTERFACE, Interface
from venturi.model.plan import OperationKind
from venturi.model.profile import (
    AccessClass,
    DataState,
    FileSharing,
    MeasuredCurve,
    Order,
    Point,
    Volume,
)
from venturi.model.statistic import median
from venturi.profile.matrix import Family, MatrixCell, Setup

_KIB, _MIB = 1024, 1024**2
_COARSE = {
    Family.STREAM: (512, 4 * _KIB, 64 * _KIB, _MIB, 16 * _MIB),
    Family.SMALL: (512, 4 * _KIB, 64 * _KIB, _MIB),
    Family.STRIDED: (512, 4 * _KIB, 64 * _KIB, _MIB),
    Family.RANDOM: (512, 4 * _KIB, 64 * _KIB, _MIB),
    Family.EACH: (512, 64 * _KIB, 4 * _MIB),
    Family.PACED: (0, 512, 4 * _KIB, 64 * _KIB),
    Family.CONTEXT_EFFECT: (8 * _KIB, 64 * _KIB, _MIB),
    Family.ITEM: (0, 4 * _KIB, 64 * _KIB, _MIB, 16 * _MIB),
}
_BUFFERED = (8,)
"""Requests of a few bytes: a library that gathers them makes fewer calls, so they have a price."""
_IN_TURN = (
    (Family.STREAM, Family.SMALL),
    (Family.ITEM, Family.EACH),
    (Family.PACED,),
    (Family.CONTEXT_EFFECT,),
    (Family.RANDOM,),
    (Family.STRIDED,),
)
"""Families by start of the engine."""
_LEAST_MISS = 0.05
"""Log of the ratio: a gap that misses by less is not worth its time."""
_WEIGHTS = {DataState.COLD: 1.5, DataState.NEW: 1.0, DataState.CACHED: 1.0, DataState.NONE: 0.7}
"""What a miss costs: times of the device are the long ones."""


@dataclass(frozen=True)
class MeasurementGap:
    """A place where another point would tell something, and how much."""

    setup: Setup
    cell: MatrixCell
    miss: float
    """Weighted |log ratio| by which a straight line is likely to be wrong there."""


def setups_of(
    cores: int, ranks: int | None, interfaces: Sequence[Interface], under_mpi: bool = False
) -> list[Setup]:
    """Every combination that the coarse grid takes, the most useful first.

    Ranks are 1, 2, 4, ... up to the cores, or up to `ranks`. Calls of all ranks together need MPI.
    """
    most = ranks or cores
    counts = [1]
    while counts[-1] * 2 <= most:
        counts.append(counts[-1] * 2)
    if counts[-1] != most:
        counts.append(most)
    several = [count for count in counts if count > 1]
    found = []
    for interface in interfaces:
        found += [Setup(count, FileSharing.OWN, interface) for count in counts]
        found += [Setup(count, FileSharing.SHARED, interface) for count in several]
        if under_mpi and interface.entry.shares_by_mpi:
            found += [
                Setup(count, FileSharing.SHARED, interface, collective=True) for count in several
            ]
    return found


def coarse(setups: Iterable[Setup]) -> list[tuple[Setup, list[MatrixCell]]]:
    """The sheets of the coarse grid, the most useful first, so that a small budget serves most."""
    found = []
    for families in _IN_TURN:
        for setup in setups:
            cells = [
                MatrixCell(family, size)
                for family in families
                if _belongs(family, setup)
                for size in _sizes(family, setup.interface)
            ]
            if cells:
                found.append((setup, cells))
    return sorted(found, key=_turn)


def _sizes(family: Family, interface: Interface) -> tuple[int, ...]:
    if family is Family.STREAM and interface.entry.buffers:
        return _BUFFERED + _COARSE[family]
    return _COARSE[family]


def _turn(matrix: tuple[Setup, list[MatrixCell]]) -> int:
    """Streams, names, pace and habits of posix, streams and habits of the others, then the rest.

    What is missing is read from the nearest curve: of another interface that is the farthest.
    """
    setup, cells = matrix
    if cells[0].family not in (Family.STREAM, Family.ITEM, Family.PACED, Family.CONTEXT_EFFECT):
        return 2
    return 0 if setup.interface is DEFAULT_INTERFACE else 1


def _belongs(family: Family, setup: Setup) -> bool:
    """Other interfaces than posix are measured as streams, and strided where calls are collective.

    That is what collective calls are for.
    """
    if family is Family.STRIDED:
        every = setup.interface is DEFAULT_INTERFACE or setup.interface.entry.shares_by_mpi
        return setup.place is FileSharing.SHARED and every
    if family is Family.PACED:
        return setup == Setup(1, FileSharing.OWN)
    if family is Family.CONTEXT_EFFECT:
        return setup.ranks == 1 and setup.interface.entry.has_file_calls
    return family is Family.STREAM or setup.interface is DEFAULT_INTERFACE


def gaps(
    curves: Iterable[MeasuredCurve],
    done: Mapping[Setup, set[MatrixCell]],
    halved: set[tuple[Setup, MatrixCell]],
) -> list[MeasurementGap]:
    """Where to measure next, the worst first; `halved` are those that were tried already."""
    worst: dict[tuple[Setup, MatrixCell], float] = {}
    for curve in curves:
        family = _family_of(curve.access)
        if family is None:
            continue
        for ranks, points in lines_of(curve).items():
            setup = _setup_of(ranks, curve.access)
            for left in range(len(points) - 1):
                middle = _middle(points[left].bytes, points[left + 1].bytes)
                cell = MatrixCell(family, middle)
                if middle == 0 or cell in done.get(setup, ()) or (setup, cell) in halved:
                    continue
                miss = _miss(points, left) * _WEIGHTS[curve.access.state]
                key = setup, cell
                worst[key] = max(worst.get(key, 0.0), miss)
    found = [MeasurementGap(*key, miss) for key, miss in worst.items() if miss > _LEAST_MISS]
    return sorted(found, key=lambda gap: -gap.miss)


def noise_of(curves: Iterable[MeasuredCurve]) -> dict[tuple[Setup, Family], float]:
    """By setup and family, how far repetitions differ: the median of log(longest / shortest)."""
    found: dict[tuple[Setup, Family], list[float]] = {}
    for curve in curves:
        family = _family_of(curve.access)
        if family is None:
            continue
        for point in curve.points:
            if point.low > 0:
                setup = _setup_of(point.ranks, curve.access)
                found.setdefault((setup, family), []).append(math.log(point.high / point.low))
    return {key: median(logs) for key, logs in found.items()}


def _setup_of(ranks: int, access: AccessClass) -> Setup:
    return Setup(ranks, access.place, access.interface, access.collective)


def _miss(points: Sequence[Point], left: int) -> float:
    """How wrong a straight line may be in the middle of a gap, beyond the noise of its ends.

    A parabola that misses by e at the middle of two steps misses by e / 4 within one; steps
    differ in width, so half is taken.
    """
    bend = max(bend_at(points, left), bend_at(points, left + 1)) / 2
    ends = points[left : left + 2]
    noise = max((p.high - p.low) / (2 * p.seconds) if p.seconds else 0.0 for p in ends)
    return max(0.0, bend - noise / 2)


def _middle(a: int, b: int) -> int:
    """A power of two between two sizes; 0: there is none."""
    low, high = a.bit_length() - 1, b.bit_length() - 1
    if high - low < 2:
        return 0
    return int(2 ** ((low + high) // 2))


def _family_of(access: AccessClass) -> Family | None:
    """The family whose cells refine a manner's curve; None: it is not refined."""
    if not access.is_plain:
        return None
    if access.operation is OperationKind.SYNC:
        return Family.EACH if access.order is Order.SEQUENTIAL else None
    if access.volume is Volume.SMALL:
        return Family.SMALL
    return {
        Order.SEQUENTIAL: Family.STREAM,
        Order.RANDOM: Family.RANDOM,
        Order.STRIDED: Family.STRIDED,
        Order.ITEM: Family.ITEM,
    }[access.order]
