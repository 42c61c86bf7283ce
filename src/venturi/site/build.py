"""Building a site: sources are read where they changed, and pages drawn where they are touched."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from venturi import __version__
from venturi.model.calibration import Calibration
from venturi.model.history import KnownChange
from venturi.model.published import Io500Result
from venturi.model.result import digest_of
from venturi.model.site import SiteContrast, SiteHealth, SiteMachineFile, SiteState
from venturi.report.quantity import Units
from venturi.site.calibration import calibration_of, tested_of
from venturi.site.contrast import contrasts_of
from venturi.site.health import sessions_of
from venturi.site.machine_file import machine_files
from venturi.site.output import SiteFolder
from venturi.site.page import SitePages
from venturi.site.probe import FoundProbe, probes_of
from venturi.site.scan import Scan, SiteContent
from venturi.site.source import Source
from venturi.store.published import load_all, richest

_SOURCES_OF_PAGES = ("report", "site", "analyse", "predict", "probe")


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
    """Runs that were read anew."""
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
        return _build(request, sources, folder)


def _build(request: SiteRequest, sources: Sequence[Source], folder: SiteFolder) -> SiteBuild:
    known = [change for source in sources for change in source.known()]
    program = _program(request)
    before = folder.before if folder.before and folder.before.state.program == program else None
    if before is None:
        folder.before = None
    known_digest = digest_of([one.to_data() for one in known])
    is_known_same = before is not None and before.state.known == known_digest
    scan = Scan(sources, known, folder.home, before, folder.names("run"))
    content = scan.content(is_known_same)
    lines = {run.line.id: run.line for run in content.runs.values() if run.line}
    health = [
        session
        for source in sources
        if source.is_store
        for session in sessions_of(source.path, lines)
    ]
    probes = _probes(sources, content)
    tested = tested_of(sources, content.runs, before.state.tested if before else {})
    calibration, unshown = calibration_of(sources, content.runs, tested)
    content.problems += unshown
    machines, unread = machine_files(sources, before.state.machines if before else {})
    content.problems += unread
    pages = SitePages(request.title, request.units, folder)
    contrasts = _draw(
        pages,
        scan,
        content,
        _SiteSurroundings(
            health, probes, known, _published(sources), calibration, list(machines.values())
        ),
    )
    state = SiteState(
        schema_="venturi.site-state/2",
        program=program,
        known=known_digest,
        runs=folder.keep_runs(content.runs),
        subjects=content.subjects,
        contrasts=contrasts,
        tested=tested,
        machines=machines,
        inputs=folder.inputs,
        files=folder.files,
    )
    removed = folder.finish(state)
    return SiteBuild(
        runs=len(lines),
        read=len(content.changed),
        pages=sum(path.endswith(".html") for path in folder.files),
        written=folder.written,
        removed=removed,
        problems=tuple(content.problems),
    )


@dataclass(frozen=True)
class _SiteSurroundings:
    """What a site shows beside its runs."""

    health: Sequence[SiteHealth]
    probes: Sequence[FoundProbe]
    known: Sequence[KnownChange]
    published: Sequence[Io500Result]
    calibration: Calibration
    files: Sequence[SiteMachineFile]


def _probes(sources: Sequence[Source], content: SiteContent) -> list[FoundProbe]:
    """The probes of all stores; what is not shown goes to the problems."""
    found: list[FoundProbe] = []
    for number, source in enumerate(sources):
        if source.is_store:
            lines = [
                run.line
                for place, run in content.runs.items()
                if run.line and place.startswith(f"{number}/")
            ]
            own, problems = probes_of(source.path, lines)
            found += own
            content.problems += problems
    return found


def _draw(
    pages: SitePages, scan: Scan, content: SiteContent, beside: _SiteSurroundings
) -> dict[str, list[SiteContrast]]:
    """All pages; the comparisons that have one, by workload."""
    pages.assets()
    subjects = sorted(content.subjects.values(), key=lambda one: (one.name, one.machine))
    lines = [run.line for run in content.runs.values() if run.line]
    pages.runs(lines, content.changed)
    contrasts: dict[str, list[SiteContrast]] = {}
    by_name: dict[str, list[str]] = {}
    for group in sorted(content.subjects, key=lambda key: content.subjects[key].machine):
        by_name.setdefault(content.subjects[group].name, []).append(group)
    for name, groups in sorted(by_name.items()):
        if not content.touched.intersection(groups) and (kept := pages.kept_workload(name)):
            contrasts[name] = kept.contrasts
            continue
        machines = {content.subjects[group].machine: group for group in groups}
        contrasts[name] = _draw_workload(pages, scan, name, machines)
    nights = [one.night for one in beside.probes]
    shown = {line.id for line in lines}
    for one in beside.probes:
        pages.probe(one.night, one.history(shown))
    every = {one.machine for one in subjects} | {one.machine for one in nights}
    every |= {one.machine for one in beside.files}
    for machine in sorted(every):
        pages.machine(
            machine,
            [one for one in subjects if one.machine == machine],
            [one for one in beside.health if one.machine == machine],
            beside.known,
            [one for one in nights if one.machine == machine],
            [one for one in beside.files if one.machine == machine],
        )
    pages.overviews(subjects, [one for own in contrasts.values() for one in own])
    pages.calibration(beside.calibration)
    pages.io500(beside.published)
    whys = [run.why for run in content.runs.values()]
    pages.status(len(lines), subjects, beside.health, nights, whys, len(beside.published))
    return contrasts


def _draw_workload(
    pages: SitePages, scan: Scan, name: str, groups: Mapping[str, str]
) -> list[SiteContrast]:
    """The pages of a workload, whose groups are given by machine; all its comparisons."""
    results = {machine: scan.results(group) for machine, group in groups.items()}
    contrasts = []
    for contrast, found in contrasts_of(name, results, pages.kept_contrasts(name)):
        contrasts.append(contrast)
        if found is not None:
            pages.comparison(contrast, found)
        else:
            pages.keep_comparison(contrast)
    pages.workload(name, [scan.group(group) for group in groups.values()], contrasts)
    return contrasts


def _published(sources: Sequence[Source]) -> list[Io500Result]:
    """Imported results of IO500, those of several sources once."""
    found: dict[str, Io500Result] = {}
    for source in sources:
        for result in load_all(source.path):
            kept = found.get(result.key)
            found[result.key] = richest(kept, result) if kept else result
    return [found[key] for key in sorted(found)]


def _program(request: SiteRequest) -> str:
    """A digest of what draws pages and of the options."""
    digest = hashlib.sha256()
    for name in _SOURCES_OF_PAGES:
        root = Path(str(files("venturi").joinpath(name)))
        for path in sorted(root.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(path.read_bytes())
    places = [os.path.realpath(path) for path in request.sources]
    options = (__version__, request.title, request.units.value, *places)
    digest.update(repr(options).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:16]
