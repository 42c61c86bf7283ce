"""Leaving out files after the fact, by the rules by which the tracer does it at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from fnmatch import fnmatchcase

import numpy as np

from venturi.capture.tracer import TracerSettings, absolute_glob
from venturi.derive.noise import NOT_SYSTEM, SHARED_MEMORY
from venturi.model.operation import COPIES, KIND_CODES, NO_FILE, Kind, Operations
from venturi.model.trace import TracedFile
from venturi.model.trace_folder import Captured

SYSTEM = (
    "/proc",
    "/sys",
    "/dev",
    "/usr",
    "/lib",
    "/lib64",
    "/bin",
    "/sbin",
    "/etc",
    "/boot",
    "/run",
    "/opt",
    "/var",
)
"""Directories that hold no data of applications; as in tracer/filter.c."""

_OF_MPI = re.compile(
    rf"{SHARED_MEMORY.pattern}"
    r"|.*/(ompi|prte|pmix)\.([^/]*\.)?[0-9]+(/|$)"
    r"|.*/(openmpi-sessions-|mpich_shar_tmp)",
    re.S,
)
"""Memory that ranks of a node share by means of files, and what launchers keep in files."""

_OF_TWO_FILES = (Kind.RENAME, Kind.LINK, *COPIES)


def leave_out(captured: Captured, settings: TracerSettings) -> tuple[Captured, dict[str, int]]:
    """The trace without the files that `settings` leave out, and what was on them.

    The second value holds `operations` and `bytes`. Times and numbers of the rest stay.
    """
    operations = captured.operations
    if operations is None:
        return captured, {"operations": 0, "bytes": 0}
    trace = captured.trace
    wanted = _rule(settings)
    keep_file = [file.within is not None or wanted(file.path) for file in trace.files]
    numbers = np.full(len(keep_file) + 1, NO_FILE, "<u4")
    numbers[:-1][keep_file] = np.arange(sum(keep_file))
    own = np.minimum(operations.file, len(keep_file))
    mask = np.append(keep_file, [True])[own] if keep_file else np.ones(len(operations), bool)
    # What names no file stays; pipes and sockets are none of the application's files.
    gone = operations.take(np.flatnonzero(~mask))
    kept = _renumbered(operations.take(np.flatnonzero(mask)), numbers)
    files = [
        _moved(file, numbers) for file, keep in zip(trace.files, keep_file, strict=True) if keep
    ]
    paths = {file.path for file in files}
    records = [record for record in trace.records if record.file in paths]
    changes = {
        "files": files,
        "records": records,
        "record_count": len(records),
        "operation_count": len(kept),
    }
    left = {"operations": len(gone), "bytes": int(gone.bytes.sum())}
    return Captured(trace.model_copy(update=changes), kept), left


def _rule(settings: TracerSettings) -> Callable[[str], bool]:
    only = [absolute_glob(glob) for glob in settings.only]
    skip = [absolute_glob(glob) for glob in settings.skip]

    def is_wanted(path: str) -> bool:
        if any(fnmatchcase(path, glob) for glob in skip):
            return False
        if only:
            return any(fnmatchcase(path, glob) for glob in only)
        return settings.all_paths or not _is_no_data(path)

    return is_wanted


def _is_no_data(path: str) -> bool:
    """Pipes, memory, the system's files: no data of applications."""
    if not path.startswith("/") or path == "/" or path.startswith("/memfd:"):
        return True
    is_system = _is_below(path, SYSTEM) and not path.startswith(NOT_SYSTEM)
    return is_system or _OF_MPI.match(path) is not None


def _is_below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _moved(file: TracedFile, numbers: np.ndarray) -> TracedFile:
    if file.within is None:
        return file
    return file.model_copy(update={"within": int(numbers[file.within])})


def _renumbered(operations: Operations, numbers: np.ndarray) -> Operations:
    columns = {field.name: getattr(operations, field.name) for field in fields(operations)}
    last = len(numbers) - 1
    columns["file"] = numbers[np.minimum(operations.file, last)]
    two = np.isin(operations.kind, [KIND_CODES[kind] for kind in _OF_TWO_FILES])
    columns["detail"] = operations.detail.copy()
    columns["detail"][two] = numbers[np.minimum(operations.detail[two], last)]
    return Operations(**columns)
