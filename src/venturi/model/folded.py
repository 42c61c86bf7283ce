"""Operations of which runs of equal calls are kept once.

A program that reads a file in small pieces makes millions of calls that differ in their times and,
by equal steps, in their offsets. Such calls come in cycles, of one call or a few. The calls of the
first cycle are rows; for each of them a run says how often it was repeated, how long all
repetitions took, and how long the program was elsewhere before them. Both sums are kept when the
run is unfolded: each repetition takes an equal part of them, to the nanosecond.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from venturi.model.error import UserError
from venturi.model.operation import (
    KIND_CODES,
    MEMORY_SHIFT,
    MEMORY_UNIT,
    Column,
    Kind,
    Operations,
    load_operations,
    operations_of,
    save_operations,
)

FOLDER = "runs"
MOST_PERIOD = 16
"""Calls in a cycle; no trace of ours has more."""
MOST_TIMES = 2**32

_TYPES: dict[str, str] = {
    "row": "<i8",
    "slot": "<u4",
    "period": "<u4",
    "times": "<i8",
    "took_ns": "<i8",
    "between_ns": "<i8",
    "offset_step": "<i8",
    "address_step": "<i8",
    "address_rest": "<i8",
}
_MOVES = [KIND_CODES[Kind.READ], KIND_CODES[Kind.WRITE]]
_ADDRESS_BITS = 32 - MEMORY_SHIFT


@dataclass(frozen=True)
class CallRuns:
    """Columns of equal length, one row per call of a cycle; those of a cycle follow each other."""

    row: Column
    """Index into the operations: the call that is repeated."""
    slot: Column
    """Place of the call in the cycle, from 0 on."""
    period: Column
    """Calls in the cycle."""
    times: Column
    """How often the call is repeated; the first ones of a cycle may have one more."""
    took_ns: Column
    """Duration of all repetitions."""
    between_ns: Column
    """From the end of the call before to the beginning, all repetitions together."""
    offset_step: Column
    """Bytes between the offsets of two repetitions."""
    address_step: Column
    """The same of the memory that the data comes from or goes to."""
    address_rest: Column
    """Address of the first call's memory, modulo MEMORY_UNIT."""

    def __len__(self) -> int:
        return len(self.row)


def no_runs() -> CallRuns:
    """Runs of which there are none."""
    return CallRuns(**{name: np.zeros(0, dtype) for name, dtype in _TYPES.items()})


def runs_of(**columns: Column) -> CallRuns:
    """Runs from columns of any number type."""
    return CallRuns(**{name: columns[name].astype(dtype) for name, dtype in _TYPES.items()})


@dataclass(frozen=True)
class FoldedOperations:
    """Rows of operations, and how often they were repeated."""

    rows: Operations
    runs: CallRuns

    def __len__(self) -> int:
        return len(self.rows) + int(self.runs.times.sum())

    def times(self) -> Column:
        """How often the call of each row was made."""
        if not len(self.runs):
            return np.broadcast_to(np.int64(1), len(self.rows))
        found = np.ones(len(self.rows), np.int64)
        found[self.runs.row] += self.runs.times
        return found

    def last_ns(self) -> int:
        """When the last call ended; 0 without any."""
        last = int(self.rows.end_ns.max(initial=0))
        if not len(self.runs):
            return last
        first = _first_slots(self.runs)
        spent = np.add.reduceat(self.runs.took_ns + self.runs.between_ns, first)
        begins = self.rows.end_ns[_last_rows(self.runs, first)]
        return max(last, int((begins + spent).max()))

    def unfolded(self) -> Operations:
        """A row for each call."""
        if not len(self.runs):
            return self.rows
        runs = self.runs
        first = _first_slots(runs)
        # Where the repetitions of each cycle go: behind the row of its last call.
        count = np.add.reduceat(runs.times, first)
        extra = np.zeros(len(self.rows), np.int64)
        extra[_last_rows(runs, first)] = count
        source = np.repeat(np.arange(len(self.rows)), 1 + extra)
        place = np.ones(len(source), bool)
        place[np.cumsum(1 + extra) - 1 - extra] = False
        # Cycles in the order of their places.
        order = np.argsort(_last_rows(runs, first))
        slot, repetition = _slots(runs, first[order], count[order])
        source[place] = runs.row[slot]
        columns = {field.name: _at(self.rows, field.name, source) for field in fields(Operations)}
        columns["offset"][place] += runs.offset_step[slot] * repetition
        detail = columns["detail"][place]
        columns["detail"][place] = _moved_on(detail, columns["kind"][place], runs, slot, repetition)
        start, end = _times_of(self.rows, runs, first[order], count[order], slot, repetition)
        columns["start_ns"][place], columns["end_ns"][place] = start, end
        return operations_of(**columns)


def folded_of(operations: Operations) -> FoldedOperations:
    """Operations as they are, without runs."""
    return FoldedOperations(operations, no_runs())


def _at(rows: Operations, name: str, source: Column) -> Column:
    column: Column = getattr(rows, name)[source]
    return column


def _first_slots(runs: CallRuns) -> Column:
    """Indices of the first call of each cycle."""
    return np.flatnonzero(runs.slot == 0)


def _last_rows(runs: CallRuns, first: Column) -> Column:
    """Rows of the last call of these cycles, before they are repeated."""
    rows: Column = runs.row[first + runs.period[first].astype(np.int64) - 1]
    return rows


def _slots(runs: CallRuns, first: Column, count: Column) -> tuple[Column, Column]:
    """For each repeated call its run, and the how many-th repetition it is, from 1 on."""
    begin = np.cumsum(count) - count
    number = np.arange(int(count.sum())) - np.repeat(begin, count)
    period = np.repeat(runs.period[first].astype(np.int64), count)
    repetition = number // period
    number -= repetition * period
    number += np.repeat(first, count)
    repetition += 1
    return number, repetition


def _moved_on(
    detail: Column, kind: Column, runs: CallRuns, slot: Column, repetition: Column
) -> Column:
    """The details with where the memory of each repetition is."""
    if not np.any(runs.address_step):
        return detail
    low = np.uint32((1 << MEMORY_SHIFT) - 1)
    address = (detail >> MEMORY_SHIFT).astype(np.int64) * MEMORY_UNIT + runs.address_rest[slot]
    address += runs.address_step[slot] * repetition
    unit = (address // MEMORY_UNIT) & ((1 << _ADDRESS_BITS) - 1)
    moved = (unit.astype(np.uint32) << np.uint32(MEMORY_SHIFT)) | (detail & low)
    known = np.isin(kind, _MOVES) & (runs.address_step[slot] != 0)
    return np.where(known, moved, detail)


def _times_of(
    rows: Operations, runs: CallRuns, first: Column, count: Column, slot: Column, repetition: Column
) -> tuple[Column, Column]:
    """When each repetition starts and ends: parts of the sums, in whole nanoseconds."""
    took = _part(runs.took_ns, runs.times, slot, repetition)
    step = _part(runs.between_ns, runs.times, slot, repetition)
    step += took
    end = np.cumsum(step)
    begin = np.cumsum(count) - count
    origin = rows.end_ns[_last_rows(runs, first)]
    end += np.repeat(origin - (end[begin] - step[begin]), count)
    return end - took, end


def _part(total: Column, times: Column, slot: Column, repetition: Column) -> Column:
    """The share of each repetition in its run's total; the shares of a run add up to it."""
    whole, rest = np.divmod(total, np.maximum(times, 1))
    # The first ones of a run take one more each.
    share: Column = whole[slot]
    share += repetition <= rest[slot]
    return share


def save_folded(operations: FoldedOperations, folder: Path) -> None:
    """Writes the columns below `folder`, where there are none yet."""
    save_operations(operations.rows, folder)
    if not len(operations.runs):
        return
    place = folder / FOLDER
    place.mkdir()
    for field in fields(CallRuns):
        np.save(place / f"{field.name}.npy", getattr(operations.runs, field.name))


def load_folded(folder: Path) -> FoldedOperations:
    """The columns below `folder`; those of the rows are memory-mapped.

    Raises UserError where one is missing or torn, or where they do not fit together.
    """
    rows = load_operations(folder)
    place = folder / FOLDER
    if not place.is_dir():
        return folded_of(rows)
    columns: dict[str, Any] = {}
    for name, dtype in _TYPES.items():
        path = place / f"{name}.npy"
        try:
            column = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise UserError(f"'{path}' is no column of runs: {error}") from None
        if column.dtype != np.dtype(dtype) or column.ndim != 1:
            raise UserError(f"'{path}' holds {column.dtype} values where {dtype} belongs")
        columns[name] = column
    runs = CallRuns(**columns)
    if len({len(column) for column in columns.values()}) != 1 or not _is_sound(runs, len(rows)):
        raise UserError(f"the columns in '{place}' do not fit together")
    return FoldedOperations(rows, runs)


def _is_sound(runs: CallRuns, rows: int) -> bool:
    """Whether runs can be unfolded."""
    if not len(runs):
        return True
    period = runs.period.astype(np.int64)
    if period.min() < 1 or period.max() > MOST_PERIOD or runs.slot[0] != 0:
        return False
    first = _first_slots(runs)
    size = np.diff(np.append(first, len(runs)))
    if np.any(period != np.repeat(size, size)) or np.any(
        runs.slot != np.arange(len(runs)) - np.repeat(first, size)
    ):
        return False
    last = first + size - 1
    if runs.row.min() < 0 or runs.row.max() >= rows:
        return False
    if runs.times.min() < 0 or runs.times.max() > MOST_TIMES:
        return False
    # Each cycle is made in its order, and may be left in the middle.
    steps = np.diff(runs.times)
    steps[last[:-1]] = 0
    dropped = runs.times[first] - runs.times[last]
    is_cyclic = bool(np.all(steps <= 0) and np.all(dropped <= 1))
    return is_cyclic and min(runs.took_ns.min(), runs.between_ns.min()) >= 0
