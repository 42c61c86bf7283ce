"""Names that are filled before the run where loops choose them: all that the program will name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import Number, evaluate
from venturi.plan.scope import slots_of

_FIRST_LOOP = len(p.Slot)
_CONSTANT = {list(p.Slot).index(p.Slot.RANKS), list(p.Slot).index(p.Slot.WORLD)}
MOST_STAGED = 1_000_000


def with_staged_loops(plan: p.Plan) -> p.Plan:
    """The plan with the loops over whose turns a prestaged file's path runs.

    Raises UserError where the number of turns is no fixed number, or no loop is around its uses.
    """
    files = list(plan.files)
    for index, file in enumerate(files):
        if file.prestage is None or file.tree is not None:
            continue
        slots = {slot for part in file.path for slot in slots_of(part.value)}
        loops = [_loop(plan, index, slot) for slot in sorted(slots) if slot >= _FIRST_LOOP]
        files[index] = file.model_copy(update={"staged_loops": loops})
    return plan.model_copy(update={"files": files})


def staged_count(file: p.File) -> int:
    """How many names of a prestaged file there are for each sharer."""
    count = 1
    for loop in file.staged_loops:
        count *= loop.count
    return count


def _loop(plan: p.Plan, index: int, slot: int) -> p.StagedLoop:
    where = f"files.{plan.files[index].name}.prestage"
    name = plan.slots[slot]
    counts = [
        _turns(loop, group, plan, where)
        for group in plan.groups
        for loop in _around(group.program, index, ())
        if loop.variable == slot
    ]
    if not counts:
        raise UserError(f"{where}: nothing uses the file inside of a loop over '{name}'")
    if max(counts) > MOST_STAGED:
        raise UserError(f"{where}: {max(counts)} names are more than {MOST_STAGED}", "use a tree")
    return p.StagedLoop(variable=slot, count=max(counts))


def _turns(loop: p.For, group: p.Group, plan: p.Plan, where: str) -> int:
    if slots_of(loop.count) - _CONSTANT:
        raise UserError(
            f"{where}: the loop over '{plan.slots[loop.variable]}' has no fixed number of turns",
            "give each turn's file a name that does not depend on it, or use a tree",
        )
    slots: list[Number] = [0] * len(plan.slots)
    for slot in _CONSTANT:
        slots[slot] = group.ranks if plan.slots[slot] == p.Slot.RANKS else plan.ranks
    return int(evaluate(loop.count, slots))


def _around(steps: Iterable[p.Step], index: int, loops: Sequence[p.For]) -> Iterator[p.For]:
    """The loops around each use of a file."""
    for step in steps:
        if isinstance(step, p.For):
            yield from _around(step.body, index, (*loops, step))
        elif isinstance(step, p.When | p.Phase | p.Repeat):
            yield from _around(step.body, index, loops)
        elif getattr(step, "file", None) == index:
            yield from loops
