"""What a file is, from its content; its name does not matter."""

from __future__ import annotations

import gzip
import re
import zlib
from enum import StrEnum
from pathlib import Path

from venturi.model.error import UserError

HEAD_BYTES = 4096
_FAR_BYTES = 2**20
"""Darshan's texts begin alike; what tells them apart comes after the table of mounts."""

DARSHAN_TEXT_BEGIN = b"# darshan log version:"
_DARSHAN_VERSIONS = (b"2.", b"3.")
_STRACE = re.compile(rb"(\[pid +\d+\] |\d+ +)?\d{6,}\.\d{3,9} (\w+\(|<\.\.\.|\+\+\+|---)")
_STRACE_UNTIMED = re.compile(
    rb"(\[pid +\d+\] |\d+ +)?(\d\d:\d\d:\d\d(\.\d+)? )?[a-z]\w+\(.*\) += (\?|-?\d|0x)"
)
_RECORDER = re.compile(rb"-?\d+\.\d+ -?\d+\.\d+ \w+ \d+ \d+ \(.*\)\s*$", re.M)
_DFTRACER = re.compile(rb'\s*\[?\s*\{"(id|name)":[^\n]*"(cat|pid)":')
_GZIP = b"\x1f\x8b"


class CaptureKind(StrEnum):
    """The kinds of files that are read."""

    DARSHAN_LOG = "a Darshan log"
    DARSHAN_TEXT = "the text of darshan-parser"
    DXT_TEXT = "the text of darshan-dxt-parser"
    TRACE = "a trace in Venturi's JSON"
    STRACE = "strace's output"
    DFTRACER = "a dftracer file"
    RECORDER = "the text of recorder2text"


def kind_of(path: Path) -> CaptureKind | None:
    """What the file at `path` holds; None: nothing known here.

    Raises UserError where it cannot be opened, or is empty.
    """
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
            if not head:
                raise UserError(
                    f"'{path}' is an empty file", "the job may have died before it was written"
                )
            if head.startswith(DARSHAN_TEXT_BEGIN):
                far = head + file.read(_FAR_BYTES)
                is_dxt = b"\n# DXT, file_id:" in far or b"\n# DXT_POSIX module data" in far
                is_dxt = is_dxt or b"\n# DXT_MPIIO module data" in far
                return CaptureKind.DXT_TEXT if is_dxt else CaptureKind.DARSHAN_TEXT
    except OSError as error:
        raise UserError(f"'{path}' cannot be opened: {error.strerror}") from None
    return _kind_of_head(head, path)


def _kind_of_head(head: bytes, path: Path) -> CaptureKind | None:
    if head.startswith(_DARSHAN_VERSIONS) and b"\0" in head[:8]:
        return CaptureKind.DARSHAN_LOG
    if head.startswith(_GZIP):
        return CaptureKind.DFTRACER if _DFTRACER.match(_unpacked_head(path)) else None
    if _DFTRACER.match(head) and b'"schema"' not in head[:100]:
        return CaptureKind.DFTRACER
    if head.lstrip().startswith(b"{"):
        return CaptureKind.TRACE
    if _STRACE.match(head) or _STRACE_UNTIMED.match(head):
        return CaptureKind.STRACE
    if _RECORDER.match(head):
        return CaptureKind.RECORDER
    return None


def _unpacked_head(path: Path) -> bytes:
    try:
        with gzip.open(path) as file:
            return file.read(HEAD_BYTES)
    except (OSError, EOFError, zlib.error):
        return b""
