"""Darshan's extended traces (DXT): every read and write, of all versions, without the C library.

A region holds records, each of one file in one process: a header of 112 bytes, then the writes,
then the reads. Version 2 of DXT_POSIX and version 3 of DXT_MPIIO add the thread to each segment.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from venturi.model.operation import (
    KIND_CODES,
    LAYER_CODES,
    UNKNOWN_OFFSET,
    Kind,
    Operations,
    operations_of,
)
from venturi.model.trace import Gap, Layer, Process, TracedFile
from venturi.sources.darshan_container import Container, ContainerError, Region

MODULES = {"DXT_POSIX": Layer.POSIX, "DXT_MPIIO": Layer.MPIIO}
FULL = "the buffer for single operations was full: later reads and writes are missing"
TORN = "the log is torn: later reads and writes are missing"

_FIRST_WITH_THREADS = {"DXT_POSIX": 2, "DXT_MPIIO": 3}
_FIRST_WITH_OFFSETS = {"DXT_POSIX": 1, "DXT_MPIIO": 2}
_NEWEST = {"DXT_POSIX": 2, "DXT_MPIIO": 3}
_HEADER_WORDS = 14
"""Record id, rank, whether shared; the host in 8 words; counts of writes and reads."""
_HOST = slice(24, 88)

Words = npt.NDArray[np.int64]


@dataclass
class DxtContent:
    """What the DXT regions of a log hold."""

    operations: Operations
    files: list[TracedFile]
    processes: list[Process]
    gaps: list[Gap] = field(default_factory=list)


@dataclass
class Segments:
    """Segments of several records, column by column; `record` tells whose they are."""

    layer: Layer
    record: Words
    is_write: npt.NDArray[np.bool_]
    offset: Words
    bytes: Words
    start_s: npt.NDArray[np.float64]
    end_s: npt.NDArray[np.float64]
    thread: Words
    """The thread's id; 0 where the source does not tell it."""


@dataclass
class RecordTable:
    """The records of all regions: whose segments there are."""

    files: dict[int, int] = field(default_factory=dict)
    """Record id to index of the file."""
    processes: dict[tuple[int, str], int] = field(default_factory=dict)
    """Rank and host to index of the process."""
    file: list[int] = field(default_factory=list)
    process: list[int] = field(default_factory=list)

    def add(self, identity: int, rank: int, host: str) -> int:
        """The number of a new record."""
        self.file.append(self.files.setdefault(identity, len(self.files)))
        self.process.append(self.processes.setdefault((rank, host), len(self.processes)))
        return len(self.file) - 1


def read_dxt(container: Container) -> DxtContent | None:
    """The operations in a log's DXT regions; None where it has none.

    Raises ContainerError where a region cannot be unpacked at all.
    """
    names: dict[int, str] | None = None
    table = RecordTable()
    parts: list[Segments] = []
    gaps: list[Gap] = []
    for module in MODULES:
        if not container.has(module):
            continue
        names = container.names() if names is None else names
        region = container.region(module)
        if region.version > _NEWEST[module] or region.version < 1:
            gaps.append(Gap(layer=module, what=f"version {region.version} is not known here"))
            continue
        parts.append(_read_region(module, region, container, table, gaps))
    if names is None:
        return None
    return content_of(parts, table, names, gaps)


def _read_region(
    module: str, region: Region, container: Container, table: RecordTable, gaps: list[Gap]
) -> Segments:
    size = 5 if region.version >= _FIRST_WITH_THREADS[module] else 4
    usable = len(region.body) // 8 * 8
    words = np.frombuffer(region.body, container.order + "i8", usable // 8)
    if region.is_partial:
        gaps.append(Gap(layer=module, what=FULL))
    heads, is_cut = _record_heads(region.body[:usable], container, size, table)
    if is_cut or region.is_torn:
        gaps.append(Gap(layer=module, what=TORN))
    segments = _segments(words, heads, size, MODULES[module])
    if region.version < _FIRST_WITH_OFFSETS[module]:
        segments.offset[:] = UNKNOWN_OFFSET
    kept, dropped = _plausible(segments)
    if dropped:
        gaps.append(Gap(layer=module, what=f"{dropped} damaged segments were left out"))
    return kept


def _record_heads(
    body: bytes, container: Container, size: int, table: RecordTable
) -> tuple[Words, bool]:
    """Per record: its number, the word of its first segment, writes, reads; and if it is cut."""
    ranks = container.job().ranks
    layout = struct.Struct(container.order + "Qqq64sqq")
    hosts: dict[bytes, str] = {}
    heads: list[tuple[int, int, int, int]] = []
    place = 0
    while place + layout.size <= len(body):
        identity, rank, _, raw, writes, reads = layout.unpack_from(body, place)
        if writes < 0 or reads < 0 or not -1 <= rank < ranks:
            return _heads(heads), True
        host = hosts.get(raw)
        if host is None:
            host = hosts[raw] = raw.split(b"\0")[0].decode("utf-8", "replace")
        place += layout.size
        left = (len(body) - place) // (8 * size)
        is_cut = writes + reads > left
        writes = min(writes, left)
        reads = min(reads, left - writes)
        if writes + reads:
            heads.append((table.add(identity, rank, host), place // 8, writes, reads))
        if is_cut:
            return _heads(heads), True
        place += 8 * size * (writes + reads)
    return _heads(heads), place != len(body)


def _heads(heads: list[tuple[int, int, int, int]]) -> Words:
    return np.array(heads, np.int64).reshape(-1, 4)


def _segments(words: Words, heads: Words, size: int, layer: Layer) -> Segments:
    """Gathers the segments of all records at once: their words lie at regular places."""
    record, first, writes, reads = heads.T
    counts = writes + reads
    ends = np.cumsum(counts)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
    place = np.repeat(first, counts) + size * within
    reals = words.view(words.dtype.str.replace("i8", "f8"))
    return Segments(
        layer=layer,
        record=np.repeat(record, counts),
        is_write=within < np.repeat(writes, counts),
        offset=words[place].astype(np.int64, copy=False),
        bytes=words[place + 1].astype(np.int64, copy=False),
        start_s=reals[place + 2].astype(np.float64, copy=False),
        end_s=reals[place + 3].astype(np.float64, copy=False),
        thread=words[place + 4].astype(np.int64) if size > 4 else np.zeros(len(place), np.int64),
    )


def _plausible(segments: Segments) -> tuple[Segments, int]:
    """The segments that can be true, and how many cannot."""
    with np.errstate(invalid="ignore"):
        good = (segments.bytes >= 0) & (segments.bytes < 2**56)
        good &= (segments.offset >= UNKNOWN_OFFSET) & (segments.offset < 2**60)
        good &= (segments.start_s >= 0) & (segments.end_s < 2**32)
        good &= segments.end_s >= segments.start_s
    if good.all():
        return segments, 0
    columns = {name: getattr(segments, name)[good] for name in _SEGMENT_COLUMNS}
    return Segments(layer=segments.layer, **columns), int((~good).sum())


_SEGMENT_COLUMNS = ("record", "is_write", "offset", "bytes", "start_s", "end_s", "thread")


def content_of(
    parts: list[Segments], table: RecordTable, names: dict[int, str], gaps: list[Gap]
) -> DxtContent:
    """Operations, files and processes from segments and their records."""
    files = np.array(table.file, np.uint32)
    processes = np.array(table.process, np.uint32)

    def gathered(name: str) -> npt.NDArray[np.int64]:
        return np.concatenate([getattr(p, name) for p in parts] or [np.zeros(0, np.int64)])

    record = gathered("record").astype(np.int64)
    lengths = [len(p.record) for p in parts]
    layers = [LAYER_CODES[p.layer] for p in parts]
    process = processes[record] if len(processes) else record.astype(np.uint32)
    operations = operations_of(
        process=process,
        thread=_thread_numbers(process, gathered("thread"), gathered("start_s")),
        layer=np.repeat(np.array(layers, np.uint8), np.array(lengths, np.int64)),
        kind=np.where(gathered("is_write"), KIND_CODES[Kind.WRITE], KIND_CODES[Kind.READ]),
        file=files[record] if len(files) else record.astype(np.uint32),
        offset=gathered("offset"),
        bytes=gathered("bytes"),
        start_ns=_nanoseconds(gathered("start_s")),
        end_ns=_nanoseconds(gathered("end_s")),
    )
    return DxtContent(
        operations,
        [TracedFile(path=names.get(identity, f"record {identity}")) for identity in table.files],
        [Process(rank=rank, host=host) for rank, host in table.processes],
        gaps,
    )


def _nanoseconds(seconds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.asarray(np.rint(seconds * 1e9), np.int64)


def _thread_numbers(
    process: npt.NDArray[np.uint32], thread: Words, start_s: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint32]:
    """Threads of each process, numbered in the order in which they first act."""
    numbers = np.zeros(len(process), np.uint32)
    if not len(thread) or (thread == thread[0]).all():
        return numbers
    pairs = np.stack([process.astype(np.int64), thread])
    distinct, inverse = np.unique(pairs, axis=1, return_inverse=True)
    first_s = np.full(distinct.shape[1], np.inf)
    np.minimum.at(first_s, inverse.ravel(), start_s)
    of_pair = np.zeros(distinct.shape[1], np.uint32)
    seen: dict[int, int] = {}
    for pair in np.lexsort((first_s, distinct[0])):
        owner = int(distinct[0, pair])
        of_pair[pair] = seen.get(owner, 0)
        seen[owner] = seen.get(owner, 0) + 1
    numbers[:] = of_pair[inverse.ravel()]
    return numbers


def container_of(data: bytes) -> Container:
    """The container in a log's bytes. Raises ContainerError; nothing else for any input."""
    try:
        return Container(data)
    except struct.error as error:
        raise ContainerError(str(error)) from None
