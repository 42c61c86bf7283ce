"""Hints for MPI-IO's library, which need no change of the code."""

from __future__ import annotations

from venturi.model.error import UserError
from venturi.model.workload import FileSpec
from venturi.tune.change import TuningChange, Variant
from venturi.tune.evaluation_context import DoesNotApply, EvaluationContext
from venturi.tune.rewrite import with_files


def _values(context: EvaluationContext) -> list[str]:
    del context
    return ["romio_cb_write:enable", "romio_ds_write:disable", "cb_buffer_size:67108864"]


def _make(context: EvaluationContext, value: str) -> Variant:
    name, sign, word = value.partition(":")
    if not sign or not name or not word:
        raise UserError(f"hint={value}: this is no hint", "for instance hint=cb_nodes:2")
    if not context.has_mpi:
        raise DoesNotApply("the ranks run without MPI (--on openmpi or mpich has it)")
    touched: list[str] = []

    def hint(key: str, spec: FileSpec) -> FileSpec | None:
        if not spec.interface.entry.takes_hints or spec.shared == "rank":
            return None
        touched.append(key)
        return spec.model_copy(update={"hints": {**spec.hints, name: word}})

    workload = with_files(context.workload, hint)
    if not touched:
        raise DoesNotApply("no shared file is reached by MPI-IO or a library above it")
    return Variant(
        workload,
        f"{name} = {word}",
        f'Call MPI_Info_set(info, "{name}", "{word}") before {context.listed(touched)} is opened, '
        "or name it in the file of ROMIO_HINTS.",
    )


CHANGE = TuningChange("hint", "NAME:WORD", _values, _make)
