"""Names that are looked at once and remembered, instead of repeatedly."""

from __future__ import annotations

import re

from venturi.model.plan import ItemVerb
from venturi.model.tuning import Meaning
from venturi.model.workload import StepSpec, Workload
from venturi.plan.file import template_names
from venturi.tune.change import TuningChange, Variant, one_of
from venturi.tune.evaluation_context import DoesNotApply, EvaluationContext
from venturi.tune.rewrite import Steps, with_steps

_LOOKS = (ItemVerb.STAT, ItemVerb.READ_DIR)


def _values(context: EvaluationContext) -> list[str]:
    del context
    return ["once"]


def _make(context: EvaluationContext, value: str) -> Variant:
    one_of(value, "stats", ("once",))
    touched: list[str] = []
    workload = with_steps(
        context.workload, lambda step: _remembered(step, context.workload, touched)
    )
    if not touched:
        raise DoesNotApply("no name is looked at more than once")
    return Variant(
        workload,
        "names looked at once",
        f"Call stat() (os.path.exists(), INQUIRE, test -e) once for {context.listed(touched)} and "
        "keep the answer; of an open file, fstat() asks nobody.",
        Meaning(assumes="nobody else changes these files meanwhile"),
    )


def _remembered(step: StepSpec, workload: Workload, touched: list[str]) -> Steps | None:
    """A loop with its looks before it, an item that is opened without its look."""
    if step.each is not None and step.each.do[0] is not ItemVerb.CREATE:
        verbs = [verb for verb in step.each.do if verb is not ItemVerb.STAT]
        if ItemVerb.OPEN in verbs and len(verbs) < len(step.each.do):
            touched.append(step.each.on)
            return [step.model_copy(update={"each": step.each.without(ItemVerb.STAT)})]
    if step.do is None:
        return None
    kept = _without_repeats(step.do, touched)
    if step.for_ is None:
        return None if kept == step.do else [step.model_copy(update={"do": kept})]
    looks: Steps = []
    rest: Steps = []
    for inner in kept:
        name = _look(inner) if isinstance(inner, StepSpec) else None
        free = name is not None and _is_free(inner, name, step.for_, workload, kept)
        (looks if free else rest).append(inner)
        if free:
            touched.append(str(name))
    if not looks:
        return None if kept == step.do else [step.model_copy(update={"do": kept})]
    return [*looks, step.model_copy(update={"do": rest})] if rest else looks


def _look(step: object) -> str | None:
    """The name that a step only looks at."""
    if not isinstance(step, StepSpec):
        return None
    if step.each is not None and all(verb in _LOOKS for verb in step.each.do):
        return step.each.on
    return step.stat or step.read_dir


def _without_repeats(steps: Steps, touched: list[str]) -> Steps:
    """The steps of one body without a look that stood there before."""
    kept: Steps = []
    for step in steps:
        name = _look(step)
        if name is not None and step in kept:
            touched.append(name)
            continue
        kept.append(step)
    return kept


def _is_free(step: object, name: str, variable: str, workload: Workload, body: Steps) -> bool:
    """Whether a look is the same in every turn, and the name is not made in the loop."""
    assert isinstance(step, StepSpec)
    written = step.model_dump_json(exclude_defaults=True)
    if re.search(rf"\b{re.escape(variable)}\b", written.replace(f'"{name}"', "")):
        return False
    if variable in template_names(workload.files[name].path):
        return False
    return not any(
        isinstance(other, StepSpec) and name in (other.create, other.unlink, other.mkdir)
        for other in body
    )


CHANGE = TuningChange("stats", "once", _values, _make)
