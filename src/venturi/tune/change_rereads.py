"""Data that the turns of a loop read repeatedly are read once and kept in memory."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from venturi.model.tuning import Meaning
from venturi.model.units import size_text
from venturi.model.workload import DataStep, PatternKind, StepSpec
from venturi.plan.file import template_names
from venturi.tune.change import TuningChange, Variant, one_of
from venturi.tune.change_transfer import request_bytes
from venturi.tune.evaluation_context import DoesNotApply, EvaluationContext, use_of
from venturi.tune.rewrite import Steps, altered, named_in, with_steps

_LEAST_TIMES = 1.5
"""Own: what is read over what lies there; with less, next to nothing is read again."""
_MOST_BYTES = 2**30
"""More is not kept in memory."""


def _values(context: EvaluationContext) -> list[str]:
    del context
    return ["once"]


def _make(context: EvaluationContext, value: str) -> Variant:
    one_of(value, "rereads", ("once",))
    touched: dict[str, bool] = {}
    workload = with_steps(context.workload, lambda step: _kept(step, context, touched))
    if not touched:
        raise DoesNotApply("no loop reads the same part of a file repeatedly")
    names = context.listed(list(touched))
    advice = f"Read {names} once before the loop and keep the data."
    if any(touched.values()):
        advice = (
            f"Open {names} once before the loop and leave it open, so that what the last read "
            "brought into its buffer serves the next ones, or keep the data in memory."
        )
    return Variant(
        workload,
        "data read once",
        advice,
        Meaning(assumes="memory holds what is read, and nobody else changes it meanwhile"),
        reads_less=True,
    )


def _kept(loop: StepSpec, context: EvaluationContext, touched: dict[str, bool]) -> Steps | None:
    """A loop with what its turns read again before it.

    The file is noted in `touched`, with whether each turn opens it.
    """
    if loop.for_ is None or loop.do is None:
        return None
    found = next((one for one in map(lambda s: _again(s, loop, context), loop.do) if one), None)
    if found is None:
        return None
    visit = [step for step in loop.do if isinstance(step, StepSpec) and _is_on(step, found.name)]
    touched[found.name] = any(step.open for step in visit)
    before = [found.read if step is found.step else step for step in visit]
    rest = [step for step in loop.do if not any(step is one for one in visit)]
    return [*before, loop.model_copy(update={"do": rest})] if rest else [*before]


@dataclass(frozen=True)
class _RepeatedRead:
    """A read that every turn of a loop makes, and the one that stands for all of them."""

    name: str
    step: StepSpec
    read: StepSpec


def _again(step: object, loop: StepSpec, context: EvaluationContext) -> _RepeatedRead | None:
    """What a step reads again in each turn; None where it is no such read."""
    use = use_of(step, context.workload) if isinstance(step, StepSpec) else None
    turns = context.whole(loop.in_)
    if use is None or use.is_write or use.dataset or not turns:
        return None
    assert isinstance(step, StepSpec)
    data, spec = use.step, context.workload.files[use.name]
    inside = [one for one in loop.do or [] if isinstance(one, StepSpec) and _is_on(one, use.name)]
    is_alone = all(one is step or one.open or one.close or one.stat for one in inside)
    is_plain = data.pattern is PatternKind.CONTIGUOUS and not data.mix and data.total is None
    if not is_alone or not is_plain or loop.for_ in template_names(spec.path):
        return None
    if context.sharers(spec) != 1 or use.place != "self":
        return None
    return _once(step, data, turns, (loop, context, use.name))


def _once(
    step: StepSpec, data: DataStep, turns: int, whose: tuple[StepSpec, EvaluationContext, str]
) -> _RepeatedRead | None:
    """The read of all that the turns read, where that is much less."""
    loop, context, name = whose
    transfer = request_bytes(data, context)
    if not transfer and data.transfer is None:
        return None
    size = data.size if data.count is None else f"({data.count}) * {transfer}"
    begins = context.of_turns(data.at or 0, loop)
    sizes = context.of_turns(size if size is not None else transfer or 0, loop)
    if begins is None or sizes is None:
        return None
    spans = [(int(at), int(length)) for at, length in zip(begins, sizes, strict=True)]
    low, high = min(at for at, _ in spans), max(at + length for at, length in spans)
    total = sum(length for _, length in spans)
    if not 0 < high - low <= _MOST_BYTES or total < _LEAST_TIMES * (high - low) or not transfer:
        return None
    request = min(transfer, high - low)
    read = altered(
        data, at=low, size=size_text(high - low), count=None, transfer=size_text(request), seeks=0
    )
    think = context.number(data.think)
    if think:
        read = altered(read, think=float(think) * turns / ceil((high - low) / request))
    return _RepeatedRead(name, step, step.model_copy(update={"read": read}))


def _is_on(step: StepSpec, name: str) -> bool:
    """Whether a step, or one inside of it, names a file."""
    return name in named_in([step])


CHANGE = TuningChange("rereads", "once", _values, _make)
