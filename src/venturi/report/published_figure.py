"""What documents show of an experiment, beside what this campaign measured: never a pass mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from venturi.model.campaign import CampaignResult, CampaignRow, MetricSummary
from venturi.model.output import Better
from venturi.model.published_figure import (
    ContrastRow,
    PublishedFigure,
    PublishedPoint,
    PublishedSeries,
    ReadFrom,
    Relation,
    amount_of,
)
from venturi.model.units import BYTES_PER_UNIT
from venturi.model.workload import Scalar
from venturi.report import quantity
from venturi.report.block import Block, Column, Paragraph, Section, TableBlock
from venturi.report.figure import published_place
from venturi.report.figure.scaling import number_of

_READ = {
    ReadFrom.TEXT: "from its text",
    ReadFrom.TABLE: "from its table",
    ReadFrom.PLOT: "from its picture",
}


@dataclass(frozen=True)
class OwnPoint:
    """A measured value of ours with its place, in the unit of the published ones where it can be.

    `best` is the best repetition, for publications that show the maximum of several runs.
    """

    label: str
    place: Scalar | None
    median: float
    low: float
    high: float
    best: float
    runs: int
    unit: str
    better: Better


def sections(result: CampaignResult) -> list[Section]:
    """One for each published figure, in the order of the campaign's file."""
    return [
        _section(result, figure, number) for number, figure in enumerate(result.published, start=1)
    ]


def _section(result: CampaignResult, figure: PublishedFigure, number: int) -> Section:
    own = {index: _own_points(result, figure, series) for index, series in enumerate(figure.series)}
    blocks: list[Block] = []
    drawn = published_place.figure(
        f"published-{number}", figure, [(s, own[i]) for i, s in enumerate(figure.series)]
    )
    blocks += [] if drawn is None else [drawn]
    blocks += _table(figure, own)
    if not any(own.values()) and figure.series:
        blocks.append(Paragraph("This run measured nothing that stands beside it.", "fair"))
    blocks += [Paragraph(f"The document says: {sentence}") for sentence in figure.statements]
    if figure.missing:
        blocks.append(Paragraph(f"Not known here: {figure.missing}", "fair"))
    blocks += [Paragraph(f"Open in the document: {text}", "fair") for text in figure.open_points]
    return Section(
        f"published-{number}",
        f"Published beside ours: {figure.source}, {figure.figure}",
        f"Published: {figure.run}. Its values are {figure.statistic}, read {_READ[figure.read]} "
        f"({figure.how}). {scale_sentence(result)} Neither is a pass mark for the other.",
        tuple(blocks),
    )


def scale_sentence(result: CampaignResult) -> str:
    """At which scale the campaign ran, and where."""
    about = f": {result.scale_about}" if result.scale_about else ""
    scale = f"scale {result.scale}{about}" if result.scale else "without a named scale"
    return f"Ours: {scale}; machine {result.machine}, {result.directory}; medians of repetitions."


def _own_points(
    result: CampaignResult, figure: PublishedFigure, series: PublishedSeries
) -> list[OwnPoint]:
    """Our values that stand beside a published series, in the order of their places."""
    contrasts = [row for row in result.contrasts if row.name == series.metric]
    if contrasts:
        kept = [row for row in contrasts if _fits(row.parameters, series)]
        points = [_of_contrast(row, figure, series, [k.parameters for k in kept]) for row in kept]
    else:
        pairs = [
            (row, metric)
            for row in result.rows
            if series.step in ("", row.step) and _fits(row.parameters, series)
            for metric in row.metrics
            if metric.name == series.metric
        ]
        every = [row.parameters for row, _ in pairs]
        points = [_of_metric(row, metric, figure, series, every) for row, metric in pairs]
    return sorted(points, key=lambda point: (point.label, _order(point.place)))


def _fits(parameters: dict[str, Scalar], series: PublishedSeries) -> bool:
    return all(str(parameters.get(n)) == str(value) for n, value in series.where.items())


def _order(place: Scalar | None) -> float:
    return (number_of(place) or 0.0) if place is not None else 0.0


def _label(
    parameters: dict[str, Scalar],
    figure: PublishedFigure,
    series: PublishedSeries,
    every: Sequence[dict[str, Scalar]],
) -> str:
    """The metric, and the parameters that differ among the points of the series."""
    name = series.metric.removesuffix(".rate").replace("_", " ")
    differing = [
        f"{n} {value}"
        for n, value in parameters.items()
        if n != figure.over
        and n not in series.where
        and len({str(other.get(n)) for other in every}) > 1
        and not _follows(n, figure.over, every)
    ]
    chosen = [f"{n} {value}" for n, value in series.where.items()]
    return ", ".join([f"ours: {name}", *chosen, *differing])


def _follows(name: str, over: str | None, every: Sequence[dict[str, Scalar]]) -> bool:
    """Whether a parameter has one value at each place along the axis."""
    if over is None:
        return False
    places = {str(p.get(over)) for p in every}
    return len({(str(p.get(over)), str(p.get(name))) for p in every}) == len(places)


def _place(
    parameters: dict[str, Scalar], figure: PublishedFigure, series: PublishedSeries
) -> Scalar | None:
    """Where a point of ours stands along the figure's axis."""
    own = parameters.get(figure.over) if figure.over else None
    return series.place if own is None else own


def _of_metric(
    row: CampaignRow,
    metric: MetricSummary,
    figure: PublishedFigure,
    series: PublishedSeries,
    every: Sequence[dict[str, Scalar]],
) -> OwnPoint:
    factor = _factor(metric.unit, figure.unit)
    best = min if metric.better is Better.LOWER else max
    return OwnPoint(
        label=_label(row.parameters, figure, series, every),
        place=_place(row.parameters, figure, series),
        median=metric.median / factor,
        low=metric.low / factor,
        high=metric.high / factor,
        best=best(metric.values) / factor,
        runs=len(metric.values),
        unit=figure.unit or metric.unit,
        better=metric.better,
    )


def _of_contrast(
    row: ContrastRow,
    figure: PublishedFigure,
    series: PublishedSeries,
    every: Sequence[dict[str, Scalar]],
) -> OwnPoint:
    return OwnPoint(
        label=_label(row.parameters, figure, series, every),
        place=_place(row.parameters, figure, series),
        median=row.value,
        low=row.low,
        high=row.high,
        best=row.of_best,
        runs=row.runs,
        unit=row.unit,
        better=Better.NONE,
    )


def _factor(own: str, wanted: str) -> float:
    """How many of our units are one of the published ones; 1 where they are the same."""
    base = wanted.removesuffix("/s")
    is_same_kind = own == ("B/s" if wanted.endswith("/s") else "B")
    return float(BYTES_PER_UNIT[base]) if is_same_kind and base in BYTES_PER_UNIT else 1.0


def _table(figure: PublishedFigure, own: dict[int, list[OwnPoint]]) -> list[Block]:
    """A row for each published number, ours at the same place or our best one beside it."""
    rows = [
        row
        for index, series in enumerate(figure.series)
        for point in series.points
        for row in _rows(figure, series, point, own[index])
    ]
    if not rows:
        return []
    titles = ("Published", "Case", "Value", "Unit", "Ours, median", "Ours, best repetition")
    numeric = ("Value", "Ours, median", "Ours, best repetition")
    columns = tuple(Column(title, title in numeric) for title in titles)
    return [TableBlock("The numbers", columns, tuple(rows))]


def _rows(
    figure: PublishedFigure, series: PublishedSeries, point: PublishedPoint, own: list[OwnPoint]
) -> list[tuple[str, ...]]:
    where = f"{figure.over} {point.at}" if point.at is not None else ""
    case = ", ".join(text for text in (point.case, where) if text)
    head = (series.label, case or "–", _published_text(series, point, figure.unit), figure.unit)
    return [(*head, *texts) for texts in _beside(point, own)] or [(*head, "–", "–")]


def _published_text(series: PublishedSeries, point: PublishedPoint, unit: str) -> str:
    """The value as the document has it; with its own unit where that is not the figure's."""
    if point.value is None:
        return "no value"
    text = plain(point.value)
    if point.low is not None and point.high is not None:
        text += f" ({plain(point.low)}..{plain(point.high)})"
    if isinstance(point.value, str) and not point.value.endswith(f" {unit}"):
        text += f" = {quantity.number(amount_of(point.value, unit))}"
    return text if series.relation is Relation.ABOUT else f"{series.relation.value} {text}"


def plain(value: int | float | str) -> str:
    """A published number with the digits that it has."""
    return value if isinstance(value, str) else f"{value:.10g}"


def _beside(point: PublishedPoint, own: list[OwnPoint]) -> list[tuple[str, str]]:
    """Median and best of ours: at the point's place, else of the best place of each line."""
    if point.at is not None:
        return [
            (_value_text(one), f"{quantity.number(one.best)} of {one.runs}")
            for one in own
            if one.place is not None and _is_same(one.place, point.at)
        ]
    found = []
    for label in dict.fromkeys(one.label for one in own):
        line = [one for one in own if one.label == label]
        worst_first = sorted(line, key=lambda one: one.median)
        chosen = worst_first[:1] if line[0].better is Better.LOWER else worst_first[-1:]
        if all(one.place is not None and number_of(one.place) is None for one in line):
            chosen = line
        for one in chosen:
            place = "" if one.place is None else f" at {one.place}"
            found.append(
                (
                    f"{one.label.removeprefix('ours: ')}{place}: {_value_text(one)}",
                    f"{quantity.number(one.best)} of {one.runs}",
                )
            )
    return found


def _is_same(first: Scalar, second: Scalar) -> bool:
    """Whether two places are one: numbers by their value (`16 MB`), words by themselves."""
    numbers = number_of(first), number_of(second)
    return str(first) == str(second) if None in numbers else numbers[0] == numbers[1]


def _value_text(one: OwnPoint) -> str:
    text = quantity.number(one.median)
    if one.runs > 1:
        text += f" ({quantity.number(one.low)}..{quantity.number(one.high)})"
    return text
