"""Larger requests: neighbouring ones are collected in memory and handed over as one."""

from __future__ import annotations

from venturi.model.plan import SyncMode
from venturi.model.tuning import Meaning
from venturi.model.units import size_text
from venturi.model.workload import DataStep, PatternKind
from venturi.tune.call import by_hand, call
from venturi.tune.change import (
    TuningChange,
    Variant,
    count_of,
    size_of,
    size_value,
    weaker,
)
from venturi.tune.evaluation_context import DataStepUse, DoesNotApply, EvaluationContext
from venturi.tune.rewrite import altered, with_data

_MIB = 1024**2
_IN_ORDER = (PatternKind.CONTIGUOUS, PatternKind.SEGMENTED, PatternKind.APPEND)


def _values(context: EvaluationContext) -> list[str]:
    del context
    return ["x16", *(size_value(n * _MIB) for n in (1, 4, 16)), "x4"]


def _make(context: EvaluationContext, value: str) -> Variant:
    factor = count_of(value[1:], "transfer", 2) if value.startswith("x") else None
    target = size_of(value, "transfer") if factor is None else None
    touched: list[tuple[DataStepUse, int]] = []
    reasons: list[str] = []

    def enlarge(use: DataStepUse) -> DataStep | None:
        now = request_bytes(use.step, context) or _largest_row(use.step, context)
        if now is None:
            reasons.append(f"requests of {context.known(use.name)} have no one size")
            return None
        wanted = target if target is not None else now * (factor or 1)
        is_one = use.step.transfer is None and not use.step.mix and not use.step.table
        if wanted <= now or is_one:
            reasons.append(f"requests of {context.known(use.name)} are {size_text(now)} already")
            return None
        larger = _larger(use, now, wanted, context)
        if larger is None:
            reasons.append(_why_not(use, context))
            return None
        touched.append((use, now))
        return as_long(use.step, larger, now, context)

    workload = with_data(context.workload, enlarge)
    if not touched:
        raise DoesNotApply(reasons[0] if reasons else "no step moves data of a plain file")
    use, now = touched[0]
    spec = context.workload.files[use.name]
    names = context.listed([use.name for use, _ in touched])
    size = f"{factor} times as large" if factor else f"of {size_text(target or 0)}"
    return Variant(
        workload,
        f"requests {size}",
        f"Collect neighbouring requests of {names} in a buffer and hand them over together: one "
        f"{call(spec, use.is_write)} of up to {size_text(target or now * (factor or 1))} "
        f"instead of many of {size_text(now)}{by_hand(spec, use.is_write, now)}.",
        _meaning([use for use, _ in touched], context),
    )


def _meaning(uses: list[DataStepUse], context: EvaluationContext) -> Meaning:
    if any(use.step.sync is not SyncMode.NONE for use in uses):
        return weaker(
            "each request is made persistent as before, but there are fewer: a crash may take "
            "all that waits in the buffer"
        )
    if any(use.is_write for use in uses):
        return Meaning(assumes="nobody reads the file before the buffer is written")
    if any((context.sharers(context.workload.files[use.name]) or 2) > 1 for use in uses):
        return Meaning(assumes="nobody writes what is read ahead")
    return Meaning()


def request_bytes(step: DataStep, context: EvaluationContext) -> int | None:
    """The size of the requests of a step; None where it varies or the whole part is one."""
    if step.mix:
        sizes = [context.whole(part.bytes) for part in step.mix]
        known = [size for size in sizes if size is not None]
        return max(known) if len(known) == len(sizes) else None
    if step.pattern is PatternKind.SEGMENTED and step.transfer is None:
        return context.whole(step.block)
    if step.transfer is None and step.count is None:
        return context.whole(step.size)
    return context.whole(step.transfer)


def as_long(step: DataStep, larger: DataStep, now: int, context: EvaluationContext) -> DataStep:
    """The larger step with the pauses of the requests that it stands for, one after the other."""
    think, transfer = context.number(step.think), context.whole(larger.transfer)
    if not think or transfer is None:
        return larger
    return altered(larger, think=float(think) * transfer / now)


def _why_not(use: DataStepUse, context: EvaluationContext) -> str:
    known = context.known(use.name)
    if use.step.pattern not in _IN_ORDER:
        return f"requests of {known} are {use.step.pattern.value}: they have no neighbours"
    if context.whole(use.step.size if use.step.count is None else use.step.count) is None:
        return f"how much of {known} is moved differs between ranks or turns"
    return f"a rank's part of {known} has no more than that"


def _larger(use: DataStepUse, now: int, wanted: int, context: EvaluationContext) -> DataStep | None:
    """The step with requests of about `wanted` bytes; None where there are no neighbours."""
    step = use.step
    if step.reads or step.rate is not None:
        return None
    if use.dataset:
        return altered(step, transfer=wanted)
    if step.mix:
        return _of_mix(step, wanted, context)
    if step.pattern is PatternKind.SEGMENTED:
        block = context.whole(step.block)
        fits = largest_part(block, wanted) if block else now
        return altered(step, transfer=fits) if fits > now else None
    if step.pattern is PatternKind.APPEND:
        return _appended(step, now, wanted, context)
    if step.pattern is PatternKind.TABLE:
        filled = _filled_bytes(use, context) if step.transfer is None else None
        if filled is not None:
            return _in_one_piece(step, filled, wanted)
        rows = [context.whole(row[1]) or 0 for row in step.table]
        return altered(step, transfer=min(wanted, max(rows))) if max(rows) > now else None
    if step.pattern is not PatternKind.CONTIGUOUS:
        return None
    if step.total is not None:
        total = context.whole(step.total)
        times = largest_part(total, wanted // now) if total else 1
        return (
            altered(step, transfer=now * times, total=total // times)
            if times > 1 and total
            else None
        )
    size = part_bytes(step, now, context)
    if size is None or size <= now:
        return None
    return altered(step, transfer=min(wanted, size), size=size, count=None)


def _largest_row(step: DataStep, context: EvaluationContext) -> int | None:
    """The largest request of a table, of which each row is one."""
    sizes = [context.whole(row[1]) for row in step.table]
    return max((size for size in sizes if size is not None), default=None)


def _filled_bytes(use: DataStepUse, context: EvaluationContext) -> int | None:
    """What a table moves whose rows lie back to back and leave no hole; else None."""
    step = use.step
    end = 0
    for row in step.table:
        offset, size = context.whole(row[0]), context.whole(row[1])
        if len(row) != 2 or offset != end or size is None:
            return None
        end += size
    if step.segments is None:
        return end
    block, segments = context.whole(step.block), context.whole(step.segments)
    is_alone = context.sharers(context.workload.files[use.name]) == 1
    return end * segments if block == end and segments and is_alone else None


def _in_one_piece(step: DataStep, size: int, wanted: int) -> DataStep:
    return altered(
        step,
        pattern=PatternKind.CONTIGUOUS,
        size=size,
        transfer=min(wanted, size),
        table=[],
        block=None,
        segments=None,
        count=None,
    )


def part_bytes(step: DataStep, now: int, context: EvaluationContext) -> int | None:
    """What each rank moves in a contiguous step; None where it varies."""
    if step.count is not None:
        count = context.whole(step.count)
        return None if count is None else count * now
    return context.whole(step.size)


def _appended(step: DataStep, now: int, wanted: int, context: EvaluationContext) -> DataStep | None:
    size = part_bytes(step, now, context)
    times = largest_part(size // now, wanted // now) if size and size % now == 0 else 1
    if times == 1 or size is None:
        return None
    return altered(step, transfer=now * times, count=size // (now * times), size=None)


def _of_mix(step: DataStep, wanted: int, context: EvaluationContext) -> DataStep | None:
    """A mix in one stream of bytes; its sizes are dealt as the planner deals them."""
    count = context.whole(step.count)
    if count is None or step.pattern is not PatternKind.CONTIGUOUS or step.total is not None:
        return None
    parts = [(context.whole(part.bytes), context.whole(part.weight)) for part in step.mix]
    weights = sum(weight or 0 for _, weight in parts)
    size = before = begin = 0
    for part, weight in parts:
        before += weight or 0
        end = count * before // weights
        size += (part or 0) * (end - begin)
        begin = end
    return altered(step, mix=[], count=None, size=size, transfer=min(wanted, size))


def largest_part(whole: int, most: int) -> int:
    """The largest number up to `most` that divides `whole`, at least 1."""
    best = 1
    divisor = 1
    while divisor * divisor <= whole:
        if whole % divisor == 0:
            for part in (divisor, whole // divisor):
                if best < part <= most:
                    best = part
        divisor += 1
    return best


CHANGE = TuningChange("transfer", "SIZE or xN", _values, _make)
