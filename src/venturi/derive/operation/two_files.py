"""Calls on two files: renames, hard links that do the same, and copies in the kernel.

Whoever writes `x.tmp` and renames it to `x` writes `x`: each call belongs to the file's last name,
and a name that is used again after it was renamed is another file from then on. Whoever gives a
file a second name and removes the first has renamed it. A copy is a read of one file and a write of
the other, at the same place, which are marked as what they were.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from venturi.derive.operation.attribute import with_questions_said
from venturi.derive.operation.descriptor import (
    without_copied_closes,
    without_streams_of_descriptors,
    without_streams_of_streams,
)
from venturi.derive.operation.linked import with_links_by_new_name
from venturi.model.operation import COPIES, KIND_CODES, Column, Kind, Operations
from venturi.model.plan import CopyWay
from venturi.model.trace import Layer

_MOST_NAMES = 8
"""A file that is renamed more often is followed so far."""


_WAYS = {Kind.CLONE: CopyWay.CLONE, Kind.COPY: CopyWay.RANGE, Kind.SEND: CopyWay.SEND}
_WAY_BIT = 8
"""In `detail` of reads and writes that were a copy: from this bit on 1 + the index in _WAYS."""


def said_plainly(operations: Operations) -> tuple[Operations, list[str]]:
    """The operations in words of a workload, and what is assumed by that."""
    operations, streams = without_streams_of_streams(without_streams_of_descriptors(operations))
    operations, closes = without_copied_closes(operations)
    operations, links = with_links_said(operations)
    operations, questions = with_questions_said(operations)
    notes = (
        (streams, "streams on copies of a stream's descriptor are one with it"),
        (closes, "descriptors that were copied are one; closing the first of them is left out"),
        (links, "hard links whose first name is removed are repeated as renames"),
        (questions, "questions for extended attributes are repeated as stats"),
    )
    said = with_links_by_new_name(with_copies_said(operations))
    return said, [text for count, text in notes if count]


def with_copies_said(operations: Operations) -> Operations:
    """The operations with each copy as a read and a write, whose `way_of` says how it was made."""
    is_copy = operations.is_kind(*COPIES)
    rows = np.flatnonzero(is_copy & (operations.error == 0) & (operations.bytes > 0))
    if not len(rows):
        return operations
    columns = {f.name: np.array(getattr(operations, f.name)) for f in fields(operations)}
    columns["kind"][rows] = KIND_CODES[Kind.READ]
    columns["detail"][rows] = _first_ways(operations, is_copy, rows) << _WAY_BIT
    added = {name: column[rows] for name, column in columns.items()}
    added["kind"][:] = KIND_CODES[Kind.WRITE]
    added["file"] = operations.detail[rows].astype(columns["file"].dtype)
    added["offset"] = _behind_each_other(operations, rows)
    # The read takes no time: the call's whole time stands at the write.
    columns["end_ns"][rows] = columns["start_ns"][rows]
    order = np.argsort(np.concatenate([columns["start_ns"], added["start_ns"]]), kind="stable")
    both = {name: np.concatenate([columns[name], added[name]])[order] for name in columns}
    return replace(operations, **both)


def _behind_each_other(operations: Operations, rows: Column) -> Column:
    """Where copies are written: at the place that they come from, but those of another file behind
    what was copied before, until the target is opened again."""
    offset = np.array(operations.offset[rows])
    source, target = operations.file[rows], operations.detail[rows]
    pairs = np.unique(np.stack((target, source)), axis=1)
    several, times = np.unique(pairs[0], return_counts=True)
    opens = operations.kind == KIND_CODES[Kind.OPEN]
    for name in several[times > 1]:
        mine = np.flatnonzero(target == name)
        opened = operations.start_ns[opens & (operations.file == name)]
        epoch = np.searchsorted(opened, operations.start_ns[rows[mine]])
        end = shift = 0
        for before, at in zip([-1, *mine[:-1]], mine, strict=True):
            place = mine.searchsorted(at)
            if before < 0 or epoch[place] != epoch[place - 1]:
                end = shift = 0
            elif source[at] != source[before]:
                shift = end - int(offset[at])
            offset[at] += shift
            end = int(offset[at]) + int(operations.bytes[rows[at]])
    return offset


def _first_ways(operations: Operations, is_copy: Column, rows: Column) -> Column:
    """For each copy the way that was tried first between its files, as 1 + the index in _WAYS."""
    codes = np.zeros(256, np.int64)
    for number, kind in enumerate(_WAYS, start=1):
        codes[KIND_CODES[kind]] = number
    pair = np.asarray(operations.file).astype(np.int64) << 32 | operations.detail
    tried = np.flatnonzero(is_copy)
    pairs, first = np.unique(pair[tried], return_index=True)
    found: Column = codes[operations.kind[tried[first]]][np.searchsorted(pairs, pair[rows])]
    return found


def ways_of(detail: Column) -> Column:
    """Of reads and writes: 0, or one more than the index of the way in which they were a copy.

    Nothing else stands in the detail of a copy; others say there where their memory is.
    """
    way = np.asarray(detail) >> _WAY_BIT
    return np.where(way << _WAY_BIT == detail, np.where(way <= len(_WAYS), way, 0), 0)


def way_named(number: int) -> CopyWay:
    """The way with that number, as `ways_of` gives it."""
    return list(_WAYS.values())[number - 1]


def with_links_said(operations: Operations) -> tuple[Operations, int]:
    """The operations with each hard link whose file then loses its first name as a rename, and how
    many of them there are."""
    is_fine = operations.error == 0
    links = is_fine & (operations.kind == KIND_CODES[Kind.LINK])
    links &= operations.is_layer(Layer.POSIX)
    if not np.any(links):
        return operations, 0
    rows = np.flatnonzero(is_fine & np.isin(operations.file, operations.file[links]))
    rows = rows[np.lexsort((operations.start_ns[rows], operations.file[rows]))]
    gone = operations.kind[rows[1:]] == KIND_CODES[Kind.UNLINK]
    same = operations.file[rows[1:]] == operations.file[rows[:-1]]
    pairs = np.flatnonzero(links[rows[:-1]] & gone & same)
    kind = np.array(operations.kind)
    kind[rows[pairs]] = KIND_CODES[Kind.RENAME]
    kept = np.ones(len(kind), bool)
    kept[rows[pairs + 1]] = False
    return replace(operations, kind=kind).take(kept), len(pairs)


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
