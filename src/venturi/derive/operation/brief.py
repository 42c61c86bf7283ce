"""Steps in fewer lines that do the same: equal ones beside a loop join it, and so do phases that
only name files.

Acts are told one by one: an opening with what follows it, then more calls on the same name. As
text they may be the same again and again, whatever they were as acts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from venturi.derive.operation.naming import named_in
from venturi.derive.operation.one_way import with_whens_joined
from venturi.derive.operation.program import Program
from venturi.derive.operation.run import Steps
from venturi.derive.operation.scene import VARIABLES
from venturi.model.verb import NameVerb
from venturi.model.workload import BareStep, StepSpec

LEAST_EQUAL = 3
"""So many equal steps, one after the other, are a loop."""


def brief(program: Program, steps: Sequence[StepSpec | BareStep], depth: int = 0) -> Steps:
    """The steps, within `depth` loops, as those that do the same in fewer lines."""
    inner: Steps = []
    for step in steps:
        if isinstance(step, StepSpec) and step.do is not None:
            below = brief(program, step.do, depth + (step.for_ is not None))
            inner.append(_under_condition(step.model_copy(update={"do": below})))
        else:
            inner.append(step)
    inner = with_whens_joined(inner)
    if program.table.ranks == 1:
        inner = _with_names_joined(program, inner, depth)
    return _as_loops(_with_loops_grown(program, inner), depth)


def _under_condition(step: StepSpec) -> StepSpec:
    """A loop of which all stands under one condition, which no turn changes, under that one."""
    body = step.do or []
    one = body[0] if step.for_ is not None and len(body) == 1 else None
    if not isinstance(one, StepSpec) or not isinstance(one.when, str) or _has_phase(one):
        return step
    if re.search(rf"\b{step.for_}\b", one.when):
        return step
    return StepSpec(when=one.when, do=[step.model_copy(update={"do": one.do})])


def _has_phase(step: StepSpec | BareStep) -> bool:
    if not isinstance(step, StepSpec):
        return False
    return step.phase is not None or any(_has_phase(inner) for inner in step.do or [])


# ---- phases


def _with_names_joined(program: Program, steps: Steps, depth: int) -> Steps:
    """The steps with phases that only name files in the one beside them.

    Of one rank, which waits for nobody between them. What moves data stays apart from names,
    but in loops, whose turns tell of both.
    """
    out: Steps = []
    for step in steps:
        before = out[-1] if out else None
        if isinstance(before, StepSpec) and isinstance(step, StepSpec):
            joined = _one_phase(program, before, step, depth)
            if joined is not None:
                out[-1] = joined
                continue
        out.append(step)
    return out


def _one_phase(program: Program, one: StepSpec, other: StepSpec, depth: int) -> StepSpec | None:
    """Two phases as one; None where they must stay apart."""
    if not (one.phase and other.phase) or _moves(one) or (_moves(other) and not depth):
        return None
    if one.model_fields_set | other.model_fields_set != {"phase", "do"}:
        return None
    name = other.phase if _moves(other) else program.titles.with_more(one.phase)
    return StepSpec(phase=name, do=[*(one.do or []), *(other.do or [])])


def _moves(step: StepSpec | BareStep) -> bool:
    """Whether a step does more than to name files."""
    if not isinstance(step, StepSpec):
        return True
    if step.do is not None:
        return any(_moves(inner) for inner in step.do)
    return step.verb not in _NAMING


_NAMING = frozenset(NameVerb) - {NameVerb.READ_DIR, NameVerb.TRUNCATE, NameVerb.COPY}
"""What is done to a name alone: no data go, and no folder is read."""


# ---- loops


def _with_loops_grown(program: Program, steps: Steps) -> Steps:
    """The steps with equal neighbours of a loop's body as more of its turns."""
    out: Steps = []
    for step in steps:
        out.append(step)
        while _has_joined(program, out):
            pass
    return out


def _has_joined(program: Program, out: Steps) -> bool:
    """Whether the last steps were a loop and its body, in either order, and are one loop now."""
    last = out[-1]
    body = _body_of_any_turn(program, last)
    if body:
        assert isinstance(last, StepSpec)
        before = out[-2] if len(out) > 1 else None
        other = _body_of_any_turn(program, before)
        if other == body:
            assert isinstance(before, StepSpec)
            out[-2:] = [_loop(last, int(str(before.in_)) + int(str(last.in_)))]
            return True
        if out[-1 - len(body) : -1] == body:
            out[-1 - len(body) :] = [_loop(last, 1 + int(str(last.in_)))]
            return True
    for at in range(len(out) - 2, max(len(out) - 2 - _MOST_BODY, -1), -1):
        loop = out[at]
        body = _body_of_any_turn(program, loop)
        if body and out[at + 1 :] == body:
            assert isinstance(loop, StepSpec)
            out[at:] = [_loop(loop, 1 + int(str(loop.in_)))]
            return True
    return False


_MOST_BODY = 8


def _loop(loop: StepSpec, turns: int) -> StepSpec:
    return loop.model_copy(update={"in_": turns})


def _body_of_any_turn(program: Program, step: StepSpec | BareStep | None) -> Steps:
    """The body of a loop that does the same in each turn; empty: it is none."""
    if not isinstance(step, StepSpec) or step.for_ is None or not isinstance(step.in_, int):
        return []
    body = [inner for inner in step.do or [] if isinstance(inner, StepSpec) and inner.do is None]
    if len(body) < len(step.do or []):
        return []
    entries = program.names.entries
    texts = [inner.model_dump_json(exclude_defaults=True) for inner in body]
    texts += [entries[name].index for name in named_in(body) if name in entries]
    is_free = not any(re.search(rf"\b{step.for_}\b", text) for text in texts)
    return list(body) if is_free else []


def _as_loops(steps: Steps, depth: int) -> Steps:
    """The steps with runs of equal ones as loops."""
    out: Steps = []
    at = 0
    while at < len(steps):
        step = steps[at]
        end = at + 1
        while end < len(steps) and steps[end] == step:
            end += 1
        is_run = end - at >= LEAST_EQUAL and isinstance(step, StepSpec) and step.do is None
        if is_run and depth < len(VARIABLES):
            out.append(StepSpec(for_=VARIABLES[depth], in_=end - at, do=[step]))
        else:
            out += steps[at:end]
        at = end
    return out
