"""Calls on two files: renames, and copies in the kernel.

Whoever writes `x.tmp` and renames it to `x` writes `x`: each call belongs to the file's last name,
and a name that is used again after it was renamed is another file from then on. A copy, for which
the language has no word, is a read
of one file and a write of the other, at the same place.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from venturi.model.operation import KIND_CODES, Column, Kind, Operations

_MOST_NAMES = 8
"""A file that is renamed more often is followed so far."""


def with_copies_said(operations: Operations) -> tuple[Operations, int]:
    """The operations with each copy as a read and a write, and how many copies there are."""
    is_copy = (operations.kind == KIND_CODES[Kind.COPY]) & (operations.error == 0)
    rows = np.flatnonzero(is_copy & (operations.bytes > 0))
    if not len(rows):
        return operations, 0
    columns = {f.name: np.array(getattr(operations, f.name)) for f in fields(operations)}
    columns["kind"][rows] = KIND_CODES[Kind.READ]
    columns["detail"][rows] = 0
    added = {name: column[rows] for name, column in columns.items()}
    added["kind"][:] = KIND_CODES[Kind.WRITE]
    added["file"] = operations.detail[rows].astype(columns["file"].dtype)
    # The read takes no time: the call's whole time stands at the write.
    columns["end_ns"][rows] = columns["start_ns"][rows]
    order = np.argsort(np.concatenate([columns["start_ns"], added["start_ns"]]), kind="stable")
    both = {name: np.concatenate([columns[name], added[name]])[order] for name in columns}
    return replace(operations, **both), len(rows)


def last_names(operations: Operations, files: int) -> Column:
    """For each operation the index of its file under the name that it gets at last."""
    file = np.asarray(operations.file)
    is_rename = operations.kind == KIND_CODES[Kind.RENAME]
    fine = is_rename & (operations.error == 0) & (file < files) & (operations.detail < files)
    rows = np.flatnonzero(fine & (operations.detail != file))
    if not len(rows):
        return file
    rows = rows[np.argsort(operations.start_ns[rows], kind="stable")]
    events = _Events(np.asarray(operations.file)[rows], operations.start_ns[rows])
    targets = operations.detail[rows].astype(file.dtype)
    file, time = file.copy(), np.array(operations.start_ns)
    is_moved = np.zeros(files + 1, bool)
    is_moved[events.source] = True
    left = np.flatnonzero(is_moved[np.minimum(file, files)])
    for _ in range(_MOST_NAMES):
        left = left[is_moved[file[left]]]
        if not len(left):
            break
        event = events.next(file[left], time[left])
        left, event = left[event >= 0], event[event >= 0]
        file[left], time[left] = targets[event], events.start_ns[event] + 1
    return file


@dataclass(frozen=True)
class _Events:
    """Renames in the order of time."""

    source: Column
    start_ns: Column

    def next(self, file: Column, time: Column) -> Column:
        """For each file the rename of it at that time or next after it; -1: none."""
        found = np.full(len(file), -1)
        order = np.argsort(file, kind="stable")
        names, first = np.unique(file[order], return_index=True)
        by_source = np.argsort(self.source, kind="stable")
        low = np.searchsorted(self.source[by_source], names, side="left")
        high = np.searchsorted(self.source[by_source], names, side="right")
        for mine, begin, end in zip(np.split(order, first[1:]), low, high, strict=True):
            events = by_source[begin:end]
            at = np.searchsorted(self.start_ns[events], time[mine], side="left")
            there = at < len(events)
            found[mine[there]] = events[at[there]]
        return found
