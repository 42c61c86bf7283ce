"""Files over more servers, on file systems that let users choose."""

from __future__ import annotations

from venturi.model.workload import FileSpec, StripeSpec
from venturi.tune.change import TuningChange, Variant, count_of
from venturi.tune.evaluation_context import DoesNotApply, EvaluationContext
from venturi.tune.rewrite import with_files

_STRIPED = ("lustre", "beegfs")


def _values(context: EvaluationContext) -> list[str]:
    del context
    return ["all", "4", "1"]


def _make(context: EvaluationContext, value: str) -> Variant:
    count = -1 if value == "all" else count_of(value, "stripe")
    if context.file_system not in _STRIPED:
        raise DoesNotApply(f"{context.file_system} does not let users stripe files")
    touched: list[str] = []

    def stripe(name: str, spec: FileSpec) -> FileSpec | None:
        if spec.foreign or not spec.interface.entry.can_stripe:
            return None
        touched.append(name)
        old = spec.stripe or StripeSpec()
        return spec.model_copy(update={"stripe": old.model_copy(update={"count": count})})

    workload = with_files(context.workload, stripe)
    if not touched:
        raise DoesNotApply("the workload makes no files")
    many = "all servers" if count < 0 else f"{count} servers"
    return Variant(
        workload,
        f"files over {many}",
        f"Run lfs setstripe -c {count} (beegfs-ctl --setpattern) on the folder of "
        f"{context.listed(touched)} before the job.",
    )


CHANGE = TuningChange("stripe", "N or all", _values, _make)
