"""How fast a workload goes from request to request: as it is, or without its pauses.

Pauses stand for computing. They are no I/O, but a run waits for them: of a program that computes
most of its time, a search without them can ask many times as much.
"""

from __future__ import annotations

from venturi.model.workload import StepSpec, Workload
from venturi.tune.evaluation_context import EvaluationContext, steps_of, use_of
from venturi.tune.rewrite import altered, with_data, with_steps


def hurried(workload: Workload) -> Workload:
    """The workload without computing and pauses between its requests."""

    def one(step: StepSpec) -> list[StepSpec] | None:
        return [step.model_copy(update={"compute": 0})] if step.compute is not None else None

    plain = with_data(workload, lambda use: altered(use.step, think=0) if use.step.think else None)
    return with_steps(plain, one)


def pauses_s(context: EvaluationContext) -> float:
    """Seconds of a run that are pauses which can be left out to choose among changes.

    None can where time is a part of what the workload does: groups that go on beside each other,
    limits of time, requests at given moments, waiting that follows from what requests took.
    """
    if len(context.made.plan.groups) > 1 or context.workload.deadline is not None:
        return 0.0
    if any(_is_timed(step, context.workload) for step in steps_of(context.workload)):
        return 0.0
    return context.made.totals.seconds_computing


def _is_timed(step: StepSpec, workload: Workload) -> bool:
    use = use_of(step, workload)
    if use is not None and use.step.rate is not None:
        return True
    if step.each is not None and step.each.wait:
        return True
    return any(each is not None for each in (step.limit, step.at_least, step.deadline))
