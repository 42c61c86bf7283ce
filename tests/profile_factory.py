"""Profiles with points that follow a known law, for exact tests of what reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from venturi.model.machine import Machine
from venturi.model.plan import OperationKind
from venturi.model.profile import Curve, Manner, Order, Place, Point, Profile, State
from venturi.model.record import FileSystem

SIZES = tuple(2**n for n in range(9, 25))

Law = Callable[[int, int], float]
"""Seconds of one operation from its bytes and the ranks."""


def curve(
    operation: str,
    law: Law,
    ranks: Sequence[int] = (1, 2),
    sizes: Sequence[int] = SIZES,
    **manner: Any,
) -> Curve:
    """A curve whose points lie on a law, each with a spread of 10 % to both sides."""
    points = [
        Point(
            bytes=size, ranks=count, seconds=law(size, count), low=0.9 * law(size, count),
            high=1.1 * law(size, count), n=4, operations=10,
        )
        for count in ranks
        for size in sizes
    ]  # fmt: skip
    return Curve(manner=Manner(operation=OperationKind(operation), **manner), points=points)


def data(operation: str, law: Law, state: str = "none", **more: Any) -> Curve:
    """A curve of sequential access."""
    manner = {"order": Order.SEQUENTIAL, "place": Place.OWN, **more.pop("manner", {})}
    return curve(operation, law, state=State(state), **manner, **more)


def profile(*curves: Curve, **changes: Any) -> Profile:
    """A profile of a machine with 2 cores and 1 GiB."""
    fields: dict[str, Any] = {
        "started": "2026-01-02T03:04:05+00:00", "seconds": 60.0, "budget_s": 60.0,
        "complete": True, "directory": "/data", "host": "h", "kernel": "6", "cpu": "c", "cores": 2,
        "memory_bytes": 2**30, "dirty_limit_bytes": 0, "load_average": 0.0, "venturi": "0",
        "file_system": FileSystem(
            type="ext4", source="/dev/x", mount="/", total_bytes=2**40, free_bytes=2**39,
            free_inodes=10**6,
        ),
    }  # fmt: skip
    return Profile(**(fields | changes), curves=list(curves))


def machine(*curves: Curve, **changes: Any) -> Machine:
    """A machine with such a profile."""
    return Machine(name="m", profile=profile(*curves, **changes))
