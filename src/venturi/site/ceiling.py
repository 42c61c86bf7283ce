"""What a machine can do at most: from the machine files that lie beside the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from venturi.model.error import UserError
from venturi.model.interface import DEFAULT_INTERFACE
from venturi.model.machine import Machine
from venturi.model.plan import OperationKind
from venturi.model.profile import MeasuredCurve, Order, Point, Profile, Volume
from venturi.model.site import SiteCeiling, SiteMachineFile
from venturi.model.yaml_text import load_yaml
from venturi.site.source import Source
from venturi.store.public import names_somebody, public_machine
from venturi.store.seal import sha256_of

FOLDER = "machines"
_DATA = (OperationKind.WRITE, OperationKind.READ)
_NAMES = (OperationKind.CREATE, OperationKind.STAT, OperationKind.UNLINK, OperationKind.MKDIR)


def machine_files(
    sources: Sequence[Source], before: Mapping[str, SiteMachineFile]
) -> tuple[dict[str, SiteMachineFile], list[str]]:
    """What each machine file of the sources says, by source and name, and what is not shown.

    A file that is as `before` is not read again.
    """
    found: dict[str, SiteMachineFile] = {}
    problems: list[str] = []
    for number, source in enumerate(sources):
        for path in sorted((source.path / FOLDER).glob("[!.]*.yaml")):
            place = f"{number}/{path.name}"
            try:
                stamp = sha256_of(path)
                old = before.get(place)
                found[place] = old if old and old.stamp == stamp else _read(path, stamp)
            except (OSError, UserError) as error:
                why = error.message if isinstance(error, UserError) else str(error.strerror)
                problems.append(f"{FOLDER}/{path.name}: {why}")
    return found, problems


def _read(path: Path, stamp: str) -> SiteMachineFile:
    machine = load_yaml(path, Machine)
    profile = machine.profile
    name = machine.name
    if profile is not None and names_somebody(name, profile.host):
        # `venturi profile` calls a machine by its host; runs there are of `local`.
        name = public_machine("local", profile.host)
    if names_somebody(name):
        raise UserError("private: its name names a host, a user or a path", "call it otherwise")
    ceilings = [
        SiteCeiling(
            what=f"{bound.operation}, known bound",
            value=bound.bytes_per_second,
            unit="B/s",
            says="" if names_somebody(bound.about) else bound.about,
        )
        for bound in machine.bounds
    ]
    if profile is not None:
        ceilings += _measured(profile)
    return SiteMachineFile(
        stamp=stamp,
        machine=name,
        profiled=profile.started if profile else "",
        facts=_facts(profile) if profile else {},
        ceilings=ceilings,
    )


def _measured(profile: Profile) -> Iterator[SiteCeiling]:
    """The best of each plain access class, by its rate: of data bytes, of names calls."""
    for curve in profile.curves:
        access = curve.access
        is_usual = access.interface is DEFAULT_INTERFACE and access.volume is Volume.LARGE
        if not (access.is_plain and is_usual) or access.collective:
            continue
        if access.operation in _DATA and access.order in (Order.SEQUENTIAL, Order.RANDOM):
            yield _best(curve, "B/s")
        elif access.operation in _NAMES and access.order is Order.ITEM:
            yield _best(curve, "1/s")


def _best(curve: MeasuredCurve, unit: str) -> SiteCeiling:
    def rate(point: Point) -> float:
        return point.bytes_per_second if unit == "B/s" else point.operations_per_second

    best = max(curve.points, key=rate)
    return SiteCeiling(
        what=curve.access.text(),
        value=rate(best),
        unit=unit,
        of="" if unit == "B/s" else curve.access.operation.value,
        ranks=best.ranks,
        bytes=best.bytes,
        n=best.n,
    )


def _facts(profile: Profile) -> dict[str, str]:
    """What was profiled, without host, directory and device."""
    return {
        "file system": profile.file_system.type,
        "kernel": profile.kernel,
        "CPU": profile.cpu,
        "cores": str(profile.cores),
        "complete": "yes" if profile.complete else "no: the coarse grid was not finished",
    }
