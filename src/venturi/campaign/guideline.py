"""Guidelines for measuring how something scales, and whether a campaign keeps them.

They are those of HPC Wiki (https://hpc-wiki.info/hpc/Scaling): sizes that span orders of magnitude,
wall-clock time, several independent runs, what counts with more than one node, other systems and
factors, and a problem like production.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from venturi.model.scaling import Guideline, GuidelineState, ScalingCurve, Study

_MET, _PARTLY, _NOT = GuidelineState.MET, GuidelineState.PARTLY, GuidelineState.NOT_MET
_MANY_RUNS = 6
"""Repetitions from which on a median has an interval of 95 %."""


@dataclass(frozen=True)
class Placement:
    """Where the runs of a study ran; lists ascend, and are empty where steps do not say it."""

    nodes: list[int]
    per_node: list[int]
    """Ranks of a node."""
    cores: int
    """Of a node; 0: not known."""
    is_workload: bool
    """Whether a step is a workload, whose clocks are our own."""
    scales: list[str]
    """Of workloads: `laptop`, `paper`."""


def guidelines_of(
    study: Study, over: str, curves: Sequence[ScalingCurve], placement: Placement
) -> list[Guideline]:
    """Each guideline with what the campaign did about it."""
    return [
        _sizes(over, curves),
        _clock(curves, placement),
        _runs(curves),
        _nodes(placement),
        _factors(curves),
        _problem(study, placement),
    ]


def _sizes(over: str, curves: Sequence[ScalingCurve]) -> Guideline:
    sizes = sorted({point.size for curve in curves for point in curve.points})
    rule = "sizes span orders of magnitude"
    if not sizes:
        return Guideline(rule=rule, state=_NOT, says="nothing was measured")
    factor = sizes[-1] / sizes[0]
    state = _MET if factor >= 100 else _PARTLY if factor >= 10 else _NOT
    orders = math.log10(factor)
    says = f"{over} from {sizes[0]:g} to {sizes[-1]:g}: {orders:.1f} orders of magnitude"
    return Guideline(rule=rule, state=state, says=says)


def _clock(curves: Sequence[ScalingCurve], placement: Placement) -> Guideline:
    rule = "wall-clock time"
    times = [curve for curve in curves if curve.unit == "s"]
    if placement.is_workload and curves:
        says = "phases are timed by wall clock, from the first rank's begin to the last one's end"
        return Guideline(rule=rule, state=_MET, says=says)
    what = "times" if times else "rates"
    says = f"{what} are those that the command prints; of which clock is not known"
    return Guideline(rule=rule, state=GuidelineState.UNKNOWN, says=says)


def _runs(curves: Sequence[ScalingCurve]) -> Guideline:
    rule = "several independent runs of each size"
    least = min((point.runs for curve in curves for point in curve.points), default=0)
    state = _MET if least >= _MANY_RUNS else _PARTLY if least > 1 else _NOT
    says = f"{least} at least, each a start of its own, in another order of points each time"
    if 1 < least < _MANY_RUNS:
        says += f"; intervals of 95 % need {_MANY_RUNS}"
    return Guideline(rule=rule, state=state, says=says)


def _nodes(placement: Placement) -> Guideline:
    rule = "what counts on one node and on several"
    if not placement.nodes:
        says = "how many ranks run on how many nodes is not said (steps: ranks, nodes)"
        return Guideline(rule=rule, state=GuidelineState.UNKNOWN, says=says)
    most, cores = placement.per_node[-1], placement.cores
    says = f"{_span(placement.per_node, 'rank')} on a node, {_span(placement.nodes, 'node')}"
    state = _PARTLY
    if cores and most > cores:
        says += f"; beyond {cores} ranks they share {cores} cores, which is no scaling of storage"
        state = _NOT
    elif placement.nodes[-1] > 1 and len(placement.per_node) > 1:
        says += "; ranks of a node change, so effects of nodes and of cores are mixed"
    elif placement.nodes[-1] > 1:
        says += "; interconnect and limits of the system are not measured here"
    else:
        says += f" of {cores} cores" if cores else "; its cores are not known"
        state = _MET if cores else GuidelineState.UNKNOWN
    return Guideline(rule=rule, state=state, says=says)


def _factors(curves: Sequence[ScalingCurve]) -> Guideline:
    rule = "other systems and factors"
    names = list(dict.fromkeys(name for curve in curves for name in curve.parameters))
    says = f"one system; varied beside: {', '.join(names) or 'nothing'}"
    return Guideline(rule=rule, state=_PARTLY if names else _NOT, says=says)


def _problem(study: Study, placement: Placement) -> Guideline:
    rule = "a problem like production"
    scales = f" (scale {' and '.join(placement.scales)})" if placement.scales else ""
    if study.problem:
        says = f"the campaign's file says: {study.problem}{scales}"
        return Guideline(rule=rule, state=GuidelineState.STATED, says=says)
    says = f"the campaign's file does not say (study: problem){scales}"
    return Guideline(rule=rule, state=GuidelineState.UNKNOWN, says=says)


def _span(values: Sequence[int], noun: str) -> str:
    """`4 ranks`, `1 to 4 ranks`."""
    first, last = values[0], values[-1]
    text = f"{first}" if first == last else f"{first} to {last}"
    return f"{text} {noun}{'s' * (last != 1)}"
