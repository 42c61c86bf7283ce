"""Where a campaign stands: its journal, what its jobs wrote, and what the scheduler says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from venturi.campaign.folder import BEGUN, CANCEL, read_ended
from venturi.campaign.scheduler import JobState
from venturi.campaign.task import CampaignTask
from venturi.model.campaign import EndReason, TaskEnd, TaskState
from venturi.model.error import ExitCode

_MOST_SUBMISSIONS = 3
"""A task whose jobs end so often without having begun it is not handed over again."""

_BY_JOB = {
    JobState.CANCELLED: TaskState.CANCELLED,
    JobState.TIMEOUT: TaskState.TIMEOUT,
    JobState.OUT_OF_MEMORY: TaskState.OUT_OF_MEMORY,
    JobState.NODE_FAILURE: TaskState.NODE_FAILURE,
}
"""What a job's end says about a task that it had begun and did not end."""


@dataclass
class SubmittedJob:
    """A job that was handed over, or was about to be."""

    key: str
    name: str
    """By which the scheduler knows it."""
    tasks: list[str]
    number: str | None = None
    state: JobState = JobState.QUEUED
    is_over: bool = False
    was_stopped: bool = False
    """Whether the command itself ended it, in order to go on later."""
    unknown_since_s: float | None = None


@dataclass
class CampaignStatus:
    """The state of every task of a campaign."""

    folder: Path
    tasks: dict[str, CampaignTask]
    jobs: dict[str, SubmittedJob] = field(default_factory=dict)
    job_of: dict[str, SubmittedJob] = field(default_factory=dict)
    submissions: Counter[str] = field(default_factory=Counter)
    states: dict[str, TaskState] = field(default_factory=dict)
    ended: dict[str, TaskEnd] = field(default_factory=dict)

    def replay(self, entries: Iterable[dict[str, Any]]) -> None:
        """Takes in the lines of a journal, in their order."""
        for entry in entries:
            self.take(entry)

    def take(self, entry: dict[str, Any]) -> None:
        """Takes in one line of the journal."""
        what = entry["what"]
        if what == "submitting":
            job = SubmittedJob(entry["job"], entry["name"], entry["tasks"])
            self.jobs[job.key] = job
            for task in job.tasks:
                self.job_of[task] = job
                self.submissions[task] += 1
        elif what == "submitted":
            self.jobs[entry["job"]].number = entry["number"]
        elif what == "over":
            job = self.jobs[entry["job"]]
            job.is_over = True
            job.state = JobState(entry["state"])
        elif what == "stopping":
            self.jobs[entry["job"]].was_stopped = True
        elif what == "more":
            self.tasks |= {made["name"]: CampaignTask(**made) for made in entry["tasks"]}
        elif what == "again":
            for task in entry["tasks"]:
                self.job_of.pop(task, None)
                self.submissions.pop(task, None)
                self.states.pop(task, None)
                self.ended.pop(task, None)

    @property
    def in_flight(self) -> list[SubmittedJob]:
        """Jobs that are not over."""
        return [job for job in self.jobs.values() if not job.is_over]

    def refresh(self) -> None:
        """Reads what jobs wrote since the last time; what is final stays."""
        for name in self.tasks:
            if not self.states.get(name, TaskState.PLANNED).is_final:
                self.states[name] = self._state(name)

    def count(self) -> dict[str, int]:
        """How many tasks are in which state, in the order of states."""
        found = Counter(self.states.values())
        return {state.value: found[state] for state in TaskState if found[state]}

    def reason(self, name: str) -> str:
        """Why a task did not come to a good end; empty if it did or has not ended."""
        ended = self.ended.get(name)
        state = self.states.get(name)
        if ended is None:
            job = self.job_of.get(name)
            if (
                state in (TaskState.LOST, TaskState.NODE_FAILURE, TaskState.TIMEOUT)
                and job is not None
            ):
                return f"{job.key} ended without a word of it ({job.state.value})"
            return ""
        if ended.reason:
            return ended.reason
        if state is TaskState.FAILED and ended.code is not None:
            how = f"signal {-ended.code}" if ended.code < 0 else f"exit code {ended.code}"
            return f"{how}{last_line(self.folder / 'tasks' / name / 'stderr')}"
        if state is TaskState.TIMEOUT and ended.ending is EndReason.BUDGET:
            return f"took longer than its {self.tasks[name].budget_s:g} s"
        return ""

    def _state(self, name: str) -> TaskState:
        home = self.folder / "tasks" / name
        job = self.job_of.get(name)
        if job is None:
            return TaskState.CANCELLED if (home / CANCEL).exists() else TaskState.PLANNED
        ended = read_ended(home)
        if ended is not None:
            state = _state_of(ended, job, bool(self.tasks[name].workload))
            if state.is_final:
                self.ended[name] = ended
            return state
        begun = (home / BEGUN).exists()
        if job.is_over:
            return self._without_end(name, job, begun)
        if begun:
            return TaskState.RUNNING
        return TaskState.SUBMITTED if job.number is None else TaskState.QUEUED

    def _without_end(self, name: str, job: SubmittedJob, begun: bool) -> TaskState:
        """The state of a task that a job which is over did not end."""
        if begun:
            return _BY_JOB.get(job.state, TaskState.LOST)
        if job.state is JobState.CANCELLED and not job.was_stopped:
            return TaskState.CANCELLED
        if (self.folder / "tasks" / name / CANCEL).exists():
            return TaskState.CANCELLED
        return TaskState.PLANNED if self.submissions[name] < _MOST_SUBMISSIONS else TaskState.LOST


def _state_of(ended: TaskEnd, job: SubmittedJob, is_workload: bool) -> TaskState:
    """What a job's own word means.

    A run of a workload that missed a threshold has measured; the point's row judges it.
    """
    if ended.ending is EndReason.SIGNAL:
        if not job.is_over:
            return TaskState.RUNNING
        return _BY_JOB.get(job.state, TaskState.CANCELLED)
    if ended.ending is EndReason.EXIT and ended.code != 0 and ended.out_of_memory_kills:
        return TaskState.OUT_OF_MEMORY
    if ended.ending is EndReason.EXIT:
        has_measured = is_workload and ended.code == ExitCode.GATE
        return TaskState.DONE if ended.code == 0 or has_measured else TaskState.FAILED
    return {
        EndReason.BUDGET: TaskState.TIMEOUT,
        EndReason.CANCEL: TaskState.CANCELLED,
        EndReason.BLOCKED: TaskState.BLOCKED,
        EndReason.NOT_STARTED: TaskState.FAILED,
    }[ended.ending]


def last_line(path: Path) -> str:
    """The last line of a file, behind a colon; empty if there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - 4096, 0))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    said = [line.strip() for line in lines if line.strip()]
    return f": {said[-1]}" if said else ""
