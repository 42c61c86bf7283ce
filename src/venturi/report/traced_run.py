"""What runs of a campaign's commands did to storage, by the logs that their steps asked for."""

from __future__ import annotations

from collections.abc import Iterable

from venturi.model.campaign import CampaignResult, CampaignRow
from venturi.model.traced_run import LogMaker, TracedRun
from venturi.report import quantity
from venturi.report.block import Block, Column, Paragraph, Section, TableBlock
from venturi.report.quantity import Units

_MAKERS = {LogMaker.CAPTURE: "Venturi's tracer", LogMaker.DARSHAN: "Darshan"}
_LEAD = (
    "One run of each point, by the log of its I/O. The report of a log (venturi report LOG) has "
    "the rest; venturi derive LOG makes a workload of it."
)


def sections(result: CampaignResult, units: Units) -> tuple[Section, ...]:
    """The characterizations of points; empty where no step asked for any."""
    rows = [row for row in result.rows if row.traced is not None or row.untraced]
    if not rows:
        return ()
    blocks: list[Block] = [_table(rows, units)] if any(row.traced for row in rows) else []
    blocks += [Paragraph(f"No log: {row.untraced}.", "fair") for row in rows if row.untraced]
    for row in rows:
        if row.traced is not None and row.traced.gaps:
            said = "; ".join(row.traced.gaps)
            blocks.append(Paragraph(f"{row.point}: the log is not whole: {said}.", "fair"))
    return (Section("traced", "What runs did to storage", _LEAD, tuple(blocks)),)


def sentences(rows: Iterable[CampaignRow], units: Units) -> list[str]:
    """A sentence for each point that has a log or should have one."""
    found = []
    for row in rows:
        if row.traced is not None:
            found.append(f"{row.point}: {_said(row.traced, units)}; {row.traced.log}")
        if row.untraced:
            found.append(f"no log: {row.untraced}")
    return found


def _said(run: TracedRun, units: Units) -> str:
    written, read = (quantity.size(moved, units) for moved in (run.bytes_written, run.bytes_read))
    share = quantity.percent(run.io_share)
    text = f"{written} written, {read} read, {share} of {quantity.seconds(run.seconds)} in I/O"
    return f"{text}; {run.findings[0]}" if run.findings else text


def _table(rows: list[CampaignRow], units: Units) -> TableBlock:
    titles = ("Written", "Read", "Calls", "Run time", "In I/O", "Share")
    columns = (
        Column("Point"),
        Column("Parameters"),
        *(Column(title, True) for title in titles),
        Column("What costs time"),
        Column("Log"),
    )
    lines = []
    for row in rows:
        run = row.traced
        if run is None:
            continue
        lines.append(
            (
                row.point,
                ", ".join(f"{name} {value}" for name, value in row.parameters.items()) or "–",
                quantity.size(run.bytes_written, units),
                quantity.size(run.bytes_read, units),
                quantity.count(run.calls),
                quantity.seconds(run.seconds),
                quantity.seconds(run.io_seconds),
                quantity.percent(run.io_share),
                "; ".join(run.findings) or "nothing found",
                f"{run.log} ({_MAKERS[run.by]})",
            )
        )
    return TableBlock("Logs", columns, tuple(lines), stacked=True)
