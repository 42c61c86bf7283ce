"""The file that the tracer wrote for one process (tracer/format.h), as arrays.

The process may have been killed at any moment, so whatever is not complete is left out, and sizes
are believed only as far as the file reaches.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from venturi.model.operation import KIND_CODES, KINDS, MEMORY_UNIT, Kind

MAGIC = b"VTRACE01"
SUFFIX = ".vtrace"
STOP_REASONS = ("", "error", "filter", "strict mode", "hidden time")
"""Why recording ended before the process did, in the order of the tracer's codes."""
LEFT_OUT = "<left out>"
"""The name under which the tracer counts what its filter leaves out."""

_VERSION = 3
_HEADER = struct.Struct("<8sIIIi" + "q" * 6 + "Q" * 5 + "ii64s256s2048s" + "Q" * 15)
_HEADER_BYTES = 4096
_WINDOW = struct.Struct("<IIII")
_WINDOW_HEADER_BYTES = 64
_NAME = struct.Struct("<IIIIII")
_WINDOWS = _RECORDS, _NAMES, _COUNTERS = 1, 2, 3
_LAYERS = 7
"""The tracer's, the first of operation.LAYERS."""

REPEATED = _FIRST_MARK = 253
"""The kind of a record that says how often a call was repeated; from here on, kinds are no calls.
"""
STARTED = 254
"""The kind of a record that a program was started."""

_CLOCKS_APART = 2**32
"""Ticks by which the clocks of two processors may disagree."""

_MOST_PERIOD = 4
_MOST_TIMES = 2**20
_MOST_RUN_TICKS = 2**20
"""Of a run, as the tracer ends them."""

_MOVES = np.isin(np.arange(256), [KIND_CODES[Kind.READ], KIND_CODES[Kind.WRITE]])

_MOST_DIMENSIONS = 64
_MOST_RANKS = 10**8
_MOST_PLAUSIBLE = 2**62

_NEEDED = """
    ACCESS ACCESS_COUNT STRIDE STRIDE_COUNT BYTES_READ BYTES_WRITTEN MAX_BYTE_READ MAX_BYTE_WRITTEN
    OPENS READS WRITES SEEKS STATS FSYNCS FDSYNCS MMAPS CLOSES UNLINKS RENAMES LINKS MKDIRS RMDIRS
    LISTS TRUNCATES ALLOCATES COPIES ATTRIBUTES COLL_OPENS COLL_READS COLL_WRITES NB_READS NB_WRITES
"""
"""Counters that whoever reads them asks for by name."""

RECORD = np.dtype(
    [
        ("start", "<i8"),
        ("end", "<i8"),
        ("offset", "<i8"),
        ("bytes", "<i8"),
        ("file", "<u4"),
        ("detail", "<u4"),
        ("thread", "<u4"),
        ("error", "<u2"),
        ("layer", "u1"),
        ("kind", "u1"),
    ]
)
"""One call; times in ticks."""

RUN = np.dtype(
    [
        ("times", "<i8"),
        ("took", "<i8"),
        ("between", "<i8"),
        ("offset_step", "<i8"),
        ("address_step", "<i4"),
        ("address_rest", "<u4"),
        ("period", "<u4"),
        ("slot", "<u2"),
        ("layer", "u1"),
        ("kind", "u1"),
    ]
)
"""In the place of a record: repetitions of the call that stands `period` before it."""


@dataclass(frozen=True)
class Name:
    """A file or dataset; sizes are those of datasets."""

    path: str
    within: int | None = None
    element_bytes: int = 0
    shape: tuple[int, ...] = ()
    chunk: tuple[int, ...] = ()
    chunk_cache_bytes: int | None = None


@dataclass(frozen=True)
class CounterSet:
    """The counters of a file in a layer; lists for counters of several values."""

    file: int
    layer: int
    values: dict[str, Any]


@dataclass(frozen=True)
class BytesMoved:
    """Bytes of a process, whoever made the calls."""

    read: int
    written: int


@dataclass(frozen=True)
class ProcessFile:
    """What one process recorded."""

    process: int
    parent: int
    rank: int
    """-1: none."""
    host: str
    program: str
    realtime_ns: int
    first: tuple[int, int]
    """Ticks and monotonic nanoseconds when recording began."""
    last: tuple[int, int]
    ended_ns: int
    """Monotonic; 0: the end was not orderly."""
    ticks_are_ns: bool
    dropped: int
    shared_maps: int
    rings: int
    stopped_error: int
    damage: tuple[str, ...]
    """What of it cannot be used, in words; empty where it is whole."""
    moved: BytesMoved | None
    """What the kernel counted while recording went on, with children that were waited for; None: it
    is not known."""
    moved_by_first: BytesMoved | None
    """The same of the first thread alone, without children."""
    unrecorded: int
    """Children that could not record."""
    starved: int
    """Of `dropped`, operations for which no descriptor was free."""
    unseen_contexts: bool
    """Asynchronous I/O of the kernel was set up by a call that was not seen."""
    unseen_rings: bool
    """The same of io_uring."""
    devices: int
    """Mappings of devices that hold data."""
    stopped_by: int
    """Why recording ended before the process did: an index into STOP_REASONS."""
    names: dict[int, Name]
    counters: list[CounterSet]
    records: list[npt.NDArray[Any]]
    """Windows of complete records, memory-mapped."""

    @cached_property
    def starts_programs(self) -> bool:
        """Whether it became or started another program."""
        return any(bool(np.any(window["kind"] == STARTED)) for window in self.records)


def read_process_file(path: Path) -> ProcessFile | None:
    """What a process recorded; None where the file was not even begun.

    Raises OSError where it cannot be read, ValueError where it is none of ours or nothing of it
    can be used. Damage that leaves something is told in the result.
    """
    size = path.stat().st_size
    if size == 0:
        return None
    if size < _HEADER_BYTES:
        raise ValueError(f"'{path.name}' is cut off in its header")
    # As a plain array: each slice of a memmap costs the creation of one more.
    content: Any = np.asarray(np.memmap(path, np.uint8, mode="r"))
    magic, version, process, parent, rank, *numbers = _HEADER.unpack_from(content)
    if version == 0 and size == _HEADER_BYTES:
        return None
    if magic != MAGIC or version != _VERSION:
        raise ValueError(f"'{path.name}' was not written by this version's tracer")
    if not -1 <= rank <= _MOST_RANKS:
        raise ValueError(f"'{path.name}' is damaged: rank {rank}")
    realtime, *readings, ended, file_bytes, dropped, maps, rings, _ = numbers[:11]
    stopped, ticks_are_ns, host, program, layout, *moved = numbers[11:]
    contents = _Contents(_layout(_text(layout)))
    contents.read(content, file_bytes)
    return ProcessFile(
        process,
        parent,
        rank,
        _text(host),
        Path(_text(program)).name,
        realtime,
        (readings[0], readings[1]),
        (readings[2], readings[3]),
        ended,
        bool(ticks_are_ns),
        dropped,
        maps,
        rings,
        stopped,
        tuple(dict.fromkeys(contents.damage)),
        _moved(moved[:2], moved[4:6]),
        _moved(moved[2:4], moved[6:8]),
        moved[8],
        moved[9],
        bool(moved[11]),
        bool(moved[12]),
        moved[13],
        min(moved[14], len(STOP_REASONS) - 1),
        contents.names,
        contents.counters,
        contents.records,
    )


def _moved(first: list[int], last: list[int]) -> BytesMoved | None:
    """The difference of two countings; the second one is there after an orderly end only."""
    if not last[0] or max(last) > _MOST_PLAUSIBLE:
        return None
    moved = BytesMoved(last[0] - first[0], last[1] - first[1])
    return moved if min(moved.read, moved.written) >= 0 else None


class _Contents:
    """What stands in the windows of a file, and what of it is damaged."""

    def __init__(self, layout: list[tuple[str, int]]) -> None:
        self.names: dict[int, Name] = {}
        self.counters: list[CounterSet] = []
        self.records: list[npt.NDArray[Any]] = []
        self.damage: list[str] = []
        self._layout = layout

    def read(self, content: Any, file_bytes: int) -> None:
        """All windows; `file_bytes` is where the process meant to go on."""
        if len(content) < file_bytes:
            self.damage.append("it is cut off")
        at = _HEADER_BYTES
        while at + _WINDOW_HEADER_BYTES <= len(content):
            kind, size, used, _ = _WINDOW.unpack_from(content, at)
            if kind not in _WINDOWS or size < _WINDOW_HEADER_BYTES:
                # Behind the last window there may be one that was only about to be made.
                if at < file_bytes or kind or used:
                    self.damage.append("its windows break off")
                return
            if at + size > len(content):
                self.damage.append("it is cut off")
            part = content[at + _WINDOW_HEADER_BYTES : at + size]
            if kind == _RECORDS:
                self._read_records(part, used)
            elif kind == _NAMES:
                self._read_names(part, used)
            else:
                self._read_counters(part, used)
            at += size

    def _read_records(self, part: Any, used: int) -> None:
        """Records that hold together; `used` may exceed what has room."""
        rows = part[: len(part) // RECORD.itemsize * RECORD.itemsize].view(RECORD)
        if used < len(rows) and rows["start"][used:].any():
            self.damage.append("records are beyond the end")
        rows = rows[:used]
        strange = _strange(rows)
        if strange.any():
            self.damage.append("records contradict themselves")
            rows = rows[~strange]
        self.records.append(rows)

    def _read_names(self, part: Any, used: int) -> None:
        if used > len(part):
            self.damage.append("names of files are lost")
        before = len(self.names)
        count = 0
        end = 0
        for file, name, end in _names(part[: min(used, len(part))].tobytes()):  # noqa: B007
            self.names[file] = name
            count += 1
        if end < min(used, len(part)) or len(self.names) < before + count:
            self.damage.append("names of files are lost")

    def _read_counters(self, part: Any, used: int) -> None:
        size = 8 + 8 * sum(count for _, count in self._layout)
        whole = min(used, len(part) // size) if self._layout else 0
        sets = [_counters(part[i * size : (i + 1) * size], self._layout) for i in range(whole)]
        fine = [one for one in sets if one is not None]
        if len(fine) < used:
            self.damage.append("counters are lost")
        self.counters += fine


def _strange(rows: Any) -> Any:
    """A mask of the records that no process wrote as they are."""
    start, end, kind, size = rows["start"], rows["end"], rows["kind"], rows["bytes"]
    is_call, repeats = kind < len(KINDS), kind == REPEATED
    strange = (start < 0) | (rows["layer"] >= _LAYERS)
    strange |= (start != 0) & is_call & (end < start - _CLOCKS_APART)
    # A record that was taken but never filled is empty; marks have no end.
    strange |= (end != 0) & ((start == 0) | ~is_call) & ~repeats
    strange |= ~is_call & (kind < _FIRST_MARK)
    strange |= _MOVES[kind] & ((size < 0) | (size > _MOST_PLAUSIBLE))
    if repeats.any():
        strange |= _torn(rows, strange)
    return strange


def _torn(rows: Any, strange: Any) -> Any:
    """A mask of the records of repetitions that do not fit what is before them."""
    runs = rows.view(RUN)
    at = np.flatnonzero(rows["kind"] == REPEATED)
    found = runs[at]
    period, slot = found["period"].astype(np.int64), found["slot"].astype(np.int64)
    fits = (period >= 1) & (period <= _MOST_PERIOD) & (slot < period) & (at - slot >= period)
    for field, most in (("times", _MOST_TIMES), ("took", _MOST_RUN_TICKS)):
        fits &= (found[field] >= 0) & (found[field] <= most)
    fits &= (found["between"] >= 0) & (found["between"] <= _MOST_RUN_TICKS)
    fits &= (found["times"] > 0) & (found["address_rest"] < MEMORY_UNIT)
    # Of a cycle, all of it or nothing.
    is_fit = np.zeros(len(rows), bool)
    is_fit[at[fits]] = True
    first, last_row = at - slot, len(rows) - 1
    for place in range(_MOST_PERIOD):
        inside = fits & (place < period)
        there = np.clip(first + place, 0, last_row)
        before = np.maximum(there - 1, np.clip(first, 0, last_row))
        base = np.clip(first + place - period, 0, last_row)
        whole = is_fit[there] & (runs["slot"][there] == place) & (runs["period"][there] == period)
        whole &= runs["times"][there] <= runs["times"][before]
        whole &= runs["times"][there] >= runs["times"][np.clip(first, 0, last_row)] - 1
        whole &= (rows["kind"][base] < len(KINDS)) & (rows["start"][base] != 0) & ~strange[base]
        fits &= ~inside | (whole & (first + place <= last_row))
    mask = np.zeros(len(rows), bool)
    mask[at[~fits]] = True
    return mask


def _layout(text: str) -> list[tuple[str, int]]:
    """The counters of a set in their order, and how many values each has; empty: damaged."""
    result = []
    for word in text.split():
        counter, _, count = word.partition("*")
        if not (count or "1").isdecimal() or len(count) > 2:
            return []
        result.append((counter, int(count or 1)))
    named = dict(result)
    return result if all(name in named for name in _NEEDED.split()) else []


def _text(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode("utf-8", "backslashreplace")


def _names(raw: bytes) -> Iterator[tuple[int, Name, int]]:
    """Each name with its number, and where it ends."""
    at = 0
    while at + _NAME.size <= len(raw):
        file, text_bytes, within, element_bytes, dimensions, cache = _NAME.unpack_from(raw, at)
        begin = at + _NAME.size
        text = begin + 16 * dimensions
        if file == 0 or dimensions > _MOST_DIMENSIONS or text + text_bytes > len(raw):
            return
        sizes = struct.unpack_from(f"<{2 * dimensions}Q", raw, begin)
        sizes = tuple(min(size, _MOST_PLAUSIBLE) for size in sizes)
        chunk = sizes[dimensions:]
        path = raw[text : text + text_bytes].decode("utf-8", "backslashreplace")
        at = (text + text_bytes + 7) & ~7
        yield (
            file - 1,
            Name(
                path,
                within - 1 if within else None,
                element_bytes,
                sizes[:dimensions],
                chunk if any(chunk) else (),
                cache - 1 if cache else None,
            ),
            at,
        )


def _counters(raw: Any, layout: list[tuple[str, int]]) -> CounterSet | None:
    """One set of counters; None where it holds what no process counts."""
    file, layer = raw[:8].view("<u4").tolist()
    values = raw[8:].view("<i8").tolist()
    if file == 0 or layer >= _LAYERS or min(values) < 0 or max(values) > _MOST_PLAUSIBLE:
        return None
    named: dict[str, Any] = {}
    at = 0
    for field, count in layout:
        named[field] = values[at] if count == 1 else values[at : at + count]
        at += count
    return CounterSet(file - 1, layer, named)
