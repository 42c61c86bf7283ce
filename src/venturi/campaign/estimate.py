"""What a campaign will cost, before anything runs: points, runs, bytes, hours.

Of a large campaign not every point is planned: a workload's `expect` says what it will do, and
the points that are planned (all levels of all parameters, pair by pair) show that it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from venturi.analyse.metric import check_metrics
from venturi.campaign.gate import check_workload_step, metrics_of_command, metrics_of_workload
from venturi.campaign.study import check_study_metrics
from venturi.campaign.task import CampaignTask, called, loaded
from venturi.campaign.tool import tool_named
from venturi.model.campaign import Campaign, CampaignEstimate, PlannedPoint
from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.plan.make import make_plan, promised_totals
from venturi.plan.setting import RunSettings

_MOST_PLANNED = 64
_Totals = tuple[int | None, int | None, int | None]
"""Bytes written, bytes read, files; None: not known."""
_PROMISES = ("bytes_written", "bytes_read")


def estimate_of(
    campaign: Campaign, tasks: list[CampaignTask], points: int, directory: Path
) -> CampaignEstimate:
    """Bytes by what each workload does; hours at most, by the budgets of all runs.

    Raises UserError for a point that cannot be planned; of a campaign of more than 64 points,
    some are only found when they run.
    """
    by_point: dict[str, list[CampaignTask]] = {}
    for task in tasks:
        by_point.setdefault(task.point, []).append(task)
    firsts = [own[0] for _, own in sorted(by_point.items())]
    counted = _Counted(campaign, firsts, directory)
    rows = [_row(task, len(by_point[task.point]), counted) for task in firsts]
    check_study_metrics(campaign, counted.metrics)
    return CampaignEstimate(
        name=campaign.name,
        points=points,
        runs=len(tasks),
        bytes_written=sum((row.bytes_written or 0) * row.runs for row in rows),
        bytes_read=sum((row.bytes_read or 0) * row.runs for row in rows),
        most_hours=sum(task.most_s for task in tasks) / 3600,
        rows=rows,
    )


def _row(task: CampaignTask, runs: int, counted: _Counted) -> PlannedPoint:
    written, read, files = counted.totals_of(task)
    return PlannedPoint(
        step=task.step,
        point=task.point,
        parameters=task.parameters,
        runs=runs,
        ranks=task.ranks,
        nodes=task.nodes,
        bytes_written=written,
        bytes_read=read,
        files=files,
    )


class _Counted:
    """The bytes of a campaign's workloads."""

    def __init__(self, campaign: Campaign, tasks: Sequence[CampaignTask], directory: Path) -> None:
        """Plans some of the tasks, each the first of its point."""
        self._campaign = campaign
        self._directory = directory
        self._workloads: dict[str, Workload] = {}
        self._planned: dict[str, _Totals] = {}
        self._promising: set[str] = set()
        self.metrics: dict[str, None] = {}
        """All that runs may have, by name."""
        for step in campaign.steps.values():
            if not step.workload:
                tool = tool_named(step.tool) if step.tool else None
                self.metrics |= dict.fromkeys(metrics_of_command(step, tool))
        by_workload: dict[str, list[CampaignTask]] = {}
        for task in tasks:
            if task.workload:
                by_workload.setdefault(task.workload, []).append(task)
        for name, own in by_workload.items():
            if name not in self._workloads:
                self._workloads[name] = loaded(name)
            if all([self._plan(task) for task in spanning(own)]):
                self._promising.add(name)

    def totals_of(self, task: CampaignTask) -> _Totals:
        """What one run writes, reads and makes."""
        if not task.workload:
            return task.writes or None, None, task.files or None
        if task.point not in self._planned:
            if task.workload in self._promising:
                return self._promised(task)
            self._plan(task)
        return self._planned[task.point]

    def _plan(self, task: CampaignTask) -> bool:
        """Plans a task; whether the workload says what it does, and that holds."""
        workload = self._workloads[task.workload]
        try:
            made = make_plan(workload, self._settings(task))
            check_metrics(workload, made.totals.phases, made.totals.bytes_by_phase)
        except UserError as error:
            raise UserError(f"{called(task)}: {error.message}", error.hint) from None
        step = self._campaign.steps[task.step]
        check_workload_step(task.step, step, workload, made)
        self.metrics |= dict.fromkeys(metrics_of_workload(step, workload, made))
        totals = made.totals
        self._planned[task.point] = (totals.bytes_written, totals.bytes_read, totals.files)
        said = {expectation.name for expectation in made.expectations if expectation.holds}
        return said.issuperset(_PROMISES)

    def _promised(self, task: CampaignTask) -> _Totals:
        try:
            totals = promised_totals(self._workloads[task.workload], self._settings(task))
        except UserError as error:
            raise UserError(f"{called(task)}: {error.message}", error.hint) from None
        return totals["bytes_written"], totals["bytes_read"], totals.get("files")

    def _settings(self, task: CampaignTask) -> RunSettings:
        return RunSettings(
            ranks=task.ranks if self._campaign.steps[task.step].ranks else None,
            nodes=task.nodes,
            scale=task.scale,
            repetitions=1,
            directory=str(self._directory),
            assignments=task.assignments,
            most_ranks=max(task.ranks, RunSettings.most_ranks),  # the machine's limit was checked
        )


def spanning(tasks: Sequence[CampaignTask]) -> list[CampaignTask]:
    """Tasks in which every value of every parameter occurs, and as many pairs as fit into 64."""
    if len(tasks) <= _MOST_PLANNED:
        return list(tasks)
    chosen: dict[str, CampaignTask] = {}
    for size in (1, 2):
        seen: set[tuple[tuple[str, object], ...]] = set()
        for task in chosen.values():
            seen |= set(combinations(task.parameters.items(), size))
        for task in tasks:
            if len(chosen) >= _MOST_PLANNED and size > 1:
                break
            here = set(combinations(task.parameters.items(), size))
            if not here <= seen:
                chosen[task.name] = task
                seen |= here
    return list(chosen.values())
