"""Reads the text that `recorder2text` makes of Recorder's traces: one file `RANK.txt` per rank.

A line is `start end function level type ( arguments )`, with names of files where the function
takes a descriptor. Recorder keeps arguments, not results: sizes are what was asked for.
"""

from __future__ import annotations

import re
from pathlib import Path

from venturi.model.error import UserError
from venturi.model.operation import (
    COLLECTIVE,
    KIND_CODES,
    LAYER_CODES,
    NO_FILE,
    NON_BLOCKING,
    UNKNOWN_OFFSET,
    Kind,
)
from venturi.model.trace import Gap, Job, Layer, Process, Source, Trace
from venturi.model.trace_folder import Captured
from venturi.sources.counting import counters_of
from venturi.sources.libc_call import CALLS, OPEN_MODES
from venturi.sources.rows import FileTable, Rows

FORMAT = "recorder2text"
LINE = re.compile(r"(-?\d+\.\d+) (-?\d+\.\d+) (\w+) (\d+) (\d+) \((.*)\)$")
ASKED = "sizes are what calls asked for: results are not recorded"

_MPI_DATA = re.compile(
    r"(?:MPI|PMPI)_File_(i?)(read|write)(_at|_shared|_ordered)?(_all)?(_begin)?$"
)
_MPI_BARRIERS = frozenset({"MPI_Barrier", "PMPI_Barrier"})
_TYPE_BYTES = {
    "MPI_BYTE": 1, "MPI_CHAR": 1, "MPI_SIGNED_CHAR": 1, "MPI_UNSIGNED_CHAR": 1, "MPI_SHORT": 2,
    "MPI_INT": 4, "MPI_UNSIGNED": 4, "MPI_FLOAT": 4, "MPI_LONG": 8, "MPI_UNSIGNED_LONG": 8,
    "MPI_LONG_LONG": 8, "MPI_LONG_LONG_INT": 8, "MPI_DOUBLE": 8, "MPI_INT64_T": 8,
    "MPI_UINT64_T": 8, "MPI_INT32_T": 4, "MPI_UINT32_T": 4, "MPI_LONG_DOUBLE": 16,
}  # fmt: skip
_STREAMS = frozenset(
    {"fopen", "fopen64", "fclose", "fread", "fwrite", "fseek", "fseeko", "fprintf"}
)
_MOST = 2**62


class _Rank:
    """One rank's calls."""

    def __init__(self, index: int, files: FileTable, rows: Rows) -> None:
        self._index = index
        self._files = files
        self._rows = rows
        self._places: dict[int, int] = {}
        self._sizes: dict[int, int] = {}
        self._handles: dict[str, int] = {}
        self.last_ns = 0
        self.unknown_types = 0
        self.has_hdf5 = False

    def line(self, text: str) -> bool:
        """One line; False where it is none of Recorder's."""
        found = LINE.match(text)
        if found is None:
            return False
        start_ns, end_ns = (round(float(found[k]) * 1e9) for k in (1, 2))
        if not 0 <= start_ns <= end_ns < _MOST:
            raise ValueError("impossible times")
        self.last_ns = max(self.last_ns, end_ns)
        name, arguments = found[3], found[6].split()
        self.has_hdf5 |= name.startswith("H5")
        if name in CALLS:
            self._libc(name, arguments, start_ns, end_ns)
        elif name in _MPI_BARRIERS:
            self._add(Layer.MPIIO, Kind.BARRIER, NO_FILE, start_ns, end_ns)
        elif "MPI_File_" in name:
            self._mpi(name, arguments, start_ns, end_ns)
        return True

    def _add(  # noqa: PLR0913, PLR0917
        self,
        layer: Layer,
        kind: Kind,
        file: int,
        start_ns: int,
        end_ns: int,
        detail: int = 0,
        offset: int = UNKNOWN_OFFSET,
        size: int = 0,
    ) -> None:
        self._rows.add((
            self._index, 0, LAYER_CODES[layer], KIND_CODES[kind], 0, file, detail,
            offset if 0 <= offset < _MOST else UNKNOWN_OFFSET, size if 0 <= size < _MOST else 0,
            start_ns, end_ns,
        ))  # fmt: skip

    def _libc(self, name: str, arguments: list[str], start_ns: int, end_ns: int) -> None:
        shape = CALLS[name]
        layer = Layer.STDIO if name in _STREAMS else Layer.POSIX
        paths = [a for a in arguments if a.startswith("/")]
        if not paths:
            return
        file = self._files.number(paths[0])
        numbers = [_number(a) for a in arguments if a != paths[0]]
        detail, offset, size = 0, UNKNOWN_OFFSET, 0
        if shape.kind is Kind.OPEN:
            detail = _flags(name, arguments)
            self._places[file] = self._sizes.get(file, 0) if detail & 0o2000 else 0
        elif shape.moves:
            size = _size(name, shape.is_counted, numbers)
            offset = self._places.get(file, UNKNOWN_OFFSET)
            if shape.is_placed:
                offset = numbers[-1] if numbers else UNKNOWN_OFFSET
            elif offset >= 0:
                self._places[file] = offset + size
            if shape.kind is Kind.WRITE and offset >= 0:
                self._sizes[file] = max(self._sizes.get(file, 0), offset + size)
        elif shape.kind is Kind.SEEK:
            offset = self._seek(file, numbers)
        elif shape.kind is Kind.TRUNCATE:
            offset = numbers[-1] if numbers else UNKNOWN_OFFSET
        elif shape.kind in (Kind.RENAME, Kind.LINK):
            detail = self._files.number(paths[1]) if len(paths) > 1 else NO_FILE
        self._add(layer, shape.kind, file, start_ns, end_ns, detail, offset, size)

    def _seek(self, file: int, numbers: list[int]) -> int:
        if len(numbers) < 2:
            return UNKNOWN_OFFSET
        offset, whence = numbers[0], numbers[1]
        base = (0, self._places.get(file, -1), self._sizes.get(file, -1))
        known = base[whence] if whence in (0, 1, 2) else -1
        place = known + offset if known >= 0 else UNKNOWN_OFFSET
        self._places[file] = place = place if 0 <= place < _MOST else UNKNOWN_OFFSET
        return place

    def _mpi(self, name: str, arguments: list[str], start_ns: int, end_ns: int) -> None:
        if name.endswith("_open") and len(arguments) >= 2:
            path = next((a for a in arguments if "/" in a), arguments[1])
            file = self._handles[arguments[-1]] = self._files.number(path)
            self._add(Layer.MPIIO, Kind.OPEN, file, start_ns, end_ns, COLLECTIVE)
            return
        if not arguments:
            return
        file = self._handles.get(arguments[0], NO_FILE)
        if arguments[0].startswith("/"):
            file = self._files.number(arguments[0])
        if name.endswith("_close"):
            self._add(Layer.MPIIO, Kind.CLOSE, file, start_ns, end_ns)
        elif name.endswith("_sync"):
            self._add(Layer.MPIIO, Kind.SYNC, file, start_ns, end_ns)
        elif found := _MPI_DATA.match(name):
            is_placed = found[3] == "_at"
            detail = COLLECTIVE * bool(found[4] or found[3] == "_ordered")
            detail |= NON_BLOCKING * bool(found[1])
            offset = _number(arguments[1]) if is_placed and len(arguments) > 1 else UNKNOWN_OFFSET
            size = self._mpi_bytes(arguments, 3 if is_placed else 2)
            kind = Kind.READ if found[2] == "read" else Kind.WRITE
            self._add(Layer.MPIIO, kind, file, start_ns, end_ns, detail, offset, size)

    def _mpi_bytes(self, arguments: list[str], place: int) -> int:
        if len(arguments) <= place + 1 or arguments[place + 1] not in _TYPE_BYTES:
            self.unknown_types += 1
            return 0
        return max(0, _number(arguments[place])) * _TYPE_BYTES[arguments[place + 1]]


def _number(text: str) -> int:
    return int(text) if text.lstrip("-").isdigit() and len(text) < 19 else -1


def _flags(name: str, arguments: list[str]) -> int:
    if len(arguments) < 2:
        return 0
    if name in _STREAMS:
        return OPEN_MODES.get(arguments[1].replace("b", ""), 0)
    return max(0, _number(arguments[1])) % 2**32


def _size(name: str, is_counted: bool, numbers: list[int]) -> int:
    """Bytes asked for; the pointer among the arguments is no decimal number, so -1."""
    if is_counted:
        return max(0, numbers[1]) * max(0, numbers[2]) if len(numbers) > 2 else 0
    place = 0 if name in ("readv", "writev", "fprintf", "vfprintf") else 1
    return max(0, numbers[place]) if len(numbers) > place else 0


def read_recorder_text(files: list[Path]) -> Captured:
    """The trace in texts of recorder2text, one file per rank.

    Raises UserError where a file cannot be opened, or a line before the last one is wrong.
    """
    rows, table = Rows(), FileTable()
    gaps = {ASKED}
    ranks = _ranks(files)
    last_ns = 0
    for index, file in enumerate(files):
        rank = _Rank(index, table, rows)
        _read_file(file, rank, gaps)
        last_ns = max(last_ns, rank.last_ns)
        if rank.unknown_types:
            gaps.add("sizes of MPI-IO requests with types of their own are unknown")
        if rank.has_hdf5:
            gaps.add("calls of HDF5 are not read, only what they do below")
    operations = rows.operations()
    processes = [Process(rank=rank) for rank in ranks]
    records = counters_of(operations, table.files(), processes)
    present = set(operations.layer.tolist())
    trace = Trace(
        source=Source(format=FORMAT, file=files[0].name),
        job=Job(ranks=max(ranks) + 1, seconds=last_ns / 1e9),
        layers=[layer for layer in Layer if LAYER_CODES[layer] in present],
        records=records,
        gaps=[Gap(layer="recorder", what=what) for what in sorted(gaps)],
        record_count=len(records),
        files=table.files(),
        processes=processes,
        operation_count=len(operations),
    )
    return Captured(trace, operations)


def _ranks(files: list[Path]) -> list[int]:
    """The ranks that the files' names say; else their order."""
    stems = [file.stem for file in files]
    if all(stem.isdigit() and len(stem) < 8 for stem in stems):
        return [int(stem) for stem in stems]
    return list(range(len(files)))


def _read_file(file: Path, rank: _Rank, gaps: set[str]) -> None:
    number = 0
    try:
        with file.open(encoding="utf-8", errors="replace", newline="\n") as lines:
            for text in lines:
                number += 1
                if rank.line(text.rstrip()):
                    continue
                if not text.endswith("\n"):
                    gaps.add(f"'{file.name}' ends inside a line: later calls are missing")
                elif text.strip():
                    raise ValueError(f"'{text[:60].strip()}'")
    except OSError as error:
        raise UserError(f"recorder text '{file}' cannot be opened: {error.strerror}") from None
    except (ValueError, OverflowError) as error:
        raise UserError(
            f"recorder text '{file}' is damaged at line {number} ({error})",
            "make it again with `recorder2text DIR`",
        ) from None
