"""What a workload leaves out of its source, in amounts, and what share it reproduces."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from venturi.derive.counts import total
from venturi.derive.file_view import FileView, files_of
from venturi.derive.grouping import FileGroup, Selection
from venturi.derive.noise import Noise, with_noise_named, without_noise
from venturi.derive.stream import DerivedStream
from venturi.model.operation import LAYERS, Kind, Operations
from venturi.model.plan import Direction
from venturi.model.trace import Layer, Trace
from venturi.model.workload import LeftOut

SMALL = "small streams"
UNTOLD = "calls that the language has no word for, or that cannot be repeated"
STATS = "calls that only look at files that are used (stat, access)"
NOT_TOLD = "requests of 0 bytes, or in another layer than that of the stream"

_NO_LOSS = frozenset({"HEATMAP", Layer.LUSTRE.value, "LUSTRE"})
"""Layers whose gaps lose nothing of the application's I/O."""


@dataclass(frozen=True)
class Amount:
    """Files, calls and bytes."""

    files: int = 0
    operations: int = 0
    bytes: int = 0

    def __bool__(self) -> bool:
        return bool(self.files or self.operations or self.bytes)

    def __add__(self, other: Amount) -> Amount:
        return Amount(
            self.files + other.files,
            self.operations + other.operations,
            self.bytes + other.bytes,
        )

    def left_out(self, what: str, *, is_application: bool = True) -> list[LeftOut]:
        """The entry that says so; none of nothing."""
        if not self:
            return []
        return [
            LeftOut(
                what=what,
                files=self.files,
                operations=self.operations,
                bytes=self.bytes,
                is_application=is_application,
            )
        ]


@dataclass(frozen=True)
class Coverage:
    """The shares of the application's I/O that are reproduced; None: not known."""

    bytes: float | None
    operations: float | None
    files: float | None


def coverage_of(kept: Amount, left: Sequence[LeftOut]) -> Coverage:
    """The shares that `kept` has beside what of the application is `left` out."""
    own = [entry for entry in left if entry.is_application]
    return Coverage(
        _share(kept.bytes, [entry.bytes for entry in own]),
        _share(kept.operations, [entry.operations for entry in own]),
        _share(kept.files, [entry.files for entry in own]),
    )


def _share(kept: int, left: list[int | None]) -> float | None:
    """1 only where nothing is left out, however little it is."""
    known = [amount for amount in left if amount is not None]
    if len(known) < len(left):
        return None
    if not any(known):
        return 1.0
    return min(kept / (kept + sum(known)), math.nextafter(1.0, 0.0))


def gaps_left_out(trace: Trace) -> list[LeftOut]:
    """What the source itself says that it lacks: nobody knows how much that is."""
    has_counters = bool(trace.records)
    found = []
    for gap in trace.gaps:
        is_told_by_counters = has_counters and gap.layer.startswith("DXT")
        if gap.layer not in _NO_LOSS and not is_told_by_counters:
            found.append(LeftOut(what=f"{gap.layer}: {gap.what}"))
    return found


def counted_remainder(
    trace: Trace, selection: Selection, streams: Sequence[DerivedStream]
) -> tuple[Amount, list[LeftOut]]:
    """What the proxy of these streams reproduces, and what else the counters hold."""
    groups = _of_groups(selection.groups)
    told = Amount(
        0,
        sum(flow.requests for stream in streams for flow in stream.flows),
        sum(flow.counts.bytes for stream in streams for flow in stream.flows),
    )
    requests = sum(_requests(view) for group in selection.groups for view in group.views)
    lacking = Amount(0, max(0, requests - told.operations), max(0, groups.bytes - told.bytes))
    kept = Amount(
        groups.files, groups.operations - lacking.operations, groups.bytes - lacking.bytes
    )
    named = with_noise_named(files_of(trace))
    used = [view for view, noise in named if noise is None]
    left = gaps_left_out(trace) + _of_groups(selection.left_out).left_out(SMALL)
    left += lacking.left_out(NOT_TOLD) + Amount(0, _stats(used)).left_out(STATS)
    for reason in Noise:
        views = [view for view, noise in named if noise is reason]
        amount = _of_views(views) + Amount(0, _stats(views))
        left += amount.left_out(reason.value, is_application=reason is Noise.LOOKED_AT)
    return kept, left


def _of_groups(groups: Iterable[FileGroup]) -> Amount:
    return sum((_of_views(group.views) for group in groups), Amount())


def _of_views(views: Sequence[FileView]) -> Amount:
    """Ranks that share a file use one file."""
    return Amount(
        len(views), sum(view.operations for view in views), sum(view.both_bytes for view in views)
    )


def _requests(view: FileView) -> int:
    return sum(view.requests(direction) for direction in Direction)


def _stats(views: Iterable[FileView]) -> int:
    return sum(total(view.records.get(Layer.POSIX, []), "STATS") for view in views)


def beyond_operations(trace: Trace, operations: Operations) -> list[LeftOut]:
    """What counters hold of the application that single operations lack, as DXT lacks stdio."""
    seen = {LAYERS[code] for code in np.unique(operations.layer).tolist()}
    moved = _moved_by_file(trace, operations)
    stdio, lacking, others = Amount(), Amount(), 0
    for view in without_noise(files_of(trace)):
        if view.interface.entry.buffers and Layer.STDIO not in seen:
            stdio += _of_views([view])
            continue
        name = view.path or f"record {view.identity}"
        calls, size = moved.get((name, view.data_layer), (0, 0))
        is_there = any((name, layer) in moved for layer in view.records)
        lacking += Amount(
            int(not is_there), max(0, _requests(view) - calls), max(0, view.both_bytes - size)
        )
        others += total(view.records.get(Layer.POSIX, []), *_BESIDE)
    others -= int(np.count_nonzero(operations.is_kind(*_SYNCS) & operations.is_layer(Layer.POSIX)))
    return [
        *stdio.left_out("files of stdio, which the log only counts"),
        *lacking.left_out("files and requests that the log only counts"),
        *Amount(0, max(0, others)).left_out(
            "opens, syncs and stats, which the log only counts (the proxy's are assumed)"
        ),
    ]


_BESIDE = ("OPENS", "STATS", "FSYNCS", "FDSYNCS")
_SYNCS = (Kind.SYNC, Kind.DATA_SYNC)


def _moved_by_file(
    trace: Trace, operations: Operations
) -> dict[tuple[str, Layer], tuple[int, int]]:
    """Requests and bytes of each file in each layer."""
    is_data = operations.is_kind(Kind.READ, Kind.WRITE) & (operations.error == 0)
    rows = np.flatnonzero(is_data & (operations.file < len(trace.files)))
    key = operations.file[rows].astype(np.int64) * 256 + operations.layer[rows]
    keys, place, count = np.unique(key, return_inverse=True, return_counts=True)
    size = np.bincount(place, operations.bytes[rows], len(keys)).astype(np.int64)
    return {
        (trace.files[one // 256].path, LAYERS[one % 256]): (calls, moved)
        for one, calls, moved in zip(keys.tolist(), count.tolist(), size.tolist(), strict=True)
    }
