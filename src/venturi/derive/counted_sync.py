"""Syncs that a Darshan log only counts, put among its single reads and writes (DXT).

DXT holds no syncs, but what they took is known: Darshan adds it to the time of a record's writes,
so it is what the counted time has beyond the traced writes. Where they were follows from pauses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from venturi.model.operation import (
    KIND_CODES,
    LAYER_CODES,
    TYPES,
    Column,
    Kind,
    Operations,
    operations_of,
)
from venturi.model.trace import CounterRecord, Layer, Trace
from venturi.model.trace_folder import Captured

_COUNTERS = {
    Layer.POSIX: ((Kind.SYNC, "FSYNCS"), (Kind.DATA_SYNC, "FDSYNCS")),
    Layer.MPIIO: ((Kind.SYNC, "SYNCS"),),
}

MOST_EACH = 8
"""Of more syncs for each write than this, or of syncs without a write, no place is known."""


@dataclass(frozen=True)
class WithSyncs:
    """A capture with the syncs that its counters know, and what was assumed for that."""

    captured: Captured
    assumed: list[str]


def with_counted_syncs(captured: Captured) -> WithSyncs:
    """Add a sync behind a write for each sync that counters hold and operations do not.

    A file and rank with as many syncs as writes has one behind each; else they stand behind the
    last write of each rank and before the longest pauses. Syncs of which no place is known stay
    counted only. A capture that has syncs, or no counters, is returned as it is.
    """
    operations, trace = captured.operations, captured.trace
    if operations is None or not trace.records:
        return WithSyncs(captured, [])
    if np.any(operations.is_kind(Kind.SYNC, Kind.DATA_SYNC)):
        return WithSyncs(captured, [])
    counted = [record for record in trace.records if any(_counts(record).values())]
    if not counted:
        return WithSyncs(captured, [])
    parts = list(_placed(counted, _Chains(operations, trace), operations))
    if not parts:
        return WithSyncs(captured, [])
    added = sum(len(part["kind"]) for part in parts)
    columns = {
        name: np.concatenate([getattr(operations, name), *(part[name] for part in parts)])
        for name in TYPES
    }
    trace = trace.model_copy(update={"operation_count": len(columns["kind"])})
    return WithSyncs(
        Captured(trace, operations_of(**columns)),
        [
            f"{added} syncs, which the log only counts, stand behind writes: one behind each where "
            "there are as many, else before the longest pauses of the file"
        ],
    )


def _counts(record: CounterRecord) -> dict[Kind, int]:
    """How many syncs of each kind a record counts."""
    return {kind: record.counters.get(name, 0) for kind, name in _COUNTERS.get(record.layer, ())}


class _Chains:
    """Rows by layer, file, process and time: what one process did to one file."""

    def __init__(self, operations: Operations, trace: Trace) -> None:
        self._processes = max(len(trace.processes), 1)
        self._of_rank: dict[int, list[int]] = {}
        for number, process in enumerate(trace.processes):
            self._of_rank.setdefault(process.rank, []).append(number)
        self._files = {file.path: number for number, file in enumerate(trace.files)}
        key = self._key(operations.layer.astype(np.int64), operations.file.astype(np.int64), 0)
        key += operations.process
        self._order = np.argsort(key, kind="stable")
        self._sorted = key[self._order]
        start_ns, end_ns = operations.start_ns[self._order], operations.end_ns[self._order]
        self.pause_ns = np.full(len(key), -1)
        """By row: until the chain's next one begins; -1 behind the last one."""
        follows = self._sorted[1:] == self._sorted[:-1]
        before = self._order[:-1][follows]
        self.pause_ns[before] = np.maximum((start_ns[1:] - end_ns[:-1])[follows], 0)

    def _key(self, layer: Column | int, file: Column | int, process: int) -> Column:
        width = len(self._files) + 1
        return (np.asarray(layer) * width + np.minimum(file, width - 1)) * self._processes + process

    def rows(self, record: CounterRecord) -> Column:
        """The rows that a record counts; those of all processes where it is reduced."""
        file = self._files.get(record.file or f"record {record.identity}")
        if file is None:
            return self._order[:0]
        layer = LAYER_CODES[record.layer]
        whose = [(0, self._processes)]
        if record.rank >= 0:
            whose = [(one, one + 1) for one in self._of_rank.get(record.rank, [])]
        found = [self._order[:0]]
        for first, behind in whose:
            ends = [int(self._key(layer, file, one)) for one in (first, behind)]
            low, high = np.searchsorted(self._sorted, ends)
            found.append(self._order[low:high])
        return np.concatenate(found)


def _placed(
    counted: list[CounterRecord], chains: _Chains, operations: Operations
) -> Iterator[dict[str, Column]]:
    """The columns of the syncs of each record that has writes to put them behind."""
    for record in counted:
        rows = chains.rows(record)
        writes = rows[operations.kind[rows] == KIND_CODES[Kind.WRITE]]
        counts = _counts(record)
        if sum(counts.values()) > MOST_EACH * len(writes):
            continue
        codes = np.array([KIND_CODES[kind] for kind in counts], np.uint8)
        kinds = np.repeat(codes, list(counts.values()))
        writing_s = float((operations.end_ns[writes] - operations.start_ns[writes]).sum()) * 1e-9
        spent_s = max(0.0, record.times.get("F_WRITE_TIME", 0.0) - writing_s)
        behind = _behind(writes, chains.pause_ns[writes], len(kinds))
        lasts_ns = _lasting(behind, chains.pause_ns[behind], spent_s * 1e9)
        again = _turn(behind)
        start_ns = operations.end_ns[behind] + again * lasts_ns
        columns = {name: np.zeros(len(kinds), dtype) for name, dtype in TYPES.items()}
        for name in ("process", "thread", "layer", "file"):
            columns[name] = getattr(operations, name)[behind]
        columns |= {"kind": kinds, "start_ns": start_ns, "end_ns": start_ns + lasts_ns}
        columns["offset"] = np.full(len(kinds), -1)
        yield columns


def _behind(writes: Column, pause_ns: Column, count: int) -> Column:
    """The write before each of so many syncs, in the order of rows."""
    each, more = divmod(count, len(writes))
    times = np.full(len(writes), each)
    longest = np.argsort(np.where(pause_ns < 0, -np.inf, -pause_ns.astype(float)), kind="stable")
    times[longest[:more]] += 1
    return np.repeat(writes, times)


def _turn(behind: Column) -> Column:
    """Of syncs behind one write, which one it is, from 0."""
    first = np.flatnonzero(np.append(True, behind[1:] != behind[:-1]))
    length = np.diff(np.append(first, len(behind)))
    return np.arange(len(behind)) - np.repeat(first, length)


def _lasting(behind: Column, pause_ns: Column, spent_ns: float) -> Column:
    """How long each sync takes: all together what was counted, and none beyond its pause.

    Behind a last write nothing says how long the pause was: such a sync takes the mean.
    """
    mean_ns = spent_ns / len(behind)
    syncs = np.bincount(behind)[behind]
    is_last = pause_ns < 0
    room_ns = np.where(is_last, 0.0, pause_ns / syncs)
    left_ns = spent_ns - mean_ns * int(np.count_nonzero(is_last))
    share = min(1.0, left_ns / float(room_ns.sum())) if room_ns.sum() > 0 else 0.0
    return np.asarray(np.where(is_last, mean_ns, room_ns * share), np.int64)
