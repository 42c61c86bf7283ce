"""The page of a machine: what it is, how it does, and what ran on it when."""

from __future__ import annotations

import re
from collections.abc import Sequence

from venturi.model.history import KnownChange
from venturi.model.site import (
    SiteAudit,
    SiteDrift,
    SiteHealth,
    SiteMachine,
    SiteRankingPosition,
    SiteRun,
    SiteSubject,
)
from venturi.report import quantity
from venturi.report.block import Block, Cell, Chapter, Column, Facts, Page, Section, TableBlock
from venturi.report.figure import run_days
from venturi.report.health import TONES
from venturi.report.published import name_of
from venturi.report.quantity import Units
from venturi.report.site import address
from venturi.report.site.io500 import owner_of
from venturi.report.site.probe import night_table, slow_days
from venturi.report.site.run import level_of
from venturi.report.site.status import cell_of, change_cells

_KERNEL_SIZE = re.compile(r"\b(\d{1,15}) kB\b")
_MOST_SESSIONS = 60
_MOST_RUNS = 100


def page_of(machine: SiteMachine, units: Units) -> Page:
    """The whole page."""
    subjects = machine.subjects
    sections = []
    if subjects:
        sections.append(Section("subjects", "What runs here", "", (_subjects(subjects, units),)))
    if ceilings := _ceilings(machine, units):
        lead = (
            "The best that its profile measured of each kind of access, and what its machine file "
            "knows: a run that is far above measured something else. Figures of health are below."
        )
        sections.append(Section("ceilings", "Ceilings", lead, tuple(ceilings)))
    if machine.ranking_positions:
        lead = "Published results count with the best of each system, if it may stand in a list."
        tables = tuple(_ranking_position(one) for one in machine.ranking_positions)
        sections.append(Section("io500", "Among IO500 results of its size", lead, tables))
    if machine.health:
        sections.append(Section("health", "Health", "", tuple(_health(machine.health))))
    if machine.probes:
        block = night_table(machine.probes)
        lead = "How long small operations take, by what they usually take (the median of 30 days)."
        sections.append(Section("probes", "What users felt", lead, (block,)))
    if when := _time_line(machine, units):
        sections.append(Section("time", "When it ran, and what changed", "", tuple(when)))
    if about := _about(machine, units):
        sections.append(Section("facts", "What it is", "", tuple(about)))
    if subjects:
        runs = [run for one in subjects for run in one.recent]
        sections.append(Section("runs", "Newest runs", "", (run_table(runs, units),)))
    worse = sum(one.worse for one in subjects)
    runs_text = quantity.counted(sum(one.runs for one in subjects), "run")
    chapter = Chapter(
        name="machine",
        title=machine.machine,
        tone="bad" if worse else "plain",
        sections=tuple(sections),
        facts=f"{runs_text} of {quantity.counted(len(subjects), 'subject')}",
    )
    lead = f"{worse} series got worse." if worse else ""
    return Page(machine.machine, lead, (chapter,))


def _last(subject: SiteSubject) -> str:
    return subject.last


def _time_line(machine: SiteMachine, units: Units) -> list[Block]:
    """One picture of runs, health, probes and known changes, and what it shows as tables."""
    shown = run_days.MachineDays(machine.subjects, machine.known, machine.health, machine.probes)
    blocks = (
        run_days.figure(shown),
        _changes(machine.subjects, units),
        slow_days(machine.probes),
        _known(machine.known),
    )
    return [block for block in blocks if block is not None]


def _about(machine: SiteMachine, units: Units) -> list[Block]:
    """What the machine is: by its newest audit, by its newest run, and what became another."""
    found: list[Block] = []
    if machine.audit is not None and machine.audit.facts:
        found.append(_audit(machine.audit, units))
    if machine.drifts:
        found.append(_drifts(machine.drifts, units))
    newest = sorted(machine.subjects, key=_last, reverse=True)
    facts = next((one.facts for one in newest if one.facts), {})
    if facts:
        columns = (Column("What"), Column("As its newest run says"))
        found.append(TableBlock("By its newest run", columns, tuple(facts.items()), stacked=True))
    return found


def _audit(audit: SiteAudit, units: Units) -> TableBlock:
    """The facts of its nodes; a session that did not reach all of them says so."""
    nodes = quantity.counted(audit.nodes, "node")
    if audit.answered < audit.nodes:
        nodes = f"{audit.answered} of {nodes}"
    rows: list[tuple[str, ...]] = [
        (name, _with_sizes(value, units)) for name, value in audit.facts.items()
    ]
    started = audit.started[:16].replace("T", " ")
    rows.append(("session of health", Cell(f"{started} UTC", address.run(audit.session))))
    title = f"By the audit of {nodes} on {audit.started[:10]}"
    return TableBlock(title, (Column("What"), Column("Value")), tuple(rows), stacked=True)


def _with_sizes(value: str, units: Units) -> str:
    """Sizes that the kernel counts in kB, of 1024 bytes, as all others are written."""
    return _KERNEL_SIZE.sub(lambda found: quantity.size(int(found[1]) * 1024, units), value)


def _drifts(drifts: Sequence[SiteDrift], units: Units) -> TableBlock:
    rows = tuple(
        (
            Cell(one.started[:16].replace("T", " "), address.run(one.session)),
            one.key,
            _with_sizes(one.before, units),
            _with_sizes(one.now, units),
        )
        for one in sorted(drifts, key=lambda one: one.started, reverse=True)[:_MOST_SESSIONS]
    )
    titles = ("Session (UTC)", "What", "Before", "Now")
    return TableBlock("What its audits found changed", tuple(map(Column, titles)), rows,
                      stacked=True)  # fmt: skip


def _subjects(subjects: Sequence[SiteSubject], units: Units) -> TableBlock:
    newest = max(one.last for one in subjects)
    rows = tuple(
        (
            Cell(one.name, address.workload(one.name)),
            cell_of(one, newest, units),
            quantity.count(one.runs),
            Cell(quantity.count(one.invalid), tone="bad" if one.invalid else "plain"),
            one.last[:16].replace("T", " "),
        )
        for one in sorted(subjects, key=lambda one: (-one.worse, one.name))
    )
    titles = ("Subject", "Latest against history", "Runs", "INVALID", "Newest (UTC)")
    columns = tuple(Column(title, title in ("Runs", "INVALID")) for title in titles)
    return TableBlock("Subjects", columns, rows, stacked=True)


def _health(sessions: Sequence[SiteHealth]) -> list[Block]:
    """Sessions by parts, newest first, and the figures of the newest."""
    shown = sorted(sessions, key=lambda one: one.started, reverse=True)[:_MOST_SESSIONS]
    parts = list(dict.fromkeys(name for one in shown for name in one.parts))
    rows = tuple(
        (
            Cell(one.started[:16].replace("T", " "), address.run(one.id)),
            one.suite,
            Cell(one.state.value, tone=TONES[one.state]),
            *(
                Cell(one.parts[name].value, tone=TONES[one.parts[name]])
                if name in one.parts
                else "–"
                for name in parts
            ),
        )
        for one in shown
    )
    columns = tuple(Column(title) for title in ("Session (UTC)", "Suite", "State", *parts))
    found: list[Block] = [TableBlock("Parts by session", columns, rows)]
    if shown[0].figures:
        figures = tuple(shown[0].figures.items())
        title = f"Figures of {shown[0].started[:16].replace('T', ' ')}"
        found.append(TableBlock(title, (Column("Figure"), Column("Value", True)), figures))
    return found


def _ceilings(machine: SiteMachine, units: Units) -> list[Block]:
    """What was profiled and what is known, best first within each kind."""
    found: list[Block] = []
    for file in sorted(machine.files, key=lambda one: one.profiled, reverse=True):
        rows = tuple(
            (
                one.what,
                quantity.with_unit(one.value, one.unit, units, one.of),
                str(one.ranks) if one.ranks else "–",
                quantity.size(one.bytes, units) if one.bytes else "–",
                quantity.count(one.n) if one.n else "–",
                one.says or ("profile" if one.ranks else "machine file"),
            )
            for one in sorted(
                file.ceilings, key=lambda one: (one.unit != "B/s", -one.value, one.what)
            )
        )
        titles = ("What", "At most", "With ranks", "Request", "Repetitions", "By")
        columns = tuple(Column(title, 0 < at < 5) for at, title in enumerate(titles))
        day = f", profiled {file.profiled[:10]}" if file.profiled else ""
        if rows:
            found.append(TableBlock(f"Ceilings{day}", columns, rows, stacked=True))
        if file.facts:
            found.append(Facts(tuple(file.facts.items())))
    return found


def _ranking_position(found: SiteRankingPosition) -> TableBlock:
    """A score between those just above and below."""
    own = (
        str(found.place),
        Cell(f"{found.name} here ({found.score.level})", address.run(found.score.run), tone="good"),
        str(found.score.nodes),
        quantity.number(found.score.value),
        "–",
    )
    rows: list[tuple[str, ...]] = [
        (
            str(one.place + (one.place >= found.place)),
            Cell(name_of(one.result), address.system(owner_of(one.result))),
            str(one.result.nodes),
            quantity.number(one.result.recomputed.score or 0.0),
            str(one.result.year or "–"),
        )
        for one in found.near
    ]
    rows.insert(sum(one.place < found.place for one in found.near), own)
    title = (
        f"{found.name}: place {found.place} beside {quantity.counted(found.of, 'system')} "
        f"with {found.least} to {found.most} client nodes"
    )
    titles = ("Place", "System", "Nodes", "Score", "Year")
    columns = tuple(Column(one, one != "System") for one in titles)
    return TableBlock(title, columns, tuple(rows), stacked=True)


def _known(known: Sequence[KnownChange]) -> TableBlock | None:
    """What people noted, newest first."""
    if not known:
        return None
    rows = tuple(
        (one.at[:16].replace("T", " "), one.about, one.name or "all")
        for one in sorted(known, key=lambda one: one.at, reverse=True)[:_MOST_RUNS]
    )
    titles = ("When (UTC)", "What was done", "For")
    return TableBlock("Known changes", tuple(map(Column, titles)), rows, stacked=True)


def _changes(subjects: Sequence[SiteSubject], units: Units) -> TableBlock | None:
    found = sorted(
        ((change.point.started, one, change) for one in subjects for change in one.changes),
        key=lambda row: (row[0], row[1].name, row[2].title, row[2].metric),
        reverse=True,
    )[:_MOST_RUNS]
    if not found:
        return None
    rows = []
    for started, one, change in found:
        point = change.point
        before, after = (
            quantity.with_unit(value, change.unit, units, change.of)
            for value in (point.before, point.after)
        )
        told = ", ".join(f"{d.what}: {d.first} → {d.second}" for d in point.differences)
        rows.append(
            (
                *change_cells(started, one, change),
                f"{before}, then {after}",
                point.known or told or "–",
            )
        )
    titles = ("Since", "Series", "Metric", "Change", "Level", "Known, or changed at that time")
    columns = tuple(Column(title, title == "Change") for title in titles)
    return TableBlock("Changes of level", columns, tuple(rows), stacked=True)


def run_table(runs: Sequence[SiteRun], units: Units, title: str = "Runs") -> TableBlock:
    """Runs in lines, newest first."""
    shown = sorted(runs, key=lambda run: (run.started, run.id), reverse=True)[:_MOST_RUNS]
    columns = (
        Column("Started (UTC)"),
        Column("Run"),
        Column("Machine"),
        Column("Verdict"),
        Column("First metric"),
    )
    return TableBlock(title, columns, tuple(run_row(run, units) for run in shown), stacked=True)


def run_row(run: SiteRun, units: Units) -> tuple[str, ...]:
    """The cells of a run in a list."""
    value = "–"
    if run.value is not None:
        value = f"{run.metric} {quantity.with_unit(run.value, run.unit, units, run.of)}"
    return (
        run.started[:16].replace("T", " "),
        Cell(f"{run.name} {run.step}".rstrip(), address.run(run.id)),
        Cell(run.machine, address.machine(run.machine)),
        Cell(run.level, tone=level_of(run.level)[0]),
        value,
    )
