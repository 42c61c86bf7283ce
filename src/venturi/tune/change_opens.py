"""Files that stay open, instead of being opened and closed again and again."""

from __future__ import annotations

import re

from venturi.model.tuning import Meaning
from venturi.model.workload import BareStep, PatternKind, StepSpec, Workload
from venturi.plan.file import template_names
from venturi.tune.change import Change, Variant, one_of
from venturi.tune.rewrite import Steps, with_steps
from venturi.tune.scene import DoesNotApply, Scene, use_of


def _values(scene: Scene) -> list[str]:
    del scene
    return ["once"]


def _make(scene: Scene, value: str) -> Variant:
    one_of(value, "opens", ("once",))
    touched: dict[str, bool] = {}
    workload = with_steps(scene.workload, lambda step: _held(step, scene.workload, touched))
    if not touched:
        raise DoesNotApply(
            "no file is opened and closed in a loop inside of a phase; many files that take turns "
            "cannot be kept open by a workload"
        )
    assumes = "nobody waits for the close to see the data"
    remade = [name for name, is_made in touched.items() if is_made]
    if remade:
        assumes += f"; {scene.listed(remade)} is opened to append, not to begin anew"
    return Variant(
        workload,
        "files stay open",
        f"Open {scene.listed(list(touched))} once before the loop and close() it behind it, "
        "instead of at every turn.",
        Meaning(assumes=assumes),
    )


def _held(step: StepSpec, workload: Workload, touched: dict[str, bool]) -> Steps | None:
    """A loop with the opens and closes of its files around it.

    Files are noted in `touched`, with whether every turn made them.
    """
    if step.for_ is None or step.do is None:
        return None
    names = [
        name
        for name in dict.fromkeys(filter(None, (_opened(inner) for inner in step.do)))
        if _can_stay(name, step, workload)
    ]
    if not names:
        return None
    opens = [inner for inner in step.do if _opened(inner) in names]
    closes = [s for s in step.do if isinstance(s, StepSpec) and s.close in names and s.close]
    rest = [inner for inner in step.do if inner not in opens and inner not in closes]
    for inner in step.do:
        name = _opened(inner)
        if name in names and name and isinstance(inner, StepSpec):
            touched[name] = touched.get(name, False) or inner.create is not None
    loop = [step.model_copy(update={"do": rest})] if rest else []
    return [*opens, *loop, *closes]


def _opened(step: StepSpec | BareStep) -> str | None:
    """The file that a step opens, or makes and opens."""
    return (step.open or step.create) if isinstance(step, StepSpec) else None


def _can_stay(name: str, loop: StepSpec, workload: Workload) -> bool:
    """Whether the same file is opened and closed, once each, in every turn of a loop."""
    steps = [step for step in loop.do or [] if isinstance(step, StepSpec)]
    opens = [step for step in steps if _opened(step) == name]
    closes = [step for step in steps if step.close == name]
    if len(opens) != 1 or len(closes) != 1 or any(step.unlink == name for step in steps):
        return False
    assert loop.for_ is not None
    varies = loop.for_ in template_names(workload.files[name].path) or any(
        re.search(rf"\b{re.escape(loop.for_)}\b", step.from_) for step in (*opens, *closes)
    )
    return not varies and (opens[0].create is None or _only_appended(name, steps, workload))


def _only_appended(name: str, steps: list[StepSpec], workload: Workload) -> bool:
    """Whether making the file anew does not empty it: all that is written comes at its end."""
    uses = [use for use in (use_of(step, workload) for step in steps) if use is not None]
    written = [use.step.pattern for use in uses if use.name == name and use.is_write]
    return bool(written) and all(pattern is PatternKind.APPEND for pattern in written)


CHANGE = Change("opens", "once", _values, _make)
