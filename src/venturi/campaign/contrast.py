"""Contrasts of a campaign: two metrics in a ratio, with its interval, wherever both were measured.

Beside the ratio of medians stands the ratio of the best repetition of each side, because some
publications compare the maximum of several runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from venturi.campaign.scale import TARGET
from venturi.model.campaign import Campaign, CampaignRow, MetricSummary
from venturi.model.error import UserError
from venturi.model.output import Better
from venturi.model.published_figure import (
    CampaignContrast,
    ContrastForm,
    ContrastRow,
    ContrastSide,
)
from venturi.model.statistic import ratio_interval
from venturi.model.workload import Scalar

FIRST, SECOND = "first", "second"
"""Names of the targets in a contrast's `where`: those of `-d`, in their order."""

_Key = tuple[tuple[str, Scalar], ...]


def check_contrasts(campaign: Campaign) -> None:
    """Raise UserError for a contrast of a step that the campaign does not have."""
    for name, contrast in campaign.contrasts.items():
        for side in (contrast.first, contrast.second):
            if side.step not in campaign.steps:
                raise UserError(
                    f"contrasts.{name}: there is no step '{side.step}'",
                    f"known are {', '.join(campaign.steps)}",
                )


def contrast_rows(campaign: Campaign, rows: Sequence[CampaignRow]) -> list[ContrastRow]:
    """All contrasts of a campaign at the points where both sides have values above 0."""
    targets = list(dict.fromkeys(str(r.parameters[TARGET]) for r in rows if TARGET in r.parameters))
    found: list[ContrastRow] = []
    for name, contrast in campaign.contrasts.items():
        sides = [_values(rows, side, targets) for side in (contrast.first, contrast.second)]
        shared = _shared(*sides)
        first, second = (_by_shared(side, shared) for side in sides)
        for key in first:
            if key in second:
                made = _row(name, contrast, dict(key), first[key], second[key])
                found += [] if made is None else [made]
    return found


def _values(
    rows: Sequence[CampaignRow], side: ContrastSide, targets: Sequence[str]
) -> list[tuple[dict[str, Scalar], MetricSummary]]:
    """The parameters and the metric of each point of a side, without those that choose it."""
    where = {name: _meant(name, value, targets) for name, value in side.where.items()}
    return [
        ({n: v for n, v in row.parameters.items() if n not in where}, metric)
        for row in rows
        if row.step == side.step and all(str(row.parameters.get(n)) == v for n, v in where.items())
        for metric in row.metrics
        if metric.name == side.metric
    ]


def _meant(name: str, value: Scalar, targets: Sequence[str]) -> str:
    """A value as rows have it: `first` and `second` are the targets by their order."""
    if name == TARGET and value in (FIRST, SECOND):
        index = (FIRST, SECOND).index(str(value))
        return targets[index] if index < len(targets) else ""
    return str(value)


def _shared(*sides: list[tuple[dict[str, Scalar], MetricSummary]]) -> list[str]:
    """The parameters that all points of both sides have."""
    own = [set(parameters) for side in sides for parameters, _ in side]
    return sorted(set.intersection(*own)) if own else []


def _by_shared(
    side: list[tuple[dict[str, Scalar], MetricSummary]], shared: list[str]
) -> dict[_Key, MetricSummary]:
    return {
        tuple((name, parameters[name]) for name in shared): metric for parameters, metric in side
    }


def _row(
    name: str,
    contrast: CampaignContrast,
    parameters: dict[str, Scalar],
    first: MetricSummary,
    second: MetricSummary,
) -> ContrastRow | None:
    if min(*first.values, *second.values, 1.0) <= 0.0:
        return None
    interval = ratio_interval(first.values, second.values)
    best = min if first.better is Better.LOWER else max
    of_best = best(first.values) / best(second.values)
    shown = (interval.median, interval.low, interval.high, of_best)
    value, low, high, of_best = (_shown(ratio, contrast.form) for ratio in shown)
    return ContrastRow(
        name=name,
        about=contrast.about,
        parameters=parameters,
        unit="x" if contrast.form is ContrastForm.RATIO else "%",
        value=value,
        low=low,
        high=high,
        coverage=interval.coverage,
        of_best=of_best,
        runs=min(len(first.values), len(second.values)),
    )


def _shown(ratio: float, form: ContrastForm) -> float:
    if form is ContrastForm.RATIO:
        return ratio
    return 100 * (ratio if form is ContrastForm.SHARE else ratio - 1)
