"""Aligned requests: they begin and end at multiples of a block, with padding between ranks."""

from __future__ import annotations

from venturi.model.tuning import Meaning
from venturi.model.workload import DataStep, PatternKind
from venturi.tune.call import call
from venturi.tune.change import TuningChange, Variant, size_of
from venturi.tune.change_transfer import part_bytes, request_bytes
from venturi.tune.evaluation_context import DataStepUse, DoesNotApply, EvaluationContext
from venturi.tune.rewrite import altered, with_data


def _values(context: EvaluationContext) -> list[str]:
    del context
    return ["4KiB", "1MiB"]


def _make(context: EvaluationContext, value: str) -> Variant:
    unit = size_of(value, "align")
    touched: list[DataStepUse] = []
    reasons: list[str] = []
    padded: list[str] = []

    def align(use: DataStepUse) -> DataStep | None:
        changed = _aligned(use, unit, context)
        if isinstance(changed, str):
            reasons.append(changed)
            return None
        touched.append(use)
        if changed.at is not None:
            padded.append(use.name)
        return changed

    workload = with_data(context.workload, align)
    if not touched:
        raise DoesNotApply(reasons[0] if reasons else "no step moves data of a plain file")
    use = touched[0]
    names = context.listed([use.name for use in touched])
    where = f", and begin each rank's part of {context.listed(padded)} there, too" if padded else ""
    return Variant(
        workload,
        f"requests at multiples of {value}",
        f"Round the requests of {names} up to multiples of {value} in "
        f"{call(context.workload.files[use.name], use.is_write)}{where}.",
        Meaning(assumes="the file has unused bytes between the parts of ranks")
        if padded
        else Meaning(),
    )


def _aligned(use: DataStepUse, unit: int, context: EvaluationContext) -> DataStep | str:
    """The step aligned, or why that cannot be."""
    step = use.step
    now = request_bytes(step, context)
    if use.dataset or step.pattern is not PatternKind.CONTIGUOUS or step.mix:
        return f"places of {context.known(use.name)} are given by its form"
    if now is None or step.total is not None or step.at is not None:
        return f"requests of {context.known(use.name)} have no one size or place"
    size = part_bytes(step, now, context)
    if size is None:
        return f"ranks move different amounts of {context.known(use.name)}"
    if now < unit and size > now:
        known = context.known(use.name)
        return f"requests of {known} are smaller than {unit} B: larger ones are another change"
    transfer = min(-(-now // unit) * unit, size)
    sharers = context.sharers(context.workload.files[use.name])
    shift = sharers != 1 and size % unit != 0 and context.ranks > 1
    if transfer == now and not shift:
        return f"{context.known(use.name)} is aligned already"
    if shift and sharers not in (None, context.ranks):
        return f"parts of {context.known(use.name)} belong to some of the ranks"
    at = f"rank * {-(-size // unit) * unit}" if shift else None
    return altered(step, transfer=transfer, size=size, count=None, at=at)


CHANGE = TuningChange("align", "SIZE", _values, _make)
