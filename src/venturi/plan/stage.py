"""Names that are filled before the run where loops choose them: all that the program will name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError, Number, evaluate
from venturi.plan.rank_view import RankView
from venturi.plan.row import LoopRows, naming_turns, turns_with, variables_of
from venturi.plan.scope import slots_of
from venturi.plan.walk import leaves

_FIRST_LOOP = len(p.Slot)
_CONSTANT = {list(p.Slot).index(p.Slot.RANKS), list(p.Slot).index(p.Slot.WORLD)}
MOST_STAGED = 1_000_000
MOST_COMPARED = 10_000
"""Names of entries with one beginning, of which those that are staged twice are looked for."""


def with_staged_loops(plan: p.Plan) -> p.Plan:
    """The plan with the loops over whose turns a prestaged file's path runs.

    Raises UserError where the number of turns is no fixed number, or no loop is around its uses.
    """
    files = list(plan.files)
    for index, file in enumerate(files):
        if file.prestage is None or file.tree is not None:
            continue
        slots = {slot for part in file.path for slot in slots_of(part.value)}
        table = _table_around(plan, index, slots)
        if table is not None:
            files[index] = file.model_copy(update={"staged_loops": [table]})
            continue
        strange = {slot for slot in slots_of(file.prestage) - slots if slot >= _FIRST_LOOP}
        if strange:
            raise UserError(
                f"files.{file.name}.prestage: '{plan.slots[min(strange)]}' chooses no file here",
                "use only loop variables that are in the path",
            )
        loops = [_loop(plan, index, slot) for slot in sorted(slots) if slot >= _FIRST_LOOP]
        if len(loops) == 1:
            loops = [_without_repeats(plan, file, loops[0])]
        files[index] = file.model_copy(update={"staged_loops": loops})
    return plan.model_copy(update={"files": files})


def _without_repeats(plan: p.Plan, file: p.File, loop: p.StagedLoop) -> p.StagedLoop:
    """The loop up to the turn that names a file for the first time; later ones name the same."""
    codes = [part.value for part in file.path if loop.variable in slots_of(part.value)]
    if any(slots_of(code) != {loop.variable} for code in codes):
        return loop
    slots: list[Number] = [0] * len(plan.slots)
    seen: set[tuple[Number, ...]] = set()
    count = 0
    for turn in range(loop.count):
        slots[loop.variable] = turn
        name = tuple(evaluate(code, slots) for code in codes if code)
        if name not in seen:
            seen.add(name)
            count = turn + 1
    return loop.model_copy(update={"count": count})


def staged_count(file: p.File) -> int:
    """How many names of a prestaged file there are for each sharer."""
    count = 1
    for loop in file.staged_loops:
        count *= loop.count
    return count


def staged_bytes(file: p.File, slots: list[Number]) -> list[int]:
    """How long each name of a prestaged file is, of the part of the rank that sits in the slots.

    One number where all are alike. Raises ExpressionError where one is no length.
    """
    assert file.prestage is not None
    used = slots_of(file.prestage)
    varying = [loop for loop in file.staged_loops if used & variables_of(loop)]
    found = []
    for _ in _turns_of(varying, slots):
        size = evaluate(file.prestage, slots)
        if size < 0 or size != int(size):
            raise ExpressionError(f"'prestage' of '{file.name}' is {size} bytes")
        found.append(int(size))
    return found


def staged_twice(plan: p.Plan, index: int, view: RankView) -> tuple[int, int]:
    """How many of the turns of a prestaged file's loops name a file again that they or an entry
    before it named, and these files' bytes, for the rank whose place the view took.

    Entries may choose the same files in two ways. Of more than MOST_COMPARED names none is said to
    be another's.
    """
    file = plan.files[index]
    others = [
        one
        for one in plan.files[:index]
        if one.prestage is not None and one.tree is None and one.path[0].text == file.path[0].text
    ]
    turns = sum(staged_count(one) for one in (file, *others))
    if turns > MOST_COMPARED or not (others or len(file.staged_loops) > 1):
        return 0, 0
    known = {name for one in others for name, _ in _staged_sizes(one, view)}
    again = 0
    size_again = 0
    for name, size in _staged_sizes(file, view):
        if name in known:
            again += 1
            size_again += size
        known.add(name)
    return again, size_again


def staged_lengths(plan: p.Plan, view: RankView) -> dict[str, int]:
    """How long each file is at first that is filled before the run, by its path, for the rank whose
    place the view took: of entries with one file the last one fills it. Of more than MOST_COMPARED
    names of an entry none is known."""
    found: dict[str, int] = {}
    for file in plan.files:
        if file.prestage is not None and file.tree is None and staged_count(file) <= MOST_COMPARED:
            found |= dict(_staged_sizes(file, view))
    return found


def _staged_sizes(file: p.File, view: RankView) -> Iterator[tuple[str, int]]:
    """The name in each turn of the loops of a file's path, and how long the file is."""
    assert file.prestage is not None
    for _ in _turns_of(file.staged_loops, view.slots):
        yield view.text(file.path), view.whole(file.prestage)


def _turns_of(loops: Sequence[p.StagedLoop], slots: list[Number]) -> Iterator[None]:
    """Each turn of nested loops, with its numbers in the slots, which are 0 afterwards."""
    rows = [LoopRows(loop) for loop in loops]
    for turns in product(*(range(loop.count) for loop in loops)):
        for row, turn in zip(rows, turns, strict=True):
            row.take(slots, turn)
        yield
    for row in rows:
        row.leave(slots)


def _table_around(plan: p.Plan, index: int, named_by: set[int]) -> p.StagedLoop | None:
    """The rows of tables whose columns choose the names of a prestaged file, or how long each is;
    None where no table does. Raises UserError where the rows are not all that does."""
    file = plan.files[index]
    slots = {slot for slot in named_by | slots_of(file.prestage) if slot >= _FIRST_LOOP}
    uses = [
        (loop, [*nest[depth + 1 :], step])
        for group in plan.groups
        for step, nest in leaves(group.program)
        if getattr(step, "file", None) == index
        for depth, loop in enumerate(nest)
        if isinstance(loop, p.For) and loop.columns and slots & variables_of(loop)
    ]
    if not uses:
        return None
    where = f"files.{file.name}.prestage"
    lengths = slots - named_by
    loops = list({id(loop): loop for loop, _ in uses}.values())
    known = [variables_of(loop) for loop in loops]
    if len(loops) > 1:  # a row's number says nothing of another table's row
        known = [names - {loop.variable} for names, loop in zip(known, loops, strict=True)]
    if not all(slots <= one for one in known):
        raise UserError(f"{where}: a loop beside a table, or one of several, chooses the file")
    if len(lengths) > 1:
        raise UserError(f"{where}: more than one column says how long the file is")
    if file.sharing is p.Sharing.RANK and any(loop.first is not None for loop in loops):
        raise UserError(
            f"{where}: the rows of each rank choose files of its own, which only it could fill",
            "give it 'shared: all': ranks fill all names together, whoever uses them",
        )
    turns = [
        (loop, _turns_to(loop, [inside for around, inside in uses if around is loop]))
        for loop in loops
    ]
    staged = naming_turns(turns, named_by, min(lengths, default=None))
    if staged is None:
        raise UserError(
            f"{where}: no row of the table comes to a step on the file",
            "a choice falls on steps by whole numbers from 0; leave out what no row uses",
        )
    return staged


def _turns_to(loop: p.For, uses: list[list[p.Step]]) -> Iterable[int]:
    """The turns of a loop over a table in which a rank comes to one of several steps, each given
    with what is around it in the loop."""
    chosen: list[int] = []
    choice: p.Choose | None = None
    for inside in uses:
        first = inside[0]
        if not isinstance(first, p.Choose) or (choice is not None and first is not choice):
            return range(loop.rows)
        choice = first
        chosen += [number for number, one in enumerate(first.body) if one is inside[1]]
    assert choice is not None
    return turns_with(loop, set(chosen), choice)


def _loop(plan: p.Plan, index: int, slot: int) -> p.StagedLoop:
    where = f"files.{plan.files[index].name}.prestage"
    name = plan.slots[slot]
    counts = [
        _turns(loop, group, plan, where)
        for group in plan.groups
        for step, around in leaves(group.program)
        for loop in around
        if getattr(step, "file", None) == index
        and isinstance(loop, p.For)
        and loop.variable == slot
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
