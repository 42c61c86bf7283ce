"""Jobs for Slurm: sbatch, scontrol, squeue, scancel; accounting is not needed."""

from __future__ import annotations

import math
import re
from pathlib import Path

from venturi.campaign.job import JobPlan
from venturi.campaign.scheduler import JobState, Script
from venturi.campaign.scheduler.command import asked, refused
from venturi.campaign.scheduler.script import batch_script, body_of
from venturi.model.machine import Scheduler

_NOTICE_S = 30
"""How long before the end of its time a job is told."""

_STATES = {
    "PENDING": JobState.QUEUED,
    "CONFIGURING": JobState.QUEUED,
    "REQUEUED": JobState.QUEUED,
    "SUSPENDED": JobState.RUNNING,
    "STOPPED": JobState.RUNNING,
    "RUNNING": JobState.RUNNING,
    "COMPLETING": JobState.RUNNING,
    "COMPLETED": JobState.ENDED,
    "FAILED": JobState.ENDED,
    "CANCELLED": JobState.CANCELLED,
    "PREEMPTED": JobState.CANCELLED,
    "REVOKED": JobState.CANCELLED,
    "TIMEOUT": JobState.TIMEOUT,
    "DEADLINE": JobState.TIMEOUT,
    "OUT_OF_MEMORY": JobState.OUT_OF_MEMORY,
    "NODE_FAIL": JobState.NODE_FAILURE,
    "BOOT_FAIL": JobState.NODE_FAILURE,
}


class Slurm:
    """A cluster under Slurm."""

    def __init__(self, settings: Scheduler) -> None:
        self._settings = settings

    def render(self, job: JobPlan, name: str, folder: Path, output: Path) -> str:
        """A batch script; the site's options are lines of it."""
        options = [
            f"--job-name={name}",
            f"--nodes={job.nodes}",
            f"--ntasks={job.ranks}",
            f"--time={math.ceil(job.seconds / 60)}",
            f"--output={output}",
            "--open-mode=append",
            f"--signal=B:TERM@{_NOTICE_S}",
            "--no-requeue",
        ]
        body = body_of(self._settings, folder, job.name, name)
        return batch_script(
            "#SBATCH", options, ("--partition=", "--account="), self._settings, body
        )

    def submit(self, script: Script) -> str:
        """sbatch."""
        answer = asked("sbatch", "--parsable", str(script.path))
        number = answer.stdout.strip().partition(";")[0]
        if answer.returncode or not number.isdecimal():
            raise refused(answer, script.path.name)
        return number

    def poll(self, numbers: list[str]) -> dict[str, JobState]:
        """scontrol for each job; what it forgot long ago is unknown."""
        found: dict[str, JobState] = {}
        for number in numbers:
            answer = asked("scontrol", "show", "job", "-o", number)
            state = re.search(r"\bJobState=(\w+)", answer.stdout)
            found[number] = _STATES.get(state[1], JobState.UNKNOWN) if state else JobState.UNKNOWN
        return found

    def cancel(self, number: str, look_only: bool = False) -> None:
        """scancel; a signal to the batch shell alone makes the worker look."""
        if look_only:
            asked("scancel", "--batch", "--signal=USR1", number)
        else:
            asked("scancel", number)

    def find(self, name: str) -> str | None:
        """squeue by name, also what ended a while ago."""
        answer = asked("squeue", "-h", "-t", "all", "-n", name, "-o", "%i")
        numbers = answer.stdout.split()
        return numbers[-1] if numbers else None
