"""Efficiencies of a session as results, so that histories and their gate follow them."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.campaign.folder import read_begun
from venturi.campaign.run_session import RunSession, id_of
from venturi.campaign.session import Opened
from venturi.campaign.task import CampaignTask
from venturi.model.campaign import TaskStart, TaskState
from venturi.model.output import Better
from venturi.model.record import Level
from venturi.model.result import Measure, Result, ResultSource, SourceKind, digest_of
from venturi.model.scaling import ScalingCurve, ScalingStudy
from venturi.model.workload import Scalar

_TOOL = "scaling study"


def study_results(opened: Opened, session: RunSession) -> list[Result]:
    """A result for each combination of a step's other parameters, with all of its sizes.

    None before all runs came to a good end: a session has one efficiency, and it stays.
    """
    states = set(opened.campaign_status.states.values())
    if opened.campaign.scaling is None or states != {TaskState.DONE}:
        return []
    study = opened.outcome().study
    if study is None:
        return []
    groups: dict[str, list[ScalingCurve]] = {}
    for curve in study.curves:
        if not curve.work_says:
            groups.setdefault(digest_of(curve.step, curve.parameters), []).append(curve)
    return [_result(opened, session, study, key, curves) for key, curves in groups.items()]


def _result(
    opened: Opened,
    session: RunSession,
    study: ScalingStudy,
    key: str,
    curves: Sequence[ScalingCurve],
) -> Result:
    first = curves[0]
    points = {point.point for curve in curves for point in curve.points}
    tasks = [task for task in opened.campaign_status.tasks.values() if task.point in points]
    step = opened.campaign.steps[first.step]
    begun = [_begun(opened, task) for task in tasks]
    started = min(one.begin_utc for one in begun)
    hosts = sorted({one.host for one in begun})
    return Result(
        id=id_of(started, session, f"{first.step}/study/{key}"),
        name=opened.campaign.name,
        started=started,
        machine=opened.machine.name,
        session=session.name,
        campaign=opened.campaign.name,
        step=f"{first.step} {study.kind.value} scaling",
        parameters=_parameters(study, first),
        ranks=max(task.ranks for task in tasks),
        nodes=max(task.nodes for task in tasks),
        work=digest_of(step.model_dump(mode="json", exclude={"time", "repeat", "after"})),
        source=ResultSource(kind=SourceKind.STUDY, tool=_TOOL),
        level=Level.INDICATIVE.value,
        reasons=["ratios of medians of one session"],
        metrics={
            f"{curve.metric}[{study.over}={point.size:g}].efficiency": Measure(
                unit="", better=Better.HIGHER, values=[point.efficiency.value]
            )
            for curve in curves
            for point in curve.points
            if point.size != study.base
        },
        facts={"host": ", ".join(hosts), "directory": opened.directory},
    )


def _parameters(study: ScalingStudy, curve: ScalingCurve) -> dict[str, Scalar]:
    base = int(study.base) if study.base.is_integer() else study.base
    return {**curve.parameters, "base": base}


def _begun(opened: Opened, task: CampaignTask) -> TaskStart:
    begun = read_begun(opened.campaign_status.folder / "tasks" / task.name)
    assert begun is not None  # a task that is done was begun
    return begun
