"""A table of requests that mostly go on one behind the other: the odd ones, then that run.

Who reads a file piece by piece and looks into its index now and then has one long run with a few
requests elsewhere in it. In turns with another file the run is what is dealt.
"""

from __future__ import annotations

from collections.abc import Sequence

from venturi.derive.operation.run import Steps
from venturi.model.expression import ExpressionError, Literal, bind, tree_of
from venturi.model.units import size_text
from venturi.model.workload import DataStep, PatternKind, StepSpec, Value

MOST_ODD = 0.1
"""Of the table's requests, so few may lie elsewhere."""


def with_run_apart(step: StepSpec) -> Steps:
    """The steps that make a table's requests: those that are odd, and then the run; the step itself
    where it is no such table."""
    data = step.write or step.read
    if not isinstance(data, DataStep) or data.pattern is not PatternKind.TABLE:
        return [step]
    transfer, base = number_of(data.transfer or 0), number_of(data.at or 0)
    rows = [(number_of(row[0]), number_of(row[1])) for row in data.table]
    if not transfer or base is None or {"block", "segments"} & data.model_fields_set:
        return [step]
    known = [(place, size) for place, size in rows if place is not None and size is not None]
    chain = _longest_chain(known, transfer)
    if len(known) < len(rows) or not chain:
        return [step]
    odd = [row for i, row in enumerate(known) if i not in set(chain)]
    total = sum(known[i][1] for i in chain)
    if sum(-(-size // transfer) for _, size in odd) > MOST_ODD * (total // transfer):
        return [step]
    rest = {"pattern", "table", "at"}
    keys = {key: getattr(data, key) for key in data.model_fields_set - rest}
    run = {**keys, "size": size_text(total), "at": size_text(base + known[chain[0]][0])}
    whole = _like(step, run)
    if not odd:
        return [whole]
    table = [[place, size] for place, size in odd]
    before = {**keys, "pattern": PatternKind.TABLE, "table": table}
    return [_like(step, {**before, **({"at": data.at} if base else {})}), whole]


def number_of(value: Value) -> int | None:
    """A number that depends on nothing."""
    try:
        tree = bind(tree_of(value), {})
    except ExpressionError:
        return None
    return tree.value if isinstance(tree, Literal) and isinstance(tree.value, int) else None


def _longest_chain(rows: Sequence[tuple[int, int]], transfer: int) -> list[int]:
    """The rows of whole requests, each where one before it ended, that move most in all; the last
    one may end with a part of a request."""
    best: list[int] = []
    ends: dict[int, list[int]] = {}
    for at, (place, size) in enumerate(rows):
        chain = [*ends.pop(place, []), at]
        best = max(best, chain, key=lambda one: sum(rows[i][1] for i in one))
        if size % transfer == 0:
            ends[place + size] = chain
    return best


def _like(step: StepSpec, keys: dict[str, object]) -> StepSpec:
    """A step of the same direction with these keys."""
    data = DataStep.model_validate(
        {("from" if key == "from_" else key): value for key, value in keys.items()}
    )
    return StepSpec(write=data) if step.write is not None else StepSpec(read=data)
