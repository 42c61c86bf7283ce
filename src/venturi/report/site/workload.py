"""The page of a workload: every machine side by side, its best configuration, its history."""

from __future__ import annotations

from venturi.model.campaign import MetricSummary
from venturi.model.history import Series, Trend
from venturi.model.output import Better
from venturi.model.site import SiteBest, SiteContrast, SiteWorkload
from venturi.report import quantity
from venturi.report.block import (
    Block,
    Cell,
    Chapter,
    Column,
    Facts,
    Page,
    Paragraph,
    Section,
    TableBlock,
)
from venturi.report.campaign_text import changing
from venturi.report.figure import scaling
from venturi.report.figure.history import over_sessions
from venturi.report.history_text import change_text, row_of
from venturi.report.quantity import Units
from venturi.report.site import address, calibration, io_account
from venturi.report.site.status import TREND_TONES, cell_of

_MOST_FIGURES = 3
_MOST_SCALING = 2
_MOST_ROWS = 400
_LINE = 40


def page_of(workload: SiteWorkload, units: Units) -> Page:
    """The whole page; what got worse comes first."""
    choose = Facts(
        (
            ("Choose what is drawn", Cell("explore", address.explore(workload.name))),
            ("Choose what is compared", Cell("compare", address.choose(workload.name))),
        )
    )
    sections = [Section("machines", "On each machine", "", (_machines(workload, units), choose))]
    if workload.best:
        lead = "By the median of the newest session of each; conditions are kept apart."
        best = (_best(workload.best, units), *_scaling(workload))
        sections.append(Section("best", "Best configuration, and scaling", lead, best))
    drawn = [one for one in workload.series if one.trend is not Trend.SHORT][:_MOST_FIGURES]
    figures: list[Block] = [over_sessions(one, i, units) for i, one in enumerate(drawn)]
    if figures:
        sections.append(Section("series", "Session by session", "", tuple(figures)))
    sections += calibration.of_workload(workload.trials, workload.proxies)
    if workload.account is not None:
        sections.append(io_account.section(workload.account, units))
    if workload.contrasts:
        sections.append(Section("compare", "Compared", "", (contrast_table(workload.contrasts),)))
    if workload.series:
        sections.append(_all(workload, units))
    worse = sum(one.worse for one in workload.subjects)
    runs = sum(one.runs for one in workload.subjects)
    machines = quantity.counted(len(workload.subjects), "machine")
    chapter = Chapter(
        name="workload",
        title=workload.name,
        tone="bad" if worse else "plain",
        sections=tuple(sections),
        facts=f"{quantity.counted(runs, 'run')} on {machines}",
    )
    lead = f"{worse} series got worse." if worse else ""
    return Page(workload.name, lead, (chapter,))


def contrast_table(contrasts: list[SiteContrast]) -> TableBlock:
    """Pages on which two sets of runs stand beside each other."""
    rows = tuple(
        (Cell(f"{one.first} and {one.second}", address.contrast(one.key)), one.headline)
        for one in contrasts
    )
    return TableBlock("Two sets of runs", (Column("Sets"), Column("Result")), rows, stacked=True)


def _machines(workload: SiteWorkload, units: Units) -> TableBlock:
    newest = max(one.last for one in workload.subjects)
    rows = tuple(
        (
            Cell(one.machine, address.machine(one.machine)),
            cell_of(one, newest, units),
            quantity.count(one.runs),
            Cell(quantity.count(one.invalid), tone="bad" if one.invalid else "plain"),
            Cell(one.last[:16].replace("T", " "), address.run(one.recent[0].id)),
        )
        for one in workload.subjects
    )
    titles = ("Machine", "Latest against history", "Runs", "INVALID", "Newest run (UTC)")
    columns = tuple(Column(title, title in ("Runs", "INVALID")) for title in titles)
    return TableBlock("Machines", columns, rows, stacked=True)


def _best(best: list[SiteBest], units: Units) -> TableBlock:
    rows = tuple(
        (
            one.machine,
            f"{one.step}: {one.metric}" if one.step else one.metric,
            one.condition or "–",
            quantity.with_unit(one.value, one.unit, units, one.of),
            ", ".join(
                (
                    quantity.counted(one.ranks, "rank"),
                    *(f"{name} {value}" for name, value in one.parameters.items()),
                )
            ),
            quantity.count(one.configurations),
            quantity.with_unit(one.worst, one.unit, units, one.of),
        )
        for one in best[:_MOST_ROWS]
    )
    titles = ("Machine", "Metric", "Condition", "Best", "With", "Of", "The worst of them")
    numeric = ("Best", "Of", "The worst of them")
    columns = tuple(Column(title, title in numeric) for title in titles)
    return TableBlock("Best configuration of each metric", columns, rows, stacked=True)


def _scaling(workload: SiteWorkload) -> list[Block]:
    names = list(dict.fromkeys(m.name for row in workload.points for m in row.metrics))
    found: list[Block] = []
    for name in names:
        rows = [row for row in workload.points if any(m.name == name for m in row.metrics)]
        if len(rows) < 2 or not changing(rows):
            continue
        best = [one for one in workload.best if _name_of(one) == name]
        better = "shortest" if _is_time(rows[0].metrics, name) else "highest"
        finding = "; ".join(
            f"{better} on {one.machine}: {quantity.with_unit(one.value, one.unit, of=one.of)}"
            f" on {quantity.counted(one.ranks, 'rank')}"
            for one in best
        )
        figure = scaling.over(rows, name, f"{finding[:1].upper()}{finding[1:]}." if finding else "")
        if figure is not None:
            found.append(figure)
        if len(found) == _MOST_SCALING:
            break
    if len(names) > len(found) > 0:
        found.append(Paragraph(f"The table above has all {len(names)} metrics."))
    return found


def _name_of(best: SiteBest) -> str:
    """The metric as the points name it."""
    return f"{best.metric} ({best.condition})" if best.condition else best.metric


def _is_time(metrics: list[MetricSummary], name: str) -> bool:
    return any(one.name == name and one.better is Better.LOWER for one in metrics)


def _all(workload: SiteWorkload, units: Units) -> Section:
    rows = tuple(_row(one, units) for one in workload.series[:_MOST_ROWS])
    titles = ("Series", "Metric", "Sessions", "Now", "Detects", "Trend", "Last change")
    columns = tuple(Column(t, t in ("Sessions", "Now", "Detects")) for t in titles)
    lead = "A series is one metric, with one set of parameters, on one machine."
    if len(workload.series) > _MOST_ROWS:
        lead += f" The first {_MOST_ROWS} of {len(workload.series)} are shown."
    return Section("all", "All series", lead, (TableBlock("Series", columns, rows, stacked=True),))


def _row(series: Series, units: Units) -> tuple[str, ...]:
    title, metric, sessions, now, detects, trend = row_of(series, units)
    values = tuple(session.value for session in series.sessions[-_LINE:])
    tone = TREND_TONES.get(series.trend, "plain")
    last = change_text(series.changes[-1], series, units) if series.changes else "–"
    return (
        title,
        metric,
        sessions,
        Cell(now, line=values if len(values) > 1 else ()),
        detects,
        Cell(trend, tone=tone),
        last,
    )
