"""Data in one piece for each rank, or in rising order, instead of strided or scattered."""

from __future__ import annotations

import math

from venturi.model.plan import SyncMode
from venturi.model.tuning import Meaning
from venturi.model.units import size_text
from venturi.model.workload import DataStep, PatternKind
from venturi.tune.change import TuningChange, Variant, one_of, weaker
from venturi.tune.change_transfer import as_long, request_bytes
from venturi.tune.evaluation_context import DataStepUse, DoesNotApply, EvaluationContext
from venturi.tune.rewrite import altered, with_data

_WORDS = ("collected", "contiguous")
_COLLECTED_BYTES = 4 * 1024**2
_OTHER_PLACES = "the parts of ranks lie in the file back to back: readers must know"


def _values(context: EvaluationContext) -> list[str]:
    del context
    return list(_WORDS)


def _make(context: EvaluationContext, value: str) -> Variant:
    one_of(value, "order", _WORDS)
    touched: list[DataStepUse] = []

    def order(use: DataStepUse) -> DataStep | None:
        changed = None if use.dataset else _ordered(use, context)
        if changed is None:
            return None
        touched.append(use)
        size = context.whole(changed.size)
        if value == "contiguous" or size is None or changed.pattern is PatternKind.TABLE:
            return changed
        now = request_bytes(use.step, context)
        larger = altered(changed, transfer=min(size, _COLLECTED_BYTES))
        return larger if now is None else as_long(use.step, larger, now, context)

    workload = with_data(context.workload, order)
    if not touched:
        raise DoesNotApply("requests lie back to back already")
    kinds = {use.step.pattern for use in touched}
    names = context.listed([use.name for use in touched])
    if kinds <= {PatternKind.RANDOM, PatternKind.TABLE}:
        advice = f"Sort the requests of {names} by their offsets before they are made."
        assumes = "requests may wait until they can be sorted"
    else:
        advice = (
            f"Let each rank move its part of {names} in one piece: collect it before (collective "
            "buffering, MPI_File_write_at_all(), does that), or lay the file out rank by rank."
        )
        assumes = _OTHER_PLACES
    if value == "contiguous":
        return Variant(workload, "contiguous requests", advice, Meaning(assumes=assumes))
    advice = advice.removesuffix(".") + f", and move it by {size_text(_COLLECTED_BYTES)} at a time."
    what = "contiguous data in large requests"
    if any(use.step.sync is not SyncMode.NONE for use in touched):
        assumes += "; requests are made persistent as before, but there are fewer"
        return Variant(workload, what, advice, weaker(assumes))
    return Variant(workload, what, advice, Meaning(assumes=assumes))


def _ordered(use: DataStepUse, context: EvaluationContext) -> DataStep | None:
    """The step in order; None where it is, or where that cannot be said."""
    step = use.step
    if step.mix or step.reads or step.rate is not None:
        return None
    if step.pattern is PatternKind.TABLE:
        return _sorted_table(step)
    shared = context.sharers(context.workload.files[use.name]) != 1
    if step.pattern is not PatternKind.RANDOM and not shared:
        return None
    size = _part_bytes(step, context)
    if size is None:
        return None
    return altered(
        step,
        pattern=PatternKind.CONTIGUOUS,
        size=size,
        count=None,
        block=None,
        segments=None,
        replacement=False,
        zipf=None,
        shape=[],
        tile=[],
        element=1,
    )


def _part_bytes(step: DataStep, context: EvaluationContext) -> int | None:
    """What a rank moves in a pattern that has gaps; None where it varies, or has none."""
    if step.pattern is PatternKind.TILED:
        extents = [context.whole(extent) for extent in step.tile]
        element, copies = context.whole(step.element), context.whole(step.count or 1)
        known = [n for n in (*extents, element, copies) if n is not None]
        return math.prod(known) if len(known) == len(extents) + 2 else None
    if step.pattern is PatternKind.SEGMENTED:
        block, segments = context.whole(step.block), context.whole(step.segments)
        if step.segments is None:
            return context.whole(step.size)
        return block * segments if block and segments and segments > 1 else None
    if step.pattern not in (PatternKind.STRIDED, PatternKind.RANDOM):
        return None
    transfer = context.whole(step.transfer)
    count = context.whole(step.count)
    if step.count is not None:
        return count * transfer if count is not None and transfer else None
    return context.whole(step.size)


def _sorted_table(step: DataStep) -> DataStep | None:
    """The rows in rising order, neighbours joined; None where they rise already (larger requests
    are another change), or where some are no plain numbers."""
    rows = []
    for row in step.table:
        if len(row) != 2 or not all(isinstance(value, int) for value in row):
            return None
        rows.append((int(row[0]), int(row[1])))
    if rows == sorted(rows):
        return None
    joined: list[list[int]] = []
    for offset, size in sorted(rows):
        if joined and sum(joined[-1]) == offset:
            joined[-1][1] += size
        else:
            joined.append([offset, size])
    return altered(step, table=joined)


CHANGE = TuningChange("order", "collected or contiguous", _values, _make)
