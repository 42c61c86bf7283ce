"""Building a site: sources are read where they changed, and pages drawn where they are touched."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path

from venturi import __version__
from venturi.execute.host import user_name
from venturi.model.calibration import Calibration
from venturi.model.history import KnownChange
from venturi.model.published import Io500Result
from venturi.model.result import digest_of
from venturi.model.site import (
    SiteContrast,
    SiteKeptProbe,
    SiteKeptWorkload,
    SiteMachine,
    SiteMachineFile,
    SiteState,
    SiteStatus,
)
from venturi.report.figure import svg
from venturi.report.quantity import Units
from venturi.site.calibration import calibration_of, tested_of
from venturi.site.contrast import contrasts_of, tags_of
from venturi.site.health import FoundHealth, health_of
from venturi.site.io500 import SizeRanking
from venturi.site.io_account import account_of, stamp_of
from venturi.site.machine_file import machine_files, notices_of
from venturi.site.output import SiteFolder
from venturi.site.page import SitePages, WorkloadPage
from venturi.site.probe import FoundProbe, ProbedStore, probes_of
from venturi.site.scan import DAMAGED, PRIVATE, Scan, SiteContent, workloads_of
from venturi.site.source import Source
from venturi.store.published import load_all, richest

_LIBRARIES = (
    "duckdb",
    "jinja2",
    "markupsafe",
    "numpy",
    "pyarrow",
    "pydantic",
    "pydantic_core",
    "vl-convert-python",
)


@dataclass(frozen=True)
class SiteRequest:
    """What to build, and where."""

    sources: tuple[Path, ...]
    place: Path
    title: str = "Results"
    units: Units = Units.IEC


@dataclass(frozen=True)
class SiteBuild:
    """What a build did."""

    runs: int
    """With a page."""
    read: int
    """Runs that are new, or hold something else than before."""
    pages: int
    written: int
    removed: int
    problems: tuple[str, ...]
    """Runs without a page, one sentence each."""


def build(request: SiteRequest) -> SiteBuild:
    """Make the pages of a site, or bring them up to date.

    The same results give the same bytes, whatever was built before. Raises UserError for a source
    that is none, and a folder that has files of others.
    """
    sources = [Source(path) for path in request.sources]
    folder = SiteFolder(request.place)
    with folder.alone():
        folder.open(program_of(request))
        return _build(request, sources, folder)


def _build(request: SiteRequest, sources: Sequence[Source], folder: SiteFolder) -> SiteBuild:
    known = [change for source in sources for change in source.known()]
    scan = Scan(sources, known, folder.home, folder.before)
    content = scan.read()
    drawing = svg.begin() if content.changed else None
    try:
        scan.settle(content)
        pages = SitePages(request.title, request.units, folder, drawing)
        removed = _pages(sources, folder, known, pages, scan, content)
    finally:
        if drawing is not None:
            drawing.close()
    return SiteBuild(
        runs=len(content.shown),
        read=content.changed,
        pages=sum(path.endswith(".html") for path in folder.files),
        written=folder.written,
        removed=removed,
        problems=tuple(content.problems),
    )


def _pages(
    sources: Sequence[Source],
    folder: SiteFolder,
    known: Sequence[KnownChange],
    pages: SitePages,
    scan: Scan,
    content: SiteContent,
) -> int:
    """All pages, and the notes for the next time; how many pages were removed."""
    before = folder.before.state if folder.before else None
    machines_of = {run.id: run.machine for run in content.shown}
    health = health_of([one.path for one in sources if one.is_store], machines_of)
    machines, unread = machine_files(sources, before.machines if before else {})
    content.problems += unread
    probes = _probes(sources, content, machines, before.probes if before else {})
    tested = tested_of(sources, content.shown, before.tested if before else {})
    calibration, unshown = calibration_of(sources, content.shown, tested)
    content.problems += unshown
    beside = _SiteSurroundings(
        sources, health, probes, known, _published(sources), calibration, list(machines.values())
    )
    workloads = _draw(pages, scan, content, beside)
    return folder.finish(
        SiteState(
            schema_="venturi.site-state/3",
            program=folder.program,
            runs=folder.keep_runs(content.runs.values()),
            files=folder.keep_files(),
            kept=content.kept,
            workloads=workloads,
            tested=tested,
            machines=machines,
            probes={one.place: one.kept for one in probes},
        )
    )


@dataclass(frozen=True)
class _SiteSurroundings:
    """What a site shows beside its runs."""

    sources: Sequence[Source]
    health: FoundHealth
    probes: Sequence[FoundProbe]
    known: Sequence[KnownChange]
    published: Sequence[Io500Result]
    calibration: Calibration
    files: Sequence[SiteMachineFile]


def _probes(
    sources: Sequence[Source],
    content: SiteContent,
    machines: Mapping[str, SiteMachineFile],
    before: Mapping[str, SiteKeptProbe],
) -> list[FoundProbe]:
    """The probes of all stores; what is not shown goes to the problems."""
    found: list[FoundProbe] = []
    for number, source in enumerate(sources):
        if source.is_store:
            files = {one.machine for place, one in machines.items()
                     if place.startswith(f"{number}/")}  # fmt: skip
            only = files.pop() if len(files) == 1 else ""
            own, problems = probes_of(ProbedStore(number, source.path, only), content.shown, before)
            found += own
            content.problems += problems
    return found


def _draw(
    pages: SitePages, scan: Scan, content: SiteContent, beside: _SiteSurroundings
) -> dict[str, SiteKeptWorkload]:
    """All pages; what is kept of each workload."""
    pages.assets()
    subjects = sorted(content.subjects, key=lambda one: (one.name, one.machine))
    pages.runs(content.shown, scan.result)
    pages.run_data(content.kept, content.groups, scan.results)
    workloads = _draw_workloads(pages, scan, content, beside)
    nights = [one.kept.night for one in beside.probes]
    for one in beside.probes:
        pages.probe(one)
    every = {one.machine for one in subjects} | {one.machine for one in nights}
    every |= {one.machine for one in beside.files}
    by_size = SizeRanking(beside.published)
    for machine in sorted(every):
        own = [one for one in subjects if one.machine == machine]
        pages.machine(
            SiteMachine(
                machine=machine,
                subjects=own,
                health=beside.health.of(machine),
                known=[one for one in beside.known if one.machine in ("", machine)],
                probes=[one for one in nights if one.machine == machine],
                files=[one for one in beside.files if one.machine == machine],
                ranking_positions=by_size.ranking_positions(own) if beside.published else [],
                audit=beside.health.audits.get(machine),
                drifts=beside.health.drifts.get(machine, []),
            )
        )
    contrasts = [one for own in workloads.values() for one in own.contrasts]
    pages.overviews(subjects, contrasts, nights)
    pages.calibration(beside.calibration)
    pages.io500(beside.published)
    whys = [run.why for run in content.runs.values()]
    pages.status(
        SiteStatus(
            title=pages.title,
            runs=len(content.shown),
            subjects=subjects,
            health=beside.health.sessions,
            probes=nights,
            newest=max((one.last for one in subjects), default=""),
            unreadable=whys.count(DAMAGED),
            withheld=whys.count(PRIVATE),
            published=len(beside.published),
            notices=notices_of(beside.files),
        )
    )
    return workloads


def _draw_workloads(
    pages: SitePages, scan: Scan, content: SiteContent, beside: _SiteSurroundings
) -> dict[str, SiteKeptWorkload]:
    """The pages of all workloads; what is kept of each."""
    workloads = {}
    for name, groups in workloads_of(content.kept).items():
        runs = [run for group in groups for run in content.groups[group]]
        stamp = stamp_of(beside.sources, runs)
        trials = [one for one in beside.calibration.trials if one.name == name]
        proxies = [one for one in beside.calibration.proxies if one.name == name]
        inputs = digest_of(
            [[group, content.kept[group].inputs] for group in groups],
            stamp,
            [one.to_data() for one in (*trials, *proxies)],
        )
        kept = pages.kept_workload(name, inputs)
        if kept is None:
            contrasts = _draw_contrasts(pages, scan, content, name)
            page = WorkloadPage(
                name=name,
                groups=[scan.group(group, content) for group in groups],
                contrasts=contrasts,
                account=account_of(beside.sources, runs, stamp),
                trials=trials,
                proxies=proxies,
                tags=tags_of(runs),
            )
            pages.workload(page, inputs)
            kept = SiteKeptWorkload(inputs=inputs, contrasts=contrasts)
        workloads[name] = kept
    return workloads


def _draw_contrasts(
    pages: SitePages, scan: Scan, content: SiteContent, name: str
) -> list[SiteContrast]:
    """All comparisons of a workload, those that have a page drawn."""
    groups = workloads_of(content.kept)[name]
    runs = {content.kept[group].subject.machine: content.groups[group] for group in groups}
    contrasts = []
    for new, compared in contrasts_of(name, runs, scan.results):
        contrast = pages.kept_contrast(name, new)
        if contrast is None:
            found = compared()
            contrast = new.model_copy(update={"headline": found.headline if found else ""})
            if found is not None:
                pages.comparison(contrast, found)
        contrasts.append(contrast)
    return contrasts


def _published(sources: Sequence[Source]) -> list[Io500Result]:
    """Imported results of IO500, those of several sources once."""
    found: dict[str, Io500Result] = {}
    for source in sources:
        for result in load_all(source.path):
            kept = found.get(result.key)
            found[result.key] = richest(kept, result) if kept else result
    return [found[key] for key in sorted(found)]


def program_of(request: SiteRequest) -> str:
    """A digest of all that pages depend on beside the sources: programs, options, this host.

    What a store's runs must not tell depends on the names of this host and its user.
    """
    digest = hashlib.sha256()
    root = str(files("venturi"))
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        for name in sorted(names):
            with open(os.path.join(folder, name), "rb") as file:
                digest.update(file.read())
    libraries = [(name, _version(name)) for name in _LIBRARIES]
    places = [os.path.realpath(path) for path in request.sources]
    here = (socket.gethostname(), user_name())
    options = (__version__, sys.version, svg.why_not_drawn(), request.title, request.units.value)
    digest.update(repr((options, libraries, places, here)).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:16]


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ""
