"""What the operations counted, and how sure each field of the workload is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from venturi.derive.observed import MOST_LISTED_RANKS
from venturi.derive.operation.attribute import counted
from venturi.derive.operation.linked import links_counted
from venturi.derive.operation.program import Program, Told
from venturi.derive.operation.stream import Stream, Streams
from venturi.derive.operation.table import Table
from venturi.derive.operation.walk import Walk
from venturi.derive.remainder import (
    SMALL,
    UNTOLD,
    Amount,
    beyond_operations,
    coverage_of,
    gaps_left_out,
)
from venturi.model.operation import KIND_CODES, Column, Kind
from venturi.model.trace import Layer, Trace
from venturi.model.trace_folder import Captured
from venturi.model.units import size_text
from venturi.model.workload import (
    REQUEST_EDGES_BYTES,
    Confidence,
    LeftOut,
    Observed,
    RequestBucket,
)

_WORDS = {
    Kind.WRITE: "write",
    Kind.READ: "read",
    Kind.OPEN: "open",
    Kind.CLOSE: "close",
    Kind.STAT: "stat",
    Kind.UNLINK: "unlink",
    Kind.MKDIR: "mkdir",
    Kind.RMDIR: "rmdir",
    Kind.RENAME: "rename",
    Kind.TRUNCATE: "truncate",
    Kind.MISS: "miss",
}

MAPPED_CONFIDENCE = 0.3
MAPPED_RULE = "1: a mapping was seen, and which part; what was touched in it was not"


def observed_of(
    captured: Captured,
    table: Table,
    streams: Streams,
    walks: Sequence[Walk],
    told: Column | None = None,
) -> Observed:
    """The totals of what the workload reproduces, and what it leaves out: streams and walks, or the
    operations of a table that are `told` one by one.

    `open` counts creations too.
    """
    trace = captured.trace
    kept = streams.of_file[table.file] >= 0 if told is None else told
    masks = {kind: table.is_kind(kind) & kept for kind in _WORDS}
    operations = {word: int(np.count_nonzero(masks[kind])) for kind, word in _WORDS.items()}
    operations["sync"] = int(np.count_nonzero(table.is_kind(Kind.SYNC, Kind.DATA_SYNC) & kept))
    for count in (counted, links_counted):
        operations |= count(table.kind[kept], table.flags[kept])
    written, read = masks[Kind.WRITE], masks[Kind.READ]
    data = written | read
    per_rank = np.bincount(table.rank[data], table.bytes[data], table.ranks).astype(np.int64)
    left_out = _left_out(captured, table, walks, ~kept, SMALL if told is None else UNTOLD)
    reproduced = _amount(table, kept) + _of_walks(walks)
    coverage = coverage_of(reproduced, left_out)
    inside = np.bincount(table.rank[kept], (table.end_ns - table.start_ns)[kept] / 1e9, table.ranks)
    return Observed(
        layer="+".join(sorted({stream.interface.value for stream in streams.kept})),
        ranks=table.ranks,
        seconds=round(trace.job.seconds, 6),
        io_seconds=round(float(inside.max()), 6),
        bytes_written=int(table.bytes[written].sum()),
        bytes_read=int(table.bytes[read].sum()),
        operations={word: count for word, count in operations.items() if count},
        request_sizes=_buckets(table.bytes[written], table.bytes[read]),
        bytes_per_rank=per_rank.tolist() if table.ranks <= MOST_LISTED_RANKS else None,
        files=reproduced.files,
        coverage_bytes=coverage.bytes,
        coverage_operations=coverage.operations,
        coverage_files=coverage.files,
        coverage_seconds=_coverage_seconds(table, streams, told),
        left_out=left_out,
    )


def _coverage_seconds(table: Table, streams: Streams, told: Column | None) -> float:
    if told is None:
        return round(streams.coverage_seconds, 6)
    spent = (table.end_ns - table.start_ns).astype(np.float64)
    return round(float(spent[told].sum() / max(spent.sum(), 1.0)), 6)


def _left_out(
    captured: Captured, table: Table, walks: Sequence[Walk], lost: Column, why: str
) -> list[LeftOut]:
    """What the source holds or lacks that the workload does not reproduce."""
    trace, operations = captured.trace, captured.operations
    found = gaps_left_out(trace)
    if operations is not None and trace.source.format.startswith("darshan"):
        found += beyond_operations(trace, operations)
    amount = _amount(table, lost)
    partly = len(np.intersect1d(table.file[lost], table.file[~lost]))
    found += replace(amount, files=amount.files - partly).left_out(why)
    if table.omitted is not None:
        lists = Counter({Kind.LIST.value: sum(walk.lists for walk in walks)})
        paths = [file.path for file in trace.files]
        walked = {path for walk in walks for path in walk.files}
        found += table.omitted.left_out(paths, table.left - lists, walked)
    return found


def _amount(table: Table, mask: Column) -> Amount:
    """What these rows hold."""
    data = mask & table.is_kind(Kind.READ, Kind.WRITE)
    files = len(np.unique(table.file[mask]))
    return Amount(files, int(np.count_nonzero(mask)), int(table.bytes[data].sum()))


def _of_walks(walks: Sequence[Walk]) -> Amount:
    return Amount(
        len({path for walk in walks for path in walk.files}),
        sum(walk.lists + walk.stats for walk in walks),
    )


def with_walks_observed(observed: Observed, walks: Sequence[Walk]) -> Observed:
    """The totals with those of walks through folders."""
    counts = Counter(observed.operations)
    counts += Counter(
        read_dir=sum(walk.lists for walk in walks), stat=sum(walk.stats for walk in walks)
    )
    return observed.model_copy(update={"operations": dict(counts)})


def nothing_observed(trace: Trace, ranks: int, walks: Sequence[Walk]) -> Observed:
    """The totals of a run that moved nothing and opened no file, but walked through folders."""
    reproduced, left_out = _of_walks(walks), gaps_left_out(trace)
    coverage = coverage_of(reproduced, left_out)
    return Observed(
        layer=Layer.POSIX.value,
        ranks=ranks,
        seconds=round(trace.job.seconds, 6),
        bytes_written=0,
        bytes_read=0,
        operations={},
        request_sizes=[],
        files=reproduced.files,
        coverage_bytes=coverage.bytes,
        coverage_operations=coverage.operations,
        coverage_files=coverage.files,
        left_out=left_out,
    )


def _buckets(written: Column, read: Column) -> list[RequestBucket]:
    edges = np.array(REQUEST_EDGES_BYTES)
    counts = [
        np.bincount(np.searchsorted(edges, sizes), minlength=len(edges))
        for sizes in (written, read)
    ]
    return [
        RequestBucket(up_to_bytes=edge, writes=int(counts[0][i]), reads=int(counts[1][i]))
        for i, edge in enumerate(REQUEST_EDGES_BYTES)
        if counts[0][i] or counts[1][i]
    ]


def confidence_of(table: Table, streams: Streams, program: Program) -> list[Confidence]:
    """The inferred fields, stream by stream."""
    found: list[Confidence] = []
    told: dict[int, list[Told]] = defaultdict(list)
    for one in program.told:
        told[one.stream].append(one)
    for number, stream in enumerate(streams.kept):
        found += _of_stream(table, stream)
        found += _of_runs(stream, told[number])
        found += _of_caches(stream, number, program)
    tasks = program.view.tasks
    if tasks is not None:
        rule = "4: what a worker did with one file after the other, dealt in turn as it came"
        value = f"{tasks.count} over {tasks.workers} workers"
        found.append(_entry(streams.kept[tasks.stream], "tasks", value, 0.6, rule))
    return found


def confidence_of_calls(table: Table, streams: Streams) -> list[Confidence]:
    """The same for a program that makes exactly the calls of the capture."""
    found: list[Confidence] = []
    reads, writes = (table.is_kind(kind) for kind in (Kind.READ, Kind.WRITE))
    for number, stream in enumerate(streams.kept):
        found += _of_stream(table, stream)
        here = streams.of_file[table.file] == number
        for direction, mask in (("write", writes & here), ("read", reads & here)):
            sizes = np.unique(table.bytes[mask])
            if len(sizes):
                value = _sizes_text(sizes)
                found.append(_entry(stream, direction, value, 0.95, "0: the calls themselves"))
    return found


def _sizes_text(sizes: Column) -> str:
    least, most = size_text(int(sizes[0])), size_text(int(sizes[-1]))
    return f"call by call, {least}" if len(sizes) == 1 else f"call by call, {least} to {most}"


def _of_stream(table: Table, stream: Stream) -> list[Confidence]:
    sharing, sure, why = "all", 0.95, "2: several ranks use the same file the same way"
    if table.ranks == 1:
        sharing, sure, why = "rank", 0.6, "2: one rank, so own and shared are the same"
    elif not stream.is_shared:
        sharing, why = "rank", "2: no file is written, or read, by two ranks"
    entries = [
        ("interface", stream.interface.value, 0.95, "1: highest layer that saw the file"),
        ("sharing", sharing, sure, why),
    ]
    if len(stream.files) > 1:
        rule = "1: the same name but for digits, or used alike"
        entries.append(("files", str(len(stream.files)), 0.95, rule))
    return [_entry(stream, *entry) for entry in entries]


def _of_runs(stream: Stream, told: list[Told]) -> list[Confidence]:
    """One entry for each different form of access."""
    seen: dict[tuple[bool, str, str], Told] = {}
    for one in told:
        seen.setdefault((one.is_write, one.said.pattern, one.said.transfer), one)
    entries = []
    for one in list(seen.values())[:4]:
        direction = "write" if one.is_write else "read"
        value = f"{one.said.pattern}, {one.said.transfer}"
        sure, rule = one.said.confidence, one.said.rule
        if stream.interface.entry.is_mapping:
            sure, rule = min(sure, MAPPED_CONFIDENCE), MAPPED_RULE
        entries.append(_entry(stream, direction, value, sure, rule))
    if len(seen) > 4:
        entries.append(_entry(stream, "others", str(len(seen) - 4), 0.5, "see the program"))
    return entries


def _of_caches(stream: Stream, number: int, program: Program) -> list[Confidence]:
    """What kept the chunks of the stream's datasets: an entry for each of its own in the files."""
    entries = program.names.entries
    known = {
        name: caches
        for name, caches in program.datasets.caches.items()
        if name in entries and entries[name].stream == number
    }
    rule = "1: what HDF5 said of its datasets as they were opened"
    return [
        _entry(
            stream,
            "chunk_cache",
            size_text(max(caches)),
            0.95 if len(caches) == 1 else 0.6,
            rule if len(caches) == 1 else f"{rule}; the largest of {len(caches)}",
        )
        for caches in known.values()
    ]


def _entry(stream: Stream, field: str, value: str, sure: float, rule: str) -> Confidence:
    return Confidence(stream=stream.name, field=field, value=value, confidence=sure, rule=rule)


__all__ = ["KIND_CODES", "confidence_of", "observed_of"]
