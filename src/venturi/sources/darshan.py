"""Reads Darshan logs: starts the child that holds the C library and judges how it ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pydantic import ValidationError

from venturi.model.error import UserError
from venturi.model.trace import Trace
from venturi.sources.darshan_child import EXIT_NO_LIBRARY, EXIT_UNREADABLE

MAX_LOG_BYTES = 2**30
"""A log is compressed counters; the largest known ones are a few hundred MiB."""

TEXT_ROUTE = "give venturi the text that `darshan-parser LOG` prints instead"


def read_log(path: Path, timeout_s: float = 60.0) -> Trace:
    """The trace of a binary Darshan log.

    The C library runs in a process of its own, for at most `timeout_s` seconds. Raises
    UserError where the log is missing, too large, empty, malformed or takes too long.
    """
    where = f"Darshan log '{path}'"
    size = _size_bytes(path, where)
    if size > MAX_LOG_BYTES:
        raise UserError(f"{where} has {size} bytes; at most {MAX_LOG_BYTES} are read", TEXT_ROUTE)
    command = [sys.executable, "-P", "-m", "venturi.sources.darshan_child", str(path.resolve())]
    try:
        child = subprocess.run(command, capture_output=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        raise UserError(f"{where} could not be read in {timeout_s:g} s", TEXT_ROUTE) from None
    if child.returncode != 0:
        raise _failure(where, child.returncode, child.stderr.decode(errors="replace"))
    try:
        return Trace.model_validate_json(child.stdout)
    except ValidationError as error:
        raise UserError(f"{where} holds impossible values: {_brief(error)}", TEXT_ROUTE) from None


def _size_bytes(path: Path, where: str) -> int:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise UserError(f"{where} cannot be opened: {error.strerror}") from None
    if size == 0:
        raise UserError(f"{where} is an empty file", "the job may have died before Darshan wrote")
    return size


def _failure(where: str, code: int, stderr: str) -> UserError:
    lines = stderr.strip().splitlines()
    last = lines[-1] if lines else "no reason given"
    if code == EXIT_NO_LIBRARY:
        return UserError(
            f"{where} cannot be read here because the 'darshan' library does not load ({last})",
            f"pip install darshan, or {TEXT_ROUTE}",
        )
    if code == EXIT_UNREADABLE:
        return UserError(f"{where} cannot be read: {last}", TEXT_ROUTE)
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return UserError(f"{where} is malformed: it crashes the Darshan library ({how})", TEXT_ROUTE)


def _brief(error: ValidationError) -> str:
    detail = error.errors(include_url=False, include_context=False)[0]
    return f"{'.'.join(str(part) for part in detail['loc'])}: {detail['msg']}"
