"""What a site shows: the runs of its sources, read where they changed, in their subjects."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from venturi.model.error import UserError
from venturi.model.history import KnownChange
from venturi.model.result import Result
from venturi.model.site import SiteGroup, SiteSubject
from venturi.report.site import address
from venturi.site.kept_result import KeptResult, kept, read_results, write_results
from venturi.site.output import SiteBefore
from venturi.site.run_index import KnownRun, RunLine
from venturi.site.source import Source, Stored
from venturi.site.subject import group_of, run_line

DAMAGED = "damaged"
PRIVATE = "private"
TWICE = "twice"
"""Why a run has no page."""


@dataclass
class SiteContent:
    """The runs and subjects of a site, and which of them were read anew."""

    runs: dict[str, KnownRun] = field(default_factory=dict)
    subjects: dict[str, SiteSubject] = field(default_factory=dict)
    changed: dict[str, Result] = field(default_factory=dict)
    """By id: what needs a page."""
    touched: set[str] = field(default_factory=set)
    """Groups with another history than before."""
    problems: list[str] = field(default_factory=list)
    """Runs without a page, one sentence each."""


class Scan:
    """Reads the sources of a site, with what is known from before."""

    def __init__(
        self,
        sources: Sequence[Source],
        known: Sequence[KnownChange],
        home: Path,
        before: SiteBefore | None,
        pages: set[str],
    ) -> None:
        """`home` keeps the subjects' data; `pages` are the names of the pages of runs there."""
        self._sources = sources
        self._known = known
        self._home = home
        self._before = before
        self._pages = pages
        self._files = set(os.listdir(home))
        self._fresh: dict[str, dict[str, Result]] = {}
        self._ids: set[str] = set()

    def content(self, is_known_same: bool) -> SiteContent:
        """All runs and subjects; unless the known changes are the same, all histories are new."""
        found = SiteContent()
        for number, source in enumerate(self._sources):
            for stored in source.runs():
                self._add(found, f"{number}/{stored.place}", source, stored)
        old = self._before.runs if self._before else {}
        for place in old.keys() - found.runs.keys():
            found.touched.add(old[place].group)
        groups: dict[str, list[str]] = {}
        for place, run in found.runs.items():
            if run.group:
                groups.setdefault(run.group, []).append(place)
        if not is_known_same:
            found.touched |= groups.keys()
        for group, places in groups.items():
            self._settle(found, group, places)
        found.touched.discard("")
        return found

    def _add(self, found: SiteContent, place: str, source: Source, stored: Stored) -> None:
        old = self._before.runs.get(place) if self._before else None
        if old is not None and old.stamp == stored.stamp and self._holds(old):
            found.runs[place] = old
            if old.line is not None:
                self._ids.add(old.line.id)
            else:
                found.problems.append(f"{stored.place}: {old.why}")
            return
        if old is not None:
            found.touched.add(old.group)
        found.runs[place] = self._read(found, source, stored)

    def _holds(self, old: KnownRun) -> bool:
        """Whether a run that did not change is shown as before."""
        if old.line is None:
            return old.why != TWICE
        page = address.run(old.line.id).partition("/")[2]
        return old.line.id not in self._ids and page in self._pages

    def _read(self, found: SiteContent, source: Source, stored: Stored) -> KnownRun:
        try:
            whole = source.load(stored)
        except UserError as error:
            found.problems.append(f"{stored.place}: {DAMAGED}: {error.message}")
            return KnownRun(stamp=stored.stamp, why=DAMAGED)
        try:
            result = source.shared(whole)
        except UserError as error:
            found.problems.append(f"{stored.place}: {PRIVATE}: {error.message}")
            return KnownRun(stamp=stored.stamp, why=PRIVATE)
        if result.id in self._ids:
            return KnownRun(stamp=stored.stamp, why=TWICE)
        self._ids.add(result.id)
        group = address.group(result.machine, result.name)
        self._fresh.setdefault(group, {})[result.id] = result
        found.changed[result.id] = result
        found.touched.add(group)
        line = RunLine.of_run(run_line(result))
        return KnownRun(stored.stamp, group, line=line, work=result.work)

    def _settle(self, found: SiteContent, group: str, places: Sequence[str]) -> None:
        """The subject of a group, as it was, or with its history made anew."""
        old = self._before.subjects.get(group) if self._before else None
        if group not in found.touched and old is not None and self._has_files(group):
            found.subjects[group] = old
            return
        ids = {run.line.id for place in places if (run := found.runs[place]).line}
        fresh = self._fresh.get(group, {})
        results = {name: kept(one) for name, one in fresh.items()}
        if ids - results.keys():
            there = {one.id: one for one in self._kept(group, places)}
            results = {**{name: there[name] for name in ids & there.keys()}, **results}
        made = group_of(
            [fresh.get(one.id) or one.result() for one in results.values()], self._known
        )
        ordered = sorted(results.values(), key=lambda one: (one.started, one.id))
        write_results(self._home / f"{group}.jsonl", ordered)
        (self._home / f"{group}.json").write_text(made.to_json(), "utf-8")
        found.subjects[group] = made.subject
        found.touched.add(group)

    def _has_files(self, group: str) -> bool:
        return {f"{group}.json", f"{group}.jsonl"} <= self._files

    def _kept(self, group: str, places: Sequence[str]) -> list[KeptResult]:
        """The results of a group as they were kept, else from the sources again."""
        try:
            found = self.results(group)
            for one in found:
                one.result()
        except (OSError, ValueError):
            found = []
            for place in places:
                number, _, inside = place.partition("/")
                source = self._sources[int(number)]
                found.append(kept(source.shared(source.load(Stored(inside, "")))))
        return found

    def group(self, name: str) -> SiteGroup:
        """The data of a subject."""
        data = (self._home / f"{name}.json").read_bytes()
        return SiteGroup.model_validate_json(data, by_alias=True)

    def results(self, name: str) -> list[KeptResult]:
        """The results of a subject, in their order. OSError or ValueError: they are damaged."""
        return read_results(self._home / f"{name}.jsonl")
