"""What the capture did not see, said as plainly as what it saw."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

import numpy as np

from venturi.capture.hidden import hidden_moves
from venturi.capture.process_file import STARTED, STOP_REASONS, BytesMoved, ProcessFile
from venturi.capture.untraced import reason_of
from venturi.model.operation import KIND_CODES, LAYER_CODES, NO_FILE, STORES_REACH_FILE, Kind
from venturi.model.trace import Gap, Layer

_MAP = KIND_CODES[Kind.MAP]
_NAMED = 3
_ON_FILES = np.isin(
    np.arange(256), [KIND_CODES[kind] for kind in (Kind.OPEN, Kind.READ, Kind.WRITE)]
)
"""By kind, and by layer; looked up, because np.isin of each window costs several times as much."""
_CALLED = np.isin(np.arange(256), [LAYER_CODES[layer] for layer in (Layer.POSIX, Layer.STDIO)])
_POSIX = Layer.POSIX.value
_LOCKED_IN = {
    "filter": "installed a seccomp filter",
    "strict mode": "entered the strict mode of seccomp",
    "hidden time": "disabled reading the processor's clock (PR_SET_TSC)",
}
"""By reason, what a process did."""


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
    gaps += _stopped(files)
    starved = sum(file.starved for file in files)
    if dropped > starved:
        gaps.append(f"truncated: {dropped - starved} operations are in the counters only")
    if starved:
        gaps.append(
            f"{starved} operations are in the counters only: no file descriptor was free to record "
            "them (ulimit -n)"
        )
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
    gaps += _unseen_ways(files)
    maps = sum(file.shared_maps for file in files)
    if maps:
        gaps.append(_mappings(maps, files))
    untraced = untraced_programs(files, command)
    gaps += hidden_moves(files, moved, list(untraced))
    for program, count in untraced.items():
        times = "" if count == 1 else f" ({count} times)"
        gaps.append(f"'{program}'{times} was not traced: {reason_of(program)}")
    return [Gap(layer=_POSIX, what=what) for what in gaps]


def _stopped(files: list[ProcessFile]) -> list[str]:
    """Why processes recorded no more from some moment on."""
    said = []
    own = (file for file in files if file.stopped_error and not _locked_in(file))
    for error, count in Counter(file.stopped_error for file in own).items():
        said.append(f"recording stopped in {count} processes: {os.strerror(error)}")
    locked = Counter((file.program, _locked_in(file)) for file in files if _locked_in(file))
    for (program, what), count in locked.items():
        times = "" if count == 1 else f" ({count} processes)"
        said.append(
            f"recording stopped where '{program}'{times} {what}: what it does from then on is not "
            "seen (--with strace sees it)"
        )
    return said


def _locked_in(file: ProcessFile) -> str:
    """What the process did so that nothing more could be recorded; empty: nothing of that kind."""
    return _LOCKED_IN.get(STOP_REASONS[file.stopped_by], "") if file.stopped_error else ""


def _unseen_ways(files: list[ProcessFile]) -> list[str]:
    """What processes set up so that requests, loads or stores need no call that is seen."""
    ways = (
        (
            [file.program for file in files if file.unseen_contexts],
            "set up asynchronous I/O (io_setup) by a system call of its own: requests through it "
            "are not seen",
        ),
        (
            [file.program for file in files if file.unseen_rings],
            "set up io_uring by a system call of its own: requests through it are not seen",
        ),
        (
            [file.program for file in files if file.devices],
            "maps a device that holds data: loads and stores are not seen",
        ),
    )
    return [f"'{program}' {text}" for programs, text in ways for program in dict.fromkeys(programs)]


def _unrecorded(files: list[ProcessFile]) -> Counter[str]:
    result: Counter[str] = Counter()
    for file in files:
        result[file.program] += file.unrecorded
    return +result


def _nameless(file: ProcessFile) -> int:
    """Calls that moved data of, or opened, files without a name."""
    return sum(
        int(
            np.count_nonzero(
                _ON_FILES[window["kind"]]
                & _CALLED[window["layer"]]
                & (window["file"] == NO_FILE)
                & (window["start"] != 0)
                & (window["error"] == 0)
            )
        )
        for window in file.records
    )


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
