"""Reads the text that `darshan-dxt-parser` prints."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import gt
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from venturi.model.error import UserError
from venturi.model.trace import Gap, Layer, Trace, TracedJob, TraceSource
from venturi.model.trace_folder import Captured
from venturi.sources.counting import counters_of
from venturi.sources.darshan_text import Parsed, read_comment
from venturi.sources.dxt import FULL, RecordTable, Segments, content_of

FORMAT = "darshan-dxt-parser"
TORN = "the text ends early: later reads and writes are missing"

_BLOCK_BYTES = 2**23
_LAYERS = {b"X_POSIX": Layer.POSIX, b"X_MPIIO": Layer.MPIIO}
_MODULES = {Layer.POSIX: "DXT_POSIX", Layer.MPIIO: "DXT_MPIIO"}
_FILE = re.compile(rb" DXT, file_id: (\d+), file_name: (.*)")
_RANK = re.compile(rb" DXT, rank: (-?\d+), hostname: (.*)")
_COUNTS = re.compile(rb" DXT, write_count: (\d+), read_count: (\d+)")
_FEWEST_COLUMNS = 8
"""Module, rank, direction, number, offset, length, start, end; thread and targets may follow."""


@dataclass
class _Columns:
    """Segments of one layer as they come."""

    record: array[int] = field(default_factory=lambda: array("q"))
    is_write: array[int] = field(default_factory=lambda: array("b"))
    offset: array[int] = field(default_factory=lambda: array("q"))
    bytes: array[int] = field(default_factory=lambda: array("q"))
    start_s: array[float] = field(default_factory=lambda: array("d"))
    end_s: array[float] = field(default_factory=lambda: array("d"))
    thread: array[int] = field(default_factory=lambda: array("q"))

    def segments(self, layer: Layer) -> Segments:
        return Segments(
            layer=layer,
            record=np.frombuffer(self.record, np.int64),
            is_write=np.frombuffer(self.is_write, np.int8) != 0,
            offset=np.frombuffer(self.offset, np.int64),
            bytes=np.frombuffer(self.bytes, np.int64),
            start_s=np.frombuffer(self.start_s, np.float64),
            end_s=np.frombuffer(self.end_s, np.float64),
            thread=np.frombuffer(self.thread, np.int64),
        )


class _DxtTextReader:
    """What the text has said so far."""

    def __init__(self) -> None:
        self.header = Parsed()
        self.table = RecordTable()
        self.names: dict[int, str] = {}
        self.columns = {layer: _Columns() for layer in _LAYERS.values()}
        self.line = 0
        self._identity = -1
        self._record = -1
        self._promised = 0
        self._came = 0

    @property
    def is_short(self) -> bool:
        """Whether the last record has fewer lines than it promised."""
        return self._came < self._promised

    def comment(self, text: bytes) -> None:
        """A line that began with `#`."""
        if found := _FILE.match(text):
            self._identity = int(found[1])
            self.names[self._identity] = found[2].decode("utf-8", "replace")
        elif found := _RANK.match(text):
            if self._identity < 0:
                raise ValueError("a rank before the first file")
            host = found[2].decode("utf-8", "replace")
            rank, ranks = int(found[1]), int(self.header.header.get("nprocs", "0"))
            if not -1 <= rank < ranks < 2**31:
                raise ValueError(f"rank {rank} of {ranks}")
            self._record = self.table.add(self._identity, rank, host)
        elif found := _COUNTS.match(text):
            self._promised = int(found[1]) + int(found[2])
            self._came = 0
        elif not text.startswith(b" DXT"):
            read_comment(self.header, "#" + text.decode("utf-8", "replace"))

    def rows(self, text: bytes) -> None:
        """Lines of segments; all of one block are alike, or they are read one by one."""
        lines = [line for line in text.split(b"\n") if line.strip()]
        if not lines:
            return
        tokens = text.split()
        width, rest = divmod(len(tokens), len(lines))
        if rest or width < _FEWEST_COLUMNS or len(set(tokens[0::width])) != 1:
            for line in lines:
                parts = line.split()
                if len(parts) < _FEWEST_COLUMNS:
                    raise ValueError(f"a row of {len(parts)} columns")
                self._rows(parts, len(parts))
        else:
            self._rows(tokens, width)

    def _rows(self, tokens: list[bytes], width: int) -> None:
        layer = _LAYERS.get(tokens[0])
        if layer is None or self._record < 0:
            raise ValueError(f"no segment of a file: '{tokens[0].decode('utf-8', 'replace')}'")
        directions = tokens[2::width]
        writes = directions.count(b"write")
        if writes + directions.count(b"read") != len(directions):
            raise ValueError("a direction that is neither write nor read")
        offset = array("q", map(_offset, tokens[4::width]))
        size = array("q", map(int, tokens[5::width]))
        start_s = array("d", map(float, tokens[6::width]))
        end_s = array("d", map(float, tokens[7::width]))
        is_possible = min(size) >= 0 and min(offset) >= -1 and max(size) < 2**56
        if not (is_possible and min(start_s) >= 0 and max(end_s) < 2**32):
            raise ValueError("impossible values")
        if any(map(gt, start_s, end_s)):
            raise ValueError("a request that ends before it begins")
        into = self.columns[layer]
        into.record.extend([self._record] * len(size))
        into.is_write.extend(direction == b"write" for direction in directions)
        into.offset.extend(offset)
        into.bytes.extend(size)
        into.start_s.extend(start_s)
        into.end_s.extend(end_s)
        into.thread.extend(_threads(tokens, width, len(size)))
        self._came += len(size)


def _offset(token: bytes) -> int:
    return -1 if token == b"N/A" else int(token)


def _threads(tokens: list[bytes], width: int, count: int) -> list[int]:
    """Ids of threads; what follows may also be targets of Lustre, in brackets."""
    if width == _FEWEST_COLUMNS or not tokens[8].isdigit():
        return [0] * count
    return [int(token) % 2**63 for token in tokens[8::width]]


def read_dxt_text(path: Path) -> Captured:
    """The trace of a file with the output of `darshan-dxt-parser`.

    A text that is torn at its end is used as far as it goes. Raises UserError where the file
    cannot be opened, or a line is wrong, which it names.
    """
    where = f"darshan-dxt-parser text '{path}'"
    reader = _DxtTextReader()
    try:
        is_torn = _read(path, reader)
        return _captured(reader, is_torn, path.name)
    except OSError as error:
        raise UserError(f"{where} cannot be opened: {error.strerror}") from None
    except (ValueError, KeyError, OverflowError) as error:
        what = "impossible values" if isinstance(error, ValidationError) else str(error)
        raise UserError(
            f"{where} is damaged at or behind line {reader.line + 1} ({what})",
            "print it again with `darshan-dxt-parser LOG`",
        ) from None


def _read(path: Path, reader: _DxtTextReader) -> bool:
    """Reads all whole lines; whether the end was torn."""
    with path.open("rb") as file:
        held = b""
        while more := file.read(_BLOCK_BYTES):
            cut = more.rfind(b"\n") + 1
            if cut:
                _read_lines(held + more[:cut], reader)
                held = more[cut:]
            else:
                held += more
    return bool(held.strip()) or reader.is_short


def _read_lines(block: bytes, reader: _DxtTextReader) -> None:
    for number, piece in enumerate(block.split(b"\n#")):
        if number > 0 or piece.startswith(b"#"):
            head, _, rows = piece.removeprefix(b"#" if number == 0 else b"").partition(b"\n")
            reader.comment(head)
            reader.rows(rows)
        else:
            reader.rows(piece)
        reader.line += piece.count(b"\n") + (number > 0)


def _captured(reader: _DxtTextReader, is_torn: bool, name: str) -> Captured:
    header = reader.header.header
    ranks = int(header["nprocs"])
    parts = [columns.segments(layer) for layer, columns in reader.columns.items()]
    present = [part for part in parts if len(part.record)]
    gaps = [Gap(layer=m, what=FULL) for m in _MODULES.values() if m in reader.header.partial]
    if is_torn:
        gaps.append(Gap(layer="DXT", what=TORN))
    content = content_of(present, reader.table, reader.names, gaps)
    records = counters_of(content.operations, content.files, content.processes)
    started = datetime.fromtimestamp(int(header["start_time"]), UTC)
    trace = Trace(
        source=TraceSource(
            format=FORMAT,
            file=name,
            library_version=reader.header.library_version,
            log_version=header["darshan log version"],
        ),
        job=TracedJob(
            ranks=ranks,
            seconds=max(0.0, float(header["run time"])),
            started=started.isoformat(),
            number=header.get("jobid", ""),
            command=header.get("exe", "").strip(),
        ),
        layers=[part.layer for part in present],
        records=records,
        mounts=reader.header.mounts,
        gaps=gaps,
        record_count=len(records),
        files=content.files,
        processes=content.processes,
        operation_count=len(content.operations),
    )
    return Captured(trace, content.operations)
