"""The ceilings that are known of a machine before a run: stated, profiled, and from its health.

A machine file's `bounds` state the peak of a target. Its profile has the best rates of a directory,
from storage and through caches. A session of `venturi health` on the same host has the memory's
rate, and the speeds of network interfaces and of PCI links of storage.

`profiled` alone decides which curves of a profile are ceilings, for runs and for a site's machines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from venturi.model.ceiling import Ceiling, CeilingLayer, CeilingSource
from venturi.model.health import Health
from venturi.model.machine import Bound, Machine
from venturi.model.plan import OperationKind
from venturi.model.profile import (
    AccessClass,
    DataState,
    MeasuredCurve,
    Order,
    Point,
    Profile,
    Volume,
)

HEALTH_FOLDER = "health"
_MEMORY = "triad: triad"
"""Of a session of health: all cores together, on arrays that no cache holds."""
_NETWORK = re.compile(r"^(\d+) Mbit/s")
_PORT = re.compile(r"^(\d+(?:\.\d+)?) Gb/sec")
_PCI = re.compile(r"^(?:degraded: )?(\d+(?:\.\d+)?) GT/s(?: PCIe)? x(\d+)")
_OLD_PCI_GT = 5.0
"""Up to this speed 8 of 10 bits are data, above it 128 of 130."""
_DATA = (OperationKind.WRITE, OperationKind.READ)
_NAMES = (OperationKind.CREATE, OperationKind.STAT, OperationKind.UNLINK, OperationKind.MKDIR)
_STATES = (DataState.COLD, DataState.CACHED, DataState.NEW)


@dataclass(frozen=True)
class ProfiledCeiling:
    """The point of a curve with the highest rate of all ranks together."""

    access: AccessClass
    point: Point

    @property
    def moves_data(self) -> bool:
        """Whether its rate is one of bytes; else it counts operations."""
        return self.access.operation in _DATA

    @property
    def rate(self) -> float:
        """In B/s of what moves data, else in 1/s."""
        point = self.point
        return point.bytes_per_second if self.moves_data else point.operations_per_second


def bounds_at(machine: Machine, directory: Path) -> list[Bound]:
    """The bounds that hold in a directory: those of no target, and those of the one it lies in."""
    places = [directory, *directory.parents]
    here = {target.name for target in machine.targets if Path(target.path) in places}
    return [bound for bound in machine.bounds if not bound.target or bound.target in here]


def ceilings(
    machine: Machine, directory: Path, store: Path, host: str, nodes: int
) -> list[Ceiling]:
    """All that is known, the lowest first."""
    found = [
        Ceiling(
            operation=bound.operation,
            bytes_per_second=bound.bytes_per_second,
            layer=CeilingLayer.STORAGE,
            source=CeilingSource.MACHINE_FILE,
            about=bound.about or f"bound of {bound.operation}",
        )
        for bound in bounds_at(machine, directory)
    ]
    if machine.profile is not None:
        found += _of_profile(machine.profile)
    session = newest_session(store, host)
    if session is not None:
        found += _of_health(session, nodes)
    return sorted(found, key=lambda one: one.bytes_per_second)


def newest_session(store: Path, host: str) -> Health | None:
    """The last session of health of a host in a store; None: there is none."""
    found = []
    for path in (store / HEALTH_FOLDER).glob("*.json"):
        try:
            health = Health.model_validate_json(path.read_text("utf-8"), by_alias=True)
        except (OSError, ValueError):
            continue  # a baseline, or a session of another version
        if host in health.series.split(", "):
            found.append(health)
    return max(found, key=lambda health: health.started, default=None)


def profiled(profile: Profile) -> list[ProfiledCeiling]:
    """The best of each access class that can be a ceiling, in the profile's order.

    It is plain, and moves large volumes: small ones stay in the processor's caches, whose rate is
    neither the memory's nor the storage's. Of names, only calls on many are. A point without a
    measured time has no rate.
    """
    found = [_best_point(curve) for curve in profile.curves]
    return [one for one in found if one is not None]


def highest(found: Sequence[ProfiledCeiling]) -> list[ProfiledCeiling]:
    """Of each direction the best of cold data, of cached data, and of new data."""
    best = []
    for operation in _DATA:
        for state in _STATES:
            own = [
                one
                for one in found
                if (one.access.operation, one.access.state) == (operation, state)
            ]
            if own:
                best.append(max(own, key=lambda one: (one.rate, one.access.text())))
    return best


def _best_point(curve: MeasuredCurve) -> ProfiledCeiling | None:
    access = curve.access
    if not access.is_plain or access.volume is Volume.SMALL:
        return None
    moves_data = access.operation in _DATA
    if not moves_data and (access.operation not in _NAMES or access.order is not Order.ITEM):
        return None
    timed = [p for p in curve.points if p.seconds > 0 and (p.bytes or not moves_data)]
    every = [ProfiledCeiling(access, point) for point in timed]
    return max(every, key=lambda one: one.rate, default=None)


def _of_profile(profile: Profile) -> Iterator[Ceiling]:
    """The best rate of each direction: reads of cold data, of cached data, and writes."""
    for one in highest(profiled(profile)):
        is_cold = one.access.state is DataState.COLD
        how = f"{one.access.text()}, {one.point.ranks} ranks"
        yield Ceiling(
            operation=cast("Literal['write', 'read']", one.access.operation.value),
            bytes_per_second=one.rate,
            layer=CeilingLayer.DEVICE if is_cold else CeilingLayer.MEMORY,
            source=CeilingSource.PROFILE,
            about=f"best rate of {how}, {profile.started[:10]}",
        )


def _of_health(health: Health, nodes: int) -> Iterator[Ceiling]:
    """Memory by its kernels; links by what the system says of them, of all nodes together."""
    said = f"session of {health.started[:10]}"
    for row in health.rows:
        if row.metric == _MEMORY and row.unit == "B/s":
            yield _both(nodes * row.value, CeilingLayer.MEMORY, f"triad of all cores, {said}")
    for entry in health.audit:
        about = f"{entry.key}, {entry.value}, {said}"
        network, port = _NETWORK.match(entry.value), _PORT.match(entry.value)
        pci = _PCI.match(entry.value)
        if entry.key.startswith("network ") and network and int(network[1]) > 0:
            yield _both(nodes * int(network[1]) * 1e6 / 8, CeilingLayer.NETWORK, about)
        elif entry.key.startswith("port ") and port:
            yield _both(nodes * float(port[1]) * 1e9 / 8, CeilingLayer.NETWORK, about)
        elif entry.key.startswith("PCI link of storage") and pci:
            rate = _pci_bytes_per_second(float(pci[1]), int(pci[2]))
            yield _both(nodes * rate, CeilingLayer.DEVICE, about)


def _both(rate: float, layer: CeilingLayer, about: str) -> Ceiling:
    return Ceiling(
        operation="both",
        bytes_per_second=rate,
        layer=layer,
        source=CeilingSource.HEALTH,
        about=about,
    )


def _pci_bytes_per_second(gigatransfers: float, lanes: int) -> float:
    share = 8 / 10 if gigatransfers <= _OLD_PCI_GT else 128 / 130
    return gigatransfers * 1e9 * lanes * share / 8
