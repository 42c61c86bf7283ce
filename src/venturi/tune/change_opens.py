"""Files that stay open, instead of being opened and closed repeatedly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from venturi.model.tuning import Meaning
from venturi.model.workload import BareStep, PatternKind, StepSpec, Value, Workload
from venturi.plan.file import template_names
from venturi.tune.change import TuningChange, Variant, one_of
from venturi.tune.evaluation_context import DoesNotApply, EvaluationContext, use_of
from venturi.tune.file_turn import files_in_turn
from venturi.tune.in_a_row import in_a_row
from venturi.tune.rewrite import Steps, named_in, with_steps

_MOST_OPEN = 768
"""Files that stay open at once: a process may have 1024 descriptors, and needs others, too."""


def _values(context: EvaluationContext) -> list[str]:
    del context
    return ["once"]


@dataclass(frozen=True)
class _Kept:
    """A file of a loop, or files that take turns in it, around which the loop can be put."""

    name: str
    opened: list[StepSpec]
    """Its opening, and looks right behind it: libraries ask for the state of what they open."""
    closed: list[StepSpec]
    loop: StepSpec
    """Whose variable tells the files apart."""
    files: int
    """The first so many turns of that loop take each file once; 1: it is one file."""

    def alone(self, steps: list[StepSpec]) -> Steps:
        """The opening or closing of all files."""
        if self.files == 1:
            return [*steps]
        return [self.loop.model_copy(update={"in_": self.files, "do": steps})]


def _make(context: EvaluationContext, value: str) -> Variant:
    one_of(value, "opens", ("once",))
    touched: dict[str, _Kept] = {}
    workload = with_steps(context.workload, lambda step: _held(step, context, touched))
    if not touched:
        raise DoesNotApply(
            "no file is opened and closed repeatedly in a loop inside of a phase, or more "
            f"than {_MOST_OPEN} take turns"
        )
    assumes = "nobody waits for the close to see the data"
    remade = [name for name, kept in touched.items() if kept.opened[0].create is not None]
    if remade:
        assumes += f"; {context.listed(remade)} is opened to append, not to begin anew"
    many = max(kept.files for kept in touched.values())
    if many > 1:
        assumes += f"; {many} files may be open at once"
    once, them = ("once each", "them") if many > 1 else ("once", "it")
    return Variant(
        workload,
        "files stay open",
        f"Open {context.listed(list(touched))} {once} before the loop and close() {them} "
        "behind it, instead of at every turn (a shell redirects the whole loop).",
        Meaning(assumes=assumes),
    )


def _held(step: StepSpec, context: EvaluationContext, touched: dict[str, _Kept]) -> Steps | None:
    """A loop with the opens and closes of its files around it.

    Files are noted in `touched`.
    """
    if step.for_ is None or step.do is None:
        return None
    kept = [*_of_turns(step, context), *_of_loops_inside(step, context)]
    if not kept:
        return None
    for each in kept:
        touched[each.name] = each
    around = [gone for each in kept for gone in (*each.opened, *each.closed)]
    return [
        *(step for each in kept for step in each.alone(each.opened)),
        *in_a_row(step, _without(step.do, around), context),
        *(step for each in kept for step in each.alone(each.closed)),
    ]


def _without(steps: Sequence[StepSpec | BareStep], gone: Sequence[StepSpec]) -> Steps:
    """The steps without some, also in loops of these, and without loops that are empty then."""
    rest: Steps = []
    for step in steps:
        if any(step is one for one in gone):
            continue
        if isinstance(step, StepSpec) and step.for_ is not None and step.do is not None:
            inner = _without(step.do, gone)
            if inner:
                rest.append(step.model_copy(update={"do": inner}))
            continue
        rest.append(step)
    return rest


def _of_turns(loop: StepSpec, context: EvaluationContext) -> list[_Kept]:
    """The files that turns of a loop open and close, of which there are fewer than turns."""
    found = []
    for name, opened, closed in _opened_once(loop, context.workload):
        files = 1 if not _reads(context, name, loop) else _files(context, name, loop)
        if files is not None:
            found.append(_Kept(name, opened, closed, loop, files))
    return found


def _files(context: EvaluationContext, name: str, loop: StepSpec) -> int | None:
    """How many files take turns in a loop; None where that is not known, or nothing comes again."""
    turns = context.whole(loop.in_)
    assert loop.for_ is not None
    if turns is None:
        return None
    path = context.workload.files[name].path
    files = files_in_turn(path, loop.for_, turns, context.parameters, _MOST_OPEN)
    return files if files is not None and files < turns else None


def _of_loops_inside(loop: StepSpec, context: EvaluationContext) -> list[_Kept]:
    """The files that loops inside of a loop open one by one, in each of its turns again."""
    found = []
    for inner in loop.do or []:
        if not isinstance(inner, StepSpec) or inner.for_ is None or inner.do is None:
            continue
        files = context.whole(inner.in_)
        if files is None or files > _MOST_OPEN:
            continue
        others = named_in([step for step in loop.do or [] if step is not inner])
        found += [
            _Kept(name, opened, closed, inner, files)
            for name, opened, closed in _opened_once(inner, context.workload)
            if name not in others
            and not _reads(context, name, loop)
            and _files_are(files, context, name, inner)
        ]
    return found


def _files_are(files: int, context: EvaluationContext, name: str, loop: StepSpec) -> bool:
    """Whether each turn of a loop takes another file."""
    assert loop.for_ is not None
    path = context.workload.files[name].path
    return files_in_turn(path, loop.for_, files, context.parameters, _MOST_OPEN) == files


def _opened_once(
    loop: StepSpec, workload: Workload
) -> list[tuple[str, list[StepSpec], list[StepSpec]]]:
    """The files that every turn of a loop opens and closes, once each, with both steps."""
    assert loop.for_ is not None
    steps = [step for step in loop.do or [] if isinstance(step, StepSpec)]
    found = []
    for name in dict.fromkeys(filter(None, map(_opened, steps))):
        opens = [step for step in steps if _opened(step) == name]
        closes = [step for step in steps if step.close == name]
        removed = any(step.unlink == name for step in steps)
        if len(opens) != 1 or len(closes) != 1 or removed:
            continue
        if any(_names(loop.for_, step.from_) for step in (*opens, *closes)):
            continue
        if opens[0].create is None or _only_appended(name, steps, workload):
            found.append((name, [opens[0], *_asked_then(opens[0], loop)], [closes[0]]))
    return found


def _asked_then(opened: StepSpec, loop: StepSpec) -> list[StepSpec]:
    """The looks at a file right behind its opening."""
    body = loop.do or []
    looks = []
    for step in body[body.index(opened) + 1 :]:
        if not isinstance(step, StepSpec) or step.stat != _opened(opened) or step.from_ != "self":
            break
        looks.append(step)
    return looks


def _opened(step: StepSpec) -> str | None:
    """The file that a step opens, or makes and opens."""
    return step.open or step.create


def _reads(context: EvaluationContext, name: str, loop: StepSpec) -> bool:
    """Whether the path of a file differs from turn to turn of a loop."""
    return loop.for_ in template_names(context.workload.files[name].path)


def _names(variable: str, text: Value) -> bool:
    return re.search(rf"\b{re.escape(variable)}\b", str(text)) is not None


def _only_appended(name: str, steps: list[StepSpec], workload: Workload) -> bool:
    """Whether making the file anew does not empty it: all that is written comes at its end."""
    uses = [use for use in (use_of(step, workload) for step in steps) if use is not None]
    written = [use.step.pattern for use in uses if use.name == name and use.is_write]
    return bool(written) and all(pattern is PatternKind.APPEND for pattern in written)


CHANGE = TuningChange("opens", "once", _values, _make)
