"""Threads that open files of their own, as processes: they may act as ranks.

A pool of threads is to storage what a pool of processes is: who writes which file is chance, and
their calls interleave. Where threads open what they use, each is told by itself; where they share
descriptors, they stay one process, whose calls come in the order of time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from venturi.derive.noise import is_foreign_path
from venturi.model.operation import KIND_CODES, Column, Kind, Operations
from venturi.model.trace import Trace
from venturi.model.trace_folder import Captured

OWN_SHARE = 0.9
"""Of its bytes a process must move so many through openings of the thread that moves them."""


def with_threads_apart(captured: Captured) -> Captured:
    """The capture with threads that work by themselves as processes; it as it is where ranks are
    known, or none do."""
    trace, operations = captured.trace, captured.operations
    is_known = any(process.rank >= 0 for process in trace.processes)
    if operations is None or is_known or not np.any(operations.thread):
        return captured
    workers = _workers(trace, operations)
    if not len(workers):
        return captured
    doer = _doer(operations.process, operations.thread)
    place = np.minimum(np.searchsorted(workers, doer), len(workers) - 1)
    is_apart = workers[place] == doer
    process = np.where(is_apart, len(trace.processes) + place, operations.process)
    added = [trace.processes[one] for one in (workers >> 32).tolist()]
    return replace(
        captured,
        trace=trace.model_copy(update={"processes": [*trace.processes, *added]}),
        operations=replace(operations, process=process.astype(operations.process.dtype)),
    )


def _doer(process: Column, thread: Column) -> Column:
    """A number for each thread of each process."""
    return np.asarray(process.astype(np.int64) << 32 | thread)


def _workers(trace: Trace, operations: Operations) -> Column:
    """The threads, but for the first of each process, that move data through their own openings,
    in processes of which most bytes are moved so."""
    own = np.append([not is_foreign_path(file.path) for file in trace.files], False)
    named = own[np.minimum(operations.file, len(trace.files))] & (operations.error == 0)
    data = operations.is_kind(Kind.READ, Kind.WRITE)
    rows = np.flatnonzero(named & (data | (operations.kind == KIND_CODES[Kind.OPEN])))
    rows = rows[operations.process[rows] < len(trace.processes)]
    if not len(rows):
        return np.zeros(0, np.int64)
    doer = _doer(operations.process[rows], operations.thread[rows])
    doers, thread = np.unique(doer, return_inverse=True)
    pairs = thread.astype(np.int64) << 32 | operations.file[rows]
    names, pair = np.unique(pairs, return_inverse=True)
    opened = np.bincount(pair[~data[rows]], minlength=len(names)) > 0
    moved = np.where(data[rows], operations.bytes[rows], 0)
    through_own = np.where(opened[pair], moved, 0)
    process = operations.process[rows]
    whole, by_own = np.bincount(process, moved), np.bincount(process, through_own)
    works = np.bincount(thread, through_own) > 0
    several = np.bincount(doers[works] >> 32, minlength=len(whole)) > 1
    apart = several & (by_own >= OWN_SHARE * whole)
    return np.asarray(doers[works & apart[doers >> 32] & (doers & 0xFFFF_FFFF > 0)])
