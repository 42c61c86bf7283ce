"""Turns of a loop that go on in a file where the turn before stopped, with odd requests elsewhere
(rule 6).

Who reads a long array block by block, and its index now and then, is such. How many requests a
turn makes follows no rule, but all of them together are one contiguous run, which equal shares for
each turn give exactly; the odd requests come before it, each at its place.
"""

from __future__ import annotations

import numpy as np

from venturi.derive.operation.fit import linear_text
from venturi.derive.operation.place import Rows, rows_of
from venturi.derive.operation.run import Run, Said, Steps
from venturi.model.operation import Column
from venturi.model.units import size_text
from venturi.model.workload import PatternKind, StepSpec

MOST_ODD_SHARE = 0.05
"""More odd requests than this share are no oddities."""
LEAST_EACH = 4
"""So many requests of a turn in the mean."""
MOST_AHEAD = 1.0
"""By so many mean turns a turn may be ahead of equal shares, or behind."""


def goes_on(run: Run) -> Said | None:
    """The steps of such turns of one rank; None where they are none."""
    alone = len(run.scene.crew) == 1 or not run.is_shared
    loops = run.scene.loops
    if not alone or len(loops) != 1 or run.ids.size != loops[0][1] or np.any(run.base < 0):
        return None
    if len(np.unique(run.tokens.file[run.ids])) > 1:
        return None
    turns = [run.rows(int(token)) for token in run.ids.ravel()]
    rows = np.concatenate(turns)
    offset, size = run.table.offset[rows], run.table.bytes[rows]
    values, counts = np.unique(size, return_counts=True)
    transfer = int(values[np.argmax(counts)])
    whole = size == transfer
    main = np.flatnonzero(whole)
    if np.any(np.diff(offset[main]) != transfer) or len(main) < LEAST_EACH * len(turns):
        return None
    odd = rows_of(offset[~whole], size[~whole]) if not np.all(whole) else Rows((), 0)
    if odd is None or len(rows) - len(main) > MOST_ODD_SHARE * len(rows):
        return None
    each = np.add.reduceat(whole, np.cumsum([0, *map(len, turns[:-1])]))
    if not _is_even(each):
        return None
    where = int(offset[main[0]]), int(offset[~whole].min()) if odd.rows else 0
    return _said(run, (transfer, len(main)), odd, where)


def _is_even(each: Column) -> bool:
    """Whether turns are never far from equal shares of these numbers of requests."""
    mean = each.mean()
    ahead = np.cumsum(each) - mean * np.arange(1, len(each) + 1)
    return bool(np.abs(ahead).max() <= MOST_AHEAD * mean)


def _said(run: Run, moved: tuple[int, int], odd: Rows, where: tuple[int, int]) -> Said:
    """The steps: `moved` are the bytes of a request and how many there are, `where` the beginning
    of these and the lowest place of the odd ones."""
    transfer, requests = moved
    [(variable, turns)] = run.scene.loops
    steps: Steps = []
    if odd.rows:
        keys = {"transfer": size_text(odd.transfer)} if odd.transfer else {}
        table = [list(row) for row in odd.rows]
        at = run.at(size_text(where[1]) if where[1] else "0")
        step = run.step(pattern=PatternKind.TABLE, **keys, table=table, **at)
        steps.append(StepSpec(when=f"{variable} == 0", do=[step]))
    count = equal_share(requests, turns, variable)
    before = f"{variable} * {requests} // {turns}"
    terms = [(transfer, before)]
    if requests % turns == 0:
        terms = [(transfer * (requests // turns), variable)]
    at = run.at(linear_text(where[0], terms))
    steps.append(run.step(transfer=size_text(transfer), count=count, **at))
    rule = "6: turns go on where the one before stopped, in equal shares"
    notes = ["requests elsewhere come before all others"] if odd.rows else []
    text = size_text(transfer)
    return Said(run.guarded(steps), "contiguous", text, rule, 0.7, run.reach(), notes)


def equal_share(requests: int, turns: int, variable: str) -> int | str:
    """How many of the requests a turn makes, if all make as many, but for roundings."""
    if requests % turns == 0:
        return requests // turns
    return f"({variable} + 1) * {requests} // {turns} - {variable} * {requests} // {turns}"
