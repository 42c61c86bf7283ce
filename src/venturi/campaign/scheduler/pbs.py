"""Jobs for PBS Professional and OpenPBS: qsub, qstat, qsig, qdel, qselect."""

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
    **dict.fromkeys("QHWTM", JobState.QUEUED),
    **dict.fromkeys("RBESU", JobState.RUNNING),
    **dict.fromkeys("FXC", JobState.ENDED),
}
"""`job_state`: queued, held, waiting, in transit, moved; running, begun, exiting, suspended."""
_EXITS = {
    -29: JobState.TIMEOUT,  # JOB_EXEC_KILL_WALLTIME
    -28: JobState.TIMEOUT,  # JOB_EXEC_KILL_CPUT
    -27: JobState.OUT_OF_MEMORY,  # JOB_EXEC_KILL_MEM
    -26: JobState.OUT_OF_MEMORY,  # JOB_EXEC_KILL_VMEM
    128 + 15: JobState.CANCELLED,
    256 + 15: JobState.CANCELLED,
    256 + 9: JobState.CANCELLED,
}
"""`Exit_status` of a finished job; negative: PBS itself ended it; 256 and more: a signal did."""
_LONGEST_NAME = 230


class Pbs:
    """A cluster under PBS."""

    def __init__(self, settings: Scheduler) -> None:
        self._settings = settings

    def render(self, job: JobPlan, name: str, folder: Path, output: Path) -> str:
        """A batch script: one chunk for each node, with as many processes as ranks fit on it."""
        ranks = math.ceil(job.ranks / job.nodes)
        options = [
            f"-N {name[:_LONGEST_NAME]}",
            f"-l select={job.nodes}:ncpus={ranks}:mpiprocs={ranks}",
            f"-l walltime={math.ceil(job.seconds)}",
            "-j oe",
            f"-o {output}",
            "-r n",
        ]
        body = body_of(self._settings, folder, job.name, name)
        return batch_script("#PBS", options, ("-q ", "-A "), self._settings, body)

    def submit(self, script: Script) -> str:
        """qsub; it prints the number with the server's name."""
        answer = asked("qsub", str(script.path))
        number = answer.stdout.strip()
        if answer.returncode or not re.fullmatch(r"\d+(\.[\w.-]+)?", number):
            raise refused(answer, script.path.name)
        return number

    def poll(self, numbers: list[str]) -> dict[str, JobState]:
        """qstat, also of what has ended; without a history on the server, that is unknown."""
        found = dict.fromkeys(numbers, JobState.UNKNOWN)
        if not numbers:
            return found
        text = asked("qstat", "-x", "-f", *numbers).stdout
        for block in re.split(r"(?m)^Job Id: *", text)[1:]:
            number = block.split(maxsplit=1)[0]
            said = dict(re.findall(r"(?m)^\s+(job_state|Exit_status) = (\S+)", block))
            state = _STATES.get(said.get("job_state", ""), JobState.UNKNOWN)
            if state is JobState.ENDED:
                state = _EXITS.get(int(said.get("Exit_status", 0)), state)
            if number in found:
                found[number] = state
        return found

    def cancel(self, number: str, look_only: bool = False) -> None:
        """qdel; qsig makes the worker look."""
        if look_only:
            asked("qsig", "-s", "USR1", number)
        else:
            asked("qdel", number)

    def find(self, name: str) -> str | None:
        """qselect by name, also what has ended."""
        numbers = asked("qselect", "-x", "-N", name[:_LONGEST_NAME]).stdout.split()
        return numbers[-1] if numbers else None
