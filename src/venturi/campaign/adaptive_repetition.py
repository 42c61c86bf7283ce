"""Further repetitions of a campaign that goes on until its medians are known well enough."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from venturi.analyse.enough import followed, needed, why_enough
from venturi.campaign.status import CampaignStatus
from venturi.campaign.task import CampaignTask
from venturi.model.aim import Aim
from venturi.model.campaign import Campaign, CampaignRow, MetricSummary, TaskState
from venturi.model.statistic import median


def spent_s(campaign_status: CampaignStatus) -> float:
    """What all runs took that have ended, in seconds."""
    return sum(ended.seconds for ended in campaign_status.ended.values())


def why_no_more(
    campaign: Campaign, step: str, metrics: Sequence[MetricSummary], seconds: float
) -> str:
    """Why a point needs no more repetitions, in words; empty where their number was said."""
    if campaign.until is None or campaign.steps[step].repeat is not None or not metrics:
        return ""
    return why_enough(campaign.until, seconds, _values(metrics))


def additional_tasks(
    campaign: Campaign, campaign_status: CampaignStatus, rows: Sequence[CampaignRow]
) -> list[CampaignTask]:
    """The repetitions to add to points that are not known well enough; none: all are.

    A point with a run that did not come to a good end gets none. Repetitions go over all points
    before a point comes again, and as far as the time that is left reaches.
    """
    aim = campaign.until
    if aim is None:
        return []
    seconds = spent_s(campaign_status)
    last: dict[str, CampaignTask] = {}
    for task in campaign_status.tasks.values():
        if task.point not in last or task.repetition > last[task.point].repetition:
            last[task.point] = task
    found: dict[int, list[CampaignTask]] = {}
    for row in rows:
        own = last[row.point]
        if not _is_open(campaign, row) or why_no_more(campaign, row.step, row.metrics, seconds):
            continue
        for repetition in range(own.repetition + 1, own.repetition + 1 + _wanted(aim, row)):
            task = replace(own, name=f"{row.point}/r{repetition}", repetition=repetition)
            found.setdefault(repetition, []).append(task)
    for repetition, tasks in found.items():
        random.Random(f"{campaign.seed} {repetition}").shuffle(tasks)
    order = [task for repetition in sorted(found) for task in found[repetition]]
    return _in_time(order, campaign_status, aim.budget_s - seconds)


def _is_open(campaign: Campaign, row: CampaignRow) -> bool:
    """Whether a step's repetitions are left open, and all so far came to a good end."""
    step = campaign.steps[row.step]
    return step.repeat is None and bool(row.metrics) and set(row.states) == {TaskState.DONE.value}


def _wanted(aim: Aim, row: CampaignRow) -> int:
    """How many repetitions to add at once: at most as many as there are."""
    values = _values(row.metrics)
    count = min(len(metric.values) for metric in row.metrics)
    more = max(1, count // 2)
    if aim.detect is not None and count > 1:
        more = max(1, max(needed(own, aim.detect, len(values)) for own in values.values()) - count)
    return min(more, count, max(0, aim.most - count))


def _in_time(
    tasks: Sequence[CampaignTask], campaign_status: CampaignStatus, left_s: float
) -> list[CampaignTask]:
    """The first of the tasks, as many as begin before the time is over."""
    typical_s = median([ended.seconds for ended in campaign_status.ended.values()] or [0.0])
    return [task for index, task in enumerate(tasks) if index * typical_s < left_s]


def _values(metrics: Sequence[MetricSummary]) -> Mapping[str, Sequence[float]]:
    return followed({metric.name: (metric.better, metric.values) for metric in metrics}, ())
