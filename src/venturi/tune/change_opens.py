"""Files that stay open, instead of being opened and closed again and again."""

from __future__ import annotations

import re

from venturi.model.tuning import Meaning
from venturi.model.workload import StepSpec, Workload
from venturi.plan.file import template_names
from venturi.tune.change import Change, Variant, listed, one_of
from venturi.tune.rewrite import Steps, with_steps
from venturi.tune.scene import DoesNotApply, Scene


def _values(scene: Scene) -> list[str]:
    del scene
    return ["once"]


def _make(scene: Scene, value: str) -> Variant:
    one_of(value, "opens", ("once",))
    touched: list[str] = []
    workload = with_steps(scene.workload, lambda step: _held(step, scene.workload, touched))
    if not touched:
        raise DoesNotApply("no file is opened and closed in a loop inside of a phase")
    return Variant(
        workload,
        "files stay open",
        f"Open {listed(touched)} once before the loop and close() it behind it, instead of at "
        "every turn.",
        Meaning(assumes="nobody waits for the close to see the data"),
    )


def _held(step: StepSpec, workload: Workload, touched: list[str]) -> Steps | None:
    """A loop with the opens and closes of its files around it."""
    if step.for_ is None or step.do is None:
        return None
    names = [
        inner.open
        for inner in step.do
        if isinstance(inner, StepSpec) and inner.open is not None
        and _can_stay(inner, step, workload)
    ]  # fmt: skip
    if not names:
        return None
    opens = [s for s in step.do if isinstance(s, StepSpec) and s.open in names and s.open]
    closes = [s for s in step.do if isinstance(s, StepSpec) and s.close in names and s.close]
    rest = [s for s in step.do if s not in opens and s not in closes]
    touched += [str(name) for name in names]
    loop = [step.model_copy(update={"do": rest})] if rest else []
    return [*opens, *loop, *closes]


def _can_stay(opening: StepSpec, loop: StepSpec, workload: Workload) -> bool:
    """Whether the same file is opened and closed, once each, in every turn of a loop."""
    name, body = opening.open, loop.do or []
    assert name is not None
    assert loop.for_ is not None
    if loop.for_ in template_names(workload.files[name].path):
        return False
    if re.search(rf"\b{re.escape(loop.for_)}\b", opening.from_):
        return False
    steps = [step for step in body if isinstance(step, StepSpec)]
    once = sum(step.open == name for step in steps) == sum(step.close == name for step in steps)
    remade = any(name in (step.create, step.unlink) for step in steps)
    return once and sum(step.open == name for step in steps) == 1 and not remade


CHANGE = Change("opens", "once", _values, _make)
