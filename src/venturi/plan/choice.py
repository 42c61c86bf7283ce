"""Steps of which a number chooses one, in whatever order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from venturi.model import plan as p
from venturi.model.expression import Literal
from venturi.model.workload import BareStep, ChooseStep, StepSpec
from venturi.plan.access import RANK
from venturi.plan.step_context import ProgramState, StepContext

Lower = Callable[[StepSpec, StepContext], list[p.Step]]


def lower_choice(
    choose: ChooseStep, state: ProgramState, place: StepContext, lower: Lower
) -> p.Choose:
    """The plan's choice, each of whose steps is lowered by `lower`.

    Which of the steps come before others, a plan does not know: each finds made, and open, what any
    of them makes and opens, or was open before, and so do the steps behind it. Whoever wrote the
    numbers sees to it that it is so.
    """
    inner = replace(
        place,
        where=f"{place.where}.choose.of",
        in_loop=True,
        by_rank=place.by_rank or place.varies(choose.by),
    )
    existing = state.existing | set(_made(choose.of))
    own = dict.fromkeys(_opened(choose.of), False)
    opened = own | state.opened
    owner = place.scope.compile(RANK, place.where)
    body: list[p.Step] = []
    for index, step in enumerate(choose.of):
        closed = set(_closed_for(step))
        state.opened = {name: how for name, how in opened.items() if name not in closed}
        state.owners |= dict.fromkeys(own, owner)
        state.existing = set(existing)
        steps = lower(step, replace(inner, where=f"{inner.where}[{index}]"))
        always = place.scope.compile(Literal(1), place.where)
        body.append(steps[0] if len(steps) == 1 else p.When(condition=always, body=steps))
    state.opened, state.existing = opened, existing
    number = place.scope.code(choose.by, f"{place.where}.choose.by")
    return p.Choose(number=number, body=body)


def _closed_for(step: StepSpec) -> Iterator[str | None]:
    """Files that are not open when a step is done."""
    yield from (step.create, step.open)
    for two in (step.rename, step.copy_):
        if two is not None:
            yield from (getattr(two, "on", None), getattr(two, "from_", None), two.to)


def _opened(steps: Sequence[StepSpec | BareStep]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, StepSpec):
            yield from (name for name in (step.create, step.open) if name)
            yield from _opened(step.inner)


def _made(steps: Sequence[StepSpec | BareStep]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, StepSpec):
            to = [one.to for one in (step.rename, step.copy_) if one is not None]
            yield from (name for name in (step.create, *to) if name)
            yield from _made(step.inner)
