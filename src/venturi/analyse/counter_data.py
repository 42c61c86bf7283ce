"""Activity from counters alone: what they add up is said, and what they cannot tell is left out.

Counters hold no order of calls: there are no phases, and a course only where a heatmap was kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from venturi.derive.counts import bytes_of, earliest, latest, total
from venturi.derive.file_view import FileView, files_of
from venturi.derive.grouping import groups_of
from venturi.derive.known_name import numbered
from venturi.derive.noise import without_noise
from venturi.derive.observed import bytes_per_rank, io_seconds, request_sizes
from venturi.derive.stream import DerivedStream, Flow, stream_of
from venturi.model.characterization_data import (
    CHARACTERIZATION_DATA_SCHEMA,
    Basis,
    CharacterizationData,
    RankTimeline,
    RequestOrder,
    SizeCount,
    StreamCharacterization,
)
from venturi.model.error import UserError
from venturi.model.operation import Kind
from venturi.model.plan import Direction
from venturi.model.trace import CounterRecord, Heatmap, Layer, Trace
from venturi.model.trace_folder import Captured
from venturi.sources.counting import counters_of

SURELY = 0.995
"""Sizes are called exact where they explain this share of the bytes."""

_LOW = (Layer.POSIX, Layer.STDIO)
_TIMES = {
    Kind.READ.value: "F_READ_TIME",
    Kind.WRITE.value: "F_WRITE_TIME",
    "names": "F_META_TIME",
}
_STAMPS = ("OPEN", "READ", "WRITE", "CLOSE")


def counter_data_of(captured: Captured, name: str) -> CharacterizationData:
    """The activity that a capture's counters add up to, called `name`.

    Of a capture with operations and no counters, these are counted. Raises UserError where there
    is no I/O of an application.
    """
    trace = _with_counters(captured)
    views = files_of(trace)
    own = without_noise(views)
    if not own:
        raise UserError(
            f"'{trace.source.file}' holds no counters of an application's I/O",
            "capture a job that reads, writes or opens files",
        )
    groups = groups_of(own, trace.job.ranks)
    streams = [stream_of(g, f"stream{i}", trace.job.ranks) for i, g in enumerate(groups)]
    found = [_stream(stream, trace) for stream in streams]
    io_s = io_seconds(streams) or 0.0
    operations: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    for stream in found:
        operations.update(stream.operations)
        seconds.update(stream.seconds)
    return CharacterizationData(
        schema_=CHARACTERIZATION_DATA_SCHEMA,
        name=name,
        source=trace.source.format,
        command=trace.job.command,
        basis=Basis.COUNTERS,
        ranks=trace.job.ranks,
        seconds=trace.job.seconds,
        lanes=[f"rank {rank}" for rank in range(trace.job.ranks)],
        bytes_written=sum(stream.bytes_written for stream in found),
        bytes_read=sum(stream.bytes_read for stream in found),
        operations=dict(operations),
        storage_written=_stored(own, Direction.WRITE),
        storage_read=_stored(own, Direction.READ),
        io_seconds=io_s,
        io_share=min(1.0, io_s / trace.job.seconds) if trace.job.seconds > 0 else 0.0,
        seconds_by=dict(seconds),
        streams=found,
        phases=[],
        timeline=_timeline(trace.heatmaps),
        left_out=sum(view.operations for view in views) - sum(view.operations for view in own),
        gaps=[f"{gap.layer}: {gap.what}" for gap in trace.gaps],
    )


def with_counted(activity: CharacterizationData, captured: Captured) -> CharacterizationData:
    """Activity from operations, with the calls and the time that only the counters beside have.

    DXT holds reads and writes; opens, seeks, stats, and the time in calls on names, are counted. A
    capture that counts no I/O of an application adds nothing.
    """
    try:
        counted = counter_data_of(captured, activity.name)
    except UserError:
        return activity
    io_s = max(activity.io_seconds, counted.io_seconds)
    return activity.model_copy(
        update={
            "operations": _on_places(captured.trace) | counted.operations | activity.operations,
            "io_seconds": io_s,
            "io_share": min(1.0, io_s / activity.seconds) if activity.seconds > 0 else 0.0,
            "seconds_by": {
                kind: max(spent, counted.seconds_by.get(kind, 0.0)) if kind == "names" else spent
                for kind, spent in activity.seconds_by.items()
            },
        }
    )


def _on_places(trace: Trace) -> dict[str, int]:
    """Seeks and stats of the application's files, as far as they were counted."""
    records = [
        record
        for view in without_noise(files_of(trace))
        for layer in _LOW
        for record in view.records.get(layer, [])
    ]
    counts = {Kind.SEEK: total(records, "SEEKS"), Kind.STAT: total(records, "STATS")}
    return {kind.value: count for kind, count in counts.items() if count}


def _with_counters(captured: Captured) -> Trace:
    trace, operations = captured.trace, captured.operations
    if trace.records or operations is None:
        return trace
    records = counters_of(operations, trace.files, trace.processes)
    return trace.model_copy(update={"records": records, "record_count": len(records)})


def _stored(views: Sequence[FileView], direction: Direction) -> int:
    """Bytes that POSIX and the C library's streams were asked to move."""
    return sum(
        bytes_of(record, direction)
        for view in views
        for layer in _LOW
        for record in view.records.get(layer, [])
    )


def _stream(stream: DerivedStream, trace: Trace) -> StreamCharacterization:
    flows = {flow.direction: flow for flow in stream.flows}
    records = stream.records
    return StreamCharacterization(
        name=_name(stream),
        layer=stream.layer.value,
        files=stream.files,
        shared_files=stream.files if stream.is_shared else 0,
        ranks=len(stream.group.owners),
        bytes_written=_bytes(flows.get(Direction.WRITE)),
        bytes_read=_bytes(flows.get(Direction.READ)),
        operations=_operations(stream),
        collective=sum(flow.counts.collective for flow in stream.flows),
        request_sizes=request_sizes([stream]),
        common_sizes=[size for flow in stream.flows for size in _sizes(flow)],
        order=[order for flow in stream.flows if (order := _order(stream, flow)) is not None],
        bytes_by_lane=bytes_per_rank([stream], trace.job.ranks) or [],
        turns=0,
        seconds=_seconds(records),
        first_s=min(_stamps(records, "START", earliest), default=0.0),
        last_s=max(_stamps(records, "END", latest), default=0.0),
    )


def _name(stream: DerivedStream) -> str:
    """The path of a stream's files, `#` for numbers where there are several."""
    paths = [view.path for view in stream.group.views]
    if len(paths) == 1:
        return paths[0]
    patterns = list(dict.fromkeys(numbered(path) for path in paths))
    more = f" and {len(patterns) - 1} more" if len(patterns) > 1 else ""
    return patterns[0] + more


def _bytes(flow: Flow | None) -> int:
    return flow.counts.bytes if flow else 0


def _operations(stream: DerivedStream) -> dict[str, int]:
    """What every source of counters counts."""
    counts = {
        Kind.OPEN.value: stream.opens,
        Kind.READ.value: 0,
        Kind.WRITE.value: 0,
        Kind.SYNC.value: stream.sync.calls,
    }
    for flow in stream.flows:
        counts[flow.direction.value] = flow.requests
    return {kind: count for kind, count in counts.items() if count}


def _sizes(flow: Flow) -> list[SizeCount]:
    """Sizes of one direction, where the counters tell them and not only their mean."""
    if flow.mix.known_share < SURELY:
        return []
    most = sorted(flow.mix.parts, key=lambda part: -part[1])
    return [SizeCount(direction=flow.direction, bytes=b, count=n) for b, n in most]


def _order(stream: DerivedStream, flow: Flow) -> RequestOrder | None:
    """Where requests lie, if what the counters say of it adds up.

    Darshan takes the byte before the first request as 0: of all that begin a file, those at its
    beginning count as going back, the others as jumping ahead.
    """
    counts = flow.counts
    if counts.sequential is None or counts.consecutive is None:
        return None
    at_begin = stream.files
    begins = stream.files * flow.active if stream.is_shared else stream.files
    forward = counts.sequential - counts.consecutive - (begins - at_begin)
    backward = counts.requests - counts.sequential - at_begin
    followers = counts.requests - begins
    if min(forward, backward, followers) < 0:
        return None
    return RequestOrder(
        direction=flow.direction,
        followers=followers,
        consecutive=counts.consecutive,
        forward=forward,
        backward=backward,
    )


def _seconds(records: Sequence[CounterRecord]) -> dict[str, float]:
    """Seconds of all ranks inside calls."""
    sums = {
        kind: sum(max(0.0, record.times.get(name, 0.0)) for record in records)
        for kind, name in _TIMES.items()
    }
    return {kind: value for kind, value in sums.items() if value > 0}


_Find = Callable[[Iterable[CounterRecord], str], float | None]


def _stamps(records: Sequence[CounterRecord], end: str, find: _Find) -> list[float]:
    found = (find(records, f"F_{word}_{end}_TIMESTAMP") for word in _STAMPS)
    return [value for value in found if value is not None]


def _timeline(heatmaps: Sequence[Heatmap]) -> RankTimeline:
    """The map of the layer that moved most; empty without one."""
    moved = {id(m): sum(sum(r.read) + sum(r.written) for r in m.rows) for m in heatmaps}
    most = max(heatmaps, key=lambda m: moved[id(m)], default=None)
    if most is None or not moved[id(most)]:
        return RankTimeline(bin_s=1.0, labels=[], written=[], read=[], operations=[])
    return RankTimeline(
        bin_s=most.bin_seconds,
        labels=[f"rank {row.rank}" for row in most.rows],
        written=[row.written for row in most.rows],
        read=[row.read for row in most.rows],
        operations=[[0] * len(row.read) for row in most.rows],
    )
