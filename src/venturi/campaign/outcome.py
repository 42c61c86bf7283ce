"""What a campaign found so far: each step at each point, its metrics and their intervals."""

from __future__ import annotations

from venturi.campaign.further import spent_s, why_no_more
from venturi.campaign.metric import Found, metrics_in, record_metrics, tool_metrics
from venturi.campaign.standing import Standing
from venturi.campaign.task import Task
from venturi.campaign.tool import tool_named
from venturi.model.campaign import (
    Campaign,
    CampaignResult,
    MetricSummary,
    Row,
    State,
)
from venturi.model.error import RunFailed
from venturi.model.statistic import median_interval

Values = dict[str, Found]


def outcome_of(
    campaign: Campaign, standing: Standing, machine: str, directory: str, points: int
) -> CampaignResult:
    """The table of results. Runs whose metrics are missing become `failed` in `standing`."""
    by_point: dict[str, list[Task]] = {}
    for task in standing.tasks.values():
        by_point.setdefault(task.point, []).append(task)
    rows = [_row(campaign, standing, tasks) for _, tasks in sorted(by_point.items())]
    return CampaignResult(
        name=campaign.name,
        about=campaign.about,
        machine=machine,
        directory=directory,
        points=points,
        states=standing.count(),
        rows=rows,
    )


def values_of(campaign: Campaign, standing: Standing, task: Task) -> Values:
    """The metrics of a run that came to its end; RunFailed where one is missing."""
    step = campaign.steps[task.step]
    folder = standing.folder / "tasks" / task.name
    found: Values = {}
    if step.workload:
        found = record_metrics((folder / "stdout").read_text("utf-8", "replace"))
    if step.tool:
        found |= tool_metrics(folder, tool_named(step.tool), task.confirm)
    for name, value in metrics_in(folder, step.metrics, task.parameters).items():
        found[name] = Found(value, step.metrics[name].unit, step.metrics[name].better)
    return found


def _row(campaign: Campaign, standing: Standing, tasks: list[Task]) -> Row:
    found: dict[str, list[Found]] = {}
    reasons: list[str] = []
    tasks = sorted(tasks, key=lambda task: task.repetition)
    for task in tasks:
        if standing.states[task.name] is State.DONE:
            try:
                for name, value in values_of(campaign, standing, task).items():
                    found.setdefault(name, []).append(value)
            except RunFailed as error:
                standing.states[task.name] = State.FAILED
                reasons.append(error.message)
        elif reason := standing.reason(task.name):
            reasons.append(reason)
    states = [standing.states[task.name] for task in tasks]
    summaries = [_summary(name, values) for name, values in found.items()]
    return Row(
        step=tasks[0].step,
        point=tasks[0].point,
        parameters=tasks[0].parameters,
        states={s.value: states.count(s) for s in State if s in states},
        commit=tasks[0].commit,
        reasons=list(dict.fromkeys(reasons)),
        metrics=summaries,
        enough=why_no_more(campaign, tasks[0].step, summaries, spent_s(standing)),
    )


def _summary(name: str, values: list[Found]) -> MetricSummary:
    numbers = [found.value for found in values]
    interval = median_interval(numbers)
    first = values[0]
    return MetricSummary(
        name=name,
        unit=first.unit,
        of=first.of,
        better=first.better,
        values=numbers,
        median=interval.median,
        low=interval.low,
        high=interval.high,
        coverage=interval.coverage,
    )
