"""Loops of a program: so many turns, or one for each row of a table."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import accumulate, pairwise

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import Literal, Tree, names_in, picked
from venturi.model.row_table import RowTable
from venturi.model.workload import StepSpec, Workload
from venturi.plan.part import RANK
from venturi.plan.rank_placement import NAMES_BY_RANK
from venturi.plan.row import turn_columns
from venturi.plan.scope import apply
from venturi.plan.step_context import StepContext

MOST_RANKS = 1024
"""Whose rows each of them picks out."""


def loop_of(
    step: StepSpec, workload: Workload, names: list[str], place: StepContext
) -> tuple[p.For, StepContext]:
    """A loop without its body, and where that stands; its variables are added to the `names`, whose
    places are slots."""
    assert step.for_ is not None
    table = None if step.in_ is not None else _table(workload, step.for_, place)
    where = f"{place.where}.in"
    columns: list[str] = []
    first: Tree | None = None
    turns: Tree = place.scope.tree(step.in_ or 0, where)
    if table is not None:
        columns = [name for name in table.columns if name != p.Slot.RANK]
        first, turns = _rows_of_rank(table, step.for_)
    variables = [step.for_, *columns]
    names += [name for name in variables if name not in names]
    slots = {name: names.index(name) for name in variables}
    scope = place.scope
    for name, slot in slots.items():
        scope = scope.inside(name, slot)
    inner = replace(
        place,
        scope=scope,
        where=f"{place.where}.do",
        in_loop=place.in_loop or bool(place.phase),
        by_rank=place.by_rank or bool(names_in(turns) & NAMES_BY_RANK),
    )
    loop = p.For(
        variable=slots[step.for_],
        count=place.scope.compile(turns, where),
        columns=[] if table is None else turn_columns(table, columns, slots),
        rows=0 if table is None else table.rows,
        first=None if first is None else place.scope.compile(first, where),
        body=[],
    )
    return loop, inner


def _rows_of_rank(table: RowTable, name: str) -> tuple[Tree | None, Tree]:
    """The first of a rank's rows, and how many it has, where a column says whose they are: ranks of
    which it says nothing have none. Raises UserError."""
    if p.Slot.RANK not in table.columns:
        return None, Literal(table.rows)
    ranks = table.column(p.Slot.RANK)
    if ranks[0] < 0 or any(after < before for before, after in pairwise(ranks)):
        raise UserError(
            f"tables.{name}: the column '{p.Slot.RANK}' does not rise from 0 on",
            "put the rows of each rank one behind the other, those of rank 0 first",
        )
    if ranks[-1] >= MOST_RANKS:
        raise UserError(f"tables.{name}: a table has rows of at most {MOST_RANKS} ranks")
    times = Counter(ranks)
    counts = [times[rank] for rank in range(ranks[-1] + 1)]
    return _of_rank(list(accumulate(counts, initial=0))), _of_rank([*counts, 0])


def _of_rank(numbers: list[int]) -> Tree:
    """The number of the rank; behind the last one, that."""
    index = apply(p.Operator.MINIMUM, RANK, len(numbers) - 1)
    return picked(index, [Literal(number) for number in numbers])


def _table(workload: Workload, name: str, place: StepContext) -> RowTable:
    table = workload.tables.get(name)
    if table is None:
        known = f"tables: {', '.join(workload.tables)}; " if workload.tables else ""
        raise UserError(
            f"{place.where}: 'for: {name}' says neither how often nor over which table",
            f"{known}give it 'in: COUNT'",
        )
    if isinstance(table, str):
        raise UserError(
            f"tables.{name}: the table is in a file, '{table}', which was not read",
            "open the workload by the path of its own file, beside which the table's lies",
        )
    return table
