"""What a site shows: the runs of its sources, read where they changed, in their subjects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from venturi.model.error import UserError
from venturi.model.history import KnownChange
from venturi.model.result import Result, digest_of
from venturi.model.site import SiteGroup, SiteKept, SiteSubject
from venturi.report.site import address
from venturi.site.kept_result import kept, read_results, write_results
from venturi.site.mark import settled_ns
from venturi.site.output import SiteBefore, digest_of_text
from venturi.site.run_index import KnownRun, RunLine
from venturi.site.source import Source, Stored
from venturi.site.subject import group_of, run_line

DAMAGED = "damaged"
PRIVATE = "private"
"""Why a run has no page."""
_MOST_HELD = 16
"""Subjects whose results are held as text, for the comparisons of one workload."""


@dataclass
class SiteContent:
    """The runs and subjects of a site, and which of them were read anew."""

    runs: dict[str, KnownRun] = field(default_factory=dict)
    """Every run of every source, by place."""
    shown: list[KnownRun] = field(default_factory=list)
    """Those that have a page: of several with one id the first."""
    groups: dict[str, list[KnownRun]] = field(default_factory=dict)
    """Those of each subject, oldest first."""
    kept: dict[str, SiteKept] = field(default_factory=dict)
    """What is kept of each subject."""
    changed: int = 0
    """Runs that are new, or hold something else than before."""
    problems: list[str] = field(default_factory=list)
    """Runs without a page, one sentence each."""

    @property
    def subjects(self) -> list[SiteSubject]:
        """All of them."""
        return [one.subject for one in self.kept.values()]


class Scan:
    """Reads the sources of a site, with what is known from before.

    What is made of runs is known by the digests of these runs. It stays where they are the same,
    whatever happened meanwhile, and is made anew where they are not, or where it was damaged.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        known: Sequence[KnownChange],
        home: Path,
        before: SiteBefore | None,
    ) -> None:
        """`home` keeps the subjects' data."""
        self._sources = sources
        self._known = known
        self._home = home
        self._before = before
        self._old = before.runs if before else {}
        self._fresh: dict[str, Result] = {}
        self._there: dict[str, dict[str, str]] = {}
        self._settled_ns = settled_ns()

    def read(self) -> SiteContent:
        """All runs; those that changed are read."""
        found = SiteContent()
        for number, source in enumerate(self._sources):
            for stored in source.runs(self._settled_ns):
                self._add(found, f"{number}/{stored.place}", source, stored)
        ids: set[str] = set()
        for run in found.runs.values():
            if run.why or run.id in ids:
                continue
            ids.add(run.id)
            found.shown.append(run)
            found.groups.setdefault(run.group, []).append(run)
        return found

    def settle(self, found: SiteContent) -> None:
        """All subjects: as they were kept, or with their histories made anew."""
        known = digest_of([one.to_data() for one in self._known])
        for group, runs in found.groups.items():
            runs.sort(key=lambda one: (one.started, one.id))
            inputs = digest_of_text("\n".join([known, *(one.digest for one in runs)]))
            old = self._before.state.kept.get(group) if self._before else None
            same = old is not None and old.inputs == inputs
            found.kept[group] = old if old and same else self._make(group, inputs, runs)

    def _add(self, found: SiteContent, place: str, source: Source, stored: Stored) -> None:
        old = self._old.get(place)
        if old is None and (hidden := _hidden(place)) in self._old:
            place, old = hidden, self._old[hidden]
        if old is not None and old.mark and old.mark == stored.mark:
            found.runs[place] = old
            if old.why:
                found.problems.append(f"{stored.place}: {old.why}")
            return
        content = source.content(stored)
        if old is not None and content and content == old.content and not old.why:
            found.runs[place] = old.marked(stored.mark)
            return
        run = self._read(found, place, source, stored, content)
        found.changed += old is None or old.digest != run.digest
        found.runs[run.place] = run

    def _read(
        self, found: SiteContent, place: str, source: Source, stored: Stored, content: str
    ) -> KnownRun:
        try:
            whole = source.load(stored)
        except UserError as error:
            found.problems.append(f"{stored.place}: {DAMAGED}: {error.message}")
            return KnownRun(place, stored.mark, content, why=DAMAGED)
        try:
            result = source.shared(whole)
        except UserError as error:
            found.problems.append(f"{stored.place}: {PRIVATE}: {error.message}")
            return KnownRun(_hidden(place), stored.mark, content, why=PRIVATE)
        digest, _ = kept(result)
        self._fresh[digest] = result
        return KnownRun(
            place=place,
            mark=stored.mark,
            content=content,
            digest=digest,
            id=result.id,
            started=result.started,
            session=result.session,
            machine=result.machine,
            name=result.name,
            group=address.group(result.machine, result.name),
            work=result.work,
            page=address.run(result.id),
            line=RunLine.of_run(run_line(result)).text(),
        )

    def _make(self, group: str, inputs: str, runs: Sequence[KnownRun]) -> SiteKept:
        """The data of a subject from its runs."""
        texts = self._texts(group, runs)
        results = [self._fresh.get(run.digest) or _result(texts[run.digest]) for run in runs]
        self._fresh |= {run.digest: one for run, one in zip(runs, results, strict=True)}
        made = group_of(results, self._known)
        data = made.to_json()
        write_results(self._home / f"{group}.jsonl", texts.values())
        (self._home / f"{group}.json").write_text(data, "utf-8")
        return SiteKept(inputs=inputs, data=digest_of_text(data), subject=made.subject)

    def _texts(self, group: str, runs: Iterable[KnownRun]) -> dict[str, str]:
        """The results of some runs of a subject, by digest: as they were kept, else read again."""
        if group not in self._there:
            if len(self._there) > _MOST_HELD:
                self._there.clear()
            self._there[group] = read_results(self._home / f"{group}.jsonl")
        there = self._there[group]
        found = {}
        for run in runs:
            text = there.get(run.digest)
            found[run.digest] = text if text is not None else kept(self.result(run))[1]
        return found

    def result(self, run: KnownRun) -> Result:
        """The shared result of a run that is shown, read anew if it was not just now."""
        fresh = self._fresh.get(run.digest)
        if fresh is not None:
            return fresh
        number, _, place = run.place.partition("/")
        source = self._sources[int(number)]
        return source.shared(source.load(Stored(place, "")))

    def results(self, runs: Sequence[KnownRun]) -> list[Result]:
        """The results of some runs."""
        groups: dict[str, list[KnownRun]] = {}
        for run in runs:
            if run.digest not in self._fresh:
                groups.setdefault(run.group, []).append(run)
        texts: dict[str, str] = {}
        for group, own in groups.items():
            texts |= self._texts(group, own)
        return [self._fresh.get(run.digest) or _result(texts[run.digest]) for run in runs]

    def group(self, name: str, content: SiteContent) -> SiteGroup:
        """The data of a subject; they are made again if they were damaged."""
        wanted = content.kept[name]
        path = self._home / f"{name}.json"
        try:
            text = path.read_text("utf-8")
        except (OSError, ValueError):
            text = ""
        if digest_of_text(text) != wanted.data:
            self._make(name, wanted.inputs, content.groups[name])
            text = path.read_text("utf-8")
        return SiteGroup.model_validate_json(text, by_alias=True)


def _hidden(place: str) -> str:
    """The place of a run that must not be shown: its own name may say who or where."""
    return f"-{digest_of(place)}"


def _result(text: str) -> Result:
    return Result.model_validate_json(text, by_alias=True)


def workloads_of(kept_groups: Mapping[str, SiteKept]) -> dict[str, list[str]]:
    """The subjects of each workload, by machine."""
    found: dict[str, list[str]] = {}
    for group in sorted(kept_groups, key=lambda key: kept_groups[key].subject.machine):
        found.setdefault(kept_groups[group].subject.name, []).append(group)
    return dict(sorted(found.items()))
