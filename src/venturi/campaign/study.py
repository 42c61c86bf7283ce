"""What a campaign that scales is asked for: over what, from which base, of which metrics."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from venturi.analyse.threshold import check_threshold
from venturi.campaign.gate import phase_of
from venturi.campaign.space import Point, number_at
from venturi.model.campaign import Campaign, CampaignStep
from venturi.model.error import UserError
from venturi.model.scaling import Study
from venturi.model.workload import Scalar

_WAYS = "write 'study: {kind: strong, over: PARAMETER}'"


def check_study(campaign: Campaign, points: Sequence[Point]) -> None:
    """Raise UserError for a study that the campaign's space cannot answer."""
    study = campaign.scaling
    if study is None:
        return
    over = over_of(campaign)
    if over not in points[0]:
        known = ", ".join(points[0]) or "none"
        raise UserError(f"study.over: there is no parameter '{over}'", f"known are {known}")
    sizes = {size_of(point[over]) for point in points}
    if len(sizes) < 2:
        raise UserError(f"study: {over} has one value, so nothing scales", "give it several")
    if base_of(study, sizes) not in sizes:
        said = ", ".join(f"{size:g}" for size in sorted(sizes))
        raise UserError(f"study.base: {over} is never {study.base}", f"it is {said}")
    for name, threshold in study.thresholds.items():
        check_threshold(f"study.thresholds.{name}", threshold, ("",))


def check_study_metrics(campaign: Campaign, known: Collection[str]) -> None:
    """Raise UserError for metrics of a study that are not among the `known` ones of all steps."""
    study = campaign.scaling
    for metric in study.of if study is not None else ():
        if metric not in known and phase_of(metric) not in known:
            names = ", ".join(dict.fromkeys(known))
            raise UserError(f"study.of: there is no metric '{metric}'", f"metrics: {names}")


def over_of(campaign: Campaign) -> str:
    """The parameter that is the number of processors; UserError where that is not said."""
    study = campaign.scaling
    if study is not None and study.over:
        return study.over
    names = {name for step in campaign.steps.values() for name in _named_by(campaign, step)}
    if len(names) != 1:
        found = f"{' and '.join(sorted(names))} may be meant" if names else "nothing says over what"
        raise UserError(f"study: {found}", _WAYS)
    return names.pop()


def _named_by(campaign: Campaign, step: CampaignStep) -> list[str]:
    """The parameter that is a measuring step's ranks, else its nodes; none: neither is one."""
    measures = step.workload or step.metrics or step.tool
    space = campaign.space
    known = {*space.product, *space.derive, *(name for group in space.zip for name in group)}
    known |= {name for point in space.points for name in point}
    named = [value for value in (step.ranks, step.nodes) if value in known]
    return [str(named[0])] if measures and named else []


def size_of(value: Scalar) -> float:
    """A number of processors; UserError for what is none."""
    try:
        size = float(number_at("study.over", value, {}))
    except UserError:
        size = 0.0
    if size <= 0.0:
        raise UserError(f"study: '{value}' is no number of processors", _WAYS)
    return size


def base_of(study: Study, sizes: Collection[float]) -> float:
    """The number of processors that all others are compared with."""
    return min(sizes) if study.base is None else size_of(study.base)


def others_of(campaign: Campaign, over: str, rows: Sequence[Mapping[str, Scalar]]) -> list[str]:
    """The parameters beside `over` by which `rows` are told apart.

    None of those that are derived, that have one value for each value of `over`, or never change.
    """
    following = {over, *campaign.space.derive}
    names = dict.fromkeys(name for row in rows for name in row if name not in following)
    return [name for name in names if not _follows(name, over, rows)]


def _follows(name: str, over: str, rows: Sequence[Mapping[str, Scalar]]) -> bool:
    """Whether a parameter has one value for each value of `over`."""
    pairs = {(row.get(over, ""), row.get(name, "")) for row in rows}
    return len(pairs) == len({size for size, _ in pairs})
