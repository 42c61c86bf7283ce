"""Opens a capture of any known kind; the content decides, not the name."""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from venturi.model.document import DocumentError, parse_json
from venturi.model.error import UserError
from venturi.model.trace import TRACE_SCHEMA, Trace
from venturi.sources import darshan_text
from venturi.sources.kind import CaptureKind, kind_of

if TYPE_CHECKING:
    from venturi.model.trace_folder import Captured

MAX_TRACE_BYTES = 2**30
SPOOL_JOB = "job.json"
"""What tells of a capture under way, beside the files of its processes."""

KINDS = (
    "a Darshan log, the text of darshan-parser or darshan-dxt-parser, a trace of Venturi, strace's "
    "output (-f -ttt -T -y -s 0), dftracer's files, or the text of recorder2text"
)


def read(path: str | Path, timeout_s: float = 60.0) -> Trace:
    """The counters in the capture at `path`, which is any that `read_capture` reads.

    Of a Darshan log only the counters are read. Raises UserError with what is wrong, where, and
    what to do.
    """
    path = Path(path)
    if not path.is_dir():
        kind = kind_of(path)
        if kind is CaptureKind.DARSHAN_LOG:
            from venturi.sources.darshan import read_log

            return read_log(path, timeout_s)
        if kind is CaptureKind.DARSHAN_TEXT:
            return darshan_text.read_text(path)
    return read_capture(path, timeout_s=timeout_s).trace


def get_ready(path: str | Path) -> None:
    """Start what reading this capture will need, if anything: it gets ready meanwhile."""
    with contextlib.suppress(UserError, OSError):
        if not Path(path).is_dir() and kind_of(Path(path)) is CaptureKind.DARSHAN_LOG:
            from venturi.sources.darshan import POOL

            POOL.start()


def read_capture(path: str | Path, *more: str | Path, timeout_s: float = 60.0) -> Captured:
    """All that is known from a capture: one file, a folder, or several files of one job.

    A folder is a trace of Venturi, or holds files of one job (those of no known kind do not
    count). Where a source has operations and no counters, they are counted from these. Reading a
    Darshan log takes at most `timeout_s` seconds. Raises UserError with what is wrong, where, and
    what to do.
    """
    paths = [Path(path), *map(Path, more)]
    if len(paths) == 1 and not paths[0].is_dir():
        return _read_file(paths[0], kind_of(paths[0]), timeout_s)
    from venturi.model.trace_folder import DOCUMENT, read_trace

    if len(paths) == 1 and (paths[0] / DOCUMENT).exists():
        return read_trace(paths[0])
    if len(paths) == 1 and (paths[0] / SPOOL_JOB).exists():
        raise UserError(
            f"'{paths[0]}' is what a capture left behind that was killed",
            f"make its trace: venturi capture --recover {shlex.quote(str(paths[0]))}",
        )
    found: dict[Path, CaptureKind] = {}
    for given in paths:
        found |= _in_folder(given) if given.is_dir() else {given: _known(given)}
    if len(found) == 1:
        [(only, kind)] = found.items()
        return _read_file(only, kind, timeout_s)
    return _read_several(found, timeout_s)


def _known(path: Path) -> CaptureKind:
    kind = kind_of(path)
    if kind is None:
        raise UserError(f"'{path}' is not a capture that Venturi knows", f"it reads {KINDS}")
    return kind


def is_bare(folder: Path) -> bool:
    """Whether a directory is no trace and holds no file of a known kind."""
    from venturi.model.trace_folder import DOCUMENT

    own = (folder / DOCUMENT, folder / SPOOL_JOB)
    return not any(path.exists() for path in own) and not _kinds_in(folder)


def _in_folder(folder: Path) -> dict[Path, CaptureKind]:
    """The files in a folder that are of a known kind; UserError where there is none."""
    found = _kinds_in(folder)
    if not found:
        raise UserError(f"'{folder}' is a directory without a capture", f"Venturi reads {KINDS}")
    return found


def _kinds_in(folder: Path) -> dict[Path, CaptureKind]:
    found = {}
    try:
        for path in sorted(folder.iterdir()):
            if path.is_file() and path.stat().st_size:
                kind = kind_of(path)
                if kind is not None:
                    found[path] = kind
    except OSError as error:
        raise UserError(f"'{folder}' cannot be read: {error.strerror}") from None
    return found


def _read_file(path: Path, kind: CaptureKind | None, timeout_s: float) -> Captured:
    from venturi.model.trace_folder import Captured

    match kind:
        case CaptureKind.DARSHAN_TEXT:
            return Captured(darshan_text.read_text(path))
        case CaptureKind.TRACE:
            return _read_document(path)
        case CaptureKind.DARSHAN_LOG:
            from venturi.sources.darshan_log import read_whole_log

            return read_whole_log(path, timeout_s)
        case CaptureKind.DXT_TEXT:
            from venturi.sources.dxt_text import read_dxt_text

            return read_dxt_text(path)
        case None:
            _known(path)
    return _read_calls([path], kind)


def _read_calls(paths: list[Path], kind: CaptureKind | None) -> Captured:
    """Files of a kind that has one file per process."""
    if kind is CaptureKind.STRACE:
        from venturi.sources.strace import read_strace

        return read_strace(paths)
    if kind is CaptureKind.DFTRACER:
        from venturi.sources.dftracer import read_dftracer

        return read_dftracer(paths)
    from venturi.sources.recorder_text import read_recorder_text

    return read_recorder_text(paths)


def _read_several(found: dict[Path, CaptureKind], timeout_s: float) -> Captured:
    """Files of one job: one per process, or logs of Darshan in any of their forms."""
    kinds = set(found.values())
    darshan = {CaptureKind.DARSHAN_LOG, CaptureKind.DARSHAN_TEXT, CaptureKind.DXT_TEXT}
    if kinds <= darshan:
        from venturi.sources.log_set import read_log_set

        return read_log_set(found, lambda path: _read_file(path, found[path], timeout_s))
    calls = {CaptureKind.STRACE, CaptureKind.DFTRACER, CaptureKind.RECORDER}
    if len(kinds) == 1 and kinds <= calls:
        return _read_calls(list(found), *kinds)
    first, *others = found
    second = next((path for path in others if found[path] is not found[first]), others[0])
    raise UserError(
        f"'{first.name}' is {found[first]} and '{second.name}' is {found[second]}: they cannot be "
        "read as one capture",
        "name the files of one kind" if len(kinds) > 1 else "name one of them",
    )


def _read_document(path: Path) -> Captured:
    from venturi.model.trace_folder import DOCUMENT, Captured, read_trace

    if path.stat().st_size > MAX_TRACE_BYTES:
        raise UserError(f"trace '{path}' is larger than {MAX_TRACE_BYTES} bytes")
    try:
        trace = parse_json(Trace, path.read_bytes())
    except DocumentError as error:
        raise UserError(f"'{path}' is not a {TRACE_SCHEMA} document: {error}", error.hint) from None
    if trace.operation_count and path.name == DOCUMENT:
        return read_trace(path.parent)
    return Captured(trace)
