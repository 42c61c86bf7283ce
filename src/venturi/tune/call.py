"""The calls behind the verbs of a workload, as they stand in an application's code."""

from __future__ import annotations

from venturi.model.plan import SyncMode
from venturi.model.workload import FileSpec

_LINE_BYTES = 1024
"""Larger requests are no lines of text."""


def call(spec: FileSpec, is_write: bool) -> str:
    """The call that moves the data of a file, such as `write()`."""
    calls = spec.interface.entry.calls
    return (calls.write or "write") if is_write else (calls.read or "read")


def sync_call(spec: FileSpec, mode: SyncMode) -> str:
    """The call that makes the data of a file persistent."""
    calls = spec.interface.entry.calls
    if mode is SyncMode.FLUSH and calls.flush:
        return calls.flush
    return calls.sync.format(sync=mode.value) or f"{mode.value}() (Python: os.{mode.value}())"


def by_hand(spec: FileSpec, is_write: bool, request_bytes: int) -> str:
    """What makes so small requests of this interface in other languages; may be empty."""
    entry = spec.interface.entry
    if entry.calls.larger:
        return f" ({entry.calls.larger})"
    is_line = is_write and request_bytes <= _LINE_BYTES
    if is_line and entry.has_file_calls:
        return "; where each line is flushed (std::endl, FLUSH, flush=True), leave that out"
    return ""
