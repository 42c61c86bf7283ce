"""What a campaign found so far: each step at each point, its metrics and their intervals."""

from __future__ import annotations

import contextlib
from pathlib import Path

from venturi.campaign.adaptive_repetition import spent_s, why_no_more
from venturi.campaign.contrast import contrast_rows
from venturi.campaign.gate import Gates, judged_point
from venturi.campaign.metric import (
    MetricSample,
    metrics_in,
    record_ceilings,
    record_metrics,
    tool_metrics,
)
from venturi.campaign.status import CampaignStatus
from venturi.campaign.study_result import study_of, with_gates
from venturi.campaign.task import CampaignTask
from venturi.campaign.tool import tool_named
from venturi.campaign.traced import first_traced, traced_metrics, traced_run
from venturi.model.campaign import Campaign, CampaignResult, CampaignRow, MetricSummary, TaskState
from venturi.model.ceiling import PhaseCeilings
from venturi.model.error import RunFailed, UserError
from venturi.model.result import direction_of
from venturi.model.statistic import median_interval

Values = dict[str, MetricSample]


def outcome_of(
    campaign: Campaign,
    campaign_status: CampaignStatus,
    machine: str,
    directory: str,
    points: int,
    is_whole: bool = True,
) -> CampaignResult:
    """The table of results; not `is_whole`: without how they scale, which takes time.

    Runs whose metrics are missing become `failed` in `campaign_status`.
    """
    by_point: dict[str, list[CampaignTask]] = {}
    for task in campaign_status.tasks.values():
        by_point.setdefault(task.point, []).append(task)
    rows = [_row(campaign, campaign_status, tasks) for _, tasks in sorted(by_point.items())]
    if is_whole and any(step.sample_latency for step in campaign.steps.values()):
        rows = _with_latency(campaign, campaign_status, rows, by_point)
    study = study_of(campaign, campaign_status, rows) if is_whole else None
    return CampaignResult(
        name=campaign.name,
        about=campaign.about,
        machine=machine,
        directory=directory,
        points=points,
        states=campaign_status.count(),
        rows=with_gates(campaign, study, rows),
        study=study,
        contrasts=contrast_rows(campaign, rows),
        published=campaign.published,
    )


def _with_latency(
    campaign: Campaign,
    campaign_status: CampaignStatus,
    rows: list[CampaignRow],
    by_point: dict[str, list[CampaignTask]],
) -> list[CampaignRow]:
    """The rows with the single operations that their steps want drawn."""
    from venturi.campaign.latency_sample import latency_of_point
    from venturi.campaign.run_session import read_session

    store = Path(read_session(campaign_status.folder).store)
    return [
        row.model_copy(
            update={
                "latency": latency_of_point(
                    campaign.steps[row.step], campaign_status, by_point[row.point], store
                )
            }
        )
        for row in rows
    ]


def values_of(campaign: Campaign, campaign_status: CampaignStatus, task: CampaignTask) -> Values:
    """The metrics of a run that came to its end; RunFailed where one is missing."""
    step = campaign.steps[task.step]
    folder = campaign_status.folder / "tasks" / task.name
    found: Values = {}
    if step.workload:
        found = record_metrics((folder / "stdout").read_text("utf-8", "replace"))
    if step.tool:
        found |= tool_metrics(folder, tool_named(step.tool), task.confirm)
    for name, value in metrics_in(folder, step.metrics, task.parameters).items():
        if not isinstance(value, str):
            unit = step.metrics[name].unit
            found[name] = MetricSample(value, unit, direction_of(unit, step.metrics[name].better))
    with contextlib.suppress(UserError):  # the row says why there is no log
        if (traced := traced_run(campaign_status.folder, step, task)) is not None:
            found |= traced_metrics(traced)
    return found


def _texts_of(
    campaign: Campaign, campaign_status: CampaignStatus, tasks: list[CampaignTask]
) -> dict[str, str]:
    """The metrics of a point that are texts, by the first repetition that has each."""
    metrics = campaign.steps[tasks[0].step].metrics
    texts = {name: metric for name, metric in metrics.items() if metric.text}
    found: dict[str, str] = {}
    for task in tasks:
        if campaign_status.states[task.name] is TaskState.DONE:
            folder = campaign_status.folder / "tasks" / task.name
            values = metrics_in(folder, texts, task.parameters)
            found = {name: str(value) for name, value in values.items()} | found
    return found


def _row(
    campaign: Campaign, campaign_status: CampaignStatus, tasks: list[CampaignTask]
) -> CampaignRow:
    found: dict[str, list[MetricSample]] = {}
    reasons: list[str] = []
    tasks = sorted(tasks, key=lambda task: task.repetition)
    gates = Gates()
    for task in tasks:
        if campaign_status.states[task.name] is TaskState.DONE:
            try:
                for name, value in values_of(campaign, campaign_status, task).items():
                    found.setdefault(name, []).append(value)
                if task.workload:
                    gates.take(campaign_status.folder / "tasks" / task.name / "stdout")
            except RunFailed as error:
                campaign_status.states[task.name] = TaskState.FAILED
                reasons.append(error.message)
        elif reason := campaign_status.reason(task.name):
            reasons.append(reason)
    states = [campaign_status.states[task.name] for task in tasks]
    done = [task for task in tasks if campaign_status.states[task.name] is TaskState.DONE]
    traced, untraced = first_traced(campaign_status.folder, campaign.steps[tasks[0].step], done)
    summaries = [_summary(name, values) for name, values in found.items()]
    return CampaignRow(
        step=tasks[0].step,
        point=tasks[0].point,
        parameters=tasks[0].parameters,
        states={s.value: states.count(s) for s in TaskState if s in states},
        commit=tasks[0].commit,
        reasons=list(dict.fromkeys(reasons)),
        metrics=summaries,
        texts=_texts_of(campaign, campaign_status, tasks),
        thresholds=judged_point(campaign.steps[tasks[0].step], gates, summaries)
        if TaskState.DONE in states
        else [],
        broken_rules=gates.broken_rules,
        enough=why_no_more(campaign, tasks[0].step, summaries, spent_s(campaign_status)),
        ceilings=_ceilings_of(campaign_status, done),
        traced=traced,
        untraced=untraced,
    )


def _ceilings_of(
    campaign_status: CampaignStatus, done: list[CampaignTask]
) -> dict[str, PhaseCeilings]:
    """What the machine can move at most, by the record of the first run of a workload."""
    if not done or not done[0].workload:
        return {}
    output = campaign_status.folder / "tasks" / done[0].name / "stdout"
    return record_ceilings(output.read_text("utf-8", "replace"))


def _summary(name: str, values: list[MetricSample]) -> MetricSummary:
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
        labels=list(dict.fromkeys(label for one in values for label in one.labels)),
    )
