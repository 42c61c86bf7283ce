"""Which streams of an application its proxy stands for, and what it says of them.

Files of a derived workload know what they stand for, so a proxy's streams need not be guessed from
what they look like. Calls that failed, requests that found nothing left, and jumps of a stream's
position are no part of a workload: they are counted beside the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from venturi.derive.known_name import known_name
from venturi.derive.noise import is_foreign
from venturi.derive.operation.table import DATASET_LAYERS, actors_in
from venturi.derive.operation.thread import with_threads_apart
from venturi.derive.operation.two_files import last_names, said_plainly
from venturi.derive.operation.workload import known_streams
from venturi.model.error import UserError
from venturi.model.operation import COPIES, KIND_CODES, Column, Kind, Operations
from venturi.model.trace import TracedFile
from venturi.model.trace_folder import Captured

UNSAID = ("calls that failed", "requests of 0 bytes", "seek operations")
"""What a workload does not say, in the order of `Stood.unsaid`."""
LEFT_OUT = ("bytes in streams that are left out", "operations in streams that are left out")
"""In the order of `Stood.left_out`."""


@dataclass(frozen=True)
class StreamMatch:
    """A capture as its proxy, or its application, is compared with it."""

    captured: Captured
    """Files by their last names, without what a workload does not say."""
    streams: list[str]
    """For each file the name of its stream; empty: left out."""
    called: dict[str, str]
    """By stream how its files are called."""
    unsaid: dict[str, tuple[int, ...]]
    """By stream how often there was what a workload does not say."""
    left_out: tuple[int, int]
    """Bytes and operations on files of no stream."""


def matched_streams(
    application: Captured, proxy: Captured
) -> tuple[StreamMatch, StreamMatch] | None:
    """Both captures with the streams that both know; None where the proxy does not tell."""
    theirs = [file.stands_for for file in proxy.trace.files]
    if application.operations is None or proxy.operations is None or not any(theirs):
        return None
    try:
        ours = known_streams(application)
    except UserError:
        return None
    if not set(theirs) & set(ours.streams) - {""}:
        return None
    listed = proxy.operations.file[proxy.operations.is_kind(Kind.LIST)]
    is_listed = np.isin(np.arange(len(theirs)), listed)
    return (
        _matched(application, ours.streams, np.array(ours.is_listed, bool)),
        _matched(proxy, theirs, is_listed),
    )


def _matched(captured: Captured, streams: list[str], is_listed: Column) -> StreamMatch:
    captured = _by_rank(captured)
    assert captured.operations is not None
    said, _ = said_plainly(captured.operations)
    operations = replace(said, file=last_names(said, len(streams)))
    data = operations.is_kind(Kind.READ, Kind.WRITE, *COPIES)
    masks = (
        operations.error != 0,
        data & (operations.bytes <= 0) & (operations.error == 0),
        operations.kind == KIND_CODES[Kind.SEEK],
    )
    in_file = operations.is_layer(*DATASET_LAYERS) & ~data
    kept = operations.take(
        ~np.logical_or.reduce((*masks, in_file, _of_lists(operations, is_listed)))
    )
    files = captured.trace.files
    called = {
        name: known_name([f.path for f, own in zip(files, streams, strict=True) if own == name])
        for name in set(streams) - {""}
    }
    return StreamMatch(
        captured=replace(captured, operations=kept),
        streams=streams,
        called=called,
        unsaid=_by_stream(operations, masks, streams),
        left_out=_left_out(kept, captured.trace.files, streams),
    )


def _by_rank(captured: Captured) -> Captured:
    """The capture with processes as the ranks for which a workload takes them."""
    captured = with_threads_apart(captured)
    trace, operations = captured.trace, captured.operations
    assert operations is not None
    actors = actors_in(trace, operations)
    ranks = actors.of_process.tolist()
    processes = [
        process.model_copy(update={"rank": rank})
        for process, rank in zip(trace.processes, ranks, strict=False)
    ]
    job = trace.job.model_copy(update={"ranks": actors.ranks})
    acts = actors.of_process[operations.process] >= 0
    return replace(
        captured,
        trace=trace.model_copy(update={"processes": processes, "job": job}),
        operations=operations.take(acts),
    )


def _left_out(
    operations: Operations, files: Sequence[TracedFile], streams: Sequence[str]
) -> tuple[int, int]:
    pairs = zip(files, streams, strict=True)
    is_lost = [not (name or file.within is not None or is_foreign(file)) for file, name in pairs]
    mask = np.array([*is_lost, False])[np.minimum(operations.file, len(streams))]
    moved = mask & operations.is_kind(Kind.READ, Kind.WRITE)
    return int(operations.bytes[moved].sum()), int(np.count_nonzero(mask))


def _of_lists(operations: Operations, is_listed: Column) -> Column:
    """Mask: what is done to folders that are listed, beside that: opening, asking, closing."""
    around = operations.is_kind(Kind.OPEN, Kind.CLOSE, Kind.STAT)
    found: Column = (
        around & np.append(is_listed, False)[np.minimum(operations.file, len(is_listed))]
    )
    return found


def _by_stream(
    operations: Operations, masks: tuple[Column, ...], streams: list[str]
) -> dict[str, tuple[int, ...]]:
    names, number = np.unique(np.array([*streams, ""]), return_inverse=True)
    of_row = number[np.minimum(operations.file, len(streams))]
    counts = [np.bincount(of_row[mask], minlength=len(names)).tolist() for mask in masks]
    return dict(zip(names.tolist(), zip(*counts, strict=True), strict=True))
