"""The numbers that IOR prints, taken from a record: one row for each phase, one line for each test.

Times are over all ranks: of the last to end minus the first to begin, as IOR has them. Where its
figure is wrong, this is the right one of the same meaning; docs/compatibility/ior.md lists them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from venturi.compat.ior_lower import TaskLayout
from venturi.compat.ior_test import IorTest
from venturi.model.event import StoppedBy
from venturi.model.record import PhaseRow, Record

MIB = 1 << 20
MB = 10**6
REMOVE = "remove"
_ACCESSES = ("write", "read", REMOVE)


@dataclass(frozen=True)
class IorRun:
    """A test and what came of it."""

    test: IorTest
    layout: TaskLayout
    record: Record
    arguments: Sequence[str] = ()
    """The command as its user typed it."""


@dataclass(frozen=True)
class ResultRow:
    """One phase of one repetition, in IOR's columns; bandwidth in MiB/s, times in seconds."""

    access: str
    iteration: int
    bytes: int
    transfers: int
    open_s: float
    transfer_s: float
    close_s: float
    total_s: float
    latency_s: float
    """The mean time of a transfer, over all transfers of all tasks."""
    wall_s: float | None = None
    """When the stonewall was reached, with wear-out."""
    wall_bytes_per_task: float | None = None
    at_s: float = 0.0
    """When the phase began, from the begin of the run."""

    @property
    def rate_mib_per_s(self) -> float:
        """Bytes over the total time."""
        return _ratio(self.bytes / MIB, self.total_s)

    @property
    def iops(self) -> float:
        """Transfers over the time of the transfers alone."""
        return _ratio(self.transfers, self.transfer_s)

    @property
    def operations_per_s(self) -> float:
        """Transfers over the total time: what the summary calls OPs."""
        return _ratio(self.transfers, self.total_s)

    @property
    def wall_mib_per_s(self) -> float | None:
        """The mean task's bandwidth until the stonewall."""
        if self.wall_s is None or self.wall_bytes_per_task is None:
            return None
        return _ratio(self.wall_bytes_per_task / MIB, self.wall_s)


@dataclass(frozen=True)
class IorSpread:
    """Largest, smallest, mean and population deviation over the repetitions."""

    most: float
    least: float
    mean: float
    deviation: float


@dataclass(frozen=True)
class IorSummary:
    """One line of the summary of all tests."""

    access: str
    rate_mib_per_s: IorSpread
    operations_per_s: IorSpread
    mean_s: float
    wall_s: float | None
    wall_mib_per_s: float | None
    bytes: int
    """Of the first repetition, as IOR has it."""


def result_rows(run: IorRun) -> list[ResultRow]:
    """The rows of a run in the order in which they were measured; -W's check is not timed."""
    rows = [row for row in run.record.phases if row.path in _ACCESSES]
    return [_row(run, phase) for phase in rows]


def wrong_data(run: IorRun) -> list[str]:
    """IOR's own words for phases in which other data were read than were written."""
    lines = []
    for phase in run.record.phases:
        if not any(detail.damage for detail in phase.details):
            continue
        access = "read" if phase.path == "read" else "write"
        lines.append(f"Incorrect data on {access} ({phase.errors} errors found).")
    return lines


def summaries(run: IorRun) -> list[IorSummary]:
    """The lines of a test: write, then read, where there are any."""
    rows = result_rows(run)
    lines = []
    for access in _ACCESSES[:2]:
        own = [row for row in rows if row.access == access]
        if own:
            lines.append(_summary(access, own))
    return lines


def largest_rates(run: IorRun) -> dict[str, float]:
    """The best bandwidth of each access, in MiB/s."""
    return {line.access: line.rate_mib_per_s.most for line in summaries(run)}


def _summary(access: str, rows: Sequence[ResultRow]) -> IorSummary:
    walls = [row for row in rows if row.wall_s is not None]
    rates = [row.wall_mib_per_s or 0.0 for row in walls]
    return IorSummary(
        access=access,
        rate_mib_per_s=_spread([row.rate_mib_per_s for row in rows]),
        operations_per_s=_spread([row.operations_per_s for row in rows]),
        mean_s=_mean([row.total_s for row in rows]),
        wall_s=_mean([row.wall_s or 0.0 for row in walls]) if walls else None,
        wall_mib_per_s=_mean(rates) if walls else None,
        bytes=rows[0].bytes,
    )


def _row(run: IorRun, phase: PhaseRow) -> ResultRow:
    """A phase in IOR's columns. A rank opens, then transfers, then closes."""
    ranks = phase.per_rank
    count = range(len(ranks.start_s))
    opened = [_opened_s(phase, r) for r in count]
    ended = [ranks.start_s[r] + ranks.total_s[r] for r in count]
    closing = [max(opened[r], ended[r] - ranks.close_s[r]) for r in count]
    moved = phase.by_operation.get(phase.path)
    transfers = moved.operations if moved else 0
    total_s = max(ended, default=0.0) - min(ranks.start_s, default=0.0)
    wall_s, wall_bytes = _stonewall(run, phase)
    return ResultRow(
        access=phase.path,
        iteration=phase.repetition,
        at_s=phase.at_s,
        bytes=moved.bytes if moved else 0,
        transfers=transfers,
        open_s=_span(ranks.start_s, opened),
        transfer_s=_span(opened, closing),
        close_s=_span(closing, ended),
        total_s=total_s,
        latency_s=_ratio(sum(c - o for c, o in zip(closing, opened, strict=True)), transfers),
        wall_s=wall_s,
        wall_bytes_per_task=wall_bytes,
    )


def _opened_s(phase: PhaseRow, rank: int) -> float:
    """When a rank had opened its file: its first operation, though it waited for who makes it."""
    ranks = phase.per_rank
    first = ranks.first_s[rank] if rank < len(ranks.first_s) else 0.0
    return max(first, ranks.start_s[rank] + ranks.open_s[rank])


def _stonewall(run: IorRun, phase: PhaseRow) -> tuple[float | None, float | None]:
    """When the deadline came in a phase with wear-out, and what a task had moved by then."""
    limited = run.test.stonewall_s and run.test.wear_out
    if not limited or phase.path not in _ACCESSES[:2]:
        return None, None
    worked_s = phase.seconds.total - phase.seconds.close
    if phase.stopped_by is StoppedBy.WORK or worked_s <= run.test.stonewall_s:
        return worked_s, phase.bytes / phase.ranks
    wall_s = float(run.test.stonewall_s)
    line = phase.time_line
    moved = 0.0
    for index, (wrote, read) in enumerate(zip(line.bytes_written, line.bytes_read, strict=True)):
        share = min(max((wall_s - index * line.bin_s) / line.bin_s, 0.0), 1.0)
        moved += share * (wrote + read)
    return wall_s, moved / phase.ranks


def _span(begin: Sequence[float], end: Sequence[float]) -> float:
    return max(0.0, max(end, default=0.0) - min(begin, default=0.0))


def _ratio(amount: float, seconds: float) -> float:
    return amount / seconds if seconds > 0 else 0.0


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _spread(values: Sequence[float]) -> IorSpread:
    mean = _mean(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / len(values)
    return IorSpread(max(values), min(values), mean, math.sqrt(variance))
