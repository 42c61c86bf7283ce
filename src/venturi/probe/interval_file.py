"""Files that say when something went on: of Slurm, Darshan and IO500, and tables of intervals."""

from __future__ import annotations

import configparser
import csv
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from venturi.model.error import UserError
from venturi.model.probe_history import PhaseSource
from venturi.probe.local_time import LocalZone, interval_ns
from venturi.probe.run_phase import TimedPhase, TimedRun
from venturi.probe.slurm_jobs import is_sacct, jobs_of
from venturi.probe.span import Span
from venturi.sources.darshan_container import ContainerError
from venturi.sources.dxt import container_of

_MOST_BYTES = 2**30
_HEAD_BYTES = 2**16
_RESULT = "result.txt"
_NO_PHASE = "timestamp"
"""It only takes the time."""
_SUMMARY = re.compile(rb"^\[RESULT ?\]", re.MULTILINE)
_IO500 = re.compile(rb"^t_start\s*=", re.MULTILINE)
_DARSHAN_TEXT = re.compile(rb"\A# darshan log version:")
_DARSHAN_FACT = re.compile(r"^# (exe|jobid|start_time|end_time|run time): *(.*)$", re.MULTILINE)
_DARSHAN_VERSION = re.compile(rb"\A\d\.\d{2}\0")
_WAYS = (
    "what sacct --parsable2 prints, a Darshan log, a result.txt of IO500, or a table (CSV) with "
    "the columns begin, end and label"
)


Intervals = tuple[list[TimedRun], str]
"""What went on, and a remark on what is left out."""


def runs_of(path: Path, zone: LocalZone, span: Span) -> Intervals:
    """Return what a file says, or what the files of a folder say: `result.txt`, or Darshan logs.

    With it comes a remark on what is left out. Raises UserError where a file cannot be read or is
    none of those that are known.
    """
    if not path.is_dir():
        return _runs(path, zone, span)
    if (path / _RESULT).is_file():
        return _runs(path / _RESULT, zone, span)
    logs = sorted(path.rglob("*.darshan"))
    if not logs:
        raise UserError(f"{path}: the folder has neither {_RESULT} nor Darshan logs")
    return [run for log in logs for run in _runs(log, zone, span)[0]], ""


def _runs(path: Path, zone: LocalZone, span: Span) -> Intervals:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)  # pipes and devices do not say how much there is
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise UserError(f"{path} has more than {_MOST_BYTES} bytes")
    try:
        return _known(path, data, zone, span)
    except ContainerError as error:
        raise UserError(f"{path}: the Darshan log is damaged: {error}") from None
    except ValueError as error:
        raise UserError(f"{path}: {error}", _help_for(str(error))) from None


def _help_for(why: str) -> str:
    if "clocks went back" in why:
        return "say which time is meant: --zone +02:00"
    if "clocks went forward" in why:
        return "name the zone of the times: --zone Europe/Berlin"
    return ""


def _known(path: Path, data: bytes, zone: LocalZone, span: Span) -> Intervals:
    head = data[:_HEAD_BYTES]
    if _DARSHAN_VERSION.match(head):
        return [_darshan(data)], ""
    if _DARSHAN_TEXT.match(head):
        return [_darshan_text(head.decode("utf-8", "replace"))], ""
    if b"\0" in head:
        raise UserError(f"{path}: this file is not known", f"known: {_WAYS}")
    text = data.decode("utf-8-sig", "replace")
    if is_sacct(text):
        return jobs_of(text, zone, span)
    if _IO500.search(data):
        return [_io500(path, text, zone)], ""
    if _SUMMARY.search(head):
        raise UserError(
            f"{path}: a summary of IO500 does not say when its phases ran",
            f"give the {_RESULT} that lies beside it",
        )
    names = [name.strip().lower() for name in text.partition("\n")[0].split(",")]
    if {"begin", "end"} <= set(names) or {"start", "end"} <= set(names):
        return list(_table(path, text, zone)), ""
    raise UserError(f"{path}: this file is not known", f"known: {_WAYS}")


def _darshan(data: bytes) -> TimedRun:
    job = container_of(data).job()
    return _darshan_job(str(job.job), job.command, job.started_ns, job.seconds)


def _darshan_text(text: str) -> TimedRun:
    facts = dict(_DARSHAN_FACT.findall(text))
    if lacking := {"start_time", "end_time"} - facts.keys():
        raise ValueError(f"the Darshan log has no {min(lacking)}")
    try:
        begin_s, end_s = int(facts["start_time"]), int(facts["end_time"])
        seconds = float(facts.get("run time", end_s - begin_s))
    except ValueError:
        raise ValueError("start, end or run time of the Darshan log is no number") from None
    return _darshan_job(facts.get("jobid", "?"), facts.get("exe", ""), begin_s * 10**9, seconds)


def _darshan_job(number: str, command: str, begin_ns: int, seconds: float) -> TimedRun:
    words = command.split(" ")
    name = PurePosixPath(words[0]).name or "program"
    phase = TimedPhase(name, 0, begin_ns, begin_ns + round(seconds * 1e9))
    return TimedRun(f"Darshan {number}", "", True, [phase], PhaseSource.DARSHAN)


def _io500(path: Path, text: str, zone: LocalZone) -> TimedRun:
    """The phases in the order in which they ran, which tells when clocks went back meanwhile."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, delimiters=("=",))
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(f"not a {_RESULT} of IO500: {error.message.splitlines()[0]}") from None
    phases: list[TimedPhase] = []
    before_ns = None
    for name in parser.sections():
        keys = parser[name]
        begin = keys.get("t_start")
        if begin is None:
            continue
        seconds = _seconds(name, keys.get("t_delta"))
        end = keys.get("t_end") or begin
        try:
            begin_ns, end_ns = interval_ns(zone, begin, end, seconds, before_ns)
        except ValueError as error:
            raise type(error)(f"phase {name}: {error}") from None
        before_ns = end_ns
        if seconds and name != _NO_PHASE:
            phases.append(TimedPhase(name, 0, begin_ns, max(end_ns, begin_ns + int(seconds * 1e9))))
    if not phases:
        raise ValueError("no phase of this IO500 took any time")
    folder = path.resolve().parent.name
    return TimedRun(f"IO500 {folder}", "", True, phases, PhaseSource.IO500)


def _seconds(phase: str, text: str | None) -> float:
    try:
        return max(0.0, float(text or 0))
    except ValueError:
        raise ValueError(f"phase {phase}: t_delta {text!r} is no number") from None


def _table(path: Path, text: str, zone: LocalZone) -> Iterator[TimedRun]:
    reader = csv.DictReader(text.splitlines())
    reader.fieldnames = [name.strip().lower() for name in reader.fieldnames or ()]
    for number, row in enumerate(reader, 2):
        begin, end = row.get("begin") or row.get("start") or "", row.get("end") or ""
        try:
            begin_ns, end_ns = interval_ns(zone, begin, end)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
        label = (row.get("label") or "").strip() or f"line {number}"
        phase = TimedPhase(label, 0, begin_ns, end_ns)
        yield TimedRun(f"{path.name} {number}", "", True, [phase], PhaseSource.FILE)
