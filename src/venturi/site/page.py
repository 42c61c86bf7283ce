"""The pages of a site: documents to HTML at their addresses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from venturi.model.calibration import Calibration, ForecastTrial, ProxyTrial
from venturi.model.comparison import ComparisonSet
from venturi.model.document import Document
from venturi.model.history import Trend
from venturi.model.published import Io500Result
from venturi.model.result import Result
from venturi.model.site import (
    SiteContrast,
    SiteGroup,
    SiteIoAccount,
    SiteKept,
    SiteKeptWorkload,
    SiteMachine,
    SiteProbe,
    SiteRunList,
    SiteRunPage,
    SiteStatus,
    SiteSubject,
    SiteWorkload,
)
from venturi.report import comparison
from venturi.report.block import Block, Figure, Page
from venturi.report.figure.drawing_process import DrawingProcess
from venturi.report.html import (
    STYLE_NAME,
    Frame,
    choose_script,
    explore_script,
    site_css,
    site_html,
    site_script,
    status_script,
)
from venturi.report.quantity import Units
from venturi.report.site import (
    address,
    calibration,
    io500,
    io500_system,
    machine,
    overview,
    probe,
    run,
    status,
    workload,
)
from venturi.site.data_script import Tags, run_script, session_script
from venturi.site.io500 import lists_of, systems_of
from venturi.site.output import SiteFolder
from venturi.site.parquet import parquet_of
from venturi.site.probe import FoundProbe
from venturi.site.run_index import KnownRun
from venturi.site.subject import best_of, points_of
from venturi.store.parquet import can_write_parquet

PageOf = Callable[[Any, Units], Page]
LINKS = (
    (address.STATUS, "Status"),
    (address.MACHINES, "Machines"),
    (address.WORKLOADS, "Workloads"),
    (address.RUNS, "Runs"),
    (address.EXPLORE, "Explore"),
    (address.COMPARE, "Compare"),
    (address.CALIBRATION, "Forecasts"),
    (address.LISTS, "IO500"),
)
SCRIPT_NAME = "site.js"
EXPLORE_NAME = "explore.js"
CHOOSE_NAME = "choose.js"
STATUS_NAME = "status.js"
_EXPLORED = "Choosing needs scripts; the page of the workload has every series as a table."
_CHOSEN = "Choosing needs scripts; the page of the workload lists comparisons that are made."
_RUNS_A_PAGE = 500


@dataclass(frozen=True)
class WorkloadPage:
    """What the pages of a workload are drawn from."""

    name: str
    groups: Sequence[SiteGroup]
    contrasts: Sequence[SiteContrast]
    account: SiteIoAccount | None
    trials: Sequence[ForecastTrial]
    proxies: Sequence[ProxyTrial]
    tags: Tags


class SitePages:
    """Draws pages into a site's folder."""

    def __init__(
        self, title: str, units: Units, folder: SiteFolder, drawing: DrawingProcess | None
    ) -> None:
        self.title = title
        self._drawing = drawing
        self._has_parquet = can_write_parquet()
        self._units = units
        self._folder = folder

    def assets(self) -> None:
        """Styles and the script."""
        self._folder.write(STYLE_NAME, site_css())
        self._folder.write(SCRIPT_NAME, site_script())
        self._folder.write(EXPLORE_NAME, explore_script())
        self._folder.write(CHOOSE_NAME, choose_script())
        self._folder.write(STATUS_NAME, status_script())

    def runs(self, shown: Sequence[KnownRun], result_of: Callable[[KnownRun], Result]) -> None:
        """A page for each run, and the lists of all."""
        for one in shown:
            if not self._folder.keep(one.page, one.digest):
                page = run.page_of(SiteRunPage(result=result_of(one)), self._units)
                self._folder.write(one.page, self._html(page, one.page), one.digest)
        ordered = sorted(shown, key=lambda one: (one.started, one.id))
        parts = [ordered[i : i + _RUNS_A_PAGE] for i in range(0, len(ordered), _RUNS_A_PAGE)]
        for number, part in enumerate(parts, 1):
            self._folder.draw(
                address.run_list(number),
                "\n".join(one.line for one in part),
                partial(self._run_list, number, part),
            )
        path = address.RUNS
        self._folder.write(path, self._html(overview.run_index(len(shown), len(parts)), path))

    def _run_list(self, number: int, part: Sequence[KnownRun]) -> str:
        found = SiteRunList(number=number, runs=[one.run().document() for one in part])
        page = overview.run_list(found, self._units)
        return self._html(page, address.run_list(number), (SCRIPT_NAME,))

    def kept_workload(self, name: str, inputs: str) -> SiteKeptWorkload | None:
        """A workload as it was; None where it is another, or a page of it is not as it was."""
        before = self._folder.before
        kept = before.state.workloads.get(name) if before else None
        if kept is None or kept.inputs != inputs:
            return None
        own = [of(name) for of in (address.workload, address.explore, address.choose, address.data)]
        own += [address.parquet(name)] * self._has_parquet
        found = [self._folder.keep(path, inputs) for path in own]
        found += [
            self._folder.keep(address.contrast(one.key), one.inputs)
            for one in kept.contrasts
            if one.headline
        ]
        return kept if all(found) else None

    def kept_contrast(self, name: str, contrast: SiteContrast) -> SiteContrast | None:
        """A comparison whose page, if it has one, is as it was; None for any other."""
        before = self._folder.before
        kept = before.state.workloads.get(name) if before else None
        for one in kept.contrasts if kept else ():
            if (one.key, one.inputs) == (contrast.key, contrast.inputs):
                path = address.contrast(one.key)
                return one if not one.headline or self._folder.keep(path, one.inputs) else None
        return None

    def run_data(
        self,
        groups: Mapping[str, SiteKept],
        runs: Mapping[str, Sequence[KnownRun]],
        results_of: Callable[[Sequence[KnownRun]], Sequence[Result]],
    ) -> None:
        """The figures of single runs of each subject."""
        for group, kept in groups.items():
            path = address.run_data(group)
            if not self._folder.keep(path, kept.inputs):
                text = run_script(kept.subject.machine, results_of(runs[group]))
                self._folder.write(path, text, kept.inputs)

    def workload(self, page: WorkloadPage, inputs: str) -> None:
        """The pages of a workload."""
        name, groups = page.name, page.groups
        scripts_of_runs = [
            address.run_data(address.group(one.subject.machine, name)) for one in groups
        ]
        series = [one for group in groups for one in group.series]
        series.sort(key=lambda one: one.trend is not Trend.WORSE)
        found = SiteWorkload(
            name=name,
            subjects=[group.subject for group in groups],
            series=series,
            best=best_of(groups),
            points=points_of(groups),
            contrasts=[one for one in page.contrasts if one.headline],
            account=page.account,
            trials=list(page.trials),
            proxies=list(page.proxies),
        )
        path = address.workload(name)
        self._folder.write(path, self._html(workload.page_of(found, self._units), path), inputs)
        self._folder.write(address.data(name), session_script(found, page.tags), inputs)
        if self._has_parquet:
            self._folder.write_bytes(address.parquet(name), parquet_of(series), inputs)
        for path, scripts, drawn, text in (
            (
                address.explore(name),
                (address.data(name), EXPLORE_NAME),
                overview.exploration(name, self._has_parquet),
                _EXPLORED,
            ),
            (address.choose(name), (*scripts_of_runs, CHOOSE_NAME), overview.choice(name), _CHOSEN),
        ):
            frame = Frame(self.title, LINKS, path, scripts, text)
            self._folder.write(path, site_html(drawn, frame), inputs)

    def comparison(self, contrast: SiteContrast, found: ComparisonSet) -> None:
        """The page of two sets of runs."""
        path = address.contrast(contrast.key)
        page = comparison.page_of(found, self._units)
        differs = any(row.is_significant for part in found.parts for row in part.rows)
        text = self._html(_with_figures(page, 1 if differs else 0), path)
        self._folder.write(path, text, contrast.inputs)

    def machine(self, found: SiteMachine) -> None:
        """The page of a machine."""
        self._draw(address.machine(found.machine), found, machine.page_of)

    def probe(self, found: FoundProbe) -> None:
        """The page of one target."""
        machine_name = found.kept.night.machine
        path = address.probe(machine_name, found.kept.night.target)
        self._folder.draw(
            path,
            found.inputs,
            lambda: self._html(probe.page_of(found.history(), machine_name, self._units), path),
        )

    def overviews(
        self,
        subjects: Sequence[SiteSubject],
        contrasts: Sequence[SiteContrast],
        probes: Sequence[SiteProbe],
    ) -> None:
        """The pages that list machines, workloads and comparisons."""
        shown = [one for one in contrasts if one.headline]
        for path, page in (
            (address.MACHINES, overview.machines(subjects, probes)),
            (address.WORKLOADS, overview.workloads(subjects, probes)),
            (address.COMPARE, overview.comparisons(shown, subjects)),
            (address.EXPLORE, overview.explorations(subjects)),
        ):
            self._folder.write(path, self._html(page, path))

    def calibration(self, found: Calibration) -> None:
        """The page that holds forecasts to what was measured after them."""
        self._draw(address.CALIBRATION, found, calibration.page_of)

    def io500(self, published: Sequence[Io500Result]) -> None:
        """The lists of IO500, its systems, and all results to download."""
        lists = lists_of(published)
        for found in lists:
            self._draw(address.io500_list(found.key), found, io500.list_page, (SCRIPT_NAME,))
            self._folder.write(address.io500_list_csv(found.key), io500.list_csv_of(found))
        for system in systems_of(published, lists):
            path = address.system(io500.owner_of(system.results[0]))
            self._draw(path, system, io500_system.system_page)
        data = "[" + ",\n".join(one.to_json() for one in published) + "]\n"
        self._folder.draw(
            address.LISTS,
            data,
            lambda: self._html(io500.index_page(lists, published), address.LISTS),
        )
        self._folder.write(io500.CSV, io500.csv_of(published))
        self._folder.write(io500.JSON, data)

    def status(self, found: SiteStatus) -> None:
        """The first page."""
        self._draw(address.STATUS, found, status.page_of, (STATUS_NAME,))

    def _draw(
        self, path: str, found: Document, page_of: PageOf, scripts: tuple[str, ...] = ()
    ) -> None:
        self._folder.draw(
            path,
            found.to_json(),
            lambda: self._html(page_of(found, self._units), path, scripts),
        )

    def _html(self, page: Page, path: str, scripts: tuple[str, ...] = ()) -> str:
        return site_html(page, Frame(self.title, LINKS, path, scripts, drawing=self._drawing))


def _with_figures(page: Page, most: int) -> Page:
    """A page with its first figures; of the others the table is shown, which is drawn at once."""
    left = most
    chapters = []
    for chapter in page.chapters:
        sections = []
        for section in chapter.sections:
            blocks: list[Block] = []
            for block in section.blocks:
                if isinstance(block, Figure) and left == 0:
                    blocks.append(block.table)
                    continue
                left -= isinstance(block, Figure)
                blocks.append(block)
            sections.append(replace(section, blocks=tuple(blocks)))
        chapters.append(replace(chapter, sections=tuple(sections)))
    return replace(page, chapters=tuple(chapters))
