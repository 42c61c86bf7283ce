"""How a campaign's metrics scale, and whether they reach what the study asks for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from venturi.analyse.scaling import CurveRequest, SizedMetric, curve_of, is_time
from venturi.analyse.threshold import Bounds, judge_bounds
from venturi.campaign.guideline import Placement, guidelines_of
from venturi.campaign.status import CampaignStatus
from venturi.campaign.study import base_of, others_of, over_of, size_of
from venturi.model.campaign import Campaign, CampaignRow, MetricSummary, TaskState
from venturi.model.scaling import Ratio, ScalingCurve, ScalingPoint, ScalingStudy, Study
from venturi.model.statistic import median
from venturi.model.units import SECONDS_PER_UNIT
from venturi.model.verdict import ThresholdRow
from venturi.model.workload import Scalar

_SURE = 0.95
_MOST_METRICS = 8
_RATE, _SECONDS = ".rate", ".seconds"


def study_of(
    campaign: Campaign, status: CampaignStatus, rows: Sequence[CampaignRow]
) -> ScalingStudy | None:
    """The study of a campaign, by the table of its results; None where it asks for none."""
    study = campaign.scaling
    if study is None:
        return None
    over = over_of(campaign)
    sized = [row for row in rows if over in row.parameters]
    base = base_of(study, {size_of(row.parameters[over]) for row in sized})
    curves: list[ScalingCurve] = []
    without: list[str] = []
    for step in dict.fromkeys(row.step for row in sized if row.metrics):
        own = [row for row in sized if row.step == step]
        for request, alike in _alike(campaign, study, over, base, own):
            names, left_out = _metrics(study, alike)
            if left_out:
                said = f"{left_out} more metrics are not followed; name them in study.of"
                without.append(f"{_title(request, names[0])} and others: {said}")
            for name in names:
                found = curve_of(request, _measured(over, alike, name))
                if isinstance(found, str):
                    without.append(f"{_title(request, name)}: {found}")
                else:
                    curves.append(found)
    return ScalingStudy(
        kind=study.kind,
        over=over,
        base=base,
        curves=curves,
        without=without,
        guidelines=guidelines_of(study, over, curves, _placement(campaign, status)),
    )


def with_gates(
    campaign: Campaign, study: ScalingStudy | None, rows: Sequence[CampaignRow]
) -> list[CampaignRow]:
    """The rows of a campaign with what became of the study's thresholds at each."""
    asked = campaign.scaling
    if study is None or asked is None or not asked.thresholds:
        return list(rows)
    found: dict[str, list[ThresholdRow]] = {}
    by_point = {row.point: row for row in rows}
    for curve in study.curves:
        base = next(point for point in curve.points if point.size == study.base)
        first = _metric(by_point[base.point], curve.metric)
        for point in curve.points:
            if point is not base:
                own = _metric(by_point[point.point], curve.metric)
                judged = _judged(asked, curve, first, point, own)
                found.setdefault(point.point, []).extend(judged)
    return [
        row.model_copy(update={"thresholds": [*row.thresholds, *found.get(row.point, [])]})
        for row in rows
    ]


def _alike(
    campaign: Campaign, study: Study, over: str, base: float, rows: Sequence[CampaignRow]
) -> list[tuple[CurveRequest, list[CampaignRow]]]:
    """The rows of a step that differ in nothing but `over` and what follows from it."""
    others = others_of(campaign, over, [row.parameters for row in rows])
    groups: dict[tuple[Scalar, ...], list[CampaignRow]] = {}
    for row in rows:
        key = tuple(row.parameters.get(name, "") for name in others)
        groups.setdefault(key, []).append(row)
    return [
        (
            CurveRequest(study.kind, over, base, own[0].step, dict(zip(others, key, strict=True))),
            own,
        )
        for key, own in groups.items()
    ]


def _metrics(study: Study, rows: Sequence[CampaignRow]) -> tuple[list[str], int]:
    """The metrics that are followed, and how many more might be.

    Those that were named; else all times, or all rates where there are none, as many as a page
    holds: those of whole phases first.
    """
    by_name = {metric.name: metric for row in rows for metric in row.metrics}
    if study.of:
        return [name for name in study.of if name in by_name], 0
    times = [name for name, one in by_name.items() if one.unit in SECONDS_PER_UNIT and is_time(one)]
    rates = [name for name, one in by_name.items() if is_time(one) is False]
    names = sorted(times or rates, key=lambda name: "[" in name)
    return names[:_MOST_METRICS], max(0, len(names) - _MOST_METRICS)


def _measured(over: str, rows: Sequence[CampaignRow], name: str) -> list[SizedMetric]:
    return [
        SizedMetric(size_of(row.parameters[over]), row.point, metric, _work(row, name))
        for row in rows
        for metric in row.metrics
        if metric.name == name
    ]


def _work(row: CampaignRow, name: str) -> float | None:
    """Bytes or operations of a phase, which has a rate and a time; None of other metrics."""
    phase = name.removesuffix(_SECONDS).removesuffix(_RATE)
    parts = [_values(row, phase + ending) for ending in (_RATE, _SECONDS)]
    if phase == name or not all(parts) or len(parts[0]) != len(parts[1]):
        return None
    return median([rate * seconds for rate, seconds in zip(*parts, strict=True)])


def _values(row: CampaignRow, name: str) -> list[float]:
    return next((metric.values for metric in row.metrics if metric.name == name), [])


def _metric(row: CampaignRow, name: str) -> MetricSummary:
    return next(metric for metric in row.metrics if metric.name == name)


def _title(request: CurveRequest, metric: str) -> str:
    said = ", ".join(f"{name} {value}" for name, value in request.parameters.items())
    return f"{request.step}, {metric}" + (f", {said}" if said else "")


def _judged(
    study: Study, curve: ScalingCurve, base: MetricSummary, point: ScalingPoint, own: MetricSummary
) -> list[ThresholdRow]:
    """What became of each threshold at a point."""
    return [
        judge_bounds(
            f"{name} of {curve.metric}",
            threshold,
            "",
            _bounds(point.efficiency if name == "efficiency" else point.speedup, base, own),
            curve.work_says,
        )
        for name, threshold in study.thresholds.items()
    ]


def _bounds(ratio: Ratio, base: MetricSummary, own: MetricSummary) -> Bounds:
    """The interval of a ratio; of few repetitions, the extremes of each value with each."""
    n = min(len(base.values), len(own.values))
    if ratio.coverage >= _SURE:
        return Bounds(ratio.low, ratio.high, n, f"95 % interval of the ratio of medians, n = {n}")
    above, below = (base, own) if is_time(own) else (own, base)
    factor = ratio.value * below.median / above.median
    low = factor * min(above.values) / max(below.values)
    high = factor * max(above.values) / min(below.values)
    if n == 1:
        return Bounds(low, high, n, "1 value, no interval")
    how = f"all {n} values with all of the base, too few for an interval of 95 %"
    return Bounds(low, high, n, how)


def _placement(campaign: Campaign, status: CampaignStatus) -> Placement:
    """Where the measured runs ran."""
    tasks = [
        task
        for task in status.tasks.values()
        if status.states[task.name] is TaskState.DONE and _measures(campaign, task.step)
    ]
    placed = [task for task in tasks if task.workload or campaign.steps[task.step].ranks]
    return Placement(
        nodes=sorted({task.nodes for task in placed}),
        per_node=sorted({-(-task.ranks // task.nodes) for task in placed}),
        cores=next((n for task in tasks if (n := _cores(status.folder / "tasks" / task.name))), 0),
        is_workload=any(task.workload for task in tasks),
        scales=sorted({task.scale for task in tasks if task.workload}),
    )


def _measures(campaign: Campaign, step: str) -> bool:
    own = campaign.steps[step]
    return bool(own.workload or own.metrics or own.tool)


def _cores(folder: Path) -> int:
    """Cores of the host that a workload's record names; 0: it is no workload, or has no record."""
    try:
        return int(json.loads((folder / "stdout").read_text("utf-8"))["environment"]["cores"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0
