"""All ranks do their own I/O, where one rank gathers and does it for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

from venturi.model.tuning import Meaning
from venturi.model.workload import BareStep, DataStep, PatternKind, StepSpec
from venturi.tune.change import TuningChange, Variant, one_of
from venturi.tune.change_transfer import part_bytes, request_bytes
from venturi.tune.evaluation_context import (
    DataStepUse,
    DoesNotApply,
    EvaluationContext,
    steps_of,
    use_of,
)
from venturi.tune.rewrite import Steps, altered, named_in, with_files, with_steps

_WORDS = ("rank", "all")
_ONE_RANK = re.compile(r"\(?\s*rank (== \d+|< 1)\s*\)?")
_LEAST_BYTES = 256 * 1024
"""Less than this is no work worth being shared, such as a file of settings."""
_VERBS = ("create", "open", "stat", "close", "write", "read", "sync", "compute", "for_")
"""What each rank may do with its part as well as one does with all."""


def _values(context: EvaluationContext) -> list[str]:
    del context
    return list(_WORDS)


@dataclass
class _Distribution:
    """The files whose data can be dealt to all ranks, and why those of others cannot."""

    uses: dict[str, DataStepUse] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    reasons: list[str] = field(default_factory=list)

    def frees(self, step: StepSpec | BareStep) -> bool:
        """Whether all ranks may do a step: it is about nothing but files that are dealt."""
        names = named_in([step])
        return bool(names) and names <= self.uses.keys()


def _make(context: EvaluationContext, value: str) -> Variant:
    one_of(value, "spread", _WORDS)
    if context.ranks == 1:
        raise DoesNotApply("there is one rank")
    found = _distribution_of(value, context)
    if not found.uses:
        raise DoesNotApply(found.reasons[0] if found.reasons else "no rank works for all others")
    workload = with_steps(context.workload, lambda step: _freed(step, value, context, found))
    if any(name in named_in(_elsewhere(context)) for name in found.uses):
        raise DoesNotApply(f"{context.listed(list(found.uses))} is also used by other ranks")
    workload = with_files(
        workload,
        lambda name, spec: (
            spec.model_copy(update={"shared": value}) if name in found.uses else None
        ),
    )
    names = context.listed(list(found.uses))
    verb = "write" if any(use.is_write for use in found.uses.values()) else "read"
    if value == "rank":
        how, what = f"{verb} it into a file of its own", "a file for each rank"
        if verb == "read":
            how = "read it from a file of its own"
        assumes = "whoever uses the files finds the same data in other files"
    else:
        how = f"{verb} it at its own offset of the one file (pwrite(), MPI_File_{verb}_at())"
        what, assumes = "each rank its part of one file", ""
    return Variant(
        workload,
        f"all ranks do I/O, {what}",
        f"Let each rank keep its part of {names} and {how}, instead of gathering it on one rank "
        "that works for all.",
        Meaning(assumes=assumes),
    )


def _is_of_one_rank(step: StepSpec) -> bool:
    return step.when is not None and _ONE_RANK.fullmatch(str(step.when)) is not None


def _distribution_of(value: str, context: EvaluationContext) -> _Distribution:
    """What is dealt of all that one rank does alone.

    A step that does what cannot be dealt keeps all of its files on the one rank.
    """
    found = _Distribution()
    alone = [
        inner
        for step in steps_of(context.workload)
        if _is_of_one_rank(step)
        for inner in step.do or []
    ]
    for step in alone:
        names = named_in([step])
        for each in _with_inner(step):
            why = _refusal(each, value, context, found)
            if why is not None:
                found.reasons += [why] if why else []
                found.refused |= names
    before = -1
    while before != len(found.refused):
        before = len(found.refused)
        for step in alone:
            names = named_in([step])
            found.refused |= names if names & found.refused else set()
    found.uses = {n: use for n, use in found.uses.items() if n not in found.refused}
    return found


def _with_inner(step: StepSpec | BareStep) -> Iterator[StepSpec | BareStep]:
    yield step
    for inner in step.inner if isinstance(step, StepSpec) else []:
        yield from _with_inner(inner)


def _refusal(
    step: StepSpec | BareStep, value: str, context: EvaluationContext, found: _Distribution
) -> str | None:
    """Why a step cannot be dealt, in words or (empty) by its kind; None: it can."""
    if not isinstance(step, StepSpec) or step.verb not in _VERBS:
        return ""
    use = use_of(step, context.workload)
    if use is None:
        return None if step.write is None and step.read is None else ""
    part = _part(use, value, context)
    if isinstance(part, str):
        return part
    found.uses[use.name] = use
    return None


def _freed(
    step: StepSpec, value: str, context: EvaluationContext, found: _Distribution
) -> Steps | None:
    """What one rank does for all, done by each with its part; the rest stays as it was."""
    if not _is_of_one_rank(step):
        return None
    body = step.do or []
    if not any(found.frees(inner) for inner in body):
        return None
    result: Steps = []
    for free, run in groupby(body, found.frees):
        steps = list(run)
        if free:
            result += [_spread(inner, value, context) for inner in steps]
        else:
            result.append(step.model_copy(update={"do": steps}))
    return result


def _spread(
    step: StepSpec | BareStep, value: str, context: EvaluationContext
) -> StepSpec | BareStep:
    """A step with each rank's part of its data."""
    if not isinstance(step, StepSpec):
        return step
    if step.do is not None:
        inner = [_spread(each, value, context) for each in step.do]
        return step.model_copy(update={"do": inner})
    use = use_of(step, context.workload)
    if use is None:
        return step
    return step.model_copy(update={"write" if use.is_write else "read": _part(use, value, context)})


def _part(use: DataStepUse, value: str, context: EvaluationContext) -> DataStep | str:
    """The part of each rank, or why there is none."""
    step, ranks = use.step, context.ranks
    spec = context.workload.files[use.name]
    now = request_bytes(step, context)
    size = None if now is None else part_bytes(step, now, context)
    known = context.listed([use.name])
    if use.dataset or not spec.interface.entry.has_requests:
        return f"{known} is moved by a library that has calls of all ranks"
    if step.pattern is not PatternKind.CONTIGUOUS or step.mix:
        return f"places of {known} are not back to back"
    if now is None or step.total is not None or step.reads:
        return f"requests of {known} have no one size"
    if size is None:
        return (
            _distributed_calls(step, value, now, ranks) or f"requests of {known} have no one size"
        )
    if size < max(_LEAST_BYTES, ranks):
        return f"{known} has too little for all ranks"
    if size % ranks:
        return f"{size} B of {known} cannot be dealt evenly to {ranks} ranks"
    each = size // ranks
    return altered(
        step,
        transfer=min(each, -(-now // ranks)),
        size=each,
        count=None,
        at=_place(step, value, str(each), ranks),
    )


def _distributed_calls(step: DataStep, value: str, now: int, ranks: int) -> DataStep | None:
    """Where the number of calls changes from turn to turn: each call is dealt to all ranks."""
    if step.count is None or now % ranks:
        return None
    part = f"({step.count}) * {now // ranks}"
    return altered(step, transfer=now // ranks, at=_place(step, value, part, ranks))


def _place(step: DataStep, value: str, part: str, ranks: int) -> str | None:
    """Where a rank's part begins; in its own file all places shrink as the sizes do."""
    if value == "all":
        return f"rank * {part}" if step.at is None else f"({step.at}) + rank * {part}"
    return None if step.at is None else f"({step.at}) // {ranks}"


def _elsewhere(context: EvaluationContext) -> list[StepSpec | BareStep]:
    """All steps that are not behind a condition on one rank."""

    def drop(step: StepSpec) -> Steps | None:
        return [] if _is_of_one_rank(step) else None

    rest = with_steps(context.workload, drop)
    return [step for steps in rest.program.values() for step in steps]


CHANGE = TuningChange("spread", "rank or all", _values, _make)
