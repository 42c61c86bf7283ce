"""All ranks do their own I/O, where one rank gathers and does it for them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from venturi.model.plan import Interface
from venturi.model.tuning import Meaning
from venturi.model.workload import BareStep, DataStep, PatternKind, StepSpec
from venturi.tune.change import Change, Variant, one_of
from venturi.tune.change_transfer import part_bytes, request_bytes
from venturi.tune.rewrite import Steps, altered, named_in, with_files, with_steps
from venturi.tune.scene import DoesNotApply, Scene, Use, use_of

_WORDS = ("rank", "all")
_ONE_RANK = re.compile(r"\(?\s*rank (== \d+|< 1)\s*\)?")
_LEAST_BYTES = 256 * 1024
"""Less than this is no work worth being shared, such as a file of settings."""
_VERBS = ("create", "open", "close", "write", "read", "sync", "compute", "for_")


def _values(scene: Scene) -> list[str]:
    del scene
    return list(_WORDS)


@dataclass
class _Found:
    """What was spread, and why the rest was not."""

    names: dict[str, Use] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)


def _make(scene: Scene, value: str) -> Variant:
    one_of(value, "spread", _WORDS)
    if scene.ranks == 1:
        raise DoesNotApply("there is one rank")
    found = _Found()
    workload = with_steps(scene.workload, lambda step: _freed(step, value, scene, found))
    if not found.names:
        raise DoesNotApply(found.reasons[0] if found.reasons else "no rank works for all others")
    if any(name in named_in(_elsewhere(scene)) for name in found.names):
        raise DoesNotApply(f"{scene.listed(list(found.names))} is also used by other ranks")
    workload = with_files(
        workload,
        lambda name, spec: (
            spec.model_copy(update={"shared": value}) if name in found.names else None
        ),
    )
    names = scene.listed(list(found.names))
    verb = "write" if any(use.is_write for use in found.names.values()) else "read"
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


def _freed(step: StepSpec, value: str, scene: Scene, found: _Found) -> Steps | None:
    """What one rank does for all, done by each with its part."""
    if step.when is None or not _ONE_RANK.fullmatch(str(step.when)):
        return None
    body = _spread(step.do or [], value, scene, found)
    return None if body is None else body


def _spread(steps: Steps, value: str, scene: Scene, found: _Found) -> Steps | None:
    """The steps with each rank's part of their data; None where one of them cannot be dealt."""
    result: Steps = []
    uses: dict[str, Use] = {}
    for step in steps:
        if not isinstance(step, StepSpec) or step.verb not in _VERBS:
            return None
        if step.do is not None:
            inner = _spread(step.do, value, scene, found)
            if inner is None:
                return None
            result.append(step.model_copy(update={"do": inner}))
            continue
        use = use_of(step, scene.workload)
        if use is None and (step.write is not None or step.read is not None):
            return None
        if use is None:
            result.append(step)
            continue
        part = _part(use, value, scene)
        if isinstance(part, str):
            found.reasons.append(part)
            return None
        uses[use.name] = use
        result.append(step.model_copy(update={"write" if use.is_write else "read": part}))
    found.names.update(uses)
    return result


def _part(use: Use, value: str, scene: Scene) -> DataStep | str:
    """The part of each rank, or why there is none."""
    step, ranks = use.step, scene.ranks
    spec = scene.workload.files[use.name]
    now = request_bytes(step, scene)
    size = None if now is None else part_bytes(step, now, scene)
    known = scene.listed([use.name])
    if use.dataset or spec.interface not in (Interface.POSIX, Interface.STDIO, Interface.URING):
        return f"{known} is moved by a library that has calls of all ranks"
    if step.pattern is not PatternKind.CONTIGUOUS or step.mix or step.at is not None:
        return f"places of {known} are not one behind the other"
    if now is None or size is None or step.total is not None or step.reads:
        return f"requests of {known} have no one size"
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
        at=f"rank * {each}" if value == "all" else None,
    )


def _elsewhere(scene: Scene) -> list[StepSpec | BareStep]:
    """All steps that are not behind a condition on one rank."""

    def drop(step: StepSpec) -> Steps | None:
        is_one = step.when is not None and _ONE_RANK.fullmatch(str(step.when))
        return [] if is_one else None

    rest = with_steps(scene.workload, drop)
    return [step for steps in rest.program.values() for step in steps]


CHANGE = Change("spread", "rank or all", _values, _make)
