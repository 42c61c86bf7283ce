"""Probes on a site: how slow storage was last night, in a row, in a table, and on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from venturi.model.probe_history import ProbeHistory
from venturi.model.site import SiteNightRow, SiteProbe
from venturi.report import probe_history, quantity
from venturi.report.block import Cell, Column, Facts, Page, Section, TableBlock, Tone
from venturi.report.quantity import Units
from venturi.report.site import address

_TONES: dict[str, Tone] = {
    "normal": "good",
    "busy": "fair",
    "slow": "bad",
    "very slow": "bad",
    "stalled": "bad",
    "cache?": "fair",
}
_MOST_DAYS = 30


def page_of(history: ProbeHistory, machine: str, units: Units) -> Page:
    """The page of one target, which leads to its machine."""
    page = probe_history.page_of(history, units)
    first, *others = page.chapters
    more = Facts((("Machine", Cell(machine, address.machine(machine))),))
    section = Section("machine", "Where it is", "", (more,))
    first = replace(first, sections=(*first.sections, section))
    return replace(page, chapters=(first, *others))


def night_cells(probes: Sequence[SiteProbe]) -> dict[str, Cell]:
    """For each machine the worst of its probes' operations last night."""
    found: dict[str, tuple[float, Cell]] = {}
    for probe in probes:
        if not probe.rows:
            continue
        worst = worst_of(probe)
        rank = worst.slowdown or 0.0
        old = found.get(probe.machine)
        if old is None or rank > old[0]:
            found[probe.machine] = (rank, _cell(probe, worst))
    return {machine: cell for machine, (_, cell) in found.items()}


def probe_table(probes: Sequence[SiteProbe]) -> TableBlock | None:
    """Each target, its machine, and its worst operation last night; None: nothing is probed."""
    rows = tuple(
        (
            Cell(one.target, address.probe(one.machine, one.target)),
            Cell(one.machine, address.machine(one.machine)),
            _cell(one, worst_of(one)) if one.rows else "nothing was measured",
            one.newest[:16].replace("T", " "),
        )
        for one in sorted(probes, key=lambda one: (one.machine, one.target))
    )
    titles = ("Target", "Machine", "Last night", "Newest (UTC)")
    columns = tuple(Column(title) for title in titles)
    return TableBlock("Probes", columns, rows, stacked=True) if rows else None


def worst_of(probe: SiteProbe) -> SiteNightRow:
    """The operation with the largest slowdown, else the slowest one."""
    return max(probe.rows, key=lambda row: (row.slowdown or 0.0, row.p50_s))


def _cell(probe: SiteProbe, row: SiteNightRow) -> Cell:
    night = probe.begin[:10]
    words = f"{probe.target} {row.operation.value} {quantity.seconds(row.p50_s)}, no baseline yet"
    if row.slowdown is not None:
        words = (
            f"{probe.target} {row.word}: {row.operation.value} took {_times(row)} its usual time "
            f"in the night of {night}"
        )
    line = tuple(row.hours_s) if len(row.hours_s) > 1 else ()
    return Cell(words, address.probe(probe.machine, probe.target), line, _tone(row))


def _tone(row: SiteNightRow) -> Tone:
    return _TONES.get(row.word, "plain")


def _times(row: SiteNightRow) -> str:
    return f"{quantity.number(row.slowdown or 0.0)} times"


def night_table(probes: Sequence[SiteProbe]) -> TableBlock:
    """Each operation of each probe last night."""
    rows = []
    for probe in probes:
        name = Cell(probe.target, address.probe(probe.machine, probe.target))
        if not probe.rows:
            rows.append((name, "–", "nothing was measured", *["–"] * 5))
        for row in probe.rows:
            line = tuple(row.hours_s) if len(row.hours_s) > 1 else ()
            rows.append(
                (
                    name,
                    row.operation.value,
                    Cell(row.word, tone=_tone(row)),
                    _times(row) if row.slowdown is not None else "–",
                    quantity.seconds(row.p50_s),
                    quantity.seconds(row.p95_s),
                    quantity.seconds(row.usual_s) if row.usual_s is not None else "–",
                    Cell(f"{row.slowest[11:16]} ({quantity.seconds(row.slowest_s)})", line=line),
                )
            )
    titles = ("Target", "Operation", "Night", "Slowdown", "Median", "95th percentile", "Usual",
              "Slowest hour (UTC)")  # fmt: skip
    columns = tuple(Column(title, 2 < index < 7) for index, title in enumerate(titles))
    nights = sorted({f"{probe.begin[:10]} {probe.begin[11:16]} to {probe.end[11:16]}"
                     for probe in probes})  # fmt: skip
    return TableBlock(f"Last night: {', '.join(nights)} UTC", columns, tuple(rows), stacked=True)


def slow_days(probes: Sequence[SiteProbe]) -> TableBlock | None:
    """The days on which targets were slowest, the slowest first; None where none was slow."""
    found = [
        (day, probe) for probe in probes for day in probe.days if _TONES.get(day.word) == "bad"
    ]
    found.sort(key=lambda one: (-one[0].slowdown, one[0].day, one[1].target))
    rows = tuple(
        (
            day.day,
            Cell(probe.target, address.probe(probe.machine, probe.target)),
            day.operation.value,
            Cell(day.word, tone="bad"),
            f"{quantity.number(day.slowdown)} times",
            quantity.count(day.slow_hours),
        )
        for day, probe in found[:_MOST_DAYS]
    )
    titles = ("Day (UTC)", "Target", "Operation", "Was", "Slowdown", "Slow hours")
    columns = tuple(Column(title, index > 3) for index, title in enumerate(titles))
    return TableBlock("Slow days of its probes", columns, rows, stacked=True) if rows else None
