"""The baseline that copies: every call of a small capture as a step of its own.

What this replay misses no workload of the language can tell; what a proxy misses beyond it was
lost when the calls became loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from venturi.derive.operation.attribute import attribute_of
from venturi.derive.operation.table import CREATES, Table, table_of
from venturi.model.document import parse_data
from venturi.model.error import UserError
from venturi.model.operation import KINDS, Kind
from venturi.model.trace_folder import Captured
from venturi.model.workload import VERBS, Workload

MOST_CALLS = 40_000
MOST_ROWS = 4096
"""Of a table of the language."""
LEAST_PAUSE_NS = 1_000_000
"""Shorter pauses between calls are not kept."""

_NAMES = {Kind.STAT: "stat", Kind.UNLINK: "unlink"}
_DATA = {Kind.READ: ("read", "from"), Kind.WRITE: ("write", "to")}
_SYNCS = {Kind.SYNC: "fsync", Kind.DATA_SYNC: "fdatasync"}

Row = tuple[Kind, int, int, int, int, int]
"""Kind, file, flags, offset, bytes, pause before it in nanoseconds."""


def replay_of(captured: Captured, name: str) -> Workload | None:
    """The calls of a run, one by one, each rank in a group of its own; None where they are too
    many, or where ranks share a file: who waits for whom is not in a capture.

    Calls that the language has no word for are left out, as in `derive`, and so are directories.
    """
    try:
        table = table_of(captured)
    except UserError:
        return None
    if len(table) > MOST_CALLS or _shares(table):
        return None
    tapes = {}
    for rank in range(table.ranks):
        tape = _Tape(table)
        for row in _rows(table, rank):
            tape.add(*row)
        if tape.steps:
            tapes[f"rank{rank}"] = tape
    data = {
        "workload": 1,
        "name": f"{name}-replay",
        "groups": {group: {"ranks": 1} for group in tapes},
        "files": {name: spec for tape in tapes.values() for name, spec in tape.files().items()},
        "program": {
            group: [{"phase": f"replay {group}", "do": tape.steps}] for group, tape in tapes.items()
        },
    }
    return parse_data(Workload, data) if len(tapes) == table.ranks else None


def _shares(table: Table) -> bool:
    """Whether some file is used by two ranks."""
    users = np.unique(np.stack([table.file, table.rank]), axis=1)[0]
    return bool(np.any(users[1:] == users[:-1]))


def _rows(table: Table, rank: int) -> Iterator[Row]:
    """The calls of a rank in the order of time; the first pauses since any rank's first call."""
    mine = np.flatnonzero(table.rank == rank)
    if not len(mine):
        return
    order = mine[np.argsort(table.start_ns[mine], kind="stable")]
    ends = np.maximum.accumulate(table.end_ns[order])
    pauses = np.zeros(len(order), np.int64)
    pauses[0] = table.start_ns[order[0]] - table.start_ns.min()
    pauses[1:] = table.start_ns[order][1:] - ends[:-1]
    columns = (table.kind, table.file, table.flags, table.offset, table.bytes)
    for *values, pause in zip(*(column[order].tolist() for column in columns), pauses, strict=True):
        code, file, flags, offset, size = values
        yield KINDS[code], file, flags, offset, size, int(pause)


class _Tape:
    """Steps as calls come, and what is known of each file by then."""

    def __init__(self, table: Table) -> None:
        self.steps: list[dict[str, Any]] = []
        self._table = table
        self._there: set[int] = set()
        self._depth: dict[int, int] = {}
        self._position: dict[int, int] = {}
        self._staged: dict[int, int] = {}
        self._used: set[int] = set()

    def files(self) -> dict[str, dict[str, Any]]:
        """The files that steps name."""
        found = {}
        for file in sorted(self._used):
            spec: dict[str, Any] = {"path": f"file{file}", "shared": "rank"}
            spec["interface"] = self._table.interfaces[file].value
            if file in self._staged:
                spec["prestage"] = self._staged[file]
            found[f"file{file}"] = spec
        return found

    def add(self, kind: Kind, file: int, flags: int, offset: int, size: int, pause_ns: int) -> None:
        """One more call."""
        if kind is Kind.OPEN:
            self._pause(pause_ns)
            self._open(file, bool(flags & CREATES))
        elif kind is Kind.CLOSE:
            self._close(file)
        elif kind in _DATA and self._depth.get(file):
            self._pause(pause_ns)
            self._move(kind, file, offset, size)
        elif kind in _SYNCS and self._depth.get(file):
            self._pause(pause_ns)
            self._say({"sync": {"on": f"file{file}", "mode": _SYNCS[kind]}}, file)
        elif kind in _NAMES and file in self._there:
            self._say({_NAMES[kind]: f"file{file}"}, file)
            if kind is Kind.UNLINK:
                self._there.discard(file)
        elif kind is Kind.ATTRIBUTE and file in self._there:
            word = attribute_of(flags).value
            if word in VERBS:
                self._say({word: f"file{file}"}, file)

    def _say(self, step: dict[str, Any], file: int) -> None:
        self._used.add(file)
        self.steps.append(step)

    def _pause(self, pause_ns: int) -> None:
        if pause_ns >= LEAST_PAUSE_NS:
            self.steps.append({"compute": f"{pause_ns // 1000} us"})

    def _open(self, file: int, creates: bool) -> None:
        depth = self._depth[file] = self._depth.get(file, 0) + 1
        self._position[file] = 0
        if depth > 1:
            return
        if file in self._there:
            self._say({"open": f"file{file}"}, file)
        elif creates:
            self._say({"create": f"file{file}"}, file)
        else:
            self._staged.setdefault(file, 0)
            self._say({"open": f"file{file}"}, file)
        self._there.add(file)

    def _close(self, file: int) -> None:
        depth = self._depth.get(file, 0)
        self._depth[file] = max(0, depth - 1)
        if depth == 1:
            self._say({"close": f"file{file}"}, file)

    def _move(self, kind: Kind, file: int, offset: int, size: int) -> None:
        verb, way = _DATA[kind]
        at = offset if offset >= 0 else self._position[file]
        self._position[file] = at + size
        if kind is Kind.READ and file in self._staged:
            self._staged[file] = max(self._staged[file], at + size)
        last = self.steps[-1].get(verb) if self.steps else None
        if last is not None and last[way] == f"file{file}" and len(last["table"]) < MOST_ROWS:
            last["table"].append([at, size])
            return
        step = {way: f"file{file}", "pattern": "table", "table": [[at, size]]}
        self._say({verb: step}, file)
