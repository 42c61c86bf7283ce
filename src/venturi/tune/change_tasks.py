"""Fewer ranks that do I/O, each with the data of several."""

from __future__ import annotations

from venturi.model.tuning import Meaning
from venturi.model.workload import DataStep, FileSpec, PatternKind
from venturi.tune.change import TuningChange, Variant, count_of
from venturi.tune.change_transfer import part_bytes, request_bytes
from venturi.tune.evaluation_context import DataStepUse, DoesNotApply, EvaluationContext
from venturi.tune.rewrite import altered, with_data, with_files


def _values(context: EvaluationContext) -> list[str]:
    ranks = context.ranks
    return [str(ranks // n) for n in (2, 4, 8, 16) if ranks > 1 and ranks % n == 0]


def _make(context: EvaluationContext, value: str) -> Variant:
    tasks = count_of(value, "tasks")
    if context.ranks == 1:
        raise DoesNotApply("there is one rank")
    if tasks >= context.ranks or context.ranks % tasks or len(context.made.plan.groups) > 1:
        raise DoesNotApply(f"{context.ranks} ranks are not dealt evenly to {tasks} of them")
    each = context.ranks // tasks
    touched: list[str] = []

    def gather(use: DataStepUse) -> DataStep | None:
        changed = _gathered(use, each, context)
        if changed is not None:
            touched.append(use.name)
        return changed

    def share(name: str, spec: FileSpec) -> FileSpec | None:
        if name not in touched or spec.shared != "rank":
            return None
        return spec.model_copy(update={"shared": f"every {each}"})

    changed = with_data(context.workload, gather)
    if not touched:
        raise DoesNotApply("no contiguous step has the same amount on each rank")
    return Variant(
        with_files(changed, share),
        f"I/O on {tasks} of {context.ranks} ranks",
        f"Gather the data of {each} ranks on one (MPI_Gather(); ADIOS2: NumAggregators={tasks}; "
        f"MPI-IO: cb_nodes={tasks}) and let it move {context.listed(touched)}.",
        Meaning(assumes="gathering the data takes no time here: it is not in the measurement"),
    )


def _gathered(use: DataStepUse, each: int, context: EvaluationContext) -> DataStep | None:
    """The step on the first of `each` ranks, with the data of all of them."""
    step, spec = use.step, context.workload.files[use.name]
    now = request_bytes(step, context)
    plain = step.pattern is PatternKind.CONTIGUOUS and not step.mix and not use.dataset
    if not plain or now is None or step.total is not None or step.at is not None:
        return None
    if use.place != "self" or step.collective or spec.shared not in ("all", "rank"):
        return None
    if "{" in spec.path and spec.shared == "rank":
        return None
    size = part_bytes(step, now, context)
    if size is None:
        return None
    return altered(
        step,
        transfer=now,
        count=None,
        size=f"{each * size} if rank % {each} == 0 else 0",
        at=f"rank * {size}" if spec.shared == "all" else f"rank % {each} * {size}",
    )


CHANGE = TuningChange("tasks", "N", _values, _make)
