"""Loops whose turns only move on in a file, as the one access that they are."""

from __future__ import annotations

from venturi.model.units import size_text
from venturi.model.workload import DataStep, PatternKind, StepSpec
from venturi.tune.evaluation_context import EvaluationContext
from venturi.tune.rewrite import Steps, altered

_PLAIN = {"to", "from_", "pattern", "transfer", "size", "at", "think", "memory", "fresh"}
"""Keys of a step that is nothing but requests of one size, back to back."""


def in_a_row(loop: StepSpec, body: Steps, context: EvaluationContext) -> Steps:
    """A loop with this body; nothing where that is empty; a single access where each turn makes one
    that begins where the one before ended.

    A program has nothing between such requests, and neither has an access; a loop of the engine
    has its own work there, which cools the processor's caches.
    """
    if not body:
        return []
    access = _access(loop, body, context)
    return [loop.model_copy(update={"do": body}) if access is None else access]


def _access(loop: StepSpec, body: Steps, context: EvaluationContext) -> StepSpec | None:
    [step, *more] = body
    turns = context.whole(loop.in_)
    if more or not isinstance(step, StepSpec) or not turns:
        return None
    data = step.write if step.write is not None else step.read
    if not isinstance(data, DataStep) or step.model_fields_set - {"write", "read"}:
        return None
    spec = context.workload.files.get(data.to or data.from_ or "")
    size = context.whole(data.size)
    transfer = size if data.transfer is None else context.whole(data.transfer)
    if spec is None or context.sharers(spec) != 1 or not size or not transfer or size % transfer:
        return None
    if data.model_fields_set - _PLAIN or data.pattern is not PatternKind.CONTIGUOUS:
        return None
    begin = _begin(data, loop, size, context)
    if begin is None:
        return None
    whole = altered(data, transfer=size_text(transfer), size=size_text(size * turns), at=begin)
    return step.model_copy(update={"write" if step.write is not None else "read": whole})


def _begin(data: DataStep, loop: StepSpec, size: int, context: EvaluationContext) -> int | None:
    """Where the first turn begins, if each other one begins `size` bytes behind the one before."""
    begins = context.of_turns(data.at or 0, loop)
    if begins is None or not isinstance(begins[0], int):
        return None
    first = begins[0]
    return first if begins == [first + turn * size for turn in range(len(begins))] else None
