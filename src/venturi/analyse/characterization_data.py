"""Activity: the numbers of a trace that a page draws and a comparison compares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from venturi.analyse.phase_detection import phases_of
from venturi.analyse.timeline import timeline_of
from venturi.derive.footprint import Footprint, footprint_of
from venturi.derive.stream_rows import StreamRows, rows_by_stream
from venturi.model.characterization_data import (
    CHARACTERIZATION_DATA_SCHEMA,
    CharacterizationData,
    RequestOrder,
    SizeCount,
    StreamCharacterization,
)
from venturi.model.error import UserError
from venturi.model.operation import COLLECTIVE, KINDS, UNKNOWN_OFFSET, Column, Kind
from venturi.model.plan import Direction
from venturi.model.trace import Layer
from venturi.model.trace_folder import Captured
from venturi.model.workload import REQUEST_EDGES_BYTES, RequestBucket

MOST_SIZES = 64


def characterization_data_of(
    captured: Captured, name: str, streams: Sequence[str] = ()
) -> CharacterizationData:
    """The activity in a trace, called `name`; raises UserError where it has no operations.

    `streams` are the names of the streams of its files, as for `footprint_of`.
    """
    found = footprint_of(captured, streams)
    if found is None:
        raise UserError(
            f"'{captured.trace.source.file}' holds counters and no operations",
            "capture the application with: venturi capture -- COMMAND",
        )
    kept = found.own
    io_s = found.longest_s(kept)
    posix = found.of_layer(Layer.POSIX, Layer.STDIO) & (found.stream >= 0)
    return CharacterizationData(
        schema_=CHARACTERIZATION_DATA_SCHEMA,
        name=name,
        source=captured.trace.source.format,
        command=captured.trace.job.command,
        ranks=captured.trace.job.ranks,
        seconds=found.job_s,
        lanes=found.lanes,
        bytes_written=_bytes(found, found.writes),
        bytes_read=_bytes(found, found.reads),
        operations=_operations(found, kept),
        storage_written=_bytes(found, posix & found.kind(Kind.WRITE)),
        storage_read=_bytes(found, posix & found.kind(Kind.READ, Kind.COPY)),
        io_seconds=io_s,
        io_share=min(1.0, io_s / found.job_s) if found.job_s > 0 else 0.0,
        seconds_by=_seconds(found, kept),
        streams=_streams(found),
        phases=phases_of(found),
        timeline=timeline_of(found),
        left_out=int(len(found.ops) - np.count_nonzero(kept)),
        gaps=[f"{gap.layer}: {gap.what}" for gap in captured.trace.gaps],
    )


def _streams(found: Footprint) -> list[StreamCharacterization]:
    turns = _turns(found)
    streams = [_stream(rows, turns) for rows in rows_by_stream(found)]
    return sorted(
        streams,
        key=lambda s: (-(s.bytes_written + s.bytes_read), -sum(s.operations.values()), s.name),
    )


def _stream(of: StreamRows, turns: Column) -> StreamCharacterization:
    found, mask, reads, writes, data = of.found, of.own, of.reads, of.writes, of.data
    lanes_of_file = np.unique(np.stack((found.root[data], found.lane[data])), axis=1)
    sharers = np.unique(lanes_of_file[0], return_counts=True)[1]
    moved = found.per_lane(data, found.ops.bytes)
    return StreamCharacterization(
        name=of.name,
        layer=of.layer.value,
        files=len(np.unique(found.root[mask])),
        shared_files=int(np.count_nonzero(sharers > 1)),
        ranks=len(np.unique(found.lane[mask])),
        bytes_written=_bytes(found, writes),
        bytes_read=_bytes(found, reads),
        operations=_operations(found, mask),
        collective=int(np.count_nonzero(found.ops.detail[data] & COLLECTIVE)),
        request_sizes=_buckets(found, reads, writes),
        common_sizes=_sizes(found, writes, Direction.WRITE) + _sizes(found, reads, Direction.READ),
        order=[
            order
            for direction, rows in ((Direction.WRITE, writes), (Direction.READ, reads))
            if (order := _order(found, rows, direction)) is not None
        ],
        bytes_by_lane=[int(value) for value in moved],
        turns=int(turns[found.stream[mask[0]]]),
        seconds=_seconds(found, mask),
        first_s=_clock(found.ops.start_ns[mask].min()),
        last_s=_clock(found.ops.end_ns[mask].max()),
    )


def _clock(ns: int) -> float:
    return max(0.0, float(ns) * 1e-9)


def _bytes(found: Footprint, mask: Column) -> int:
    return int(found.ops.bytes[mask].sum())


def _operations(found: Footprint, mask: Column) -> dict[str, int]:
    counts = np.bincount(found.ops.kind[mask], minlength=len(KINDS))
    return {kind.value: int(counts[i]) for i, kind in enumerate(KINDS) if counts[i]}


def _seconds(found: Footprint, rows: Column) -> dict[str, float]:
    """Seconds of all lanes in the calls of these rows (a mask or indices), by their sort."""
    spent = found.seconds[rows]
    parts = {
        "read": found.reads,
        "write": found.writes,
        "names": found.names,
        "sync": found.syncs,
    }
    return {name: max(0.0, float(spent[part[rows]].sum())) for name, part in parts.items()}


def _buckets(found: Footprint, reads: Column, writes: Column) -> list[RequestBucket]:
    edges = np.array(REQUEST_EDGES_BYTES)
    counts = [
        np.bincount(np.searchsorted(edges, found.ops.bytes[mask]), minlength=len(edges))
        for mask in (writes, reads)
    ]
    return [
        RequestBucket(up_to_bytes=edge, writes=int(counts[0][i]), reads=int(counts[1][i]))
        for i, edge in enumerate(REQUEST_EDGES_BYTES)
        if counts[0][i] or counts[1][i]
    ]


def _sizes(found: Footprint, mask: Column, direction: Direction) -> list[SizeCount]:
    sizes, counts = np.unique(found.ops.bytes[mask], return_counts=True)
    most = np.argsort(-counts, kind="stable")[:MOST_SIZES]
    return [SizeCount(direction=direction, bytes=int(sizes[i]), count=int(counts[i])) for i in most]


def _order(found: Footprint, mask: Column, direction: Direction) -> RequestOrder | None:
    """Each request beside its forerunner; those of unknown offset are passed over."""
    rows = mask[(found.ops.offset[mask] != UNKNOWN_OFFSET) & (found.ops.bytes[mask] > 0)]
    if not len(rows):
        return None
    chain = found.ops.file[rows].astype(np.int64) * len(found.lanes) + found.lane[rows]
    by_chain = np.argsort(chain, kind="stable")
    rows, chain = rows[by_chain], chain[by_chain]
    follows = chain[1:] == chain[:-1]
    ends = (found.ops.offset[rows] + found.ops.bytes[rows])[:-1][follows]
    begins = found.ops.offset[rows][1:][follows]
    return RequestOrder(
        direction=direction,
        followers=int(follows.sum()),
        consecutive=int((begins == ends).sum()),
        forward=int((begins > ends).sum()),
        backward=int((begins < ends).sum()),
    )


def _turns(found: Footprint) -> Column:
    """For each stream, how often the busiest lane begins to read or write it after other data."""
    rows = np.flatnonzero(found.data)
    rows = rows[np.argsort(found.lane[rows], kind="stable")]
    lane, stream = found.lane[rows], found.stream[rows]
    state = stream * 2 + found.reads[rows]
    begins = np.ones(len(rows), bool)
    begins[1:] = (state[1:] != state[:-1]) | (lane[1:] != lane[:-1])
    places = stream[begins] * len(found.lanes) + lane[begins]
    counts = np.bincount(places, minlength=max(1, len(found.streams)) * len(found.lanes))
    return np.asarray(counts.reshape(-1, len(found.lanes)).max(axis=1))
