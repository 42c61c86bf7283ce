"""What the log counted for the streams that a proxy reproduces, in the engine's words."""

from __future__ import annotations

from venturi.derive.counts import BUCKETS, bytes_of
from venturi.derive.grouping import Selection
from venturi.derive.remainder import counted_remainder, coverage_of
from venturi.derive.stream import DerivedStream, Flow
from venturi.model.plan import Direction
from venturi.model.trace import CounterRecord, Trace
from venturi.model.workload import Observed, RequestBucket, request_class

_TIMES = ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME")
MOST_LISTED_RANKS = 65536
"""With more ranks than this, the bytes of each are not listed."""


def observed_of(trace: Trace, streams: list[DerivedStream], selection: Selection) -> Observed:
    """The totals at the layer of the interface that each stream uses.

    Requests that moved nothing (reads at the end of a file) are left out: a proxy has none.
    `open` counts all openings, with those that made the file.
    """
    moved = {d: sum(_bytes(stream, d) for stream in streams) for d in Direction}
    operations = {
        direction.value: sum(flow.requests for flow in _flows(streams, direction))
        for direction in Direction
    }
    if not any(stream.interface.entry.is_library for stream in streams):
        operations["open"] = sum(stream.opens for stream in streams)
        operations["sync"] = sum(stream.sync.calls for stream in streams)
    kept, left_out = counted_remainder(trace, selection, streams)
    coverage = coverage_of(kept, left_out)
    return Observed(
        layer="+".join(sorted({stream.layer.value for stream in streams})),
        ranks=trace.job.ranks,
        seconds=round(trace.job.seconds, 6),
        io_seconds=io_seconds(streams),
        bytes_written=moved[Direction.WRITE],
        bytes_read=moved[Direction.READ],
        operations={kind: count for kind, count in operations.items() if count},
        request_sizes=request_sizes(streams),
        bytes_per_rank=bytes_per_rank(streams, trace.job.ranks),
        files=kept.files,
        coverage_bytes=coverage.bytes,
        coverage_operations=coverage.operations,
        coverage_files=coverage.files,
        left_out=left_out,
    )


def _flows(streams: list[DerivedStream], direction: Direction) -> list[Flow]:
    return [flow for stream in streams for flow in stream.flows if flow.direction is direction]


def _bytes(stream: DerivedStream, direction: Direction) -> int:
    flow = stream.flow(direction)
    return flow.counts.bytes if flow else 0


def request_sizes(streams: list[DerivedStream]) -> list[RequestBucket]:
    """Darshan's ten buckets; from the sizes of the mix where a layer has no buckets."""
    counted = {direction: [0] * len(BUCKETS) for direction in Direction}
    for stream in streams:
        for flow in stream.flows:
            buckets = counted[flow.direction]
            if sum(flow.counts.buckets) == flow.requests:
                for index, count in enumerate(flow.counts.buckets):
                    buckets[index] += count
            else:
                for size, count in flow.mix.parts:
                    buckets[request_class(size)] += count
    return [
        RequestBucket(
            up_to_bytes=edge,
            writes=counted[Direction.WRITE][index],
            reads=counted[Direction.READ][index],
        )
        for index, (_, edge) in enumerate(BUCKETS)
        if any(counted[direction][index] for direction in Direction)
    ]


def bytes_per_rank(streams: list[DerivedStream], ranks: int) -> list[int] | None:
    """Both directions together; None where a record stands for all ranks, or for too many."""
    if ranks > MOST_LISTED_RANKS:
        return None
    moved = [0] * ranks
    for record in (record for stream in streams for record in stream.records):
        if not 0 <= record.rank < ranks:
            return None
        moved[record.rank] += sum(bytes_of(record, direction) for direction in Direction)
    return moved


def io_seconds(streams: list[DerivedStream]) -> float | None:
    """The slowest rank's time in calls: its own files, and the slowest of each shared file."""
    own: dict[int, float] = {}
    shared = 0.0
    for record in (record for stream in streams for record in stream.records):
        if record.rank >= 0:
            own[record.rank] = own.get(record.rank, 0.0) + _time(record)
        else:
            shared += record.times.get("F_SLOWEST_RANK_TIME", 0.0)
    slowest = max(own.values(), default=0.0) + shared
    return round(slowest, 6) if slowest > 0.0 else None


def _time(record: CounterRecord) -> float:
    return sum(record.times.get(name, 0.0) for name in _TIMES)
