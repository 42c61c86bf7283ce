"""From a command to a trace: the tracer's folder, the application, and what is made of both."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from venturi import __version__
from venturi.capture.application import Finished, run_application
from venturi.capture.counters import left_out_of
from venturi.capture.merge import merge
from venturi.capture.path_filter import leave_out
from venturi.capture.process_file import SUFFIX as PROCESS_SUFFIX
from venturi.capture.process_file import ProcessFile, read_process_file
from venturi.capture.strace import COST, read_strace, strace_command
from venturi.capture.tracer import CONFIGURATION, Settings, configure, environment
from venturi.model.error import UserError, VenturiError
from venturi.model.trace_folder import SUFFIX, Captured, write_trace


@dataclass(frozen=True)
class Outcome:
    """A capture that was made."""

    captured: Captured
    finished: Finished
    folder: Path
    left_out: dict[str, int]
    """Operations and bytes that the filter left out: `operations`, `bytes`."""
    remarks: list[str]
    """What else is to be known: files of processes that could not be read, what the way costs."""


def place_for(output: str | None, command: tuple[str, ...]) -> Path:
    """Where the trace is to go; UserError where something is there already or nothing can be.

    Without `output` it is named after the program, with a number where that is taken.
    """
    if output is not None:
        folder = Path(os.path.abspath(output))
        if folder.exists():
            raise UserError(f"'{output}' exists already", "name another with -o, or move it away")
    else:
        name = Path(command[0]).name or "capture"
        taken = 1
        while (
            folder := Path.cwd() / f"{name}{'' if taken == 1 else f'-{taken}'}{SUFFIX}"
        ).exists():
            taken += 1
    if not folder.parent.is_dir():
        raise UserError(
            f"'{folder.parent}' is no directory", "make it first, or name another with -o"
        )
    return folder


def capture(
    command: tuple[str, ...], folder: Path, settings: Settings, here: Path | None = None
) -> Outcome:
    """Runs `command` under the tracer and writes the trace into `folder`.

    Its working directory is `here`, else ours. What was captured is kept however the application
    ended. Raises UserError where it cannot be started or the folder cannot be written.
    """
    with spool_for(folder) as spool:
        configure(spool, settings)
        finished = run_application(command, environment(spool), here)
        files, broken = _read_all(spool)
        captured = merge(files, finished.facts, folder.name, __version__)
        written, remarks = _write(folder, captured)
    return Outcome(captured, finished, written, left_out_of(files), broken + remarks)


def capture_by_strace(command: tuple[str, ...], folder: Path, settings: Settings) -> Outcome:
    """As `capture`, by strace, which sees static programs and slows I/O down many times.

    Raises UserError where strace is missing, or for what it cannot do.
    """
    if settings.counters_only or settings.limit != Settings.limit:
        raise UserError("--counters and --limit work without --with strace only")
    with spool_for(folder) as spool:
        finished = run_application(strace_command(command, spool), dict(os.environ))
        captured, left = leave_out(read_strace(spool), settings)
        source = captured.trace.source.model_copy(update={"file": folder.name})
        captured = replace(captured, trace=captured.trace.model_copy(update={"source": source}))
        written, remarks = _write(folder, captured)
    return Outcome(captured, finished, written, left, [COST, *remarks])


def _write(folder: Path, captured: Captured) -> tuple[Path, list[str]]:
    """Writes the trace, to a temporary place where `folder` cannot be: the disk may be full."""
    try:
        write_trace(folder, captured)
    except UserError as error:
        elsewhere = Path(tempfile.mkdtemp(prefix="venturi-")) / folder.name
        try:
            write_trace(elsewhere, captured)
        except UserError:
            shutil.rmtree(elsewhere.parent, ignore_errors=True)
            raise error from None
        return elsewhere, [f"{error.message}: the trace is '{elsewhere}'"]
    return folder, []


@contextmanager
def spool_for(folder: Path) -> Iterator[Path]:
    """A folder beside the trace for what processes write, removed at the end.

    Where making the trace fails, it stays, and the error says where it is.
    """
    try:
        spool = Path(tempfile.mkdtemp(prefix=f".{folder.name}.spool.", dir=folder.parent))
    except OSError as error:
        raise UserError(f"'{folder.parent}' cannot be written: {error.strerror}") from None
    try:
        yield spool
    except VenturiError as error:
        if any(path.name != CONFIGURATION for path in spool.iterdir()):
            error.hint = f"{error.hint}; what was recorded is in '{spool}'".lstrip("; ")
            raise
        shutil.rmtree(spool, ignore_errors=True)
        raise
    shutil.rmtree(spool, ignore_errors=True)


def _read_all(spool: Path) -> tuple[list[ProcessFile], list[str]]:
    files, broken = [], []
    for path in sorted(spool.glob(f"*{PROCESS_SUFFIX}")):
        try:
            file = read_process_file(path)
        except (OSError, ValueError) as error:
            broken.append(f"what a process recorded cannot be read: {error}")
            continue
        if file is not None:
            files.append(file)
    return files, broken
