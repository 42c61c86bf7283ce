"""Threads that open files of their own, as processes: they may act as ranks.

A pool of threads is to storage what a pool of processes is: who writes which file is chance, and
their calls interleave. Where threads open what they use, each is told by itself; where they share
descriptors, they stay one process, whose calls come in the order of time. Equally many such threads
of each rank of a launcher (MPI with OpenMP) are as many ranks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from venturi.derive.noise import is_foreign
from venturi.derive.operation.actor import ALIKE_SHARE
from venturi.model.operation import KIND_CODES, LAYER_CODES, Column, Kind, Operations
from venturi.model.trace import Layer, Process, Trace
from venturi.model.trace_folder import Captured

OWN_SHARE = 0.9
"""Of its bytes a process must move so many through openings of the thread that moves them."""

_CALLED_BY_THREADS = [LAYER_CODES[layer] for layer in (Layer.POSIX, Layer.STDIO)]
"""Above them ranks act together, and how many there are decides what each does."""


@dataclass(frozen=True)
class _Workers:
    """Threads that move data through their own openings, by process and number."""

    doers: Column
    bytes: Column

    @property
    def process(self) -> Column:
        """The process of each."""
        return np.asarray(self.doers >> 32)

    @property
    def is_first(self) -> Column:
        """Mask: first threads of their processes."""
        return np.asarray(self.doers & 0xFFFF_FFFF == 0)


def with_threads_apart(captured: Captured) -> Captured:
    """The capture with threads that work by themselves as processes; it as it is where none do.

    Where ranks are known, those of each rank become ranks, if all have as many that do as much.
    """
    trace, operations = captured.trace, captured.operations
    if operations is None or not np.any(operations.thread):
        return captured
    workers = _workers(trace, operations)
    if not np.any(~workers.is_first):
        return captured
    if all(process.rank < 0 for process in trace.processes):
        ranks = np.full(len(workers.doers), -1)
        return _apart(captured, workers, trace.processes, ranks)
    each = _each_of_ranks(trace, operations, workers)
    if each < 2:
        return captured
    known = np.array([process.rank for process in trace.processes])
    begins = np.searchsorted(workers.process, workers.process)
    place = np.arange(len(workers.doers)) - begins
    processes = [
        process.model_copy(update={"rank": process.rank * each}) if process.rank >= 0 else process
        for process in trace.processes
    ]
    made = _apart(captured, workers, processes, known[workers.process] * each + place)
    job = trace.job.model_copy(update={"ranks": trace.job.ranks * each})
    return replace(made, trace=made.trace.model_copy(update={"job": job}))


def _apart(
    captured: Captured, workers: _Workers, processes: list[Process], ranks: Column
) -> Captured:
    """The capture with these processes, and one more for each worker that is no first thread."""
    trace, operations = captured.trace, captured.operations
    assert operations is not None
    others = ~workers.is_first
    doers = workers.doers[others]
    doer = _doer(operations.process, operations.thread)
    place = np.minimum(np.searchsorted(doers, doer), len(doers) - 1)
    is_apart = doers[place] == doer
    process = np.where(is_apart, len(processes) + place, operations.process)
    added = [
        processes[one].model_copy(update={"rank": rank})
        for one, rank in zip((doers >> 32).tolist(), ranks[others].tolist(), strict=True)
    ]
    return replace(
        captured,
        trace=trace.model_copy(update={"processes": [*processes, *added]}),
        operations=replace(operations, process=process.astype(operations.process.dtype)),
    )


def _each_of_ranks(trace: Trace, operations: Operations, workers: _Workers) -> int:
    """How many workers each rank has; 0 where that is not one number, or they differ in work."""
    above = ~np.isin(operations.layer, _CALLED_BY_THREADS)
    if np.any(above & operations.is_kind(Kind.READ, Kind.WRITE)):
        return 0
    used, counts = np.unique(workers.process, return_counts=True)
    ranks = sorted(trace.processes[one].rank for one in used.tolist())
    is_each = ranks == list(range(trace.job.ranks)) and counts.min() == counts.max()
    are_alike = workers.bytes.min() >= ALIKE_SHARE * workers.bytes.max()
    return int(counts[0]) if is_each and are_alike else 0


def _doer(process: Column, thread: Column) -> Column:
    """A number for each thread of each process."""
    return np.asarray(process.astype(np.int64) << 32 | thread)


def _workers(trace: Trace, operations: Operations) -> _Workers:
    """The threads that move data through their own openings, in processes in which several do and
    most bytes are moved so."""
    own = np.append([not is_foreign(file) for file in trace.files], False)
    named = own[np.minimum(operations.file, len(trace.files))] & (operations.error == 0)
    data = operations.is_kind(Kind.READ, Kind.WRITE)
    rows = np.flatnonzero(named & (data | (operations.kind == KIND_CODES[Kind.OPEN])))
    rows = rows[operations.process[rows] < len(trace.processes)]
    if not len(rows):
        return _Workers(np.zeros(0, np.int64), np.zeros(0, np.int64))
    doer = _doer(operations.process[rows], operations.thread[rows])
    doers, thread = np.unique(doer, return_inverse=True)
    pairs = thread.astype(np.int64) << 32 | operations.file[rows]
    names, pair = np.unique(pairs, return_inverse=True)
    opened = np.bincount(pair[~data[rows]], minlength=len(names)) > 0
    moved = np.where(data[rows], operations.bytes[rows], 0)
    through_own = np.where(opened[pair], moved, 0)
    process = operations.process[rows]
    whole, by_own = np.bincount(process, moved), np.bincount(process, through_own)
    each = np.bincount(thread, through_own)
    works = each > 0
    several = np.bincount(doers[works] >> 32, minlength=len(whole)) > 1
    chosen = works & (several & (by_own >= OWN_SHARE * whole))[doers >> 32]
    return _Workers(doers[chosen], each[chosen])
