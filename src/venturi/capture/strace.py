"""Capture by strace: for programs that cannot load the tracer, at a price."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from venturi.model.error import UserError
from venturi.model.trace_folder import Captured

CALLS = "%file,%desc,%process,msync"
COST = "each system call takes about 50 microseconds more, so times are not the application's own"


def strace_command(command: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """The command under strace, one file per process in `folder`.

    Contents of files are not recorded. Raises UserError where strace is not installed.
    """
    strace = shutil.which("strace")
    if strace is None:
        raise UserError("strace is not installed", "install it, or capture without --with strace")
    options = ["-ff", "-ttt", "-T", "-y", "-s", "0", "-e", f"trace={CALLS}"]
    return (strace, *options, "-o", str(folder / "strace"), "--", *command)


def read_strace(folder: Path) -> Captured:
    """The trace from what strace wrote into `folder`; UserError where it wrote nothing."""
    from venturi.sources.open import read_capture

    if not any(os.scandir(folder)):
        raise UserError("strace recorded nothing", "may it trace programs here (ptrace)?")
    return read_capture(folder)
