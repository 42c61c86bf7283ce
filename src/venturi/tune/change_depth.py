"""Several requests in flight at a time, through io_uring."""

from __future__ import annotations

from venturi.model.plan import Interface, SyncMode
from venturi.model.tuning import Meaning
from venturi.model.workload import DataStep, FileSpec
from venturi.tune.change import TuningChange, Variant, count_of
from venturi.tune.change_transfer import part_bytes, request_bytes
from venturi.tune.evaluation_context import DataStepUse, DoesNotApply, EvaluationContext, uses_of
from venturi.tune.rewrite import altered, with_data, with_files

_MOST = 4096


def _values(context: EvaluationContext) -> list[str]:
    del context
    return ["8", "32"]


def _make(context: EvaluationContext, value: str) -> Variant:
    depth = min(count_of(value, "depth", 2), _MOST)
    files = context.workload.files
    entries = {name: spec.interface.entry for name, spec in files.items()}
    uses = [use for use in uses_of(context.workload) if entries[use.name].has_descriptors]
    chosen = {use.name for use in uses if _can(use, context)}
    if not chosen:
        raise DoesNotApply(
            "each request is synced, paused or alone in its step"
            if uses
            else "no file is reached by POSIX or io_uring"
        )

    def through(name: str, spec: FileSpec) -> FileSpec | None:
        if name not in chosen:
            return None
        return spec.model_copy(update={"interface": Interface.URING, "options": {}})

    def deepen(use: DataStepUse) -> DataStep | None:
        return altered(use.step, depth=depth) if use.name in chosen and _can(use, context) else None

    return Variant(
        with_files(with_data(context.workload, deepen), through),
        f"{depth} requests in flight",
        f"Keep {depth} requests of {context.listed(sorted(chosen))} in flight with "
        "io_uring_submit(), instead of waiting for each.",
        Meaning(assumes="requests may be done in another order"),
    )


def _can(use: DataStepUse, context: EvaluationContext) -> bool:
    step = use.step
    now = request_bytes(step, context)
    alone = now is not None and now == part_bytes(step, now, context)
    waits = step.sync is not SyncMode.NONE or step.think or step.rate is not None
    return not (alone or waits or step.collective)


CHANGE = TuningChange("depth", "N", _values, _make)
