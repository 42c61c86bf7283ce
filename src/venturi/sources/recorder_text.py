"""Reads the text that `recorder2text` makes of Recorder's traces: one file `RANK.txt` per rank.

A line is `start end function level type ( arguments )`, with names of files where the function
takes a descriptor. Recorder keeps arguments, not results: sizes are what was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
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
from venturi.model.trace import Gap, Layer, Process, Trace, TracedJob, TraceSource
from venturi.model.trace_folder import Captured
from venturi.sources.counting import counters_of
from venturi.sources.libc_call import CALLS, OPEN_MODES
from venturi.sources.recorder_hdf5 import GUESSED, Hdf5Ids, with_sizes
from venturi.sources.repeat import Repeats
from venturi.sources.rows import FileTable, Rows

FORMAT = "recorder2text"
CALL = re.compile(r"(\w+) (\d+) (\d+) \((.*)\)$")
"""What stands behind the two times of a line."""
ASKED = "sizes are what calls asked for: results are not recorded"

_MPI_DATA = re.compile(
    r"(?:MPI|PMPI)_File_(i?)(read|write)(_at|_shared|_ordered)?(_all)?(_begin)?$"
)
_MPI_BARRIERS = frozenset({"MPI_Barrier", "PMPI_Barrier"})
_TYPE_BYTES = {
    "MPI_BYTE": 1,
    "MPI_CHAR": 1,
    "MPI_SIGNED_CHAR": 1,
    "MPI_UNSIGNED_CHAR": 1,
    "MPI_SHORT": 2,
    "MPI_INT": 4,
    "MPI_UNSIGNED": 4,
    "MPI_FLOAT": 4,
    "MPI_LONG": 8,
    "MPI_UNSIGNED_LONG": 8,
    "MPI_LONG_LONG": 8,
    "MPI_LONG_LONG_INT": 8,
    "MPI_DOUBLE": 8,
    "MPI_INT64_T": 8,
    "MPI_UINT64_T": 8,
    "MPI_INT32_T": 4,
    "MPI_UINT32_T": 4,
    "MPI_LONG_DOUBLE": 16,
}
_STREAMS = frozenset(
    {"fopen", "fopen64", "fclose", "fread", "fwrite", "fseek", "fseeko", "fprintf"}
)
_MOST = 2**62

Act = Callable[[int, int, int], None]
"""What a call does, given when it began and ended in nanoseconds, and its place if it has one."""

_PLACED = ("pread", "pwrite")
"""Calls whose last argument is a place in the file."""


class _Rank:
    """One rank's calls. Most lines differ in their times alone, so a call is understood once."""

    def __init__(self, index: int, files: FileTable, rows: Rows) -> None:
        self._index = index
        self._files = files
        self._rows = rows
        self._places: dict[int, int] = {}
        self._sizes: dict[int, int] = {}
        self._handles: dict[str, int] = {}
        self._hdf5 = Hdf5Ids(files)
        self._known: Repeats[Act] = Repeats()
        self.last_ns = 0
        self.unknown_types = 0
        self.has_hdf5 = False

    def line(self, text: str) -> bool:
        """One line; False where it is none of Recorder's."""
        parts = text.split(" ", 2)
        if len(parts) < 3:
            return False
        call, place = parts[2], ""
        if call.startswith(_PLACED):
            head, _, tail = call.removesuffix(" )").rpartition(" ")
            if tail.isdecimal():
                call, place = head, tail
        act = self._known.get(call) or self._understood(parts[2], call)
        if act is None or not (parts[0][-1:] + parts[1][-1:]).isdigit():
            return False
        start_ns, end_ns = round(float(parts[0]) * 1e9), round(float(parts[1]) * 1e9)
        if not 0 <= start_ns <= end_ns < _MOST:
            raise ValueError("impossible times")
        if end_ns > self.last_ns:  # noqa: PLR1730  (for every line: max is a call)
            self.last_ns = end_ns
        act(start_ns, end_ns, _number(place))
        return True

    def _understood(self, call: str, key: str) -> Act | None:
        """What a call does, kept where it would be the same again; None: it is no call."""
        found = CALL.match(call)
        if found is None:
            return None
        name, arguments = found[1], found[4].split()
        act: Act = _nothing
        is_constant = True
        if name in CALLS:
            act, is_constant = self._libc(name, arguments)
        elif name in _MPI_BARRIERS:
            act = self._plain(Layer.MPIIO, Kind.BARRIER, NO_FILE)
        elif name.startswith("H5"):
            act, is_constant = self._hdf5_call(name, arguments), False
        elif "MPI_File_" in name:
            act, is_constant = self._mpi(name, arguments), False
        if is_constant:
            self._known.keep(key, act)
        return act

    def _plain(
        self,
        layer: Layer,
        kind: Kind,
        file: int,
        detail: int = 0,
        offset: int = UNKNOWN_OFFSET,
        size: int = 0,
    ) -> Act:
        """A call that does the same whenever it is made."""
        add = self._rows.add
        head = (
            self._index,
            0,
            LAYER_CODES[layer],
            KIND_CODES[kind],
            0,
            file,
            detail,
            offset if 0 <= offset < _MOST else UNKNOWN_OFFSET,
            size if size < _MOST else 0,
        )
        return lambda start_ns, end_ns, _: add((*head, start_ns, end_ns))

    def _libc(self, name: str, arguments: list[str]) -> tuple[Act, bool]:
        """What a function of the C library does, and whether that stands in its text alone."""
        shape = CALLS[name]
        layer = Layer.STDIO if name in _STREAMS else Layer.POSIX
        paths = [a for a in arguments if a.startswith("/")]
        if not paths:
            return _nothing, True
        file = self._files.number(paths[0])
        numbers = [_number(a) for a in arguments if a != paths[0]]
        if shape.kind is Kind.OPEN:
            return self._open(layer, file, _flags(name, arguments)), True
        if shape.moves:
            size = _size(name, shape.is_counted, numbers)
            return self._move(layer, shape.kind, file, size, shape.is_placed), True
        if shape.kind is Kind.SEEK:
            return self._plain(layer, Kind.SEEK, file, 0, self._seek(file, numbers)), False
        detail, offset = shape.detail, UNKNOWN_OFFSET
        if shape.kind is Kind.TRUNCATE:
            offset = numbers[-1] if numbers else UNKNOWN_OFFSET
        elif shape.kind in (Kind.RENAME, Kind.LINK):
            detail = self._files.number(paths[1]) if len(paths) > 1 else NO_FILE
        return self._plain(layer, shape.kind, file, detail, offset, shape.is_symbolic), True

    def _open(self, layer: Layer, file: int, flags: int) -> Act:
        """An open, which puts the place to the file's begin, or to its end."""
        note = self._plain(layer, Kind.OPEN, file, flags)

        def act(start_ns: int, end_ns: int, place: int) -> None:
            self._places[file] = self._sizes.get(file, 0) if flags & 0o2000 else 0
            note(start_ns, end_ns, place)

        return act

    def _move(self, layer: Layer, kind: Kind, file: int, size: int, is_placed: bool) -> Act:
        """A read or a write at the file's place, or at one of its own."""
        places, sizes, add = self._places, self._sizes, self._rows.add
        head = (self._index, 0, LAYER_CODES[layer], KIND_CODES[kind], 0, file, 0)
        is_write = kind is Kind.WRITE
        size = size if size < _MOST else 0

        def act(start_ns: int, end_ns: int, place: int) -> None:
            offset = place if is_placed else places.get(file, UNKNOWN_OFFSET)
            if offset >= 0:
                end = offset + size
                if not is_placed:
                    places[file] = end
                if is_write and end > sizes.get(file, 0):
                    sizes[file] = end
                if offset >= _MOST:
                    offset = UNKNOWN_OFFSET
            add((*head, offset, size, start_ns, end_ns))

        return act

    def _hdf5_call(self, name: str, arguments: list[str]) -> Act:
        effect = self._hdf5.call(name, arguments)
        self.has_hdf5 |= effect is not None
        return self._plain(*effect) if effect is not None else _nothing

    def _seek(self, file: int, numbers: list[int]) -> int:
        if len(numbers) < 2:
            return UNKNOWN_OFFSET
        offset, whence = numbers[0], numbers[1]
        base = (0, self._places.get(file, -1), self._sizes.get(file, -1))
        known = base[whence] if whence in (0, 1, 2) else -1
        place = known + offset if known >= 0 else UNKNOWN_OFFSET
        self._places[file] = place = place if 0 <= place < _MOST else UNKNOWN_OFFSET
        return place

    def _mpi(self, name: str, arguments: list[str]) -> Act:
        if name.endswith("_open") and len(arguments) >= 2:
            path = next((a for a in arguments if "/" in a), arguments[1])
            file = self._handles[arguments[-1]] = self._files.number(path)
            return self._plain(Layer.MPIIO, Kind.OPEN, file, COLLECTIVE)
        if not arguments:
            return _nothing
        file = self._handles.get(arguments[0], NO_FILE)
        if arguments[0].startswith("/"):
            file = self._files.number(arguments[0])
        if name.endswith("_close"):
            return self._plain(Layer.MPIIO, Kind.CLOSE, file)
        if name.endswith("_sync"):
            return self._plain(Layer.MPIIO, Kind.SYNC, file)
        found = _MPI_DATA.match(name)
        if found is None:
            return _nothing
        is_placed = found[3] == "_at"
        detail = COLLECTIVE * bool(found[4] or found[3] == "_ordered")
        detail |= NON_BLOCKING * bool(found[1])
        offset = _number(arguments[1]) if is_placed and len(arguments) > 1 else UNKNOWN_OFFSET
        size = self._mpi_bytes(arguments, 3 if is_placed else 2)
        kind = Kind.READ if found[2] == "read" else Kind.WRITE
        return self._plain(Layer.MPIIO, kind, file, detail, offset, size)

    def _mpi_bytes(self, arguments: list[str], place: int) -> int:
        if len(arguments) <= place + 1 or arguments[place + 1] not in _TYPE_BYTES:
            self.unknown_types += 1
            return 0
        return max(0, _number(arguments[place])) * _TYPE_BYTES[arguments[place + 1]]


def _nothing(start_ns: int, end_ns: int, place: int) -> None:
    """A call that does nothing to files."""


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
            gaps.add(GUESSED)
    operations = rows.operations()
    if GUESSED in gaps:
        operations = with_sizes(operations, table.files())
    processes = [Process(rank=rank) for rank in ranks]
    records = counters_of(operations, table.files(), processes)
    present = set(operations.layer.tolist())
    trace = Trace(
        source=TraceSource(format=FORMAT, file=files[0].name),
        job=TracedJob(ranks=max(ranks) + 1, seconds=last_ns / 1e9),
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
