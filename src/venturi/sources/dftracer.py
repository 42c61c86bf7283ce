"""Reads dftracer's traces: JSON lines (`.pfw`, `.pfw.gz`), one file per process.

Calls name files, not descriptors, so a place is kept per process and file. dftracer names no
ranks: the children of one process that run the same command are taken as ranks, by number.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from venturi.model.error import UserError
from venturi.model.operation import KIND_CODES, LAYER_CODES, NO_FILE, UNKNOWN_OFFSET, Kind
from venturi.model.trace import Gap, Layer, Process, Trace, TracedFile, TracedJob, TraceSource
from venturi.model.trace_folder import Captured
from venturi.sources.counting import counters_of
from venturi.sources.libc_call import CALLS, OPEN_MODES, FunctionEffect
from venturi.sources.repeat import Repeats
from venturi.sources.rows import Rows

FORMAT = "dftracer"
WITHOUT_SIZES = "sizes and files are missing: trace with DFTRACER_INC_METADATA=1"
GUESSED_RANKS = "ranks are taken from the order of the processes' numbers"

_LAYERS = {"POSIX": Layer.POSIX, "STDIO": Layer.STDIO}
_UNIT_NS = {"NS": 1, "US": 1000, "MS": 1_000_000, "S": 1_000_000_000}
_APPEND = 0o2000
_MOST = 2**62
ABOUT = "dftracer"
"""The category of lines that are no calls."""

_OFFSET = re.compile(r'"offset":(\d{1,18})(?=[,}])')

Act = Callable[[int, int, int], None]
"""What a call does, given when it began and ended in nanoseconds, and its place if it has one."""

Place = Callable[[int], int]
"""The offset of a call when it is made, given the one that its line tells."""


@dataclass
class _TracedProcess:
    """A process as its events tell it."""

    index: int
    number: int
    host: str = ""
    parent: int = 0
    command: str = ""
    rank: int = -1
    first_ns: int = _MOST
    last_ns: int = 0
    is_over: bool = False
    threads: dict[int, int] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)
    """Offset by file."""

    def lives(self, start_ns: int, end_ns: int, _place: int) -> None:
        """It did something at this time."""
        if start_ns < self.first_ns:  # noqa: PLR1730  (for every line: min is a call)
            self.first_ns = start_ns
        if end_ns > self.last_ns:  # noqa: PLR1730
            self.last_ns = end_ns


class _EventReader:
    def __init__(self) -> None:
        self.rows = Rows()
        self.names: dict[str, str] = {}
        """Names of files by hash."""
        self.strings: dict[str, str] = {}
        self.hosts: dict[str, str] = {}
        self.files: dict[str, int] = {}
        """Index by hash, or by name where there is no hash."""
        self.processes: dict[tuple[str, int], _TracedProcess] = {}
        self.sizes: dict[int, int] = {}
        self.unit_ns = 1000
        self.without_sizes = False
        self._known: Repeats[Act] = Repeats()
        self.gaps: list[str] = []

    def line(self, text: str) -> None:
        """One line. Most calls differ in their number and times alone: each is understood once."""
        head, _, rest = text.partition('"ts":')
        stamp, _, rest = rest.partition(",")
        length, _, tail = rest.partition(",")
        length = length.removeprefix('"dur":')
        if not (stamp.isdigit() and length.isdigit()) or head.find("{", 1) >= 0:
            self._event(json.loads(text))
            return
        if head.startswith('{"id":'):
            head = head[head.find(",") :]
        place = UNKNOWN_OFFSET
        found = _OFFSET.search(tail) if '"offset":' in tail else None
        if found is not None and "seek" not in head:
            place = int(found[1])
            tail = tail[: found.start(1)] + tail[found.end(1) :]
        act = self._known.get(head + tail)
        if act is None:
            event = json.loads(text)
            if event.get("cat") == ABOUT:
                self._event(event)
                return
            act = self._understood(event)
            self._known.keep(head + tail, act)
        self._spent(act, int(stamp), int(length), place)

    def _event(self, event: dict[str, Any]) -> None:
        """One line as JSON has it."""
        if event.get("cat") == ABOUT or "ts" not in event:
            self._about(event, event.get("args") or {})
        else:
            act = self._understood(event)
            place = _place_of(event.get("args") or {})
            self._spent(act, _whole(event["ts"]), _whole(event.get("dur", 0)), place)

    def _spent(self, act: Act, start: int, length: int, place: int) -> None:
        """A call that began and took so many units of time."""
        start_ns = start * self.unit_ns
        end_ns = start_ns + length * self.unit_ns
        if not 0 <= start_ns <= end_ns < _MOST:
            raise ValueError("impossible times")
        act(start_ns, end_ns, place)

    def _understood(self, event: dict[str, Any]) -> Act:
        """What an event does whenever it comes."""
        args = event.get("args") or {}
        category = str(event.get("cat"))
        seen = self._process(event, args)
        shape = CALLS.get(event["name"]) if category in _LAYERS else None
        if shape is None:
            return seen.lives
        thread = seen.threads.setdefault(_whole(event.get("tid", 0)), len(seen.threads))
        return self._call(seen, thread, _LAYERS[category], shape, args)

    def _process(self, event: dict[str, Any], args: dict[str, Any]) -> _TracedProcess:
        key = (str(args.get("hhash", "")), _whole(event.get("pid", 0)))
        seen = self.processes.get(key)
        if seen is None:
            seen = self.processes[key] = _TracedProcess(len(self.processes), key[1], key[0])
        return seen

    def _about(self, event: dict[str, Any], args: dict[str, Any]) -> None:
        """What is no call: names behind hashes, the unit of time, a process's begin and end."""
        name, value = event.get("name"), str(args.get("value", ""))
        said = str(args.get("name", ""))
        if name == "FH":
            self.names[value] = said
        elif name == "SH":
            self.strings[value] = said
        elif name == "HH":
            self.hosts[value] = said
        elif name == "CM" and said == "time_metric":
            self.unit_ns = _UNIT_NS.get(value, 1000)
        elif name in ("start", "end"):
            seen = self._process(event, args)
            seen.is_over |= name == "end"
            seen.parent = _whole(args.get("ppid", seen.parent))
            seen.command = str(args.get("cmd_hash", seen.command))
            if isinstance(args.get("rank"), int):
                seen.rank = _whole(args["rank"]) % 2**31

    def _call(
        self,
        seen: _TracedProcess,
        thread: int,
        layer: Layer,
        shape: FunctionEffect,
        args: dict[str, Any],
    ) -> Act:
        file = self._file(args)
        self.without_sizes |= shape.moves and "ret" not in args
        result = args.get("ret", 0)
        result = _whole(result) if isinstance(result, int) else 0
        error = 5 if result < 0 else 0  # which error is not told
        size, detail = int(shape.is_symbolic), shape.detail
        place: Place = _nowhere
        if shape.kind is Kind.OPEN:
            detail = _open_flags(args)
            place = self._begin(seen, file, bool(detail & _APPEND))
        elif shape.moves:
            item_bytes = max(1, _whole(args.get("size", 1))) if shape.is_counted else 1
            size = _whole(max(0, result) * item_bytes)
            place = self._place(seen, file, shape, args, size)
        elif shape.kind is Kind.SEEK and not error:
            place = self._seek(seen, file, layer, args, result)
        elif shape.kind in (Kind.TRUNCATE, Kind.ALLOCATE):
            place = _said if "length" not in args else _at(_whole(args["length"]))
        elif shape.kind in (Kind.RENAME, Kind.LINK):
            target = args.get("newpath_hash", args.get("newpath"))
            detail = NO_FILE if target is None else self._number(str(target))
        head = (seen.index, thread, LAYER_CODES[layer], KIND_CODES[shape.kind], error, file, detail)
        add, lives = self.rows.add, seen.lives

        def act(start_ns: int, end_ns: int, said: int) -> None:
            lives(start_ns, end_ns, said)
            add((*head, place(said), size, start_ns, end_ns))

        return act

    def _begin(self, seen: _TracedProcess, file: int, is_appending: bool) -> Place:
        """An open: the next request is at the file's begin, or at its end."""

        def begin(_said: int) -> int:
            seen.places[file] = self.sizes.get(file, 0) if is_appending else 0
            return UNKNOWN_OFFSET

        return begin

    def _file(self, args: dict[str, Any]) -> int:
        for key in ("fhash", "fname", "path_hash", "path"):
            if key in args:
                return self._number(str(args[key]))
        return NO_FILE

    def _number(self, name: str) -> int:
        return self.files.setdefault(name, len(self.files))

    def _place(
        self,
        seen: _TracedProcess,
        file: int,
        shape: FunctionEffect,
        args: dict[str, Any],
        size: int,
    ) -> Place:
        """Where a request lies, and what follows from it for the file's place and size."""
        places, sizes = seen.places, self.sizes
        is_write = shape.kind is Kind.WRITE
        is_placed = shape.is_placed and "offset" in args

        def move(said: int) -> int:
            offset = said if is_placed else places.get(file, UNKNOWN_OFFSET)
            if offset < 0:
                return UNKNOWN_OFFSET
            end = offset + size
            if not is_placed:
                places[file] = end
            if is_write and end > sizes.get(file, 0):
                sizes[file] = end
            return offset

        return move

    def _seek(
        self, seen: _TracedProcess, file: int, layer: Layer, args: dict[str, Any], result: int
    ) -> Place:
        whence, offset = args.get("whence", 0), _whole(args.get("offset", 0))
        is_told = layer is not Layer.STDIO

        def seek(_said: int) -> int:
            place = result
            if not is_told:
                base = (0, seen.places.get(file, -1), self.sizes.get(file, -1))
                known = base[whence] if whence in (0, 1, 2) else -1
                place = known + offset if known >= 0 else UNKNOWN_OFFSET
            seen.places[file] = place = max(UNKNOWN_OFFSET, min(place, _MOST))
            return place

        return seek


def _nowhere(_said: int) -> int:
    return UNKNOWN_OFFSET


def _said(said: int) -> int:
    return said


def _at(offset: int) -> Place:
    return lambda _said: max(UNKNOWN_OFFSET, offset)


def _place_of(args: dict[str, Any]) -> int:
    """The offset among a call's arguments; raises ValueError where it is none."""
    return max(UNKNOWN_OFFSET, min(_whole(args.get("offset", UNKNOWN_OFFSET)), _MOST))


def _whole(value: Any) -> int:
    """The number, if it can be a size, a time, or a process. Raises ValueError."""
    number = int(value)
    if not -_MOST < number < _MOST:
        raise ValueError("an impossible number")
    return number


def _open_flags(args: dict[str, Any]) -> int:
    flags = args.get("flags")
    if isinstance(flags, int):
        return flags % 2**32
    return OPEN_MODES.get(str(args.get("mode", "")).replace("b", "").rstrip("e"), 0)


def read_dftracer(files: list[Path]) -> Captured:
    """The trace in dftracer's files of one run (one per process).

    A file that ends early is used as far as it goes. Raises UserError where a file cannot be
    opened, or a line is wrong, which it names.
    """
    reader = _EventReader()
    for file in files:
        number = 0
        try:
            for at, line in _lines(file, reader):
                number = at
                reader.line(line)
        except OSError as error:
            raise UserError(f"dftracer file '{file}' cannot be opened: {error.strerror}") from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise UserError(
                f"dftracer file '{file}' is damaged at line {number or 1} ({error})"[:300]
            ) from None
        except OverflowError as error:
            raise UserError(f"dftracer file '{file}', line {number}: {error}") from None
    return _captured(reader, files[0].name)


def _lines(file: Path, reader: _EventReader) -> Iterator[tuple[int, str]]:
    """The whole JSON objects of a file by line; what is cut at the end becomes a gap."""
    with file.open("rb") as plain:
        is_packed = plain.read(2) == b"\x1f\x8b"
    held = ""
    number = 0
    try:
        with (
            gzip.open(file, "rt", encoding="utf-8", errors="replace")
            if is_packed
            else file.open(encoding="utf-8", errors="replace") as text
        ):
            for line in text:
                if held:
                    yield number, held
                number += 1
                held = line.strip().strip(",").removeprefix("[").removesuffix("]")
    except (EOFError, zlib.error, gzip.BadGzipFile):
        reader.gaps.append(f"'{file.name}' is torn: later calls are missing")
    if held.endswith("}"):
        yield number, held
    elif held:
        reader.gaps.append(f"'{file.name}' ends inside a line: later calls are missing")


def _captured(reader: _EventReader, name: str) -> Captured:
    seen = list(reader.processes.values())
    is_guessed = _find_ranks(seen)
    origin_ns = min((s.first_ns for s in seen), default=0)
    origin_ns = 0 if origin_ns == _MOST else origin_ns
    operations = reader.rows.operations(origin_ns)
    gaps = list(reader.gaps)
    if reader.without_sizes:
        gaps.append(WITHOUT_SIZES)
    if is_guessed:
        gaps.append(GUESSED_RANKS)
    files = [TracedFile(path=reader.names.get(key, key)) for key in reader.files]
    processes = [_process(s, reader, origin_ns) for s in seen]
    records = counters_of(operations, files, processes)
    last_ns = max((s.last_ns for s in seen), default=origin_ns)
    present = set(operations.layer.tolist())
    trace = Trace(
        source=TraceSource(format=FORMAT, file=name),
        job=TracedJob(
            ranks=max((s.rank for s in seen), default=0) + 1 or 1,
            seconds=max(0, last_ns - origin_ns) / 1e9,
            started=_stamp(origin_ns),
        ),
        layers=[layer for layer in _LAYERS.values() if LAYER_CODES[layer] in present],
        records=records,
        gaps=[Gap(layer=FORMAT, what=what) for what in gaps],
        record_count=len(records),
        files=files,
        processes=processes,
        operation_count=len(operations),
    )
    return Captured(trace, operations)


def _stamp(origin_ns: int) -> str:
    try:
        return datetime.fromtimestamp(origin_ns / 1e9, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def _process(seen: _TracedProcess, reader: _EventReader, origin_ns: int) -> Process:
    command = reader.strings.get(seen.command, "").split()
    return Process(
        rank=max(-1, seen.rank),
        process=max(0, seen.number),
        parent=max(0, seen.parent),
        host=reader.hosts.get(seen.host, ""),
        program=command[0].rsplit("/", 1)[-1] if command else "",
        started_s=max(0, min(seen.first_ns, seen.last_ns) - origin_ns) / 1e9,
        ended_s=max(0, seen.last_ns - origin_ns) / 1e9 if seen.is_over else None,
    )


def _find_ranks(processes: list[_TracedProcess]) -> bool:
    """Gives ranks to siblings that run the same command, where the trace names no ranks."""
    if any(process.rank >= 0 for process in processes):
        return False
    numbers = {process.number for process in processes}
    siblings: dict[str, list[_TracedProcess]] = defaultdict(list)
    for process in processes:
        if process.command and process.parent not in numbers:
            siblings[process.command].append(process)
    usual = Counter({command: len(group) for command, group in siblings.items()}).most_common(1)
    if not usual or usual[0][1] < 2:
        return False
    for rank, process in enumerate(sorted(siblings[usual[0][0]], key=lambda p: (p.host, p.number))):
        process.rank = rank
    return True
