"""Reads what strace wrote: `strace -f -ttt -T -y -s 0 -o FILE`, or one file per process (-ff)."""

from __future__ import annotations

import errno
import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from venturi.model.error import UserError
from venturi.model.operation import STORES_REACH_FILE, Kind, Operations
from venturi.model.trace import Gap, Layer, Process, Trace, TracedJob, TraceSource
from venturi.model.trace_folder import Captured
from venturi.sources import strace_line, strace_run
from venturi.sources.counting import counters_of
from venturi.sources.move import blocks
from venturi.sources.repeat import Repeats
from venturi.sources.strace_call import CLONES, HANDLERS, Call, Handler, clone_flags
from venturi.sources.strace_line import Descriptor, nanoseconds
from venturi.sources.strace_state import TracedProcess, TracedThread, World

FORMAT = "strace"
LAYER = "strace"
COMMAND = "strace -f -ttt -T -y -s 0 -o FILE COMMAND"

LAUNCHERS = frozenset(
    {
        "mpirun",
        "mpiexec",
        "mpiexec.hydra",
        "orterun",
        "orted",
        "prterun",
        "prte",
        "prted",
        "hydra_pmi_proxy",
        "pmi_proxy",
        "slurmstepd",
        "srun",
    }
)
"""Programs whose children are ranks."""

Meaning = tuple[Handler | None, str, str, int, int, str, Descriptor]
"""Of a call: what it does (None: nothing to files), and the first fields of a Call."""

_PLACED = ("pread64(", "pwrite64(")
"""Calls whose last argument is a place in the file."""

_NOBODY = 0
"""The number of a process whose lines do not say it."""

_MOST_STRANGE = 0.1
"""A text of which a larger share are not lines of strace is none."""


class _StraceReader:
    """Goes through the lines and keeps what is between them."""

    def __init__(self) -> None:
        self.world = World()
        self.lines = 0
        self.strange = 0
        self.first_strange = ""
        self.untimed = 0
        self.orphans = 0
        """Ends of calls whose beginning was not seen."""
        self.last_ns = 0
        self.first_ns: int | None = None
        self._known: Repeats[Meaning] = Repeats()
        """By name, arguments and result: calls that came before."""
        self._cut = ""
        """The beginning of a line that strace's own words cut in two."""
        self._halves: dict[int, tuple[str, str, int]] = {}
        """By task: name, arguments so far, start of a call that has not returned."""
        self._clones: dict[int, tuple[TracedThread, frozenset[str], int]] = {}
        """By task: calls that make a task and have not returned."""

    @property
    def unreturned(self) -> int:
        return sum(name in HANDLERS for name, _, _ in self._halves.values())

    def block(self, owner: int, text: str) -> None:
        """Lines that follow each other, each with its end."""
        for calls in strace_run.pieces(text):
            if not (calls.is_run and self._together(owner, calls)):
                for one in calls.texts:
                    self.line(owner, one)

    def _together(self, owner: int, calls: strace_run.Calls) -> bool:
        """Takes a run of calls at once; False: it must be gone through."""
        tasks = {}
        for name in set(calls.tasks):
            task = self.world.tasks.get(int(name) if name else owner)
            if task is None:
                return False
            tasks[name] = task
        seen = strace_run.take(self.world, tasks, calls)
        if seen is None:
            return False
        self.lines += len(calls.texts)
        self._saw(*seen)
        return True

    def line(self, owner: int, text: str) -> None:
        """One line; `owner` is its process where the line does not say it."""
        self.lines += 1
        if self._repeats(owner, text):
            return
        found = strace_line.COMPLETE.match(text)
        if found is None:
            self._other(owner, text)
            return
        who, seconds, fraction, name, arguments, *rest = found.groups()
        start_ns = nanoseconds(seconds, fraction)
        try:
            meaning = self._call(int(who) if who else owner, name, arguments, rest, start_ns)
        except OverflowError:
            self._is_strange(text)
            return
        self._known.keep(_constant(text[found.start(4) :].rpartition(" <")[0])[0], meaning)

    def _repeats(self, owner: int, text: str) -> bool:
        """Takes a line that differs in process and times alone from one before, if it is one."""
        who, _, rest = text.partition(" ")
        stamp, body = who, rest
        if "." not in who:
            stamp, _, body = rest.lstrip(" ").partition(" ")
        call, _, spent = body.rpartition(" <")
        key, place = _constant(call)
        meaning = self._known.get(key)
        if meaning is None or (len(stamp), stamp[10:11]) != (17, ".") or stamp > "9":
            return False
        if (len(spent), spent[1:2], spent[8:]) != (9, ".", ">"):
            return False
        try:
            number = owner if stamp is who else int(who)
            start_ns = int(stamp[:10] + stamp[11:]) * 1000
            end_ns = start_ns + int(spent[0] + spent[2:8]) * 1000
        except ValueError:
            return False
        try:
            self._do(number, meaning, start_ns, end_ns, place)
        except OverflowError:
            self._is_strange(text)
        return True

    def _call(
        self, number: int, name: str, arguments: str, rest: list[str], start_ns: int
    ) -> Meaning:
        """A call that has returned; `rest` are result, note, and the time that it took."""
        result, note, seconds, fraction = rest
        end_ns = start_ns
        if fraction is None:
            self.untimed += 1
        else:
            end_ns += nanoseconds(seconds, fraction)
        target = strace_line.descriptor(arguments, self.world.descriptor_cache)
        meaning = _understood(name, arguments, result, note, target)
        self._do(number, meaning, start_ns, end_ns)
        return meaning

    def _do(
        self, number: int, meaning: Meaning, start_ns: int, end_ns: int, place: int | None = None
    ) -> None:
        if end_ns > self.last_ns or self.first_ns is None or start_ns < self.first_ns:
            self._saw(start_ns, end_ns)
        handler, name, arguments, result, error, note, target = meaning
        if handler is not None:
            task = self.world.tasks.get(number) or self._task(number, start_ns)
            call = Call(name, arguments, result, error, note, target, start_ns, end_ns, place)
            handler(self.world, task, call)

    def _saw(self, start_ns: int, end_ns: int) -> None:
        if self.first_ns is None or start_ns < self.first_ns:
            self.first_ns = start_ns
        self.last_ns = max(self.last_ns, end_ns)

    def _task(self, number: int, at_ns: int) -> TracedThread:
        """The task; a new one is the child of a call that is on its way, if there is one."""
        if number not in self.world.tasks and self._clones:
            parent, flags, start_ns = self._clones.pop(next(iter(self._clones)))
            self.world.clone(parent, number, flags, start_ns)
        return self.world.task(number, at_ns)

    def _other(self, owner: int, text: str) -> None:
        if self._cut and text.startswith(" "):
            whole, self._cut = self._cut + text, ""
            self.lines -= 1
            self.line(owner, whole)
            return
        self._cut = ""
        if found := strace_line.UNFINISHED.match(text):
            who, seconds, fraction, name, arguments = found.groups()
            number = int(who) if who else owner
            start_ns = nanoseconds(seconds, fraction)
            self._saw(start_ns, start_ns)
            self._halves[number] = (name, arguments, start_ns)
            if name in CLONES:
                task = self._task(number, start_ns)
                self._clones[number] = (task, clone_flags(arguments), start_ns)
        elif found := strace_line.RESUMED.match(text):
            try:
                self._resume(int(found[1]) if found[1] else owner, found[4], found[5])
            except OverflowError:
                self._is_strange(text)
        elif found := strace_line.ATTACHED.match(text):
            self._cut = found[1]
        elif found := strace_line.ENDED.match(text):
            self._end(int(found[1]) if found[1] else owner, found[4], found[5])
            self._saw(at_ns := nanoseconds(found[2], found[3]), at_ns)
            if not found[4].startswith("superseded"):
                number = int(found[1]) if found[1] else owner
                self.world.end(number, at_ns, found[4] == "exited with")
        elif not strace_line.SIGNAL.match(text) and text.strip():
            self._is_strange(text)

    def _is_strange(self, text: str) -> None:
        """A line that strace did not write, or with numbers that nothing has."""
        self.world.rows.drop_part()
        self.strange += 1
        self.first_strange = self.first_strange or f"line {self.lines}: '{text[:60]}'"

    def _resume(self, number: int, name: str, rest: str) -> None:
        """The second half of a call."""
        is_known = self._halves.get(number, ("",))[0] == name
        if not is_known and self._halves.get(_NOBODY, ("",))[0] == name:
            # The first process has no number in the text as long as it is the only one.
            first = self._task(_NOBODY, self._halves[_NOBODY][2])
            if self.world.tasks.setdefault(number, first) is first:
                self._halves[number] = self._halves.pop(_NOBODY)
                self._clones.pop(_NOBODY, None)
        half = self._halves.pop(number, None)
        self._clones.pop(number, None)
        found = strace_line.TAIL.match(rest)
        if half is None or half[0] != name or found is None:
            self.orphans += name in HANDLERS
            return
        head, *result = found.groups()
        self._call(number, name, half[1] + head, result, half[2])

    def _end(self, number: int, how: str, what: str) -> None:
        """A task that ended; where another thread's exec ended it, its call goes on here."""
        half = self._halves.pop(number, None)
        self._clones.pop(number, None)
        if how.startswith("superseded") and half is not None and what.isdigit():
            self._halves[int(what)] = half


def _constant(call: str) -> tuple[str, int | None]:
    """A call without the place in the file that it names, and that place, if it is a number.

    What it is without stays unlike every other call: no call ends so.
    """
    if call.startswith(_PLACED):
        head, _, tail = call.rpartition(", ")
        place, _, rest = tail.partition(")")
        if place.isdecimal() and len(place) < 19:
            return head + rest, int(place)
    return call, None


def _understood(name: str, arguments: str, result: str, note: str, target: Descriptor) -> Meaning:
    handler = HANDLERS.get(name) if result != "?" else None
    value, error = (0 if result == "?" else _value(result)), 0
    if value < 0:
        word = note.split(maxsplit=1)[0] if note.strip() else ""
        value, error = 0, getattr(errno, word, errno.EIO)
    return handler, name, arguments, value, error, note.strip(), target


def _value(result: str) -> int:
    if not result.startswith("0x"):
        return int(result)
    return int(result, 16) % 2**63


def read_strace(files: list[Path]) -> Captured:
    """The trace in strace's output: one file, or several of one run (one per process).

    Offsets follow from the calls before. A text that ends early is used as far as it goes. Raises
    UserError where a file cannot be opened, or is not strace's output with the stamps of -ttt.
    """
    reader = _StraceReader()
    try:
        with ExitStack() as stack:
            opened = [
                stack.enter_context(file.open(encoding="utf-8", errors="replace", newline="\n"))
                for file in files
            ]
            owners = [_owner(file) for file in files]
            if len(opened) == 1:
                _read_blocks(opened[0], owners[0], reader)
            else:
                for owner, text in _merged(opened, owners):
                    reader.line(owner, text)
    except OSError as error:
        raise UserError(f"strace text '{files[0]}' cannot be opened: {error.strerror}") from None
    what = f"strace text '{files[0]}'"
    if reader.strange > _MOST_STRANGE * reader.lines or reader.first_ns is None:
        raise UserError(
            f"{what} has lines that strace with -ttt does not write ({reader.first_strange})",
            f"trace with `{COMMAND}`",
        )
    return _captured(reader, files[0].name)


def _owner(file: Path) -> int:
    """The process that -ff names at the end of the file's name; else 0."""
    suffix = file.suffix[1:]
    return int(suffix) if suffix.isdigit() and len(suffix) < 10 else 0


def _read_blocks(file: TextIO, owner: int, reader: _StraceReader) -> None:
    for text in blocks(file):
        cut = text.rfind("\n") + 1
        reader.block(owner, text[:cut])
        if cut < len(text):
            reader.line(owner, text[cut:])


def _merged(files: Sequence[TextIO], owners: list[int]) -> Iterator[tuple[int, str]]:
    """The lines of all files in the order of their time stamps."""
    streams = (_stamped(file, owner) for file, owner in zip(files, owners, strict=True))
    for _, owner, text in heapq.merge(*streams):
        yield owner, text


def _stamped(file: TextIO, owner: int) -> Iterator[tuple[str, int, str]]:
    stamp = ""
    for text in file:
        stamp = max(stamp, text.partition(" ")[0])
        yield stamp, owner, text.rstrip("\n")


def _captured(reader: _StraceReader, name: str) -> Captured:
    world = reader.world
    origin_ns = reader.first_ns or 0
    operations = world.rows.operations(origin_ns)
    _find_ranks(world.processes)
    processes = [_process(process, origin_ns) for process in world.processes]
    files = world.files.files()
    records = counters_of(operations, files, processes)
    trace = Trace(
        source=TraceSource(format=FORMAT, file=name),
        job=TracedJob(
            ranks=max((process.rank for process in processes), default=0) + 1 or 1,
            seconds=(reader.last_ns - origin_ns) / 1e9,
            started=_stamp_of(origin_ns),
        ),
        layers=[Layer.POSIX],
        records=records,
        gaps=_gaps(reader, operations),
        record_count=len(records),
        files=files,
        processes=processes,
        operation_count=len(operations),
    )
    return Captured(trace, operations)


def _stamp_of(origin_ns: int) -> str:
    try:
        return datetime.fromtimestamp(origin_ns / 1e9, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def _gaps(reader: _StraceReader, operations: Operations) -> list[Gap]:
    gaps = []
    if reader.strange:
        gaps.append(f"{reader.strange} lines are not strace's; the first is {reader.first_strange}")
    if reader.unreturned:
        gaps.append(f"{reader.unreturned} calls had not returned when the text ends")
    if reader.orphans:
        gaps.append(f"{reader.orphans} ends of calls have no beginning")
    if reader.untimed and reader.untimed > len(operations) // 2:
        gaps.append("durations are missing: trace with -T")
    stores = operations.is_kind(Kind.MAP) & (operations.detail & STORES_REACH_FILE != 0)
    if count := int((stores & (operations.error == 0)).sum()):
        gaps.append(f"{count} writable shared mappings of files: stores into them are not seen")
    if reader.world.uses_uring:
        gaps.append("requests through io_uring are not seen")
    return [Gap(layer=LAYER, what=what) for what in gaps]


def _process(process: TracedProcess, origin_ns: int) -> Process:
    ended_ns = process.ended_ns
    return Process(
        rank=process.rank,
        process=process.number,
        parent=process.parent,
        program=process.program,
        started_s=max(0, process.started_ns - origin_ns) / 1e9,
        ended_s=None if ended_ns is None else max(0, ended_ns - origin_ns) / 1e9,
    )


def _find_ranks(processes: list[TracedProcess]) -> None:
    """Ranks where the environment did not tell them: a launcher's children, by number."""
    if any(process.rank >= 0 for process in processes):
        return
    programs = {process.number: process.program for process in processes}
    children = [
        process
        for process in processes
        if programs.get(process.parent) in LAUNCHERS and process.program not in LAUNCHERS
    ]
    if not children:
        return
    usual, _ = Counter(child.program for child in children).most_common(1)[0]
    ranks = sorted((c for c in children if c.program == usual), key=lambda c: c.number)
    for rank, child in enumerate(ranks):
        child.rank = rank
