"""The file that the tracer wrote for one process (tracer/format.h), as arrays.

The process may have been killed at any moment, so whatever is not complete is left out, and sizes
are believed only as far as the file reaches.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

MAGIC = b"VTRACE01"
SUFFIX = ".vtrace"
LEFT_OUT = "<left out>"
"""The name under which the tracer counts what its filter leaves out."""

_VERSION = 1
_HEADER = struct.Struct("<8sIIIi" + "q" * 6 + "Q" * 5 + "ii64s256s2048s")
_HEADER_BYTES = 4096
_WINDOW = struct.Struct("<IIII")
_WINDOW_HEADER_BYTES = 64
_NAME = struct.Struct("<IIIIII")
_RECORDS, _NAMES, _COUNTERS = 1, 2, 3
_MOST_DIMENSIONS = 64

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


@dataclass(frozen=True)
class Name:
    """A file or dataset; sizes are those of datasets."""

    path: str
    within: int | None = None
    element_bytes: int = 0
    shape: tuple[int, ...] = ()
    chunk: tuple[int, ...] = ()


@dataclass(frozen=True)
class CounterSet:
    """The counters of a file in a layer; lists for counters of several values."""

    file: int
    layer: int
    values: dict[str, Any]


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
    names: dict[int, Name]
    counters: list[CounterSet]
    records: list[npt.NDArray[Any]]
    """Windows of complete records, memory-mapped."""


def read_process_file(path: Path) -> ProcessFile | None:
    """What a process recorded; None where the file was not even begun.

    Raises OSError where it cannot be read, ValueError where it is none of ours.
    """
    if path.stat().st_size < _HEADER_BYTES:
        return None
    content: Any = np.memmap(path, np.uint8, mode="r")
    magic, version, process, parent, rank, *numbers = _HEADER.unpack_from(content)
    if version == 0:
        return None
    if magic != MAGIC or version != _VERSION:
        raise ValueError(f"'{path.name}' was not written by this version's tracer")
    realtime, *readings, ended, file_bytes, dropped, maps, rings, _ = numbers[:11]
    stopped, ticks_are_ns, host, program, layout = numbers[11:]
    names: dict[int, Name] = {}
    counters: list[CounterSet] = []
    records = []
    for kind, used, part in _windows(content, min(file_bytes, len(content))):
        if kind == _RECORDS:
            whole = part[: min(used, len(part) // RECORD.itemsize) * RECORD.itemsize].view(RECORD)
            records.append(whole)
        elif kind == _NAMES:
            names.update(_names(part[: min(used, len(part))].tobytes()))
        elif kind == _COUNTERS:
            counters += _counters(part, used, _text(layout))
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
        names,
        counters,
        records,
    )


def _windows(content: Any, end: int) -> Iterator[tuple[int, int, Any]]:
    """Kind, what is used of it, and the bytes of each window."""
    at = _HEADER_BYTES
    while at + _WINDOW_HEADER_BYTES <= end:
        kind, size, used, _ = _WINDOW.unpack_from(content, at)
        if size < _WINDOW_HEADER_BYTES or at + size > len(content):
            return
        yield kind, used, content[at + _WINDOW_HEADER_BYTES : at + size]
        at += size


def _text(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode("utf-8", "backslashreplace")


def _names(raw: bytes) -> Iterator[tuple[int, Name]]:
    at = 0
    while at + _NAME.size <= len(raw):
        file, text_bytes, within, element_bytes, dimensions, _ = _NAME.unpack_from(raw, at)
        begin = at + _NAME.size
        text = begin + 16 * dimensions
        if file == 0 or dimensions > _MOST_DIMENSIONS or text + text_bytes > len(raw):
            return
        sizes = struct.unpack_from(f"<{2 * dimensions}Q", raw, begin)
        chunk = sizes[dimensions:]
        path = raw[text : text + text_bytes].decode("utf-8", "backslashreplace")
        yield (
            file - 1,
            Name(
                path,
                within - 1 if within else None,
                element_bytes,
                sizes[:dimensions],
                chunk if any(chunk) else (),
            ),
        )
        at = (text + text_bytes + 7) & ~7


def _counters(part: Any, used: int, layout: str) -> list[CounterSet]:
    """The sets of a window, whose order of values the header tells."""
    fields = []
    for word in layout.split():
        counter, _, values_of_it = word.partition("*")
        fields.append((counter, int(values_of_it or 1)))
    size = 8 + 8 * sum(count for _, count in fields)
    sets = []
    for i in range(min(used, len(part) // size)):
        raw = part[i * size : (i + 1) * size]
        file, layer = raw[:8].view("<u4").tolist()
        values = raw[8:].view("<i8").tolist()
        if file == 0:
            continue
        named: dict[str, Any] = {}
        at = 0
        for field, count in fields:
            named[field] = values[at] if count == 1 else values[at : at + count]
            at += count
        sets.append(CounterSet(file - 1, layer, named))
    return sets
