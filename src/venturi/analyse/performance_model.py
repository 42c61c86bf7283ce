"""The surface of a machine: seconds per operation over size and ranks, from a profile's points.

Between points it is linear in the logarithms of size, ranks and seconds. Beyond them the rules
are physical: below the smallest request a call costs what the smallest does; above the largest
the rate stays; more ranks than were measured share what there is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from venturi.model.document import INT64_MAX
from venturi.model.forecast import Range
from venturi.model.interface import DEFAULT_INTERFACE
from venturi.model.plan import Interface, OperationKind
from venturi.model.profile import (
    AccessClass,
    ContextEffect,
    DataState,
    FileSharing,
    MeasuredCurve,
    Order,
    Point,
    Profile,
    Volume,
)

_LEAST_S = 1e-12
_MOVED = {OperationKind.WRITE: DataState.NEW, OperationKind.READ: DataState.CACHED}
"""The state of data in which calls after computing were measured."""
_IN_MEMORY = ("tmpfs", "ramfs")
_LEAST_LEFT = 0.02
"""Of all cores; below, the ticks that were counted tell no ratio."""
_NEAR = 1.25
"""A size beyond the last point by no more than this factor is not called extrapolated."""


@dataclass(frozen=True)
class Estimate:
    """Seconds of one operation, and how the surface lies there."""

    seconds: Range
    slope: float
    """d log seconds / d log bytes: 0, a call's latency; 1, a bandwidth."""
    crowding: float
    """Times as long as with the fewest ranks that were measured."""
    extrapolated: bool


@dataclass(frozen=True)
class _Value:
    """Logarithms of seconds at one size on one number of ranks."""

    median: float
    low: float
    high: float
    slope: float
    beyond: bool


class PerformanceModel:
    """Looks up manners, sizes and ranks in a profile."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._curves = {curve.access: curve for curve in profile.curves}
        self._thinks_s = sorted({m.think_s for m in self._curves if m.think_s})
        self.most_ranks = max(point.ranks for curve in profile.curves for point in curve.points)

    @property
    def in_memory(self) -> bool:
        """Whether its data are nowhere but in memory."""
        return self.profile.file_system.type in _IN_MEMORY

    def nearest(
        self, access: AccessClass, size_bytes: int = INT64_MAX
    ) -> tuple[MeasuredCurve, str] | None:
        """The curve of a manner, or of what is most like it and a word on that; None: nothing is.

        Of the interface is given up first what lies above MPI-IO, then that all ranks call
        together, then the interface, then who shares, then the order, then the data's state.
        Syncs in another order were measured of much data only; of less than these, `size_bytes`,
        a sync takes what it does in order.
        """
        known = self._curves.get(access)
        if access.operation is OperationKind.SYNC and access.order is Order.RANDOM and known:
            least = min(point.bytes for point in known.points)
            if size_bytes * _NEAR < least:
                access = access.model_copy(update={"order": Order.SEQUENTIAL})
        for other, word in _likenesses(access):
            curve = self._curves.get(other)
            if curve is not None:
                return curve, word
        return None

    def slowed(self, ranks: int) -> float:
        """By what factor others may have made work of the processor longer when it was measured.

        It is what the ranks wanted of the cores over what others left of them.
        """
        cores, taken = self.profile.cores, self.profile.others_share
        if taken is None:
            return 1.0
        return max(1.0, min(ranks, cores) / (cores * max(1.0 - taken, _LEAST_LEFT)))

    def knows(self, access: AccessClass) -> bool:
        """Whether a manner's interface was measured, or the one that it does everything by."""
        through = {interface for interface, _ in _callers(access)[:-1]} or {access.interface}
        return any(curve.access.interface in through for curve in self.profile.curves)

    def in_volume(
        self, access: AccessClass, size_bytes: int, ranks: int, volume_bytes: int
    ) -> float:
        """By what a call's time is multiplied when a rank moves no more than this at a time.

        Data of small volumes stay in the processor's caches. The ratio of small to large volumes
        is that of sequential access, in proportion to the logarithm of the volume between both.
        """
        profile = self.profile
        inside = DataState.NEW, DataState.CACHED
        if access.state not in inside or volume_bytes >= profile.large_bytes:
            return 1.0
        plain = AccessClass(
            operation=access.operation,
            order=Order.SEQUENTIAL,
            place=access.place,
            state=access.state,
        )
        for place in dict.fromkeys((access.place, FileSharing.OWN)):
            large = plain.model_copy(update={"place": place})
            small = large.model_copy(update={"volume": Volume.SMALL})
            if large in self._curves and small in self._curves:
                size = min(size_bytes, profile.small_bytes)
                few = self.at(self._curves[small], size, ranks).seconds.median
                many = self.at(self._curves[large], size, ranks).seconds.median
                whole = math.log(profile.large_bytes / profile.small_bytes)
                share = math.log(profile.large_bytes / max(volume_bytes, 1)) / whole
                return math.exp(min(share, 1.0) * (_log(few) - _log(many)))
        return 1.0

    def after_computing(self, access: AccessClass, size_bytes: int, think_s: float) -> float:
        """Seconds by which computing before a call makes it longer; 0 where none was measured.

        It uses up the processor's caches, so the call brings its code and data from memory again.
        Between the times that were measured it grows in proportion to their logarithm.
        """
        if not self._thinks_s or think_s <= self._thinks_s[0]:
            return 0.0
        known = [(self._paced(access, size_bytes, one), one) for one in self._thinks_s]
        found = [(seconds, one) for seconds, one in known if seconds is not None]
        if not found or think_s <= found[0][1]:
            return 0.0
        first = found[0][0]
        grown, before = 0.0, found[0][1]
        for seconds, one in found[1:]:
            more = max(grown, seconds - first)
            if think_s <= one:
                share = math.log(think_s / before) / math.log(one / before)
                return grown + share * (more - grown)
            grown, before = more, one
        return grown

    def more_by_context_effect(
        self, access: AccessClass, size_bytes: int, context_effect: ContextEffect
    ) -> float:
        """Seconds by which a habit makes a call longer; 0 where it was not measured.

        It is what one rank was measured to take more than a plain loop beside it, through the same
        interface or by posix, of each the least, because a difference has the disturbance of both.
        Of cold data it is what cached ones take more, and memory without pages costs a write what
        it does a read.
        """
        operation, state = access.operation, access.state
        if state is DataState.COLD or context_effect is ContextEffect.FRESH:
            state = DataState.CACHED
        if context_effect is ContextEffect.FRESH and operation is OperationKind.WRITE:
            operation = OperationKind.READ
        for interface in dict.fromkeys((access.interface, DEFAULT_INTERFACE)):
            like = AccessClass(
                operation=operation,
                order=Order.SEQUENTIAL,
                interface=interface,
                state=state,
                context_effect=context_effect,
            )
            curve = self._curves.get(like)
            plain = self._curves.get(
                like.model_copy(update={"context_effect": ContextEffect.PLAIN})
            )
            if curve is not None and plain is not None:
                taken, least = (self.at(one, size_bytes, 1).seconds for one in (curve, plain))
                return max(0.0, taken.low - least.low)
        return 0.0

    def _paced(self, access: AccessClass, size_bytes: int, think_s: float) -> float | None:
        """Seconds of a call after computing for so long, of one rank and by posix."""
        moves = _MOVED.get(access.operation)
        like = AccessClass(
            operation=access.operation,
            order=Order.SEQUENTIAL if moves else Order.ITEM,
            state=moves or DataState.NONE,
            think_s=think_s,
        )
        curve = self._curves.get(like)
        if curve is None:
            return None
        size = min(size_bytes, max(point.bytes for point in curve.points))
        return self.at(curve, size, 1).seconds.median

    def at(self, curve: MeasuredCurve, size_bytes: int, ranks: int) -> Estimate:
        """Seconds per operation of `size_bytes` when so many ranks do it at the same time."""
        lines = _by_ranks(curve.points)
        known = sorted(lines)
        values = {count: _on_line(lines[count], size_bytes) for count in known}
        first = values[known[0]]
        if ranks > known[-1]:
            value = self._crowded(curve.access, values, known, ranks)
        else:
            value = _between(values, known, ranks)
        crowding = math.exp(value.median - first.median)
        seconds = Range(
            median=math.exp(value.median), low=math.exp(value.low), high=math.exp(value.high)
        )
        return Estimate(seconds, value.slope, crowding, value.beyond)

    def _crowded(
        self, access: AccessClass, values: dict[int, _Value], known: list[int], ranks: int
    ) -> _Value:
        """More ranks than were measured.

        Work of the processor takes turns once every core has a rank. Elsewhere the last measured
        step goes on, no better than for free and no worse than taking turns.
        """
        last = values[known[-1]]
        grown = 0.0
        if len(known) > 1:
            before = values[known[-2]]
            grown = (last.median - before.median) / math.log(known[-1] / known[-2])
        grown = min(max(grown, 0.0), 1.0)
        on_cores = access.state is not DataState.COLD and access.operation is not OperationKind.SYNC
        full = on_cores and ranks > self.profile.cores
        further = math.log(ranks / known[-1])
        free = math.log(max(1.0, min(ranks, self.profile.cores) / known[-1])) if on_cores else 0.0
        middle = (further - free) + grown * free if full else grown * further
        return _Value(
            last.median + middle,
            last.low + min(middle, grown * further),
            last.high + further,
            last.slope,
            True,
        )


def bend_at(points: Sequence[Point], index: int) -> float:
    """How far a point lies from the straight line between its neighbours: |log ratio|, or 0.

    Points are of one curve and number of ranks, ascending in size, without size 0.
    """
    if not 0 < index < len(points) - 1:
        return 0.0
    left, here, right = points[index - 1], points[index], points[index + 1]
    share = math.log(here.bytes / left.bytes) / math.log(right.bytes / left.bytes)
    expected = (1 - share) * _log(left.seconds) + share * _log(right.seconds)
    return abs(_log(here.seconds) - expected)


def lines_of(curve: MeasuredCurve) -> dict[int, list[Point]]:
    """The curve's points with data by ranks, ascending in size."""
    return {
        ranks: [point for point in points if point.bytes > 0]
        for ranks, points in _by_ranks(curve.points).items()
    }


def _by_ranks(points: Sequence[Point]) -> dict[int, list[Point]]:
    found: dict[int, list[Point]] = {}
    for point in sorted(points, key=lambda p: (p.ranks, p.bytes)):
        found.setdefault(point.ranks, []).append(point)
    return found


def _log(seconds: float) -> float:
    return math.log(max(seconds, _LEAST_S))


def _on_line(points: Sequence[Point], size: int) -> _Value:
    """The value on the points of one number of ranks."""
    sized = [point for point in points if point.bytes > 0]
    if size == 0 or not sized:
        nothing = [point for point in points if point.bytes == 0]
        point = (nothing or sized)[0]
        return _value(point, slope=0.0, beyond=bool(size) != bool(point.bytes))
    if size <= sized[0].bytes:
        value = _value(sized[0], slope=0.0, beyond=size * _NEAR < sized[0].bytes)
        # A sync of less than was measured takes no less than one that has nothing to write.
        idle = [_log(point.low) for point in points if point.bytes == 0 and value.beyond]
        return replace(value, low=min([value.low, *idle]))
    if size >= sized[-1].bytes:
        slope = _slope(sized[-2], sized[-1]) if len(sized) > 1 else 1.0
        beyond = size > sized[-1].bytes * _NEAR
        return _value(sized[-1], slope, beyond, math.log(size / sized[-1].bytes))
    right = next(i for i, point in enumerate(sized) if point.bytes >= size)
    a, b = sized[right - 1], sized[right]
    share = math.log(size / a.bytes) / math.log(b.bytes / a.bytes)
    # A parabola that misses the line by e over two steps misses it by e t (1 - t) within one.
    unsure = max(bend_at(sized, right - 1), bend_at(sized, right)) * share * (1 - share)
    mixed = [
        (1 - share) * _log(x) + share * _log(y)
        for x, y in ((a.seconds, b.seconds), (a.low, b.low), (a.high, b.high))
    ]
    return _Value(mixed[0], mixed[1] - unsure, mixed[2] + unsure, _slope(a, b), False)


def _slope(a: Point, b: Point) -> float:
    slope = (_log(b.seconds) - _log(a.seconds)) / math.log(b.bytes / a.bytes)
    return min(max(slope, 0.0), 1.0)


def _value(point: Point, slope: float, beyond: bool, further: float = 0.0) -> _Value:
    rise = slope * further
    return _Value(
        _log(point.seconds) + rise,
        _log(point.low) + rise,
        _log(point.high) + rise,
        slope,
        beyond,
    )


def _between(values: dict[int, _Value], known: list[int], ranks: int) -> _Value:
    if ranks <= known[0]:
        value = values[known[0]]
        if ranks == known[0]:
            return value
        return _Value(value.median, value.low, value.high, value.slope, True)
    right = next(count for count in known if count >= ranks)
    if right == ranks:
        return values[right]
    left = max(count for count in known if count < ranks)
    share = math.log(ranks / left) / math.log(right / left)
    a, b = values[left], values[right]
    return _Value(
        (1 - share) * a.median + share * b.median,
        (1 - share) * a.low + share * b.low,
        (1 - share) * a.high + share * b.high,
        (1 - share) * a.slope + share * b.slope,
        a.beyond or b.beyond,
    )


_ORDERS = {
    Order.SEQUENTIAL: (Order.SEQUENTIAL,),
    Order.RANDOM: (Order.RANDOM, Order.SEQUENTIAL),
    Order.STRIDED: (Order.STRIDED, Order.SEQUENTIAL),
    Order.ITEM: (Order.ITEM, Order.SEQUENTIAL),
}
_STATES = {
    DataState.NEW: (DataState.NEW, DataState.CACHED),
    DataState.CACHED: (DataState.CACHED, DataState.NEW),
    DataState.COLD: (DataState.COLD,),
    DataState.NONE: (DataState.NONE,),
}


def _likenesses(access: AccessClass) -> list[tuple[AccessClass, str]]:
    """The manner itself, then others, the more alike the earlier, each with a word on it."""
    found = []
    for state in _STATES[access.state]:
        for order in _ORDERS[access.order]:
            for place in dict.fromkeys((access.place, FileSharing.OWN, FileSharing.SHARED)):
                for interface, together in _callers(access):
                    other = AccessClass(
                        operation=access.operation,
                        order=order,
                        place=place,
                        interface=interface,
                        state=state,
                        collective=together,
                    )
                    same = other == access
                    word = "" if same else f"'{access.text()}' is taken to be '{other.text()}'"
                    found.append((other, word))
    return found


def _callers(access: AccessClass) -> list[tuple[Interface, bool]]:
    """Through what, and whether together: the manner's own first.

    Libraries above MPI-IO do everything on shared files by it, and its ranks wait for each other.
    """
    shared = access.place is FileSharing.SHARED
    through = (access.interface, access.interface.below) if shared else (access.interface,)
    found = [(each, together) for together in (access.collective, False) for each in through]
    return list(dict.fromkeys([*found, (DEFAULT_INTERFACE, False)]))
