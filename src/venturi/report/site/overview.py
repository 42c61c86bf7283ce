"""Pages that list others: machines, workloads, runs, comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.model.site import SiteContrast, SiteProbe, SiteRunList, SiteSubject
from venturi.report import quantity
from venturi.report.block import Block, Cell, Chapter, Column, Page, Paragraph, Section, TableBlock
from venturi.report.quantity import Units
from venturi.report.site import address
from venturi.report.site.machine import run_row
from venturi.report.site.probe import probe_table
from venturi.report.site.workload import contrast_table


def simple(title: str, lead: str, blocks: Sequence[Block], facts: str = "") -> Page:
    """A page of one section."""
    chapter = Chapter(
        name="page",
        title=title,
        remarks=tuple(block for block in blocks if isinstance(block, Paragraph)),
        sections=tuple(
            Section(f"part-{i}", block.title, "", (block,))
            for i, block in enumerate(blocks)
            if isinstance(block, TableBlock)
        ),
        facts=facts,
    )
    return Page(title, lead, (chapter,))


def machines(subjects: Sequence[SiteSubject], probes: Sequence[SiteProbe]) -> Page:
    """All machines: what runs there, and how slow the targets of their probes were last night."""
    by_name: dict[str, list[SiteSubject]] = {}
    for one in subjects:
        by_name.setdefault(one.machine, []).append(one)
    rows = tuple(
        (Cell(name, address.machine(name)), *_sums(own)) for name, own in sorted(by_name.items())
    )
    return _names("Machines", "Machine", rows, "Subjects", probe_table(probes))


def workloads(subjects: Sequence[SiteSubject], probes: Sequence[SiteProbe]) -> Page:
    """All workloads, and what is probed all the time."""
    by_name: dict[str, list[SiteSubject]] = {}
    for one in subjects:
        by_name.setdefault(one.name, []).append(one)
    rows = tuple(
        (Cell(name, address.workload(name)), *_sums(own)) for name, own in sorted(by_name.items())
    )
    return _names("Workloads", "Workload", rows, "Machines", probe_table(probes))


def _sums(own: Sequence[SiteSubject]) -> tuple[str, ...]:
    worse = sum(one.worse for one in own)
    return (
        quantity.count(len(own)),
        quantity.count(sum(one.runs for one in own)),
        quantity.count(sum(one.invalid for one in own)),
        Cell(quantity.count(worse), tone="bad" if worse else "plain"),
        max(one.last for one in own)[:16].replace("T", " "),
    )


def _names(
    title: str,
    first: str,
    rows: tuple[tuple[str, ...], ...],
    count: str,
    probes: TableBlock | None,
) -> Page:
    titles = (first, count, "Runs", "INVALID", "Series that got worse", "Newest (UTC)")
    columns = tuple(Column(name, 0 < index < 5) for index, name in enumerate(titles))
    lead = "" if rows else "There is no run here yet."
    blocks = [TableBlock(f"All {title.lower()}", columns, rows, stacked=True)] * bool(rows)
    return simple(title, lead, [*blocks, probes] if probes else blocks)


def run_index(total: int, pages: int) -> Page:
    """The pages of the list of all runs, newest first."""
    if not total:
        return simple("Runs", "There is no run here yet.", ())
    rows = tuple(
        (Cell(f"Page {number}", address.run_list(number)),) for number in range(pages, 0, -1)
    )
    block = TableBlock("Pages, newest first", (Column("Page"),), rows)
    return simple("Runs", f"{quantity.counted(total, 'run')}, oldest on page 1.", (block,))


def run_list(found: SiteRunList, units: Units) -> Page:
    """One page of all runs, newest first."""
    titles = ("Started (UTC)", "Run", "Machine", "Verdict", "First metric")
    rows = tuple(run_row(run, units) for run in reversed(found.runs))
    columns = tuple(Column(title) for title in titles)
    block = TableBlock("Runs", columns, rows, name="runs", stacked=True)
    return simple(f"Runs, page {found.number}", "", (block,))


def comparisons(found: list[SiteContrast], subjects: Sequence[SiteSubject]) -> Page:
    """All pages that set two sets of runs beside each other, and where others are chosen."""
    names = sorted({one.name for one in subjects if one.series})
    rows = tuple((Cell(name, address.choose(name)),) for name in names)
    own = [TableBlock("Choose two sides of a workload", (Column("Workload"),), rows)] * bool(rows)
    if not found:
        return simple("Compare", "No two machines, weeks or tags did the same yet.", own)
    lead = "Machines, weeks and tags that did the same, by the statistics of `venturi compare`."
    return simple("Compare", lead, (*own, contrast_table(found)))


def choice(name: str) -> Page:
    """The frame of a page on which two sides of a workload are chosen."""
    link = TableBlock(
        "See also", (Column("Page"),), ((Cell(f"The workload {name}", address.workload(name)),),)
    )
    lead = (
        "Whether any two machines, tags, weeks, days, sessions or single runs differ significantly."
    )
    return simple(f"Compare {name}", lead, (link,))


def explorations(subjects: Sequence[SiteSubject]) -> Page:
    """All workloads that can be explored."""
    names = sorted({one.name for one in subjects if one.series})
    if not names:
        return simple("Explore", "No run measured anything yet.", ())
    rows = tuple((Cell(name, address.explore(name)),) for name in names)
    lead = (
        "A metric, what it is drawn over, what has a line of its own, machines, tags, days and "
        "fixed parameters are there to choose."
    )
    return simple("Explore", lead, (TableBlock("Workloads", (Column("Workload"),), rows),))


def exploration(name: str, has_parquet: bool) -> Page:
    """The frame of a page on which a workload is explored."""
    every = "All its sessions as Parquet"
    rows = (
        (Cell(f"The workload {name}", address.workload(name)),),
        (
            Cell(every, address.parquet(name))
            if has_parquet
            else f"{every}: neither PyArrow nor DuckDB is installed where this site was built.",
        ),
    )
    return simple(f"Explore {name}", "", (TableBlock("See also", (Column("Page"),), rows),))
