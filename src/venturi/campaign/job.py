"""Jobs: tasks that share one allocation, and the list that a job reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from venturi.campaign.task import CampaignTask
from venturi.store.whole_file import write_whole

_MARGIN_S = 60.0


@dataclass(frozen=True)
class JobPlan:
    """What is submitted as one: its tasks, in their order, and what they need at most."""

    name: str
    tasks: list[CampaignTask]
    ranks: int
    nodes: int
    seconds: float
    """All budgets, and a minute for beginning and end."""


@dataclass(frozen=True)
class Room:
    """What fits into one job."""

    points: int | None = None
    seconds: float | None = None
    by_size: bool = True
    """What needs another number of nodes or ranks goes into another job."""


def packed(tasks: Sequence[CampaignTask], room: Room, first: int) -> list[JobPlan]:
    """Jobs for tasks, each as full as it may be; names count on from `first`.

    Tasks keep their order, so repetitions stay interleaved within a job. All repetitions of a
    point are in one job.
    """
    of_point: dict[str, list[CampaignTask]] = {}
    for task in tasks:
        of_point.setdefault(task.point, []).append(task)
    jobs: list[list[CampaignTask]] = []
    home: dict[str, int] = {}
    filling: dict[tuple[int, int, str], _Filling] = {}
    for point, own in of_point.items():
        task, seconds = own[0], sum(task.most_s for task in own)
        size = (task.nodes, task.ranks, task.step) if room.by_size else (0, 0, task.step)
        job = filling.get(size)
        if job is None or not job.has_room(room, seconds):
            job = filling[size] = _Filling(len(jobs))
            jobs.append([])
        job.points += 1
        job.seconds += seconds
        home[point] = job.index
    for task in tasks:
        jobs[home[task.point]].append(task)
    return [_job(f"job-{first + index:04d}", own) for index, own in enumerate(jobs)]


@dataclass
class _Filling:
    """A job that is being packed."""

    index: int
    points: int = 0
    seconds: float = _MARGIN_S

    def has_room(self, room: Room, seconds: float) -> bool:
        """Whether a point of so many seconds may come into it."""
        if room.points is not None and self.points >= room.points:
            return False
        return room.seconds is None or self.seconds + seconds <= room.seconds


def _job(name: str, tasks: list[CampaignTask]) -> JobPlan:
    return JobPlan(
        name=name,
        tasks=tasks,
        ranks=max(task.ranks for task in tasks),
        nodes=max(task.nodes for task in tasks),
        seconds=sum(task.most_s for task in tasks) + _MARGIN_S,
    )


def write_list(folder: Path, job: JobPlan) -> None:
    """The list of a job's tasks, which the job reads."""
    text = json.dumps([asdict(task) for task in job.tasks], indent=1)
    write_whole(folder / "jobs" / f"{job.name}.json", text + "\n")


def read_list(folder: Path, name: str) -> list[CampaignTask]:
    """The tasks of a job, as they were written."""
    text = (folder / "jobs" / f"{name}.json").read_text("utf-8")
    return [CampaignTask(**entry) for entry in json.loads(text)]
