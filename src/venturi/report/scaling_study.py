"""How a campaign scales: pictures, tables, what follows from them, and guidelines."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.model.scaling import (
    Guideline,
    GuidelineState,
    Ratio,
    ScalingCurve,
    ScalingPoint,
    ScalingStudy,
    StudyKind,
)
from venturi.report import quantity
from venturi.report.block import (
    Block,
    Cell,
    Column,
    Figure,
    Headline,
    Note,
    Notes,
    Paragraph,
    Section,
    TableBlock,
    Tone,
)
from venturi.report.figure import speed_up
from venturi.report.phase import interval_title, with_coverage
from venturi.report.printer import Printer
from venturi.report.quantity import Units

_TITLES = {StudyKind.STRONG: "Strong scaling", StudyKind.WEAK: "Weak scaling"}
_PROBLEMS = {
    StudyKind.STRONG: "the problem stays the same",
    StudyKind.WEAK: "the problem grows in proportion",
}
_TONES: dict[GuidelineState, Tone] = {
    GuidelineState.MET: "good",
    GuidelineState.PARTLY: "fair",
    GuidelineState.NOT_MET: "bad",
    GuidelineState.STATED: "plain",
    GuidelineState.UNKNOWN: "fair",
}


def section(study: ScalingStudy, units: Units) -> Section:
    """A picture and what follows from it for each metric, then the guidelines."""
    blocks: list[Block] = [Paragraph(f"{text}.", "bad") for text in work_faults(study)]
    blocks += [Paragraph(f"{text}.", "fair") for text in study.without]
    for curves in _by_metric(study):
        blocks.append(_figure(study, curves, units))
        blocks.append(Notes(tuple(_note(curve) for curve in curves)))
    blocks.append(guidelines(study.guidelines))
    return Section("scaling", _TITLES[study.kind], lead(study), tuple(blocks))


def lead(study: ScalingStudy) -> str:
    """What is compared with what, and how the numbers are made."""
    return (
        f"Over {study.over}, while {_PROBLEMS[study.kind]}; the base is {study.over} "
        f"{study.base:g}. Each ratio is one of medians over repetitions; the base's own "
        "uncertainty is in every interval."
    )


def work_faults(study: ScalingStudy) -> list[str]:
    """How the work of curves contradicts the study's kind."""
    return [f"{_called(curve)}: {curve.work_says}" for curve in study.curves if curve.work_says]


def headlines(study: ScalingStudy) -> tuple[Headline, ...]:
    """The efficiency of each curve at its largest number of processors."""
    found = []
    for curve in study.curves:
        last = curve.points[-1]
        own = last.efficiency
        speedup = f"speed-up {quantity.number(last.speedup.value)} at {study.over} {last.size:g}"
        between = f"{quantity.percent(own.low)} to {quantity.percent(own.high)}"
        found.append(
            Headline(
                f"Efficiency of {_called(curve)}",
                quantity.percent(own.value),
                f"{between}, {speedup}" if own.coverage > 0.0 else speedup,
                "another problem" if curve.work_says else "",
            )
        )
    return tuple(found)


def guidelines(rules: Sequence[Guideline]) -> TableBlock:
    """Each guideline with what was done about it."""
    rows = tuple(
        (one.rule, Cell(one.state.value, tone=_TONES[one.state]), one.says) for one in rules
    )
    columns = (Column("Guideline"), Column("Kept"), Column("This study"))
    return TableBlock("Guidelines for scaling benchmarks (HPC Wiki)", columns, rows, stacked=True)


def print_study(out: Printer, study: ScalingStudy, units: Units) -> None:
    """The study on a terminal: a table and its sentences for each metric, then the guidelines."""
    out.line()
    out.line((f" {_TITLES[study.kind]}", "bold"), f" over {study.over}, base {study.base:g}")
    for curves in _by_metric(study):
        block = table(study, curves, units)
        out.line()
        out.line(f" {block.title}")
        left = [column.title.upper() for column in block.columns if not column.numeric]
        out.table([column.title.upper() for column in block.columns], block.rows, left)
        for curve in curves:
            name = f"{speed_up.name_of(curve)}: " if len(curves) > 1 else ""
            said = (curve.best_says, curve.knee_says, curve.law_says)
            for text in said if not curve.work_says else ():
                out.wrapped("- ", f"{name}{text}")
    for text in (*work_faults(study), *study.without):
        out.wrapped("- ", f"{text}.")
    out.line()
    out.line(" Guidelines for scaling benchmarks")
    for one in study.guidelines:
        out.wrapped(f"{one.state.value:<9} ", f"{one.rule}: {one.says}")


def table(study: ScalingStudy, curves: Sequence[ScalingCurve], units: Units) -> TableBlock:
    """Every point of the curves of one metric as a row."""
    others = list(curves[0].parameters)
    ratios = [one for c in curves for p in c.points for one in (p.speedup, p.efficiency)]
    sure = interval_title(one.coverage for one in ratios)
    columns = (
        *(Column(name) for name in others),
        Column(study.over, bool(others)),
        Column("Median", True),
        Column("Speed-up", True),
        Column(sure, True),
        Column("Efficiency", True),
        Column(sure, True),
        Column("Runs", True),
    )
    rows = tuple(
        (
            *(str(curve.parameters.get(name, "")) for name in others),
            f"{point.size:g}",
            quantity.with_unit(point.median, curve.unit, units, curve.of),
            quantity.number(point.speedup.value),
            _interval(study, point, point.speedup),
            quantity.percent(point.efficiency.value),
            _interval(study, point, point.efficiency, in_percent=True),
            str(point.runs),
        )
        for curve in curves
        for point in curve.points
    )
    title = curves[0].metric
    steps = {curve.step for curve in study.curves}
    return TableBlock(f"{curves[0].step}: {title}" if len(steps) > 1 else title, columns, rows)


def _interval(
    study: ScalingStudy, point: ScalingPoint, ratio: Ratio, in_percent: bool = False
) -> str:
    if point.size == study.base:
        return "base"
    if ratio.coverage <= 0.0:
        return "–"
    said = [
        quantity.percent(end) if in_percent else quantity.number(end)
        for end in (ratio.low, ratio.high)
    ]
    return with_coverage(f"{said[0]} to {said[1]}", ratio.coverage)


def _by_metric(study: ScalingStudy) -> list[list[ScalingCurve]]:
    """The curves of each metric of each step."""
    found: dict[tuple[str, str], list[ScalingCurve]] = {}
    for curve in study.curves:
        found.setdefault((curve.step, curve.metric), []).append(curve)
    return list(found.values())


def _figure(study: ScalingStudy, curves: Sequence[ScalingCurve], units: Units) -> Figure:
    said = []
    for curve in curves:
        last = curve.points[-1]
        name = f"{speed_up.name_of(curve)}: " if len(curves) > 1 else ""
        said.append(
            f"{name}speed-up {quantity.number(last.speedup.value)} and efficiency "
            f"{quantity.percent(last.efficiency.value)} at {study.over} {last.size:g}"
        )
    text = "; ".join(said)
    finding = f"{text[:1].upper()}{text[1:]}."
    return speed_up.figure(study, curves, finding, table(study, curves, units))


def _note(curve: ScalingCurve) -> Note:
    label = curve.fit.law.value if curve.fit is not None else "no fit"
    tone: Tone = "plain" if curve.fit is not None else "fair"
    lines = (("Best", curve.best_says), ("Knee", curve.knee_says), ("Law", curve.law_says))
    return Note(label, tone, _called(curve), lines)


def _called(curve: ScalingCurve) -> str:
    said = ", ".join(f"{name} {value}" for name, value in curve.parameters.items())
    name = curve.metric if curve.step == "run" else f"{curve.step}, {curve.metric}"
    return f"{name}, {said}" if said else name
