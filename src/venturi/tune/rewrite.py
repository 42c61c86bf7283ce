"""How a workload is rewritten: steps, data steps and files, everything else as it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from venturi.model.expression import Number
from venturi.model.workload import (
    BareStep,
    DataStep,
    FileSpec,
    StepSpec,
    Value,
    Workload,
)
from venturi.tune.evaluation_context import DataStepUse, use_of

Steps = list[StepSpec | BareStep]


def bare(workload: Workload) -> Workload:
    """The workload without what is said about it: only what it does is left."""
    return workload.model_copy(
        update={
            "origin": None,
            "repeat": None,
            "log_operations": False,
            "metrics": {},
            "expect": {},
            "references": [],
        }
    )


Change = Callable[[StepSpec], Sequence[StepSpec | BareStep] | None]


def with_steps(workload: Workload, change: Change, chosen: bool = False) -> Workload:
    """Each step replaced by those that `change` gives for it; None keeps it.

    Steps inside of others come before these; those of which a number chooses one are left alone,
    unless `chosen`: then each keeps its place.
    """
    return workload.model_copy(
        update={
            "program": {group: _body(s, change, chosen) for group, s in workload.program.items()}
        }
    )


def _body(steps: Sequence[StepSpec | BareStep], change: Change, chosen: bool) -> Steps:
    result: Steps = []
    for step in steps:
        if not isinstance(step, StepSpec):
            result.append(step)
            continue
        inner = step
        if step.do is not None:
            inner = step.model_copy(update={"do": _body(step.do, change, chosen)})
        elif step.choose is not None and chosen:
            of = [_as_one(_body([one], change, chosen)) for one in step.choose.of]
            inner = step.model_copy(update={"choose": step.choose.model_copy(update={"of": of})})
        changed = change(inner)
        result += [inner] if changed is None else changed
    return result


def _as_one(steps: Steps) -> StepSpec | BareStep:
    """Steps as one, which does nothing where there is none."""
    if len(steps) == 1:
        return steps[0]
    return StepSpec(when=1, do=steps) if steps else StepSpec(compute=0)


def live(workload: Workload, number: Callable[[Value], Number | None]) -> Workload:
    """The workload without steps and files that these parameters leave unused.

    `number` gives what a value is where it is the same everywhere, else None.
    """

    def one(step: StepSpec) -> Steps | None:
        known = number(step.when) if step.when is not None else None
        if known is None:
            return None
        return list(step.do or []) if known else []

    pruned = with_steps(workload, one)
    used = named_in([step for steps in pruned.program.values() for step in steps])
    used |= {
        maker for name in used & workload.files.keys() for maker in workload.files[name].made_by
    }
    files = {name: spec for name, spec in workload.files.items() if name in used}
    return pruned.model_copy(update={"files": files})


def named_in(steps: Sequence[StepSpec | BareStep]) -> set[str]:
    """The files that steps, and those inside of them, speak of."""
    found: set[str] = set()
    for step in steps:
        if isinstance(step, StepSpec):
            found |= step.named | named_in(step.inner)
    return found


def joined(workload: Workload, ranks: int) -> Workload:
    """The workload with each loop that holds one phase inside of that phase.

    A capture on a busy machine has pauses that part such loops; inside of the phase, changes see
    them as a loop. Several ranks wait for each other after each turn, as before.
    """

    def one(step: StepSpec) -> Steps | None:
        if step.for_ is None or step.do is None or len(step.do) != 1:
            return None
        inner = step.do[0]
        if not isinstance(inner, StepSpec) or inner.phase is None or inner.do is None:
            return None
        plain = StepSpec(phase=inner.phase, do=inner.do)
        if inner != plain or any(isinstance(s, StepSpec) and s.phase for s in inner.do):
            return None
        turns: Steps = [*inner.do, "barrier"] if ranks > 1 else list(inner.do)
        return [StepSpec(phase=inner.phase, do=[step.model_copy(update={"do": turns})])]

    return with_steps(workload, one)


def with_data(workload: Workload, change: Callable[[DataStepUse], DataStep | None]) -> Workload:
    """Each data step on a plain file or a dataset changed; None keeps it."""

    def one(step: StepSpec) -> list[StepSpec] | None:
        use = use_of(step, workload)
        changed = change(use) if use is not None else None
        if use is None or changed is None:
            return None
        return [step.model_copy(update={"write" if use.is_write else "read": changed})]

    return with_steps(workload, one)


def with_files(workload: Workload, change: Callable[[str, FileSpec], FileSpec | None]) -> Workload:
    """Each file changed; None keeps it."""
    files = {name: change(name, spec) or spec for name, spec in workload.files.items()}
    return workload.model_copy(update={"files": files})


def altered(step: DataStep, **keys: object) -> DataStep:
    """A data step with some keys changed."""
    return step.model_copy(update=keys)
