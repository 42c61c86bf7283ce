"""Collective or independent calls, on interfaces that have both."""

from __future__ import annotations

from venturi.model.tuning import Meaning
from venturi.model.workload import DataStep
from venturi.tune.change import TuningChange, Variant, one_of
from venturi.tune.evaluation_context import DataStepUse, DoesNotApply, EvaluationContext
from venturi.tune.rewrite import altered, with_data


def _values(context: EvaluationContext) -> list[str]:
    del context
    return ["on", "off"]


def _make(context: EvaluationContext, value: str) -> Variant:
    is_on = one_of(value, "collective", ("on", "off")) == "on"
    if not context.has_mpi:
        raise DoesNotApply("the ranks run without MPI (--on openmpi or mpich has it)")
    touched: list[str] = []

    def turn(use: DataStepUse) -> DataStep | None:
        spec = context.workload.files[use.name]
        if not spec.interface.entry.calls.collective or use.step.collective == is_on:
            return None
        if is_on and spec.shared == "rank":
            return None
        touched.append(use.name)
        return altered(use.step, collective=is_on)

    workload = with_data(context.workload, turn)
    if not touched:
        raise DoesNotApply(
            "no shared file is reached by MPI-IO, HDF5, PnetCDF or netCDF"
            if is_on
            else "no call is collective"
        )
    calls = context.workload.files[touched[0]].interface.entry.calls
    named = calls.collective if is_on else calls.independent
    return Variant(
        workload,
        "collective calls" if is_on else "independent calls",
        f"Use {named} for {context.listed(touched)}.",
        Meaning(assumes="all ranks make these calls, equally often" if is_on else ""),
    )


CHANGE = TuningChange("collective", "on or off", _values, _make)
