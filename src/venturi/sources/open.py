"""Opens a capture of any known kind; the content decides, not the name."""

from __future__ import annotations

from pathlib import Path

from venturi.model.document import DocumentError, parse_json
from venturi.model.error import UserError
from venturi.model.trace import TRACE_SCHEMA, Trace
from venturi.model.trace_folder import DOCUMENT, Captured, read_trace
from venturi.sources import darshan_text

MAX_TRACE_BYTES = 2**30
_HEAD_BYTES = 4096
_DARSHAN_VERSIONS = (b"2.", b"3.")
KINDS = "a Darshan log, the text of darshan-parser, or a trace in Venturi's JSON"


def read_capture(path: str | Path, timeout_s: float = 60.0) -> Captured:
    """What was captured at `path`: a folder with operations, or anything that `read` knows."""
    if Path(path, DOCUMENT).is_file():
        return read_trace(Path(path))
    return Captured(read(path, timeout_s))


def read(path: str | Path, timeout_s: float = 60.0) -> Trace:
    """The trace in the file at `path`: a Darshan log, darshan-parser's text, or a trace.

    Files larger than 1 GiB are refused; reading a log takes at most `timeout_s` seconds.
    Raises UserError with what is wrong, where, and what to do.
    """
    path = Path(path)
    head = _head(path)
    if head.startswith(darshan_text.FIRST_LINE.encode()):
        return darshan_text.read_text(path)
    if head.lstrip().startswith(b"{"):
        return _read_trace(path)
    if head.startswith(_DARSHAN_VERSIONS) and b"\0" in head[:8]:
        from venturi.sources.darshan import read_log

        return read_log(path, timeout_s)
    raise UserError(f"'{path}' is not a capture that Venturi knows", f"it reads {KINDS}")


def _head(path: Path) -> bytes:
    if path.is_dir():
        raise UserError(f"'{path}' is a directory", f"name one file: {KINDS}")
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise UserError(f"'{path}' cannot be opened: {error.strerror}") from None
    if not head:
        raise UserError(f"'{path}' is an empty file", "the job may have died before it was written")
    return head


def _read_trace(path: Path) -> Trace:
    if path.stat().st_size > MAX_TRACE_BYTES:
        raise UserError(f"trace '{path}' is larger than {MAX_TRACE_BYTES} bytes")
    try:
        return parse_json(Trace, path.read_bytes())
    except DocumentError as error:
        raise UserError(f"'{path}' is not a {TRACE_SCHEMA} document: {error}", error.hint) from None
