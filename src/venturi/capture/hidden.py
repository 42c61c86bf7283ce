"""What a process moved by calls that the tracer did not see: raw system calls, for instance.

The kernel counts what each process reads and writes, whoever makes the call. What it counted beyond
the calls that were seen was moved in another way. It adds what children moved that were waited for,
so of a process with children only the first thread counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from venturi.capture.process_file import BytesMoved, ProcessFile
from venturi.model.operation import COPIES, KIND_CODES
from venturi.model.units import size_text

LEAST_BYTES = 2**20
"""Own: the C library itself reads a little (its tables, the heads of libraries)."""
LEAST_SHARE = 0.10
"""Own: of what the kernel counted."""
BUFFER_BYTES = 2**20
"""Own: what a stream reads ahead, after it was opened and each time that it is moved."""

START_BYTES = 2**16
"""Own: what loading a program reads."""
_NAMED = 3
_POSIX, _STDIO = 0, 1
"""The tracer's codes of the two layers that call the kernel."""
_IS_COPY = np.isin(np.arange(256), [KIND_CODES[kind] for kind in COPIES])
"""By kind; looked up, because np.isin of each window costs several times as much."""


def moved_by_children() -> BytesMoved | None:
    """What the kernel counted for processes that this one waited for, and those that they did."""
    everything, ours = _counted(Path("/proc/self/io")), _counted(Path("/proc/thread-self/io"))
    return None if everything is None or ours is None else after(ours, everything)


def _counted(path: Path) -> BytesMoved | None:
    try:
        words = path.read_text("utf-8").split()
        return BytesMoved(
            int(words[words.index("rchar:") + 1]), int(words[words.index("wchar:") + 1])
        )
    except (OSError, ValueError, IndexError):
        return None


def after(before: BytesMoved | None, last: BytesMoved | None) -> BytesMoved | None:
    """What was moved between two countings; None where one is not known."""
    if before is None or last is None:
        return None
    return BytesMoved(last.read - before.read, last.written - before.written)


def hidden_moves(
    files: Sequence[ProcessFile], moved: BytesMoved | None, untraced: Sequence[str]
) -> list[str]:
    """A sentence for each program that moved much without a call that was seen.

    What all processes `moved` together tells of those of which nothing is known at their end: they
    ended by a system call of their own (Go), or were killed, or were not traced.
    """
    found: dict[str, list[BytesMoved]] = defaultdict(list)
    with_children = {(file.host, file.parent) for file in files}
    for file in files:
        has_children = (file.host, file.process) in with_children or file.starts_programs
        own = hidden_of(file, file.moved_by_first if has_children else file.moved)
        if own is not None:
            found[file.program].append(own)
    result = []
    for program, moves in found.items():
        whose = f"'{program}'" if len(moves) == 1 else f"'{program}' ({len(moves)} processes)"
        result.append(_said(whose, _sum_of(moves)))
    rest = _rest(files, moved, _sum_of([one for moves in found.values() for one in moves]))
    if rest is not None:
        unknown = [*untraced, *(file.program for file in files if not file.ended_ns)]
        names = ", ".join(f"'{name}'" for name in list(dict.fromkeys(unknown))[:_NAMED])
        result.append(_said(f"processes{names and f' (likely {names})'}", rest))
    return result


def _said(whose: str, moved: BytesMoved) -> str:
    parts = [
        f"{word} {size_text(_rounded(amount))}"
        for word, amount in (("read", moved.read), ("wrote", moved.written))
        if amount
    ]
    return (
        f"{whose} {' and '.join(parts)} by calls that are not seen (system calls of its own, as "
        "programs in Go make them, or getc_unlocked and putc_unlocked): --with strace sees them"
    )


def _sum_of(moves: list[BytesMoved]) -> BytesMoved:
    return BytesMoved(sum(one.read for one in moves), sum(one.written for one in moves))


def _rest(
    files: Sequence[ProcessFile], moved: BytesMoved | None, named: BytesMoved
) -> BytesMoved | None:
    """What all processes together moved unseen beyond what is `named`."""
    copies = [_copied(file) for file in files]
    if moved is None or any(file.stopped_error or file.damage for file in files):
        return None
    if any(one is None for one in copies):
        return None
    known = sum(one or 0 for one in copies) + START_BYTES * len(files)
    read = moved.read - known - named.read
    read -= sum(_seen(file, "BYTES_READ") + _read_ahead(file) for file in files)
    written = moved.written - known - named.written
    written -= sum(_seen(file, "BYTES_WRITTEN") for file in files)
    rest = BytesMoved(_if_much(read, moved.read), _if_much(written, moved.written))
    return rest if rest.read or rest.written else None


def hidden_of(file: ProcessFile, everything: BytesMoved | None) -> BytesMoved | None:
    """What one process moved unseen of `everything`; None where that is little, or not known."""
    if everything is None or file.stopped_error or file.damage:
        return None
    copied = _copied(file)
    if copied is None:
        return None
    read = everything.read - copied - _seen(file, "BYTES_READ") - _read_ahead(file)
    written = everything.written - copied - _seen(file, "BYTES_WRITTEN")
    moved = BytesMoved(_if_much(read, everything.read), _if_much(written, everything.written))
    return moved if moved.read or moved.written else None


def _if_much(unseen: int, everything: int) -> int:
    return unseen if unseen >= max(LEAST_BYTES, LEAST_SHARE * everything) else 0


def _seen(file: ProcessFile, counter: str) -> int:
    return _sum(file, counter, _POSIX) + _sum(file, counter, _STDIO)


def _sum(file: ProcessFile, counter: str, layer: int) -> int:
    return sum(counted.values[counter] for counted in file.counters if counted.layer == layer)


def _read_ahead(file: ProcessFile) -> int:
    return BUFFER_BYTES * (_sum(file, "OPENS", _STDIO) + _sum(file, "SEEKS", _STDIO))


def _copied(file: ProcessFile) -> int | None:
    """Bytes of copies in the kernel, which are read and written; None where records lack some."""
    count = total = 0
    for window in file.records:
        copies = window[_IS_COPY[window["kind"]] & (window["start"] != 0)]
        copies = copies[copies["error"] == 0]
        count += len(copies)
        total += int(copies["bytes"].sum())
    return total if count == _sum(file, "COPIES", _POSIX) else None


def _rounded(amount_bytes: int) -> int:
    """To whole MiB: what libraries and streams read ahead is not known better."""
    return max(1, round(amount_bytes / LEAST_BYTES)) * LEAST_BYTES
