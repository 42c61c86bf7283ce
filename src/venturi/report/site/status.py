"""The first page of a site: machines and subjects, what got worse, what changed, what is late."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from venturi.model.history import Trend
from venturi.model.site import SiteHealth, SiteProbe, SiteStatus, SiteSubject, SubjectChange
from venturi.report import quantity
from venturi.report.block import (
    Block,
    Cell,
    Chapter,
    Column,
    Headline,
    Note,
    Notes,
    Page,
    Paragraph,
    Section,
    TableBlock,
    Tone,
)
from venturi.report.health import TONES
from venturi.report.quantity import Units
from venturi.report.site import address
from venturi.report.site.probe import night_cells

_WEEK = timedelta(days=7)
_LATE = 3.0
"""Times the usual time between sessions."""
_MOST_WORSE = 12
_TOO_FEW = "No series has enough sessions yet to tell a change."
_NEXT = (
    "A subject is late when nothing came for three times as long as its sessions are usually "
    "apart. What is late when you read this did not run, or this site was not built since."
)
_TOLD = (
    "By the machine files beside the results, which say whom campaigns tell, and of what; "
    "addresses are not shown."
)
_PROBE_LATE = timedelta(days=1)
_MOST_COLUMNS = 6
_MOST_ROWS = 60
TREND_TONES: dict[Trend, Tone] = {Trend.WORSE: "bad", Trend.BETTER: "good"}


def page_of(status: SiteStatus, units: Units) -> Page:
    """The whole page."""
    worse = [one for one in status.subjects if one.worse]
    probed = {one.machine for one in status.probes if one.rows}
    machines = sorted({one.machine for one in status.subjects} | probed)
    sections = []
    if worse:
        sections.append(Section("worse", "Got worse", "", (_worse(worse, units),)))
    if status.subjects or status.health or probed:
        matrix = _matrices(status, machines, units)
        lead = (
            "The latest session of each, against those before it, with the line of the last ones."
        )
        sections.append(Section("subjects", "Machines and what runs on them", lead, matrix))
        sections.append(_week(status, units))
        sections.append(Section("next", "What is to come", _NEXT, (_due(status),)))
        sections.append(Section("told", "Who is told", _TOLD, (_told_table(status, machines),)))
    chapter = Chapter(
        name="status",
        title="Status",
        tone="bad" if worse else "plain",
        headlines=_headlines(status, len(machines), len(worse)),
        remarks=_remarks(status),
        sections=tuple(sections),
        facts=f"Up to {status.newest[:16].replace('T', ' ')} UTC" if status.newest else "",
    )
    return Page("Status", _lead(status, worse), (chapter,))


def _lead(status: SiteStatus, worse: Sequence[SiteSubject]) -> str:
    if not status.subjects:
        return "There is no run here yet."
    if worse:
        count = sum(one.worse for one in worse)
        where = ", ".join(sorted({one.machine for one in worse}))
        return f"{count} series got worse, and nobody said why: on {where}."
    told = _told(status)
    if not told:
        return _TOO_FEW
    return f"Nothing got worse in {told} of {quantity.counted(len(status.subjects), 'subject')}."


def _told(status: SiteStatus) -> int:
    """Subjects with enough sessions to tell a change."""
    return sum(
        one.line is not None and one.line.trend is not Trend.SHORT for one in status.subjects
    )


def _headlines(status: SiteStatus, machines: int, worse: int) -> tuple[Headline, ...]:
    if not status.subjects:
        return ()
    runs = Cell("all runs", address.RUNS)
    found = [
        Headline("Runs", quantity.count(status.runs), runs),
        Headline("Machines", quantity.count(machines), Cell("each of them", address.MACHINES)),
        Headline(
            "Subjects that got worse",
            quantity.count(worse),
            f"of {_told(status)} with enough sessions to tell",
        ),
    ]
    if status.published:
        more = Cell("the lists", address.LISTS)
        found.append(Headline("Results of IO500", quantity.count(status.published), more))
    return tuple(found)


def _remarks(status: SiteStatus) -> tuple[Paragraph, ...]:
    found = []
    if status.unreadable:
        count = quantity.counted(status.unreadable, "run")
        found.append(Paragraph(f"Not shown, because it is damaged: {count}.", "bad"))
    if status.withheld:
        count = quantity.counted(status.withheld, "run")
        found.append(
            Paragraph(
                f"Left out: {count} whose name, tag or session names a host, user or path.", "fair"
            )
        )
    return tuple(found)


def _worse(worse: Sequence[SiteSubject], units: Units) -> Notes:
    """What got worse most first, with what else changed at that time."""
    found = [
        (subject, change)
        for subject in worse
        for change in subject.changes
        if change.point.is_worse and not change.point.known
    ]
    found.sort(key=lambda one: (one[1].point.started, abs(one[1].point.change)), reverse=True)
    return Notes(tuple(_note(*one, units) for one in found[:_MOST_WORSE]))


def _note(subject: SiteSubject, change: SubjectChange, units: Units) -> Note:
    point = change.point
    before, after = (
        quantity.with_unit(value, change.unit, units, change.of)
        for value in (point.before, point.after)
    )
    told = ", ".join(f"{d.what}: {d.first} → {d.second}" for d in point.differences)
    title = f"{change.metric} of {change.title}: {quantity.signed_percent(point.change)}"
    return Note(
        "WORSE",
        "bad",
        Cell(title, address.workload(subject.name)),
        (
            (f"Since {point.started[:10]}", f"{before}, then {after}"),
            ("Changed at that time", told or "none of the recorded surroundings"),
        ),
    )


def _matrices(status: SiteStatus, machines: list[str], units: Units) -> tuple[Block, ...]:
    """Subjects by machines; some machines at a time where there are many."""
    parts = [machines[i : i + _MOST_COLUMNS] for i in range(0, len(machines), _MOST_COLUMNS)]
    return tuple(_matrix(status, part, units) for part in parts)


def _matrix(status: SiteStatus, machines: list[str], units: Units) -> TableBlock:
    cells = {(one.name, one.machine): cell_of(one, status.newest, units) for one in status.subjects}
    names = sorted({one.name for one in status.subjects if one.machine in machines})
    rows: list[tuple[str, ...]] = []
    if health := _newest_health(status.health):
        row = [health.get(name, "–") for name in machines]
        if set(row) != {"–"}:
            rows.append(("health", *row))
    if nights := night_cells(status.probes):
        row = [nights.get(name, "–") for name in machines]
        if set(row) != {"–"}:
            rows.append(("probes", *row))
    for name in names:
        row = [cells.get((name, machine), "–") for machine in machines]
        rows.append((Cell(name, address.workload(name)), *row))
    columns = (
        Column("Subject"),
        *(Column(Cell(name, address.machine(name))) for name in machines),
    )
    return TableBlock("Latest against history", columns, tuple(rows), stacked=True)


def _newest_health(sessions: Sequence[SiteHealth]) -> dict[str, Cell]:
    newest: dict[str, SiteHealth] = {}
    for one in sorted(sessions, key=lambda one: one.started):
        newest[one.machine] = one
    return {
        name: Cell(
            f"{one.state.value} ({one.suite}, {one.started[:10]})",
            address.machine(name),
            tone=TONES[one.state],
        )
        for name, one in newest.items()
    }


def cell_of(subject: SiteSubject, newest: str, units: Units) -> Cell:
    """The latest value of a subject against its history, in words, with its line."""
    line = subject.line
    if line is None:
        failed = quantity.counted(subject.invalid, "run")
        tone: Tone = "bad" if subject.invalid else "plain"
        said = f"no figure; {failed} INVALID" if subject.invalid else "no figure"
        return Cell(said, address.run(subject.recent[0].id) if subject.recent else "", tone=tone)
    value = quantity.with_unit(line.values[-1], line.unit, units, line.of)
    words = f"{line.metric} {value}: {_words(line.trend, line.change, line.since, line.sessions)}"
    if subject.worse > 1:
        words += f"; {subject.worse - 1} more of {subject.series} series got worse"
    if is_late(subject, newest):
        words += f"; late: last on {subject.last[:10]}"
    if subject.recent and subject.recent[0].level == "INVALID":
        words += "; its newest run is INVALID"
    return Cell(
        words,
        address.workload(subject.name),
        tuple(line.values) if len(line.values) > 1 else (),
        TREND_TONES.get(line.trend, "plain"),
    )


def _words(trend: Trend, change: float | None, since: str, sessions: int) -> str:
    count = quantity.counted(sessions, "session")
    if trend is Trend.SHORT:
        return f"too few to tell ({count})"
    if change is None:
        return f"steady over {count}"
    word = {Trend.WORSE: "WORSE", Trend.BETTER: "better"}.get(trend, "changed")
    return f"{word} by {quantity.signed_percent(change)} since {since[:10]}"


def is_late(subject: SiteSubject, newest: str) -> bool:
    """Whether the next session of a subject is long due when the site's newest run began."""
    due, now = due_of(subject), moment(newest)
    return due is not None and now is not None and now > due


def due_of(subject: SiteSubject) -> datetime | None:
    """From when on a subject is late; None where its sessions are too few to tell."""
    last = moment(subject.last)
    if subject.period_s is None or last is None:
        return None
    return last + timedelta(seconds=_LATE * max(subject.period_s, 3600.0))


def moment(text: str) -> datetime | None:
    """A time of a result; none where it is not one."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.replace(tzinfo=None)


def _week(status: SiteStatus, units: Units) -> Section:
    """What happened in the week before the newest run."""
    now = moment(status.newest)
    since = (now - _WEEK).isoformat() if now else ""
    changes = [
        (change.point.started, subject, change)
        for subject in status.subjects
        for change in subject.changes
        if change.point.started >= since
    ]
    changes.sort(key=lambda one: (one[0], one[1].machine, one[2].title, one[2].metric))
    none = "No series changed its level." if _told(status) else _TOO_FEW
    blocks: list[Block] = [_changes(changes, units) if changes else Paragraph(none)]
    late = [one for one in status.subjects if is_late(one, status.newest)]
    stopped = _stopped(status)
    timed = sum(one.period_s is not None for one in status.subjects)
    is_any = late or stopped
    blocks.append(_late(late, stopped) if is_any else Paragraph(_not_late(timed)))
    failed = [
        (run.started, one, run)
        for one in status.subjects
        for run in one.failed
        if run.started >= since
    ]
    failed.sort(key=lambda one: (one[0], one[2].id), reverse=True)
    if failed:
        rows = tuple(
            (
                started[:16].replace("T", " "),
                one.machine,
                one.name,
                Cell(run.id, address.run(run.id)),
            )
            for started, one, run in failed[:_MOST_ROWS]
        )
        columns = (Column("Started (UTC)"), Column("Machine"), Column("Subject"), Column("Run"))
        blocks.append(TableBlock(f"{quantity.counted(len(failed), 'run')} INVALID", columns, rows,
                                 stacked=True))  # fmt: skip
    else:
        blocks.append(Paragraph("No run of the week is INVALID."))
    lead = f"The week before the newest run: {since[:10]} to {status.newest[:10]}." if since else ""
    return Section("week", "The last week", lead, tuple(blocks))


def _changes(found: Sequence[tuple[str, SiteSubject, SubjectChange]], units: Units) -> Block:
    rows = []
    for started, subject, change in found[-_MOST_ROWS:]:
        point = change.point
        after = quantity.with_unit(point.after, change.unit, units, change.of)
        rows.append(
            (
                *change_cells(started, subject, change),
                after,
                point.known or "–",
            )
        )
    titles = ("Since", "Series", "Metric", "Change", "Now", "Known")
    columns = tuple(Column(title, title in ("Change", "Now")) for title in titles)
    return TableBlock("Series that changed", columns, tuple(rows), stacked=True)


def change_cells(started: str, subject: SiteSubject, change: SubjectChange) -> tuple[str, ...]:
    """Since when which series of a subject changed, in which metric, and by how much."""
    point = change.point
    return (
        started[:10],
        Cell(change.title, address.workload(subject.name)),
        change.metric,
        Cell(quantity.signed_percent(point.change), tone="bad" if point.is_worse else "plain"),
    )


def _not_late(timed: int) -> str:
    if not timed:
        return "No subject has three sessions yet, so nothing can be late."
    return f"Nothing is late of {quantity.counted(timed, 'subject')} with three sessions or more."


def _stopped(status: SiteStatus) -> list[SiteProbe]:
    """Probes that measured nothing for a day when the site's newest run began."""
    now = moment(status.newest)
    return [
        one
        for one in status.probes
        if now and (last := moment(one.newest)) and now - last > _PROBE_LATE
    ]


def _late(late: Sequence[SiteSubject], stopped: Sequence[SiteProbe]) -> Block:
    rows = [
        (
            one.machine,
            Cell(one.name, address.workload(one.name)),
            one.last[:10],
            quantity.seconds(one.period_s or 0.0),
        )
        for one in sorted(late, key=lambda one: one.last)[:_MOST_ROWS]
    ]
    rows += [
        (
            one.machine,
            Cell(f"probe {one.target}", address.probe(one.machine, one.target)),
            one.newest[:10],
            "all the time",
        )
        for one in stopped[:_MOST_ROWS]
    ]
    columns = (Column("Machine"), Column("Subject"), Column("Last"), Column("Usually every"))
    return TableBlock("What did not come", columns, tuple(rows), stacked=True)


def _due(status: SiteStatus) -> Block:
    """What comes again and again, with the moment from which on it is late."""
    rows = [
        (
            due,
            (
                Cell(one.machine, address.machine(one.machine)),
                Cell(one.name, address.workload(one.name)),
                one.last[:16].replace("T", " "),
                quantity.seconds(one.period_s or 0.0),
                f"{due:%Y-%m-%d %H:%M}",
            ),
        )
        for one in status.subjects
        if (due := due_of(one)) is not None and not is_late(one, status.newest)
    ]
    stopped = _stopped(status)
    rows += [
        (
            last + _PROBE_LATE,
            (
                Cell(one.machine, address.machine(one.machine)),
                Cell(f"probe {one.target}", address.probe(one.machine, one.target)),
                one.newest[:16].replace("T", " "),
                "all the time",
                f"{last + _PROBE_LATE:%Y-%m-%d %H:%M}",
            ),
        )
        for one in status.probes
        if (last := moment(one.newest)) and one not in stopped
    ]
    if not rows:
        return Paragraph("Nothing here comes often enough to tell when the next is due.")
    rows.sort(key=lambda one: (one[0], one[1]))
    titles = ("Machine", "Subject", "Last (UTC)", "Usually every", "Late from (UTC)")
    shown = tuple(row for _, row in rows[:_MOST_ROWS])
    return TableBlock(
        "Late from when on", tuple(map(Column, titles)), shown, name="due", stacked=True
    )


def _told_table(status: SiteStatus, machines: Sequence[str]) -> TableBlock:
    """For each machine how its people hear of what happens."""
    rows = []
    for name in machines:
        notices = status.notices.get(name)
        ways = []
        if notices is not None and notices.mail:
            many = "es" if notices.mail > 1 else ""
            ways.append(f"mail to {quantity.count(notices.mail)} address{many}")
        if notices is not None and notices.webhook:
            ways.append("a webhook")
        nobody = "nobody: its machine file has no notices"
        if notices is None:
            nobody = "not known: no machine file of it is here"
        of = ", ".join(event.value for event in notices.on) if notices and ways else "–"
        rows.append((Cell(name, address.machine(name)), " and ".join(ways) or nobody, of))
    titles = ("Machine", "Told by", "Of")
    return TableBlock("Whom notices reach", tuple(map(Column, titles)), tuple(rows), stacked=True)
