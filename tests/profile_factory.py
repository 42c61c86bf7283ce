"""Profiles with points that follow a known law, for exact tests of what reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from venturi.model.machine import Machine
from venturi.model.plan import OperationKind
from venturi.model.profile import (
    AccessClass,
    DataState,
    FileSharing,
    MeasuredCurve,
    Order,
    Point,
    Profile,
)
from venturi.model.record import FileSystem

SIZES = tuple(2**n for n in range(9, 25))

Law = Callable[[int, int], float]
"""Seconds of one operation from its bytes and the ranks."""


def curve(
    operation: str,
    law: Law,
    ranks: Sequence[int] = (1, 2),
    sizes: Sequence[int] = SIZES,
    **access: Any,
) -> MeasuredCurve:
    """A curve whose points lie on a law, each with a spread of 10 % to both sides."""
    points = [
        Point(
            bytes=size,
            ranks=count,
            seconds=law(size, count),
            low=0.9 * law(size, count),
            high=1.1 * law(size, count),
            n=4,
            operations=10,
        )
        for count in ranks
        for size in sizes
    ]
    return MeasuredCurve(
        access=AccessClass(operation=OperationKind(operation), **access), points=points
    )


def data(operation: str, law: Law, state: str = "none", **more: Any) -> MeasuredCurve:
    """A curve of sequential access."""
    access = {"order": Order.SEQUENTIAL, "place": FileSharing.OWN, **more.pop("access", {})}
    return curve(operation, law, state=DataState(state), **access, **more)


def profile(*curves: MeasuredCurve, **changes: Any) -> Profile:
    """A profile of a machine with 2 cores and 1 GiB."""
    fields: dict[str, Any] = {
        "started": "2026-01-02T03:04:05+00:00",
        "seconds": 60.0,
        "budget_s": 60.0,
        "complete": True,
        "directory": "/data",
        "host": "h",
        "kernel": "6",
        "cpu": "c",
        "cores": 2,
        "memory_bytes": 2**30,
        "dirty_limit_bytes": 0,
        "load_average": 0.0,
        "venturi": "0",
        "file_system": FileSystem(
            type="ext4",
            source="/dev/x",
            mount="/",
            total_bytes=2**40,
            free_bytes=2**39,
            free_inodes=10**6,
        ),
    }
    return Profile(**(fields | changes), curves=list(curves))


def machine(*curves: MeasuredCurve, **changes: Any) -> Machine:
    """A machine with such a profile."""
    return Machine(name="m", profile=profile(*curves, **changes))
