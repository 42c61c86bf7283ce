"""What each server of the file system gave, and which of them were slow."""

from __future__ import annotations

from venturi.model.record import PhaseRow, Record, SlowServer
from venturi.model.statistic import median
from venturi.report import quantity
from venturi.report.block import Column, Paragraph, Section, TableBlock
from venturi.report.phase import PhaseSummary, phases
from venturi.report.quantity import Units

_LEAD = (
    "By the files of the ranks: the file system says on which server each one lies. The rate is "
    "all that was moved to or from a server's files, over the time in which ranks worked on them. "
    "A file counts once for each rank that used it."
)
_TELLS = "fuse.glusterfs"
_UNTOLD = (
    "No server could be told apart, so none is named, slow or not: on a volume that cuts files "
    "into pieces (sharding) a client learns only where the first piece of a file is."
)


def sentence(slow: SlowServer, units: Units = Units.IEC) -> str:
    """Which server is slow, and how much."""
    rate = quantity.rate(slow.bytes_per_second, units)
    usual = quantity.rate(slow.median_bytes_per_second, units)
    return f"server {slow.server} gave {rate}, the median of {slow.servers} servers {usual}"


def slow_in(phase: PhaseSummary) -> list[SlowServer]:
    """The servers that were slow in the repetition whose rate is the median."""
    return [slow for row in phase.median_sample.rows for slow in row.slow_servers]


def section(record: Record, units: Units) -> Section | None:
    """Phase by phase and server by server; None of a file system that never tells of servers."""
    rows = [row for phase in phases(record) for row in _rows(phase, units)]
    if not rows:
        told = record.environment.file_system.type == _TELLS and any(
            row.bytes for row in record.phases
        )
        return Section("servers", "Server by server", "", (Paragraph(_UNTOLD),)) if told else None
    titles = ("Phase", "Server", "Ranks", "Files", "Data", "Rate", "Slow")
    columns = tuple(Column(title, 1 < index < 6) for index, title in enumerate(titles))
    named = {
        f"In {phase.title}, {sentence(slow, units)}."
        for phase in phases(record)
        for slow in slow_in(phase)
    }
    lead = " ".join([*sorted(named), _LEAD])
    return Section(
        "servers", "Server by server", lead, (TableBlock("Servers", columns, tuple(rows)),)
    )


def _rows(phase: PhaseSummary, units: Units) -> list[tuple[str, ...]]:
    """One for each server; rates are medians over the repetitions."""
    names = sorted({share.server for row in phase.rows for share in row.servers})
    return [
        (phase.title if index == 0 else "", name, *_cells(phase.rows, name, units))
        for index, name in enumerate(names)
    ]


def _cells(rows: list[PhaseRow], name: str, units: Units) -> tuple[str, ...]:
    shares = [share for row in rows for share in row.servers if share.server == name]
    slow = sum(any(one.server == name for one in row.slow_servers) for row in rows)
    times = f"{slow} of {quantity.counted(len(shares), 'time')}" if len(shares) > 1 else "slow"
    return (
        f"{median([share.ranks for share in shares]):g}",
        f"{median([share.files for share in shares]):g}",
        quantity.size(median([share.bytes for share in shares]), units),
        quantity.rate(median([share.bytes_per_second for share in shares]), units),
        times if slow else "",
    )
