"""What jobs are handed to: five methods each, and what may be relied on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Protocol

from venturi.campaign.job import JobPlan
from venturi.model.error import UserError
from venturi.model.machine import Machine, SchedulerKind


class JobState(StrEnum):
    """What a scheduler says about a job. It never says that a job's tasks are done."""

    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out of memory"
    NODE_FAILURE = "node failure"
    UNKNOWN = "unknown"
    """The scheduler does not know it (any more)."""

    @property
    def is_over(self) -> bool:
        """Whether nothing of it runs any more."""
        return self not in (JobState.QUEUED, JobState.RUNNING, JobState.UNKNOWN)


class SubmitError(UserError):
    """A job that the scheduler did not take."""


@dataclass(frozen=True)
class Script:
    """A job's script: where it stands and what it prints to."""

    path: Path
    output: Path


class SchedulerAdapter(Protocol):
    """Where jobs go. Jobs are known by the scheduler's own number, and found by their name."""

    def render(self, job: JobPlan, name: str, folder: Path, output: Path) -> str:
        """The text of a job's script; `name` is unique among all campaigns."""

    def submit(self, script: Script) -> str:
        """Hands a script over; the job's number. Raises SubmitError."""

    def poll(self, numbers: list[str]) -> dict[str, JobState]:
        """What has become of jobs."""

    def cancel(self, number: str, look_only: bool = False) -> None:
        """Ends a job, or with `look_only` tells it to look what of it is cancelled."""

    def find(self, name: str) -> str | None:
        """The number of the job of that name, if it is known."""


def scheduler_of(machine: Machine) -> SchedulerAdapter:
    """The scheduler that a machine's file names."""
    settings = machine.scheduler
    module, name = _MADE_BY[settings.kind]
    made: SchedulerAdapter = getattr(import_module(f"venturi.campaign.scheduler.{module}"), name)(
        settings
    )
    return made


_MADE_BY = {
    SchedulerKind.LOCAL: ("local", "Local"),
    SchedulerKind.SLURM: ("slurm", "Slurm"),
    SchedulerKind.PBS: ("pbs", "Pbs"),
    SchedulerKind.LSF: ("lsf", "Lsf"),
    SchedulerKind.FLUX: ("flux", "Flux"),
}
"""Imported only where it is used."""
