"""What besides the runs of a store is shaded in the picture of a probe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from venturi.probe.interval_file import Intervals, runs_of
from venturi.probe.local_time import zone_of
from venturi.probe.run_phase import TimedRun
from venturi.probe.slurm_jobs import jobs_of_slurm
from venturi.probe.span import Span


@dataclass(frozen=True)
class ShadingRequest:
    """What the user asks for."""

    paths: Sequence[str] = ()
    """Files and folders, as `runs_of` takes them."""
    zone: str | None = None
    """Of times that bear none; None: this host's."""
    slurm: bool = False
    """Ask the Slurm of this host, too."""


def shaded_runs(request: ShadingRequest, span: Span) -> tuple[list[TimedRun], list[str]]:
    """Return what went on in a span, by its begin, and a sentence on each source without any.

    Raises UserError where a file, the zone or Slurm cannot be read.
    """
    zone = zone_of(request.zone)
    found: list[TimedRun] = []
    remarks: list[str] = []

    def take(name: str, intervals: Intervals) -> None:
        runs, remark = intervals
        if remark:
            remarks.append(f"{name}: {remark}")
        inside = [run for run in runs if _touches(run, span)]
        if not inside:
            remarks.append(f"{name}: {_none_of(runs)} in the time shown ({_words(span)})")
        found.extend(inside)

    for path in request.paths:
        take(path, runs_of(Path(path), zone, span))
    if request.slurm:
        take("--slurm", jobs_of_slurm(span))
    return sorted(found, key=lambda run: run.phases[0].begin_ns), remarks


def _touches(run: TimedRun, span: Span) -> bool:
    return any(one.end_ns > span.begin_ns and one.begin_ns < span.end_ns for one in run.phases)


def _none_of(runs: Sequence[TimedRun]) -> str:
    if not runs:
        return "nothing ran"
    ends = [(one.begin_ns, one.end_ns) for run in runs for one in run.phases]
    whole = Span(min(begin for begin, _ in ends), max(end for _, end in ends))
    return f"what it has ran from {_words(whole)}, nothing"


def _words(span: Span) -> str:
    begin, end = (
        datetime.fromtimestamp(at_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M")
        for at_ns in (span.begin_ns, span.end_ns)
    )
    return f"{begin} to {end} UTC"
