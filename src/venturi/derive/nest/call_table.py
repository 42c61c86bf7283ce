"""A workload that makes exactly the calls of a run, whose numbers stand in tables beside it.

Where calls follow no rule that people could read, their numbers are kept as they are: a row for
each call, and in the program one step for each way of calling.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from venturi.derive.nest.fit import RANK
from venturi.derive.nest.position import PositionMove
from venturi.derive.nest.table_calls import CallsInParts, TableCalls
from venturi.derive.nest.table_entry import (
    ALONE,
    AT,
    BEFORE,
    FILE,
    FOLDER,
    LENGTH,
    SIZE,
    STEP,
    TABLE,
    TOGETHER,
    TableEntries,
)
from venturi.derive.nest.together import ALL
from venturi.derive.operation.attribute import item_verb_of
from venturi.derive.operation.memory import memory_keys
from venturi.derive.operation.run import Steps, seconds_text, sync_mode
from venturi.derive.operation.table import Table
from venturi.model.operation import KIND_CODES, KINDS, Column, Kind
from venturi.model.plan import ComputeMode
from venturi.model.row_table import RowTable
from venturi.model.workload import (
    ChooseStep,
    ComputeStep,
    FileSpec,
    PatternKind,
    RenameStep,
    StepSpec,
    SyncStep,
    TruncateStep,
)


@dataclass(frozen=True)
class Tabled:
    """Steps, files and the tables of a workload."""

    steps: Steps
    files: dict[str, FileSpec]
    tables: dict[str, RowTable]
    told: Column
    """Which operations of the capture's table it makes."""


def tabled(table: Table, kept: CallsInParts, known_as: Sequence[str]) -> Tabled:
    """The workload that makes these operations of a table, each rank's in this order.

    `known_as` holds for each file of the table what its stream is called.
    """
    calls = TableCalls(table, kept)
    entries = TableEntries(calls, known_as)
    program = _TableProgram(calls, entries)
    phases: Steps = [program.phase(number) for number in range(calls.parts)]
    told = np.isin(np.arange(len(table)), kept.calls.row)
    return Tabled(phases, entries.specs(), program.tables, told)


class _TableProgram:
    """Writes the parts of the program, and keeps the numbers of their calls."""

    def __init__(self, calls: TableCalls, entries: TableEntries) -> None:
        self._calls = calls
        self._entries = entries
        steps: dict[Hashable, int] = {}
        keys = calls.keys(entries.of_call, entries.after_call)
        self._step = np.array([steps.setdefault(key, len(steps)) for key in keys], np.int64)
        self.tables: dict[str, RowTable] = {}

    def phase(self, part: int) -> StepSpec:
        """What ranks do together in a part of the program, and each rank's calls."""
        calls, number = self._calls, f"_{part + 1}" if part else ""
        mine = calls.part == part
        joint, own = np.flatnonzero(mine & calls.is_joint), np.flatnonzero(mine & ~calls.is_joint)
        do: Steps = []
        if len(joint):
            in_time = joint[np.argsort(calls.table.start_ns[calls.row[joint]], kind="stable")]
            do.append(self._together(in_time, f"{TOGETHER}{number}"))
        if len(own):
            do.append(self._own(own, f"{TABLE}{number}"))
        return StepSpec(phase=f"{TABLE}{number}", do=do)

    def _own(self, rows: Column, name: str) -> StepSpec:
        place, body = self._steps(rows)
        of_rank = {RANK: self._calls.rank[rows]} if self._calls.table.ranks > 1 else {}
        return self._loop(name, of_rank | self._columns(rows, place), body)

    def _together(self, rows: Column, name: str) -> StepSpec:
        """Calls that all ranks make together; what only one of them has open the others close."""
        place, body = self._steps(rows)
        alone = self._calls.opens_for[rows]
        again = np.repeat(np.arange(len(rows)), np.where(alone == ALL, 1, 2))
        closes = np.diff(again, prepend=-1) == 0
        columns = self._columns(rows[again], place[again])
        if np.any(closes):
            entries, which = np.unique(
                self._entries.of_call[rows[again[closes]]], return_inverse=True
            )
            columns[STEP][closes] = len(body) + which
            columns[BEFORE][closes] = 0
            columns[ALONE] = alone[again]
            body += [
                StepSpec(when=f"{RANK} != {ALONE}", do=[StepSpec(close=self._entries.names[one])])
                for one in entries.tolist()
            ]
        return self._loop(name, columns, body)

    def _columns(self, rows: Column, place: Column) -> dict[str, Column]:
        """The numbers of calls that are these steps."""
        calls = self._calls
        found = {
            STEP: place,
            FILE: calls.number[rows],
            AT: calls.at[rows],
            SIZE: calls.size[rows],
            BEFORE: calls.before_ns[rows],
            LENGTH: self._entries.length_of_call[rows],
        }
        if self._entries.has_folders:
            found[FOLDER] = self._entries.folder_of_call[rows]
        return found

    def _loop(self, name: str, columns: dict[str, Column], body: list[StepSpec]) -> StepSpec:
        numbers = {column: values.tolist() for column, values in columns.items()}
        self.tables[name] = RowTable.of(numbers)
        mode = ComputeMode.SPIN if self._calls.table.ranks == 1 else ComputeMode.SLEEP
        compute = StepSpec(compute=ComputeStep(seconds=f"{BEFORE} / 1e9", mode=mode))
        return StepSpec(for_=name, do=[compute, StepSpec(choose=ChooseStep(by=STEP, of=body))])

    def _steps(self, rows: Column) -> tuple[Column, list[StepSpec]]:
        """Which step each call is, and the steps: what makes and opens comes first."""
        _, first, number = np.unique(self._step[rows], return_index=True, return_inverse=True)
        is_late = [self._calls.is_late(int(rows[one])) for one in first]
        order = np.lexsort((first, np.array(is_late)))
        body = [_step(self._calls, rows[number == one], self._entries) for one in order.tolist()]
        place: Column = np.argsort(order)[number]
        return place, body


def _step(calls: TableCalls, mine: Column, entries: TableEntries) -> StepSpec:
    """The step that makes these calls, which are alike."""
    call = int(mine[0])
    entry = int(entries.of_call[call])
    name = entries.names[entry]
    match KINDS[int(calls.kind[call])]:
        case Kind.OPEN:
            return StepSpec(create=name) if calls.makes[call] else StepSpec(open=name)
        case Kind.RENAME:
            return StepSpec(
                rename=RenameStep(on=name, to=entries.names[int(entries.after_call[call])])
            )
        case Kind.TRUNCATE:
            return StepSpec(truncate=TruncateStep(on=name, size=AT))
        case Kind.ATTRIBUTE:
            verb = item_verb_of(int(calls.flags[call]))
            return StepSpec.model_validate({verb.value: name})
        case Kind.SYNC | Kind.DATA_SYNC as kind:
            interface = calls.table.interfaces[int(calls.file[call])]
            return StepSpec(sync=SyncStep(on=name, mode=sync_mode(KIND_CODES[kind], interface)))
        case Kind.READ | Kind.WRITE as kind:
            keys = _data_keys(calls, mine)
            if entries.is_for_all(entry) and "pattern" not in keys:
                keys["apart"] = False
            side = "to" if kind is Kind.WRITE else "from"
            return StepSpec.model_validate({kind.value: {side: name, **keys}})
        case kind:
            return StepSpec.model_validate({kind.value: name})


def _data_keys(calls: TableCalls, mine: Column) -> dict[str, Any]:
    call = int(mine[0])
    move = PositionMove(int(calls.move[call]))
    keys: dict[str, Any] = {"size": SIZE}
    think_ns = calls.think_ns[int(calls.kind[call])]
    if calls.appends[call]:
        keys = {"pattern": PatternKind.APPEND, "transfer": SIZE, "count": 1}
    elif move is PositionMove.GO_ON:
        keys["pattern"] = PatternKind.SEQUENTIAL
    elif move is PositionMove.JUMP:
        keys |= {"pattern": PatternKind.SEQUENTIAL, "at": AT}
    else:
        keys["at"] = AT
    if think_ns:
        keys["think"] = seconds_text(think_ns / 1e9)
    return keys | memory_keys(calls.table, calls.row[mine])
