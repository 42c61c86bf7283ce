"""Loops of a program: so many turns, or one for each row of a table."""

from __future__ import annotations

from dataclasses import replace

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.row_table import RowTable
from venturi.model.workload import StepSpec, Workload
from venturi.plan.row import turn_columns
from venturi.plan.step_context import StepContext


def loop_of(
    step: StepSpec, workload: Workload, names: list[str], place: StepContext
) -> tuple[p.For, StepContext]:
    """A loop without its body, and where that stands; its variables are added to the `names`, whose
    places are slots."""
    assert step.for_ is not None
    table = None if step.in_ is not None else _table(workload, step.for_, place)
    turns = table.rows if table is not None else step.in_ or 0
    variables = [step.for_, *(table.columns if table is not None else ())]
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
        by_rank=place.by_rank or place.varies(turns),
    )
    loop = p.For(
        variable=slots[step.for_],
        count=place.scope.code(turns, f"{place.where}.in"),
        columns=turn_columns(table, slots) if table is not None else [],
        body=[],
    )
    return loop, inner


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
