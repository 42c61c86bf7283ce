"""What a workload would do, without a run, beside what an application did.

It finds what somebody changed in a proxy before a run is paid for. What libraries make of a call
below it, and how ranks wait for each other, only a run shows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from venturi.analyse.compared_layer import in_layers_of_workload
from venturi.analyse.fidelity_field import count_field, information_field
from venturi.analyse.fidelity_report import assembled, likeness_fields
from venturi.derive.nest.call import LEAST_COMPUTE_NS
from venturi.derive.operation.expansion import Expansion
from venturi.derive.operation.likeness import written_out
from venturi.derive.operation.table import table_of
from venturi.model.error import UserError
from venturi.model.fidelity_report import FidelityField, FidelityReport, FidelityStream, Match
from venturi.model.likeness import Likeness
from venturi.model.operation import KIND_CODES, KINDS, Column, Kind
from venturi.model.trace_folder import Captured
from venturi.model.verb import ItemVerb
from venturi.model.workload import StepSpec, Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

BETWEEN = 0.02
"""Of the time between operations: more must not be missed, but for"""
OF_RUN = 0.01
"""this of the run, and what derive takes for no computing, once for each rank."""

_Steps = Sequence[StepSpec | str]


def planned_fidelity(
    application: Captured, workload: Workload, names: tuple[str, str]
) -> FidelityReport:
    """Compares the operations of a capture with those of a workload that is not run.

    Folders that either lists are left out. Raises UserError where the capture holds no operations
    of an application, or the workload cannot be planned, would fail, or has operations that only a
    run knows.
    """
    table = table_of(in_layers_of_workload(application, workload))
    plan = make_plan(_without_walks(workload), RunSettings()).plan
    ranks = sum(group.ranks * group.instances for group in plan.groups)
    if ranks != table.ranks:
        raise UserError(
            f"{names[1]}: {ranks} ranks, and the application has {table.ranks}",
            f"set the default of its parameter for ranks to {table.ranks}, or compare runs",
        )
    both = written_out(table, plan)
    if both.workload.fault:
        raise UserError(
            f"{names[1]}: a run would fail: {both.workload.fault}",
            "mend it; venturi plan says what the workload does",
        )
    ours, theirs = both.application, both.workload
    fields = [
        *_bytes(ours, theirs),
        *_operations(ours, theirs),
        count_field("files", len(np.unique(ours.file)), len(np.unique(theirs.file))),
        *likeness_fields(both.likeness),
        _between(both.likeness, float(table.end_ns.max() - table.start_ns.min()) / 1e9),
    ]
    if not both.likeness.is_whole:
        name = "operations, of which these are the first"
        fields.append(information_field(name, len(ours), len(theirs), ""))
    total = FidelityStream(name="total", counterpart="total", fields=fields)
    return assembled(names, total.fields, [], [])


def _bytes(application: Expansion, proxy: Expansion) -> list[FidelityField]:
    """How much is written and read."""
    found = []
    for name, kind in (("bytes written", Kind.WRITE), ("bytes read", Kind.READ)):
        sums = [int(side.bytes[_is(side, kind)].sum()) for side in (application, proxy)]
        found.append(count_field(name, sums[0], sums[1], "B"))
    return found


def _operations(application: Expansion, proxy: Expansion) -> list[FidelityField]:
    """How often each kind is done, of those that one of them has."""
    found = []
    for kind in KINDS:
        ours, theirs = (int(np.count_nonzero(_is(side, kind))) for side in (application, proxy))
        if ours or theirs:
            found.append(count_field(f"{kind.value} operations", ours, theirs))
    return found


def _is(side: Expansion, kind: Kind) -> Column:
    found: Column = side.kind == KIND_CODES[kind]
    return found


def _between(likeness: Likeness, span_s: float) -> FidelityField:
    """The time between operations, in which a workload computes; what is near is not judged."""
    ours_s, theirs_s = likeness.seconds_between, likeness.proxy_seconds_between
    field = information_field("time between operations, all ranks", ours_s, theirs_s)
    nothing_s = max(OF_RUN * span_s, LEAST_COMPUTE_NS / 1e9) * likeness.ranks
    most_s = BETWEEN * ours_s + nothing_s
    is_off = abs(theirs_s - ours_s) > most_s
    return field.model_copy(update={"match": Match.OFF}) if is_off else field


def _without_walks(workload: Workload) -> Workload:
    """The workload without phases that only look through folders."""
    program = {
        name: [step for step in steps if not _is_walk([step])]
        for name, steps in workload.program.items()
    }
    return workload.model_copy(update={"program": program})


def _is_walk(steps: _Steps) -> bool:
    """Whether steps list folders and look at names, and nothing else."""
    lists = False
    for step in steps:
        if not isinstance(step, StepSpec):
            return False
        if step.do is not None:
            if not _is_walk(step.do):
                return False
            lists = True
        elif step.each is not None:
            if set(step.each.do) != {ItemVerb.STAT}:
                return False
        elif step.read_dir is None:
            return False
        lists = lists or step.read_dir is not None
    return lists
