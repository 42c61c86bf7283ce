"""Jobs for LSF: bsub, bjobs, bkill."""

from __future__ import annotations

import math
import re
from pathlib import Path

from venturi.campaign.job import JobPlan
from venturi.campaign.scheduler import JobState, Script
from venturi.campaign.scheduler.command import asked, refused
from venturi.campaign.scheduler.script import batch_script, body_of
from venturi.model.machine import Scheduler

_STATES = {
    **dict.fromkeys(("PEND", "PSUSP", "PROV", "WAIT"), JobState.QUEUED),
    **dict.fromkeys(("RUN", "USUSP", "SSUSP"), JobState.RUNNING),
    "UNKWN": JobState.RUNNING,  # its host does not answer; it may be there again
    "DONE": JobState.ENDED,
    "EXIT": JobState.ENDED,
    "ZOMBI": JobState.NODE_FAILURE,
}
_REASONS = {
    "TERM_RUNLIMIT": JobState.TIMEOUT,
    "TERM_DEADLINE": JobState.TIMEOUT,
    "TERM_CPULIMIT": JobState.TIMEOUT,
    "TERM_MEMLIMIT": JobState.OUT_OF_MEMORY,
    "TERM_SWAP": JobState.OUT_OF_MEMORY,
    "TERM_OWNER": JobState.CANCELLED,
    "TERM_FORCE_OWNER": JobState.CANCELLED,
    "TERM_ADMIN": JobState.CANCELLED,
    "TERM_FORCE_ADMIN": JobState.CANCELLED,
    "TERM_PREEMPT": JobState.CANCELLED,
    "TERM_ZOMBIE": JobState.NODE_FAILURE,
}
"""The first word of `exit_reason`."""
_FIELDS = "jobid stat exit_reason delimiter='|'"


class Lsf:
    """A cluster under LSF 10 or newer."""

    def __init__(self, settings: Scheduler) -> None:
        self._settings = settings

    def render(self, job: JobPlan, name: str, folder: Path, output: Path) -> str:
        """A batch script; a minute before the end of its time the job is told."""
        minutes = math.ceil(job.seconds / 60)
        options = [
            f"-J {name}",
            f"-n {job.ranks}",
            f'-R "span[ptile={math.ceil(job.ranks / job.nodes)}]"',
            f"-W {minutes // 60}:{minutes % 60:02d}",
            f"-o {output}",
            "-wa TERM -wt 1",
            "-rn",
        ]
        body = body_of(self._settings, folder, job.name, name)
        return batch_script("#BSUB", options, ("-q ", "-P "), self._settings, body)

    def submit(self, script: Script) -> str:
        """bsub, which reads the script from its standard input."""
        answer = asked("bsub", text=script.path.read_text("utf-8"))
        number = re.search(r"Job <(\d+)> is submitted", answer.stdout)
        if answer.returncode or number is None:
            raise refused(answer, script.path.name)
        return number[1]

    def poll(self, numbers: list[str]) -> dict[str, JobState]:
        """bjobs; what it forgot is unknown."""
        found = dict.fromkeys(numbers, JobState.UNKNOWN)
        if not numbers:
            return found
        for line in asked("bjobs", "-a", "-noheader", "-o", _FIELDS, *numbers).stdout.splitlines():
            number, _, rest = line.strip().partition("|")
            word, _, why = rest.partition("|")
            state = _STATES.get(word, JobState.UNKNOWN)
            if word == "EXIT":
                state = _REASONS.get(why.partition(":")[0].strip(), state)
            if number in found:
                found[number] = state
        return found

    def cancel(self, number: str, look_only: bool = False) -> None:
        """bkill, or a signal that makes the worker look."""
        asked("bkill", *(("-s", "USR1") if look_only else ()), number)

    def find(self, name: str) -> str | None:
        """bjobs by name, also what ended a while ago."""
        numbers = asked("bjobs", "-a", "-noheader", "-J", name, "-o", "jobid").stdout.split()
        known = [number for number in numbers if number.isdecimal()]
        return known[-1] if known else None
