"""Jobs for Flux: flux batch, flux jobs, flux cancel."""

from __future__ import annotations

import math
import re
from pathlib import Path

from venturi.campaign.job import JobPlan
from venturi.campaign.scheduler import JobState, Script
from venturi.campaign.scheduler.command import asked, refused
from venturi.campaign.scheduler.script import batch_script, body_of
from venturi.model.machine import Scheduler

_LOOK_S = 5
"""A signal to a batch job reaches Flux's own broker, so the worker looks by itself."""
_STATES = {
    **dict.fromkeys(("DEPEND", "PRIORITY", "SCHED"), JobState.QUEUED),
    **dict.fromkeys(("RUN", "CLEANUP"), JobState.RUNNING),
    "COMPLETED": JobState.ENDED,
    "FAILED": JobState.ENDED,
    "CANCELED": JobState.CANCELLED,
    "TIMEOUT": JobState.TIMEOUT,
}
_FORMAT = "{id.f58plain} {status} {exception.type}"


class Flux:
    """A Flux instance, of a system or of an allocation."""

    def __init__(self, settings: Scheduler) -> None:
        self._settings = settings

    def render(self, job: JobPlan, name: str, folder: Path, output: Path) -> str:
        """A batch script, in whose own instance `flux run` starts what it starts."""
        options = [
            f"--job-name={name}",
            f"--nodes={job.nodes}",
            f"--nslots={job.ranks}",
            f"--time-limit={math.ceil(job.seconds / 60)}m",
            f"--output={output}",
            f"--error={output}",
        ]
        look = f"export VENTURI_LOOK_S={_LOOK_S}"
        body = [look, *body_of(self._settings, folder, job.name, name)]
        return batch_script("#flux:", options, ("--queue=", "--bank="), self._settings, body)

    def submit(self, script: Script) -> str:
        """flux batch; the number is kept in letters that every terminal has."""
        answer = asked("flux", "batch", str(script.path))
        number = answer.stdout.strip().replace("ƒ", "f")
        if answer.returncode or not re.fullmatch(r"f[1-9A-HJ-NP-Za-km-z]+", number):
            raise refused(answer, script.path.name)
        return number

    def poll(self, numbers: list[str]) -> dict[str, JobState]:
        """flux jobs; a job that it does not know is unknown."""
        found = dict.fromkeys(numbers, JobState.UNKNOWN)
        if not numbers:
            return found
        answer = asked("flux", "jobs", "-a", "-n", f"--format={_FORMAT}", *numbers)
        for line in answer.stdout.splitlines():
            number, word, *why = line.split()
            state = _STATES.get(word, JobState.UNKNOWN)
            if word == "FAILED" and why == ["node-failure"]:
                state = JobState.NODE_FAILURE
            if number in found:
                found[number] = state
        return found

    def cancel(self, number: str, look_only: bool = False) -> None:
        """flux cancel; a worker that is only to look does so without being told."""
        if not look_only:
            asked("flux", "cancel", number)

    def find(self, name: str) -> str | None:
        """flux jobs by name, the newest first, also what has ended."""
        answer = asked("flux", "jobs", "-a", "-n", "--format={id.f58plain}", f"--name={name}")
        numbers = answer.stdout.split()
        return numbers[0] if numbers else None
