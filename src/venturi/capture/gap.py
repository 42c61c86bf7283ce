"""What the capture did not see, said as plainly as what it saw."""

from __future__ import annotations

import os
import shutil
import stat
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from venturi.capture.hidden import hidden_moves
from venturi.capture.process_file import STARTED, BytesMoved, ProcessFile
from venturi.model.operation import KIND_CODES, LAYER_CODES, NO_FILE, STORES_REACH_FILE, Kind
from venturi.model.trace import Gap, Layer

_MAP = KIND_CODES[Kind.MAP]
_NAMED = 3
_ON_FILES = [KIND_CODES[kind] for kind in (Kind.OPEN, Kind.READ, Kind.WRITE)]
_CALLED = [LAYER_CODES[layer] for layer in (Layer.POSIX, Layer.STDIO)]
_ELF = b"\x7fELF"
_PROGRAM_INTERPRETER = 3
_POSIX = Layer.POSIX.value


def gaps_of(
    files: list[ProcessFile],
    command: tuple[str, ...],
    broken: Sequence[str] = (),
    moved: BytesMoved | None = None,
) -> list[Gap]:
    """The gaps of a job whose processes recorded `files` and that `command` started.

    `moved` is what the kernel counted for all of them together, where that is known.
    """
    gaps = list(broken)
    damaged = Counter(what for file in files for what in file.damage)
    for what, count in damaged.items():
        whose = "a process" if count == 1 else f"{count} processes"
        gaps.append(f"what {whose} recorded is damaged: {what}; the rest is used")
    dropped = sum(file.dropped for file in files)
    stopped = Counter(file.stopped_error for file in files if file.stopped_error)
    for error, count in stopped.items():
        gaps.append(f"recording stopped in {count} processes: {os.strerror(error)}")
    if dropped:
        gaps.append(f"truncated: {dropped} operations are in the counters only")
    for program, count in _unrecorded(files).items():
        who = "a process" if count == 1 else f"{count} processes"
        gaps.append(f"{who} that '{program}' started could not record (another user, another root)")
    if nameless := sum(_nameless(file) for file in files):
        gaps.append(
            f"{nameless} operations on files whose names are not known: their paths have more than "
            "4096 characters, or lie in a folder that is gone"
        )
    rings = sum(file.rings for file in files)
    if rings:
        gaps.append(f"{rings} io_uring instances: requests through them are not seen")
    maps = sum(file.shared_maps for file in files)
    if maps:
        gaps.append(_mappings(maps, files))
    untraced = untraced_programs(files, command)
    gaps += hidden_moves(files, moved, list(untraced))
    for program, count in untraced.items():
        times = "" if count == 1 else f" ({count} times)"
        gaps.append(f"'{program}'{times} was not traced: {reason_of(program)}")
    return [Gap(layer=_POSIX, what=what) for what in gaps]


def _unrecorded(files: list[ProcessFile]) -> Counter[str]:
    result: Counter[str] = Counter()
    for file in files:
        result[file.program] += file.unrecorded
    return +result


def _nameless(file: ProcessFile) -> int:
    """Calls that moved data of, or opened, files without a name."""
    return sum(
        int(np.count_nonzero(
            np.isin(window["kind"], _ON_FILES) & np.isin(window["layer"], _CALLED)
            & (window["file"] == NO_FILE) & (window["start"] != 0) & (window["error"] == 0)
        ))
        for window in file.records
    )  # fmt: skip


def _mappings(count: int, files: list[ProcessFile]) -> str:
    """Which files are mapped so that stores into them are storage that is not seen."""
    found: Counter[str] = Counter()
    for file in files:
        for window in file.records:
            stores = (window["kind"] == _MAP) & (window["detail"] & STORES_REACH_FILE != 0)
            for number in window["file"][stores & (window["error"] == 0)].tolist():
                if number in file.names:
                    found[file.names[number].path] += 1
    named = ", ".join(f"'{path}'" for path, _ in found.most_common(_NAMED))
    more = ", ..." if len(found) > _NAMED else ""
    where = f" ({named}{more})" if named else ""
    return f"{count} writable shared mappings of files{where}: stores into them are not seen"


def untraced_programs(files: list[ProcessFile], command: tuple[str, ...]) -> Counter[str]:
    """Programs that were started without the tracer, and how often."""
    starts: dict[tuple[str, int], list[int]] = {}
    for file in files:
        starts.setdefault((file.host, file.process), []).append(file.first[0])
    result: Counter[str] = Counter()
    if not files and command:
        result[command[0]] += 1
    for file in files:
        for window in file.records:
            for row in window[(window["kind"] == STARTED) & (window["start"] != 0)]:
                process = int(row["detail"])
                # A spawned process may begin before the call that spawned it has ended.
                after = int(row["start"]) if process == file.process else file.first[0]
                if not any(at > after for at in starts.get((file.host, process), [])):
                    name = file.names.get(int(row["file"]))
                    result[name.path if name else "?"] += 1
    return result


def reason_of(program: str) -> str:
    """Why a program cannot be traced, as far as its file tells."""
    path = shutil.which(program)
    if path is None:
        return "it could not be examined"
    try:
        mode = Path(path).stat().st_mode
        with Path(path).open("rb") as file:
            head = file.read(1 << 16)
    except OSError as error:
        return f"it could not be examined ({error.strerror})"
    if mode & (stat.S_ISUID | stat.S_ISGID):
        return "it runs with another's rights, and the system then loads no tracer"
    if _is_static(head):
        return "it is linked statically; --with strace sees it"
    if head[:4] == _ELF and _is_32_bits(head):
        return "it is a program of 32 bits, and the tracer is none; --with strace sees it"
    return (
        "it did not load the tracer, or records elsewhere or cannot (a capture of its own, another "
        "user, another root)"
    )


def _is_32_bits(head: bytes) -> bool:
    return head[4:5] == b"\1"


def _is_static(head: bytes) -> bool:
    """Whether an ELF file asks for no dynamic loader."""
    if head[:4] != _ELF or len(head) < 64:
        return False
    order = "little" if head[5] == 1 else "big"

    def number(at: int, size: int) -> int:
        return int.from_bytes(head[at : at + size], order)  # type: ignore[arg-type]

    if _is_32_bits(head):
        begin, size, count = number(28, 4), number(42, 2), number(44, 2)
    else:
        begin, size, count = number(32, 8), number(54, 2), number(56, 2)
    kinds = [number(begin + i * size, 4) for i in range(count)]
    return _PROGRAM_INTERPRETER not in kinds
