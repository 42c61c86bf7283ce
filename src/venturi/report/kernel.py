"""How the machine itself does: a table and a picture for each kernel that ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from venturi.model.event import KernelResult
from venturi.model.kernel_value import (
    STATISTIC_WORDS,
    PointSamples,
    is_of_rank,
    place_text,
    points_of,
    rank_samples,
)
from venturi.model.rank_model import judged_ranks
from venturi.model.record import Record
from venturi.model.statistic import median
from venturi.report import quantity
from venturi.report.block import Block, Column, Paragraph, Section, TableBlock
from venturi.report.figure import kernel_curve, kernel_samples, link_matrix
from venturi.report.phase import interval_title, with_coverage
from venturi.report.quantity import Units

_MOST_ROWS = 200
_NOT_COMPARED = (
    "no two ranks can be compared: they share processors with different numbers of ranks."
)


@dataclass(frozen=True)
class KernelRun:
    """What one kernel measured in one phase, over all repetitions."""

    path: str
    result: KernelResult
    """Of the first repetition, for what does not change."""
    points: list[PointSamples]
    """With the samples of all repetitions."""
    failures: list[str]
    """Why there is no number, each reason once; empty: there is."""

    @property
    def facts(self) -> dict[str, str]:
        """What the numbers depend on."""
        return {fact.name: fact.value for fact in self.result.facts}


def kernel_runs(record: Record) -> list[KernelRun]:
    """The kernels of a record, by phase and name, in the order in which they ran."""
    found: dict[tuple[str, str], list[KernelResult]] = {}
    for row in record.phases:
        for result in row.kernels:
            found.setdefault((row.path, result.name), []).append(result)
    return [
        KernelRun(
            path,
            results[0],
            points_of(results),
            list(dict.fromkeys(result.failure for result in results if result.failure)),
        )
        for (path, _), results in found.items()
    ]


def section(record: Record, units: Units) -> Section | None:
    """A table and a picture for each kernel; none where none ran."""
    found = kernel_runs(record)
    if not found:
        return None
    figures = _figures(record, found, units)
    blocks: list[Block] = [figures] if figures is not None else []
    for run in found:
        blocks += blocks_of(run, units)
    lead = f"Kernels measured {record.environment.host} itself, not its storage."
    return Section("machine", "How the machine does", lead, tuple(blocks))


def _figures(record: Record, found: Sequence[KernelRun], units: Units) -> TableBlock | None:
    """The metrics of the kernels over the repetitions; None where these have no interval."""
    paths = {run.path for run in found}
    own = {
        name: metric
        for name, metric in record.metrics.items()
        if name.rpartition(": ")[0] in paths and metric.n > 1
    }
    rows = tuple(
        (
            name,
            quantity.with_unit(metric.median, metric.unit, units),
            with_coverage(
                f"{quantity.with_unit(metric.low, metric.unit, units)} to "
                f"{quantity.with_unit(metric.high, metric.unit, units)}",
                metric.coverage,
            ),
            quantity.count(metric.n),
        )
        for name, metric in own.items()
    )
    sure = interval_title(metric.coverage for metric in own.values())
    columns = (Column("Figure"), Column("Median", True), Column(sure, True), Column("n", True))
    return TableBlock("Figures, medians over the repetitions", columns, rows) if rows else None


def blocks_of(run: KernelRun, units: Units) -> list[Block]:
    """What a kernel is, its picture and its table."""
    if run.failures:
        said = [Paragraph(f"FAILED: {failure}.", "bad") for failure in run.failures]
        return [Paragraph(_about(run)), *said, _facts(run)]
    points = [point for point in run.points if not is_of_rank(point.series)]
    matrix = link_matrix.figure(run.path, points, run.facts)
    strokes = kernel_samples.figure(run.path, points, units)
    figures = (
        [matrix]
        if matrix is not None
        else kernel_curve.figures(run.path, points, run.facts, units)
        or ([strokes] if strokes is not None else [])
    )
    return [Paragraph(_about(run)), *figures, *_by_rank(run), _table(run, units), _facts(run)]


def _by_rank(run: KernelRun) -> list[Block]:
    """Which rank is slow, where the kernel kept the times of each."""
    samples = rank_samples(run.points, run.facts)
    if not samples:
        return []
    verdict = judged_ranks(samples)
    slow = {one.samples.rank for one in verdict.slow}
    said = [Paragraph(f"{text[0].upper()}{text[1:]}.", "fair") for text in verdict.texts]
    if not said:
        none = "No rank stands out." if verdict.compared else _NOT_COMPARED
        said = [Paragraph(f"{run.path}: {none}")]
    rows = tuple(
        (
            str(one.rank),
            one.place or "–",
            quantity.seconds(median(one.taken_s)),
            quantity.seconds(max(one.taken_s)),
            quantity.percent(one.waited) if one.processor_s else "–",
            "slow" if one.rank in slow else "",
        )
        for one in sorted(samples, key=lambda one: -median(one.taken_s))[:_MOST_ROWS]
    )
    titles = ("Rank", "Where", "Median", "Most", "Without its processor", "")
    columns = tuple(Column(title, index in (0, 2, 3, 4)) for index, title in enumerate(titles))
    title = f"{run.path}: the same work on each rank, the slowest first"
    return [*said, TableBlock(title, columns, rows, folded=len(rows) > 12)]


def _about(run: KernelRun) -> str:
    ranks = quantity.counted(run.result.ranks, "rank")
    return f"{run.path}: kernel {run.result.name}, version {run.result.version}, on {ranks}."


def _facts(run: KernelRun) -> TableBlock:
    rows = tuple((fact.name, fact.value) for fact in run.result.facts)
    columns = (Column("What"), Column("Value"))
    return TableBlock(f"{run.path}: what the numbers depend on", columns, rows, folded=True)


def _table(run: KernelRun, units: Units) -> TableBlock:
    """A row for each point; of many, those of figures and the first ones."""
    points = [point for point in run.points if not is_of_rank(point.series)]
    shown = points
    if len(shown) > _MOST_ROWS:
        shown = [point for point in shown if point.figure] + shown[:_MOST_ROWS]
    rows = tuple(
        (
            point.series.name,
            place_text(point.series, point.at) or "–",
            quantity.with_unit(point.value, point.series.unit, units),
            STATISTIC_WORDS[point.series.statistic],
            *(
                quantity.with_unit(value, point.series.unit, units)
                for value in (min(point.samples), median(point.samples), max(point.samples))
            ),
            quantity.count(len(point.samples)),
        )
        for point in shown
    )
    titles = ("Series", "At", "Value", "Is the", "Least", "Median", "Most", "Samples")
    columns = tuple(Column(title, index not in (0, 3)) for index, title in enumerate(titles))
    left_out = len(points) - len(shown)
    more = f"; {left_out} more are in the record" if left_out > 0 else ""
    return TableBlock(f"{run.path}: every point{more}", columns, rows, folded=len(rows) > 12)
