"""From a command to a trace: the tracer's folder, the application, and what is made of both."""

from __future__ import annotations

import contextlib
import itertools
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from venturi import __version__
from venturi.capture.application import ApplicationExit, begin_job, run_application
from venturi.capture.counters import left_out_of
from venturi.capture.merge import merge
from venturi.capture.path_filter import leave_out
from venturi.capture.spool import CALLS, SpoolJob, claim, read_all, spool_for, writers
from venturi.capture.strace import COST, read_strace, strace_command
from venturi.capture.tracer import TracerSettings, configure, environment
from venturi.execute.result_folder import folder_for
from venturi.model.error import UserError
from venturi.model.trace import Gap, Layer
from venturi.model.trace_folder import (
    SUFFIX,
    Captured,
    FoldedCapture,
    folded_capture_of,
    write_trace,
)

CUT_OFF = "the capture was cut off: how and when the application ended is not known"


@dataclass(frozen=True)
class CaptureOutcome:
    """A capture that was made."""

    folded: FoldedCapture
    finished: ApplicationExit
    folder: Path
    left_out: dict[str, int]
    """Operations and bytes that the filter left out: `operations`, `bytes`."""
    remarks: list[str]
    """What else is to be known: where the trace had to go, what the way costs."""
    elsewhere: str | None = None
    """Why the trace is not where it was to go, and where it is."""

    @cached_property
    def captured(self) -> Captured:
        """The capture with a row for each call."""
        return self.folded.unfolded()


@dataclass(frozen=True)
class CaptureContext:
    """Where a capture takes place."""

    spool: Path | None = None
    """Where processes record, for hosts that share no other directory; None: beside the trace."""
    output: int | None = None
    """The descriptor of the application's standard output; None: our own."""
    here: Path | None = None
    """The application's working directory; None: our own."""


def place_for(output: str | None, command: tuple[str, ...]) -> Path:
    """Where the trace is to go; UserError where something is there already or nothing can be.

    Without `output` it is named after the program, with a number where that is taken.
    """
    return folder_for(output, Path(command[0]).name or "capture", SUFFIX)


def capture(
    command: tuple[str, ...],
    folder: Path,
    settings: TracerSettings,
    around: CaptureContext | None = None,
) -> CaptureOutcome:
    """Runs `command` under the tracer and writes the trace into `folder`.

    What was captured is kept however the application ended. Raises UserError where it cannot be
    started or the folder cannot be written.
    """
    around = around or CaptureContext()
    job = SpoolJob(begin_job(command), folder, settings, is_strace=False)
    with spool_for(job, around.spool) as spool:
        configure(spool, settings)
        finished = run_application(
            job.facts, environment(spool, command[0]), around.output, around.here
        )
        return _made(spool, replace(job, facts=finished.facts), finished)


def capture_by_strace(
    command: tuple[str, ...],
    folder: Path,
    settings: TracerSettings,
    around: CaptureContext | None = None,
) -> CaptureOutcome:
    """As `capture`, by strace, which sees static programs and slows I/O down many times.

    Raises UserError where strace is missing, or for what it cannot do.
    """
    if settings.counters_only or settings.limit != TracerSettings.limit:
        raise UserError("--counters and --limit work without --with strace only")
    around = around or CaptureContext()
    job = SpoolJob(begin_job(command), folder, settings, is_strace=True)
    with spool_for(job, around.spool) as spool:
        (spool / CALLS).mkdir()
        line = strace_command(command, spool / CALLS)
        started = replace(job.facts, command=line)
        finished = run_application(started, dict(os.environ), around.output, around.here)
        facts = replace(finished.facts, command=command)
        return _made(spool, replace(job, facts=facts), finished)


def recover(spool: Path, output: str | None) -> CaptureOutcome:
    """Makes the trace of a capture that was killed from the folder that it left behind.

    The trace goes where it was to go, or to `output`, and says that it was cut off. The folder is
    removed unless processes still write into it. Raises UserError where it is no such folder, its
    capture still runs, it holds nothing, or the trace cannot be written.
    """
    spool = Path(os.path.abspath(spool))
    with claim(spool) as job:
        folder = place_for(output or str(job.folder), job.facts.command)
        still = writers(spool)
        finished = ApplicationExit(None, job.facts, interrupted=False)
        outcome = _made(spool, replace(job, folder=folder), finished)
        if still == 0:
            shutil.rmtree(spool, ignore_errors=True)
            return outcome
    count = "1 process still writes" if still == 1 else f"{still} processes still write"
    remark = f"{count} into '{spool}': recover it again, with another -o, when they have ended"
    return replace(outcome, remarks=[*outcome.remarks, remark])


def _made(spool: Path, job: SpoolJob, finished: ApplicationExit) -> CaptureOutcome:
    """The trace of what is in the folder, written to its place."""
    if job.is_strace:
        kept, left = leave_out(read_strace(spool / CALLS), job.settings)
        captured = folded_capture_of(kept)
        source = captured.trace.source.model_copy(update={"file": job.folder.name})
        run = captured.trace.job.model_copy(update={"command": shlex.join(job.facts.command)})
        trace = captured.trace.model_copy(update={"source": source, "job": run})
        captured = replace(captured, trace=trace)
        remarks = [COST]
    else:
        files, broken = read_all(spool)
        captured = merge(files, job.facts, job.folder.name, __version__, broken)
        left, remarks = left_out_of(files), []
    if finished.code is None:
        if not captured.trace.processes:
            raise UserError(f"nothing was recorded in '{spool}'", "it may be removed")
        captured = _cut_off(captured)
    written, more = _write(job.folder, captured)
    elsewhere = more[0] if more else None
    return CaptureOutcome(captured, finished, written, left, [*remarks, *more], elsewhere)


def _cut_off(captured: FoldedCapture) -> FoldedCapture:
    """The trace with a gap that says so; the job lasts as long as anything is known of it."""
    trace, operations = captured.trace, captured.operations
    known = [trace.job.seconds, *(p.ended_s or p.started_s for p in trace.processes)]
    for record in trace.records:
        known += [at for name, at in record.times.items() if name.endswith("_END_TIMESTAMP")]
    if operations is not None and len(operations):
        known.append(operations.last_ns() / 1e9)
    changes = {
        "job": trace.job.model_copy(update={"seconds": max(known)}),
        "gaps": [*trace.gaps, Gap(layer=Layer.POSIX.value, what=CUT_OFF)],
    }
    return FoldedCapture(trace.model_copy(update=changes), operations)


def _write(folder: Path, captured: FoldedCapture) -> tuple[Path, list[str]]:
    """Writes the trace; where another capture took its name meanwhile, with a number beside it.

    To a temporary place where `folder` cannot be: the disk may be full.
    """
    try:
        write_trace(folder, captured)
    except UserError as error:
        for free in _names_beside(folder) if folder.exists() else ():
            with contextlib.suppress(UserError):
                write_trace(free, captured)
                return free, [f"{error.message}: the trace is '{free}'"]
            if not free.exists():
                break  # it is not the name
        elsewhere = Path(tempfile.mkdtemp(prefix="venturi-")) / folder.name
        try:
            write_trace(elsewhere, captured)
        except UserError:
            shutil.rmtree(elsewhere.parent, ignore_errors=True)
            raise error from None
        return elsewhere, [f"{error.message}: the trace is '{elsewhere}'"]
    return folder, []


def _names_beside(folder: Path) -> Iterator[Path]:
    """The folder's name with the numbers 2, 3, ... before its ending."""
    for number in itertools.count(2):
        yield folder.with_name(f"{folder.stem}-{number}{folder.suffix}")
