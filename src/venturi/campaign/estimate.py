"""What a campaign will cost, before anything runs: points, runs, bytes, hours."""

from __future__ import annotations

from pathlib import Path

from venturi import library
from venturi.campaign.task import Task
from venturi.model.campaign import Campaign, CampaignEstimate, PlannedPoint, Step
from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import Settings


def estimate_of(
    campaign: Campaign, tasks: list[Task], points: int, directory: Path
) -> CampaignEstimate:
    """Bytes by planning each workload; hours at most, by the budgets of all runs."""
    by_point: dict[str, list[Task]] = {}
    for task in tasks:
        by_point.setdefault(task.point, []).append(task)
    workloads: dict[str, Workload] = {}
    rows = [_row(campaign, own, workloads, directory) for _, own in sorted(by_point.items())]
    return CampaignEstimate(
        name=campaign.name,
        points=points,
        runs=len(tasks),
        bytes_written=sum((row.bytes_written or 0) * row.runs for row in rows),
        bytes_read=sum((row.bytes_read or 0) * row.runs for row in rows),
        most_hours=sum(task.budget_s for task in tasks) / 3600,
        rows=rows,
    )


def _row(
    campaign: Campaign, tasks: list[Task], workloads: dict[str, Workload], directory: Path
) -> PlannedPoint:
    task = tasks[0]
    written = read = None
    step = campaign.steps[task.step]
    if step.workload:
        written, read = _bytes(task, step, workloads, directory)
    return PlannedPoint(
        step=task.step,
        point=task.point,
        parameters=task.parameters,
        runs=len(tasks),
        ranks=task.ranks,
        nodes=task.nodes,
        bytes_written=written,
        bytes_read=read,
    )


def _bytes(
    task: Task, step: Step, workloads: dict[str, Workload], directory: Path
) -> tuple[int, int]:
    """What one run writes and reads."""
    name = task.workload
    if name not in workloads:
        workloads[name] = library.load(name)
    settings = Settings(
        ranks=task.ranks if step.ranks else None,
        nodes=task.nodes,
        scale=task.scale,
        repetitions=1,
        directory=str(directory),
        assignments=task.assignments,
    )
    try:
        totals = make_plan(workloads[name], settings).totals
    except UserError as error:
        raise UserError(f"{task.point}: {error.message}", error.hint) from None
    return totals.bytes_written, totals.bytes_read
