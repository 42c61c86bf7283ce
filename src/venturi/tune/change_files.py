"""Who shares a file: one for all, one for each rank, one for every k ranks."""

from __future__ import annotations

import re

from venturi.model.error import UserError
from venturi.model.tuning import Meaning
from venturi.model.workload import FileSpec, StepSpec, Workload
from venturi.tune.change import TuningChange, Variant
from venturi.tune.evaluation_context import DoesNotApply, EvaluationContext, uses_of
from venturi.tune.rewrite import with_files, with_steps

_WORD = re.compile(r"all|rank|every [1-9][0-9]*")
_RANK_FIELD = re.compile(r"[._-]?\{rank[^}]*\}")
_COUNTS = (2, 4, 8, 16, 64)


def _values(context: EvaluationContext) -> list[str]:
    groups = [f"every {n}" for n in _COUNTS if n < context.ranks and context.ranks % n == 0]
    return ["rank", "all", *groups[-2:]]


def _make(context: EvaluationContext, value: str) -> Variant:
    if not _WORD.fullmatch(value):
        raise UserError(f"files={value}: no such value", "one of all, rank, 'every N'")
    if context.ranks == 1:
        raise DoesNotApply("there is one rank")
    used = {use.name for use in uses_of(context.workload)}
    touched: list[str] = []
    files = context.workload.files
    linked = {maker for spec in files.values() for maker in spec.made_by}
    linked |= {name for name, spec in files.items() if spec.made_by}

    def share(name: str, spec: FileSpec) -> FileSpec | None:
        if (
            name not in used
            or name in linked
            or spec.tree is not None
            or spec.foreign
            or spec.shared == value
        ):
            return None
        if not spec.interface.entry.reaches_storage:
            return None
        touched.append(name)
        path = spec.path if value == "rank" else _RANK_FIELD.sub("", spec.path) or name
        return spec.model_copy(update={"shared": value, "path": path})

    workload = with_files(context.workload, share)
    if not touched:
        raise DoesNotApply("no plain file is shared otherwise")
    workload = with_steps(workload, lambda step: _opened_alike(step, touched, workload))
    names = context.listed(touched)
    what, how = {
        "rank": ("a file for each rank", f"put the rank's number into the name of {names}"),
        "all": (
            "one file for all ranks",
            f"let all ranks write {names} as one file, each at its "
            "own offset (MPI_File_open on MPI_COMM_WORLD)",
        ),
    }.get(
        value,
        (
            f"a file for {value} ranks",
            f"let {value} ranks share a file of {names} (MPI_Comm_split, then MPI_File_open)",
        ),
    )
    return Variant(
        workload,
        what,
        f"Write {what}: {how}.",
        Meaning(assumes="whoever reads the files finds the same data in other files"),
    )


def _opened_alike(step: StepSpec, names: list[str], workload: Workload) -> list[StepSpec] | None:
    """A phase in which files are opened and closed in whose place their data are moved."""
    if step.phase is None:
        return None
    only = workload.model_copy(update={"program": {"phase": [step]}})
    places = {use.name: use.place for use in uses_of(only) if use.name in names}

    def place(inner: StepSpec) -> list[StepSpec] | None:
        name = inner.open or inner.close
        if name not in places or inner.from_ == places[name]:
            return None
        return [inner.model_copy(update={"from_": places[name]})]

    moved = with_steps(only, place).program["phase"]
    return [inner for inner in moved if isinstance(inner, StepSpec)]


CHANGE = TuningChange("files", "rank, all or 'every N'", _values, _make)
