"""When jobs of Slurm ran: what `sacct --parsable2` prints, from a file or from Slurm itself."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime

from venturi.model.error import UserError
from venturi.model.probe_history import PhaseSource
from venturi.probe.local_time import LocalZone, TwoTimesError, interval_ns, moment_ns
from venturi.probe.run_phase import TimedPhase, TimedRun
from venturi.probe.span import Span

_NEEDED = ("JobID", "Start", "End")
_FIELDS = "JobID,JobName,State,ElapsedRaw,Start,End"
_NEVER = frozenset({"", "Unknown", "None", "N/A", "NONE"})
_PATIENCE_S = 60.0
_DISABLED = "accounting storage is disabled"
_SHOWN = re.compile(r"JobId=(\S+) JobName=(.*?) UserId=.* StartTime=(\S+) EndTime=(\S+) Deadline=")
_RUNNING = frozenset({"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED"})
_MOST_SAID = 200


def is_sacct(head: str) -> bool:
    """Whether a text begins as `sacct --parsable2` does: with a line of the fields' names."""
    names = head.partition("\n")[0].rstrip("\r").split("|")
    return len(names) > 1 and "JobID" in names


def jobs_of(text: str, zone: LocalZone, span: Span) -> tuple[list[TimedRun], str]:
    """Return the jobs of an output of sacct, and a remark on those that are left out.

    Jobs that run yet last until the span's end. Steps, and jobs that did not begin, are no jobs
    here. Raises ValueError, with the line, where the output is not complete.
    """
    lines = text.splitlines()
    names = lines[0].split("|")
    if lacking := [name for name in _NEEDED if name not in names]:
        raise ValueError(
            f"the output has no field {lacking[0]}: sacct -X --parsable2 -o {_FIELDS} prints all"
        )
    found, unclear = [], []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        try:
            job = _job(_row(line, names), zone, span)
        except TwoTimesError as error:
            unclear.append(str(error))
            continue
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
        if job is not None:
            found.append(job)
    return found, _left_out(unclear)


def _left_out(unclear: list[str]) -> str:
    if not unclear:
        return ""
    count = "1 job is" if len(unclear) == 1 else f"{len(unclear)} jobs are"
    return (
        f"{count} left out, for example {unclear[0]}; with SLURM_TIME_FORMAT=%s sacct prints exact "
        "times"
    )


def _row(line: str, names: list[str]) -> dict[str, str]:
    """The fields of a line. Slurm does not mask the `|` of a job's name."""
    fields = line.split("|")
    more = len(fields) - len(names)
    if more > 0 and "JobName" in names:
        at = names.index("JobName")
        fields[at : at + more + 1] = ["|".join(fields[at : at + more + 1])]
    if len(fields) != len(names):
        raise ValueError(f"{len(fields)} fields, but the first line has {len(names)}")
    return dict(zip(names, fields, strict=True))


def _job(row: dict[str, str], zone: LocalZone, span: Span) -> TimedRun | None:
    number, begin, end = (row[name].strip() for name in _NEEDED)
    if "." in number or begin in _NEVER:
        return None
    try:
        if end in _NEVER:
            begin_ns = moment_ns(zone, begin)
            end_ns = max(span.end_ns, begin_ns)
        else:
            begin_ns, end_ns = interval_ns(zone, begin, end, _elapsed_s(row))
    except ValueError as error:
        raise type(error)(f"job {number}: {error}") from None
    return _timed(number, row.get("JobName", ""), begin_ns, end_ns)


def _elapsed_s(row: dict[str, str]) -> float | None:
    text = row.get("ElapsedRaw", "")
    return float(text) if text.isdecimal() else None


def _timed(number: str, name: str, begin_ns: int, end_ns: int) -> TimedRun:
    phase = TimedPhase(path=name or "job", repetition=0, begin_ns=begin_ns, end_ns=end_ns)
    return TimedRun(f"job {number}", "", True, [phase], PhaseSource.SLURM)


def jobs_of_slurm(span: Span) -> tuple[list[TimedRun], str]:
    """Return the jobs that this Slurm knows of a time, and a remark on what it does not know.

    Where Slurm keeps no accounts it still knows the jobs of the last minutes. Raises UserError
    where there is no Slurm or it does not answer.
    """
    begin, end = (_utc(at_ns) for at_ns in (span.begin_ns, span.end_ns + 10**9))
    words = ["sacct", "-X", "--parsable2", "-S", begin, "-E", end, "-o", _FIELDS]
    answer = _asked(*words)
    zone = LocalZone(UTC)
    if not answer.returncode and is_sacct(answer.stdout):
        try:
            return jobs_of(answer.stdout, zone, span)
        except ValueError as error:
            raise UserError(f"--slurm: sacct: {error}") from None
    if _DISABLED not in answer.stderr.lower():
        said = answer.stderr.strip()[:_MOST_SAID] or f"exit code {answer.returncode}"
        raise UserError(
            f"--slurm: sacct does not answer: {said}", "give its output instead: --shade FILE"
        )
    jobs = _asked("scontrol", "show", "job", "-o")
    remark = (
        "this Slurm keeps no accounts: only the jobs that it still knows of are shaded, those "
        "that run and those that ended a short while ago (its MinJobAge)"
    )
    return list(_known(jobs.stdout, zone, span)), remark


def _known(text: str, zone: LocalZone, span: Span) -> Iterator[TimedRun]:
    """The jobs of `scontrol show job -o`; of one that runs, the end is what it may take at most."""
    for line in text.splitlines():
        found = _SHOWN.match(line)
        state = re.search(r" JobState=(\w+)", line)
        if found is None or state is None or found[3] in _NEVER or state[1] == "PENDING":
            continue
        begin_ns = zone.moments_ns(found[3])[0]
        is_over = state[1] not in _RUNNING and found[4] not in _NEVER
        end_ns = zone.moments_ns(found[4])[0] if is_over else span.end_ns
        yield _timed(found[1], found[2], begin_ns, max(begin_ns, end_ns))


def _asked(*words: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "SLURM_TIME_FORMAT"}
    try:
        return subprocess.run(
            words,
            env=environment | {"TZ": "UTC"},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
            check=False,
        )
    except FileNotFoundError:
        raise UserError(
            f"--slurm: {words[0]} is not installed here", "give its output instead: --shade FILE"
        ) from None
    except subprocess.TimeoutExpired:
        raise UserError(
            f"--slurm: {words[0]} did not answer in {_PATIENCE_S:.0f} s",
            "give its output instead: --shade FILE",
        ) from None


def _utc(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%S")
