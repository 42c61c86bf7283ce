"""A proxy whose input is cold, as its application's is: what was staged is dropped once.

What is there before the run is written by the engine right before the program, so it would be
read from memory.
"""

from __future__ import annotations

from collections.abc import Mapping

from venturi.model.data_step import DataStep
from venturi.model.plan import CachePolicy, ItemVerb
from venturi.model.workload import ChooseStep, EachStep, FileSpec, StepSpec, Workload

PHASE = "forget"
_NOTHING = StepSpec(compute=0)


def with_cold_input(workload: Workload) -> Workload:
    """The workload, and before its program a phase that does nothing but drop what was staged.

    The phase names the reads and writes of staged files, for no rank, because the caches of the
    files that a phase names are dropped before it.
    """
    staged = {name for name, file in workload.files.items() if file.prestage is not None}
    if not staged:
        return workload
    program = {}
    for group, steps in workload.program.items():
        named = [found for step in steps for found in _named(step, workload.files, staged)]
        lead = [
            StepSpec.model_validate(
                {
                    "phase": PHASE,
                    "cache": CachePolicy.DROP,
                    "do": [StepSpec.model_validate({"when": "rank < 0", "do": named})],
                }
            )
        ]
        program[group] = [*(lead if named else []), *steps]
    return workload.model_copy(update={"program": program})


def _named(step: StepSpec | str, files: Mapping[str, FileSpec], staged: set[str]) -> list[StepSpec]:
    """What a step reads and writes of staged files, without phases around it."""
    if isinstance(step, str):
        return []
    if step.choose is not None:
        return _named_choice(step.choose, files, staged)
    inner = [found for part in step.do or [] for found in _named(part, files, staged)]
    if step.phase is not None:
        return inner
    if step.do is not None:
        return [step.model_copy(update={"do": inner})] if inner else []
    step = _as_read(step, files)
    name = (_target(step) or "").partition(".")[0]
    if name not in staged:
        return []
    if files[name].tree is not None:
        return [step]
    return [StepSpec(open=name), step, StepSpec(close=name)]


def _named_choice(
    choice: ChooseStep, files: Mapping[str, FileSpec], staged: set[str]
) -> list[StepSpec]:
    """A choice with those of its steps that open, read, write or close staged files, each at its
    place: what is chosen when says which names are staged."""
    of = [
        step if _named(step, files, staged) or {step.open, step.close} & staged else _NOTHING
        for step in choice.of
    ]
    some = any(step is not _NOTHING for step in of)
    return [StepSpec(choose=choice.model_copy(update={"of": of}))] if some else []


def _as_read(step: StepSpec, files: Mapping[str, FileSpec]) -> StepSpec:
    """A copy as what it reads; other steps as they are."""
    copied = step.copy_ or (step.each if isinstance(step.each, EachStep) else None)
    source = copied.from_ if copied is not None else None
    if source is None:
        return step
    if files[source].tree is None:
        return StepSpec(read=DataStep(from_=source, size=1))
    return StepSpec(each=EachStep(on=source, do=[ItemVerb.OPEN, ItemVerb.READ, ItemVerb.CLOSE]))


def _target(step: StepSpec) -> str | None:
    """The file or tree whose data a step moves; None for all others."""
    if step.each is not None:
        return step.each.on
    data = step.write if step.write is not None else step.read
    if data is None or isinstance(data, str):
        return data
    return data.to or data.from_
