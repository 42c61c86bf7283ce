"""Runs of records: every few requests the same sizes come again, one behind the other (rule 6).

Journals, formatted files and logs are such: a header, a page, a sum. Where a record's parts cross
the pages of the system, each costs more than the same sizes one kind after the other would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venturi.derive.operation.fit import affine, linear_text
from venturi.derive.operation.rising import dealt
from venturi.derive.operation.run import Run, Said, Steps
from venturi.model.operation import Column
from venturi.model.units import size_text
from venturi.model.workload import PatternKind, StepSpec

MOST_PARTS = 8
"""A record of more requests is a table that nobody reads."""
MOST_LEAD = 4
"""So many requests may come before the first record."""
LEAST_RECORDS = 3
"""Of the longest run: fewer follow a rule by chance."""


@dataclass(frozen=True)
class Form:
    """The sizes before the first record, and those of each record."""

    lead: tuple[int, ...]
    record: tuple[int, ...]

    def records_in(self, sizes: Column) -> int | None:
        """How many records a run of these sizes has; None where it is no such run."""
        rest = len(sizes) - len(self.lead)
        if rest < 0 or rest % len(self.record):
            return None
        found = rest // len(self.record)
        whole = np.concatenate([self.lead, np.tile(self.record, found)])
        return found if np.array_equal(sizes, whole) else None


def form_of(sizes: Column) -> Form | None:
    """The shortest record, behind the shortest lead, that gives these sizes."""
    for parts in range(2, MOST_PARTS + 1):
        for lead in range(MOST_LEAD + 1):
            rest = sizes[lead:]
            if len(rest) < LEAST_RECORDS * parts or len(rest) % parts:
                continue
            if np.array_equal(rest[parts:], rest[:-parts]):
                record = tuple(int(size) for size in rest[:parts])
                return Form(tuple(int(size) for size in sizes[:lead]), record)
    return None


def records(run: Run) -> Said | None:
    """The steps of a run of records, if it is one in every turn and on every rank."""
    if np.any(run.jumps) or np.any(run.base < 0) or (run.is_shared and run.ids.shape[-1] > 1):
        return None
    tokens = run.ids.ravel()
    form = form_of(run.table.bytes[run.rows(int(tokens[np.argmax(run.count)]))])
    if form is None or not all(form.record):
        return None
    if affine(run.base) is None:
        return _growing(run, form)
    found = [form.records_in(run.table.bytes[run.rows(int(token))]) for token in tokens]
    counts = np.array([-1 if one is None else one for one in found]).reshape(run.ids.shape)
    if np.any(counts < 0):
        return None
    return _said(run, form, counts)


def _said(run: Run, form: Form, counts: Column) -> Said | None:
    base = affine(run.base)
    assert base is not None
    terms = [*run.scene.terms(base.slopes[:-1]), (base.slopes[-1], run.scene.crew.place)]
    amount, reach = run.amount(counts, False), run.reach()
    if amount is None:
        # Dealt evenly: true in sum, so turns may not build on each other.
        if not base.is_constant:
            return None
        amount = dealt(int(counts.sum()), counts, run.scene).text
        least = int(counts.sum()) // run.scene.units
        reach = np.array([base.constant + sum(form.lead) + least * sum(form.record)])
    steps: Steps = []
    if form.lead:
        size = size_text(form.lead[0])
        keys: dict[str, Any] = {"transfer": size, "size": size}
        if len(form.lead) > 1:
            keys = {"pattern": PatternKind.TABLE, "table": _table(form.lead)}
        steps.append(run.step(at=linear_text(base.constant, terms), **keys))
    steps.append(
        run.step(
            pattern=PatternKind.TABLE,
            table=_table(form.record),
            segments=amount,
            block=size_text(sum(form.record)),
            at=linear_text(base.constant + sum(form.lead), terms),
        )
    )
    rule = "6: records of the same sizes, one behind the other"
    text = ", ".join(size_text(size) for size in form.record[:3])
    return Said(run.guarded(steps), "records", text, rule, 0.9, reach)


def _growing(run: Run, form: Form) -> Said | None:
    """Records that go on from turn to turn, behind a head: a log that is written ahead."""
    scene, record = run.scene, sum(form.record)
    if form.lead or len(scene.loops) != 1 or len(scene.crew) != 1:
        return None
    sizes = [run.table.bytes[run.rows(int(token))] for token in run.ids.ravel()]
    heads = (n for n in range(MOST_LEAD + 1) if form.records_in(sizes[0][n:]) is not None)
    head = sizes[0][: next(heads, 0)]
    counts = [form.records_in(sizes[0][len(head) :]), *map(form.records_in, sizes[1:])]
    known = np.array([-1 if one is None else one for one in counts])
    start = int(run.base.flat[0]) + int(head.sum())
    begins = start + record * (np.cumsum(known) - known)
    if np.any(known < 0) or np.any(run.base.ravel()[1:] != begins[1:]):
        return None
    variable, turns = scene.loops[0]
    each, more = divmod(int(known.sum()), turns)
    at = linear_text(start, [(record * each, variable)])
    at += f" + {record} * min({variable}, {more})" if more else ""
    steps: Steps = []
    if len(head):
        first = run.step(
            pattern=PatternKind.TABLE,
            table=_table(tuple(head.tolist())),
            at=size_text(int(run.base.flat[0])),
        )
        steps.append(StepSpec(when=f"{variable} == 0", do=[first]))
    amount = f"block({int(known.sum())}, {turns}, {variable})" if more else each
    table, block = _table(form.record), size_text(record)
    steps.append(
        run.step(pattern=PatternKind.TABLE, table=table, segments=amount, block=block, at=at)
    )
    text = ", ".join(size_text(size) for size in form.record[:3])
    rule = "6: records of the same sizes, one behind the other, from turn to turn"
    sure = 0.9 if np.all(known == each) else 0.7
    reach = np.array([start + record * int(known.sum())])
    return Said(run.guarded(steps), "records", text, rule, sure, reach)


def _table(sizes: tuple[int, ...]) -> list[list[int | float | str]]:
    ends = np.cumsum(sizes)
    return [[int(end) - size, size] for end, size in zip(ends, sizes, strict=True)]
