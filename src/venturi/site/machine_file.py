"""Machine files that lie beside the results: what each says that its machine can do at most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from venturi.model.error import UserError
from venturi.model.interface import DEFAULT_INTERFACE
from venturi.model.machine import Machine, Notices
from venturi.model.notice import Event
from venturi.model.profile import Order, Profile
from venturi.model.site import SiteCeiling, SiteMachineFile, SiteNotices
from venturi.model.yaml_text import load_yaml
from venturi.site.source import Source
from venturi.store.ceiling import ProfiledCeiling, highest, profiled
from venturi.store.public import names_somebody, public_machine
from venturi.store.seal import sha256_of

FOLDER = "machines"


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
        notices=_notices(machine.notices),
    )


def _notices(notices: Notices) -> SiteNotices:
    """Who is told, as numbers: addresses are nobody else's business."""
    mail = len(set(notices.mail.to)) if notices.mail is not None else 0
    return SiteNotices(mail=mail, webhook=bool(notices.webhook), on=notices.on)


def notices_of(files: Iterable[SiteMachineFile]) -> dict[str, SiteNotices]:
    """Who is told of each machine that has a file; of several files all."""
    found: dict[str, SiteNotices] = {}
    for one in files:
        old, new = found.get(one.machine, SiteNotices()), one.notices
        found[one.machine] = SiteNotices(
            mail=max(old.mail, new.mail),
            webhook=old.webhook or new.webhook,
            on=[event for event in Event if event in (*old.on, *new.on)],
        )
    return found


def _measured(profile: Profile) -> Iterator[SiteCeiling]:
    """The best of each usual access class, and whatever a run's page takes as its ceiling."""
    found = profiled(profile)
    ceilings = highest(found)
    for one in found:
        if _is_usual(one) or one in ceilings:
            yield SiteCeiling(
                what=one.access.text(),
                value=one.rate,
                unit="B/s" if one.moves_data else "1/s",
                of="" if one.moves_data else one.access.operation.value,
                ranks=one.point.ranks,
                bytes=one.point.bytes,
                n=one.point.n,
            )


def _is_usual(one: ProfiledCeiling) -> bool:
    """Whether most programs do so: the default interface, each rank by itself, whole streams."""
    access = one.access
    if access.interface is not DEFAULT_INTERFACE or access.collective:
        return False
    return not one.moves_data or access.order in (Order.SEQUENTIAL, Order.RANDOM)


def _facts(profile: Profile) -> dict[str, str]:
    """What was profiled, without host, directory and device."""
    return {
        "file system": profile.file_system.type,
        "kernel": profile.kernel,
        "CPU": profile.cpu,
        "cores": str(profile.cores),
        "complete": "yes" if profile.complete else "no: the coarse grid was not finished",
    }
