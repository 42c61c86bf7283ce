"""What a probe felt beside a run: before, during each repetition, and after."""

from __future__ import annotations

from venturi.model.background import (
    Background,
    BackgroundOperation,
    BackgroundWhen,
    BackgroundWindow,
    outstanding,
)
from venturi.model.record import Level, Record
from venturi.model.statistic import median
from venturi.report import quantity
from venturi.report.block import Block, Column, Paragraph, Section, TableBlock
from venturi.report.quantity import Units

_LEAD = (
    "A probe makes one small operation after the other, as users do, and compares how long each "
    "takes with its median of 30 days. During a repetition it feels the run itself, too, so what "
    "counts are the times before and after, and repetitions that are not like the others."
)
_LEARNING = "The baseline was still being learned, so no slowdown is known."


def section(record: Record, units: Units) -> Section | None:
    """The windows of each probe; None where none watched the file system."""
    if not record.background:
        return None
    blocks: list[Block] = []
    for one in record.background:
        blocks.append(_table(one))
        if not any(window.worst for window in one.windows):
            blocks.append(Paragraph(f"{one.target}: {_LEARNING}"))
    numbers = sorted({row.repetition for one in record.background for row in outstanding(one)})
    if numbers and record.verdict.level is not Level.INVALID:
        found = _without(record, numbers, units)
        blocks += [found] if found is not None else []
    return Section("background", "What others felt meanwhile", _LEAD, tuple(blocks))


def _table(background: Background) -> TableBlock:
    rows = [
        (_name(window) if index == 0 else "", *_cells(one))
        for window in background.windows
        for index, one in enumerate(window.operations)
    ]
    titles = ("When", "Operation", "Measured", "Failed", "Median", "By usual", "Longest")
    columns = tuple(Column(title, index > 1) for index, title in enumerate(titles))
    title = f"Probe of {background.target}, at {background.directory}"
    return TableBlock(title, columns, tuple(rows))


def _name(window: BackgroundWindow) -> str:
    if window.when is BackgroundWhen.DURING:
        return f"during repetition {(window.repetition or 0) + 1}"
    return f"{window.when.value} the run"


def _cells(one: BackgroundOperation) -> tuple[str, ...]:
    return (
        one.operation.value,
        quantity.count(one.samples),
        quantity.count(one.errors),
        quantity.seconds(one.response_s),
        f"{quantity.number(one.slowdown)} times" if one.slowdown is not None else "–",
        quantity.seconds(one.longest_s),
    )


def _without(record: Record, numbers: list[int], units: Units) -> TableBlock | None:
    """Metrics of all repetitions, and without those that others disturbed: both are shown."""
    rows = []
    for name, metric in record.metrics.items():
        if len(metric.values) != record.repetitions:
            continue  # not one value for each repetition
        kept = [value for number, value in enumerate(metric.values) if number not in numbers]
        if kept:
            whole, left = (
                quantity.with_unit(value, metric.unit, units, metric.of)
                for value in (metric.median, median(kept))
            )
            rows.append((name, whole, left))
    if not rows:
        return None
    said = ", ".join(str(number + 1) for number in numbers)
    word = "repetition" if len(numbers) == 1 else "repetitions"
    titles = ("Metric", "Median of all", f"Median without {word} {said}")
    columns = tuple(Column(title, index > 0) for index, title in enumerate(titles))
    title = "With and without what others disturbed; the result stays that of all repetitions"
    return TableBlock(title, columns, tuple(rows))
