"""mdtest's figures out of a record: items, times and rates of its ten kinds of phases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from venturi.model.plan import OperationKind
from venturi.model.record import PhaseRow, Record


class MdtestRow(StrEnum):
    """A row of mdtest's table; its text is the phase's name in our record too."""

    DIRECTORY_CREATION = "Directory creation"
    DIRECTORY_STAT = "Directory stat"
    DIRECTORY_RENAME = "Directory rename"
    DIRECTORY_REMOVAL = "Directory removal"
    FILE_CREATION = "File creation"
    FILE_STAT = "File stat"
    FILE_READ = "File read"
    FILE_REMOVAL = "File removal"
    TREE_CREATION = "Tree creation"
    TREE_REMOVAL = "Tree removal"


DIRECTORY_ROWS = tuple(row for row in MdtestRow if row.startswith("Directory"))
FILE_ROWS = tuple(row for row in MdtestRow if row.startswith("File"))
TREE_ROWS = (MdtestRow.TREE_CREATION, MdtestRow.TREE_REMOVAL)

COUNTED = {
    MdtestRow.DIRECTORY_CREATION: ("mkdir",),
    MdtestRow.DIRECTORY_STAT: ("stat",),
    MdtestRow.DIRECTORY_RENAME: ("rename",),
    MdtestRow.DIRECTORY_REMOVAL: ("rmdir",),
    MdtestRow.FILE_CREATION: ("create", "mknod"),
    MdtestRow.FILE_STAT: ("stat",),
    MdtestRow.FILE_READ: ("open",),
    MdtestRow.FILE_REMOVAL: ("unlink",),
    MdtestRow.TREE_CREATION: ("mkdir",),
    MdtestRow.TREE_REMOVAL: ("rmdir",),
}
"""The operation that is done once for each item."""


@dataclass(frozen=True)
class MdtestPhase:
    """One kind of phase in one iteration.

    `items` of all ranks; `seconds` from the first rank's start to the last one's end;
    `rank_seconds` each rank's own time and `rank_items` what it did in it.
    """

    items: int
    seconds: float
    rank_items: tuple[float, ...]
    rank_seconds: tuple[float, ...]

    @property
    def rate(self) -> float:
        """Items of all ranks by the longest time, in 1/s."""
        return self.items / self.seconds if self.seconds else 0.0

    @property
    def rank_rates(self) -> list[float]:
        """Items of each rank by its own time, in 1/s."""
        pairs = zip(self.rank_items, self.rank_seconds, strict=True)
        return [items / seconds if seconds else 0.0 for items, seconds in pairs]

    @property
    def ms_per_item(self) -> float:
        """The time that an item takes on its rank, in milliseconds."""
        ranks = sum(1 for items in self.rank_items if items) or 1
        return 1e3 * self.seconds * ranks / self.items if self.items else 0.0


@dataclass(frozen=True)
class MdtestSpread:
    """A figure over the iterations; the deviation is the sample's (n - 1)."""

    largest: float
    smallest: float
    mean: float
    deviation: float


def measured(record: Record, row: MdtestRow) -> list[MdtestPhase]:
    """What a kind of phase did in each iteration; empty where it did not run."""
    return [_measured(phase, row) for phase in record.phases if phase.path == row.value]


def _measured(phase: PhaseRow, row: MdtestRow) -> MdtestPhase:
    items = sum(
        phase.by_operation[kind].operations for kind in COUNTED[row] if kind in phase.by_operation
    )
    share = items / phase.operations if phase.operations else 0.0
    return MdtestPhase(
        items=items,
        seconds=phase.seconds.total,
        rank_items=tuple(count * share for count in phase.per_rank.operations),
        rank_seconds=tuple(phase.per_rank.total_s),
    )


def spread(values: Sequence[float]) -> MdtestSpread:
    """Largest, smallest, mean and deviation; zeros where there is nothing."""
    if not values:
        return MdtestSpread(0.0, 0.0, 0.0, 0.0)
    mean = sum(values) / len(values)
    squares = sum((value - mean) ** 2 for value in values)
    deviation = math.sqrt(squares / (len(values) - 1)) if len(values) > 1 else 0.0
    return MdtestSpread(max(values), min(values), mean, deviation)


def most_items(record: Record) -> int:
    """The largest number of files that a rank made in the last iteration (status file of -x)."""
    made = measured(record, MdtestRow.FILE_CREATION)
    return round(max(made[-1].rank_items, default=0)) if made else 0


def has_verification_error(record: Record) -> bool:
    """Whether something else was read than was written, or less of it."""
    details = [detail for phase in record.phases for detail in phase.details]
    return any(d.operation is OperationKind.READ and d.errno == 0 for d in details)
