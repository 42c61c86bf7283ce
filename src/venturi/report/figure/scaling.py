"""Scaling: a metric over a parameter, a line for each combination of the others."""

from __future__ import annotations

from typing import Any

from venturi.model.campaign import CampaignRow, MetricSummary
from venturi.model.output import Better
from venturi.model.units import with_unit
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.campaign_text import changing
from venturi.report.figure import theme
from venturi.report.palette import SERIES

_HEIGHT_PX = 300
_WIDTH_PX = 640


def over(rows: list[CampaignRow], name: str, finding: str) -> Figure | None:
    """The figure of a metric; None where no parameter of numbers has more than one value.

    Rows that do not have this parameter are not in it; of the others they may have any.
    """
    found = [(row, metric) for row in rows for metric in row.metrics if metric.name == name]
    along = _axis_of([row for row, _ in found])
    if along is None:
        return None
    found = [(row, metric) for row, metric in found if along in row.parameters]
    others = [other for other in changing([row for row, _ in found]) if other != along]
    series: dict[str, list[tuple[CampaignRow, MetricSummary]]] = {}
    for row, metric in found:
        own = [other for other in others if other in row.parameters]
        label = ", ".join(f"{other} {row.parameters[other]}" for other in own) or name
        series.setdefault(label, []).append((row, metric))
    kept = _best(series)
    first = found[0][1]
    highest = max(metric.high for _, metric in found)
    factor, shown = quantity.axis_unit(highest, first.unit, of=first.of)
    points = [
        {
            "x": number_of(row.parameters[along]),
            "label": str(row.parameters[along]),
            "y": metric.median / factor,
            "low": metric.low / factor,
            "high": metric.high / factor,
            "series": label,
        }
        for label in kept
        for row, metric in sorted(series[label], key=lambda pair: _place(pair[0], along))
    ]
    left_out = len(series) - len(kept)
    reading = reading_of(points, f"{along} on the axis below")
    if left_out:
        which = "highest" if first.better is Better.NONE else "best"
        reading += f" The {len(kept)} {which} lines of {len(series)} are drawn; the table has all."
    return Figure(
        name=f"scaling-{name}".replace(".", "-"),
        title=f"{name} over {along}",
        finding=finding,
        reading=reading,
        spec=theme.whole(spec(points, kept, along, f"{name}, {shown}" if shown else name)),
        table=_table(found, along, others, name),
    )


def reading_of(points: list[dict[str, Any]], place: str) -> str:
    """Return what marks and bars of `points` stand for; `place` says what is along the axis."""
    bars = ", bars their intervals" if theme.has_interval(points) else "; none has an interval"
    return f"Marks are medians over repetitions{bars}; {place}."


def number_of(value: int | float | str) -> float | None:
    """The number that a parameter's value is, with its unit if it has one; None for a word."""
    if not isinstance(value, str):
        return float(value)
    number, _, unit = value.strip().partition(" ")
    try:
        return float(with_unit(number, unit)) if unit else float(number)
    except ValueError:
        return None


def _axis_of(rows: list[CampaignRow]) -> str | None:
    """The parameter of numbers with the most values; the first of equals."""
    best, most = None, 1
    for name in changing(rows):
        values = {number_of(row.parameters[name]) for row in rows if name in row.parameters}
        if None not in values and len(values) > most:
            best, most = name, len(values)
    return best


def _place(row: CampaignRow, along: str) -> float:
    return number_of(row.parameters[along]) or 0.0


def _best(series: dict[str, list[tuple[CampaignRow, MetricSummary]]]) -> list[str]:
    """The labels that are drawn: as many as there are looks, by their best value."""
    if len(series) <= len(SERIES):
        return list(series)

    def best(label: str) -> float:
        metrics = [metric for _, metric in series[label]]
        if metrics[0].better is Better.LOWER:
            return min(metric.median for metric in metrics)
        return -max(metric.median for metric in metrics)

    chosen = set(sorted(series, key=best)[: len(SERIES)])
    return [label for label in series if label in chosen]


def spec(points: list[dict[str, Any]], kept: list[str], along: str, title: str) -> dict[str, Any]:
    """Lines, bars and marks of `points`, which have x, label, y, low, high and series."""
    places = [point["x"] for point in points]
    is_wide = min(places) > 0 and max(places) / min(places) >= 8
    ticks = {point["x"]: point["label"] for point in points}
    looks = SERIES[: len(kept)]
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": "log" if is_wide else "linear", "nice": False, "padding": 20},
        "axis": {
            "title": along,
            "titleAnchor": "end",
            "values": sorted(ticks),
            "labelExpr": "".join(
                f"datum.value == {place!r} ? '{_quoted(label)}' : "
                for place, label in ticks.items()
            )
            + "''",
        },
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "scale": {"zero": True},
        "axis": {**theme.unit_title(title), "grid": True},
    }
    colour = {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": kept, "range": [look for look, _ in looks]},
        "legend": None
        if len(kept) == 1
        else {"orient": "right", "direction": "vertical", "labelLimit": 300},
    }
    shape = {**colour, "scale": {"domain": kept, "range": [shape for _, shape in looks]}}
    bars = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour}
    return {
        "width": _WIDTH_PX,
        "height": _HEIGHT_PX,
        "data": {"values": points},
        "layer": [
            {
                "mark": {"type": "line", "strokeWidth": 1.5, "opacity": 0.7},
                "encoding": {"x": x, "y": y, "color": colour},
            },
            {"mark": {"type": "rule", "strokeWidth": 2}, "encoding": bars},
            {
                "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": colour, "shape": shape},
            },
        ],
    }


def _quoted(label: str) -> str:
    return label.replace("\\", "\\\\").replace("'", "\\'")


def _table(
    found: list[tuple[CampaignRow, MetricSummary]], along: str, others: list[str], name: str
) -> TableBlock:
    """Every mark as a row."""
    titles = (*others, along, name, "interval", "repetitions")
    rows = []
    for row, metric in found:
        median, low, high = (
            quantity.with_unit(v, metric.unit, of=metric.of)
            for v in (metric.median, metric.low, metric.high)
        )
        rows.append(
            (
                *(str(row.parameters.get(other, "–")) for other in others),
                str(row.parameters[along]),
                median,
                f"{low} to {high}",
                str(len(metric.values)),
            )
        )
    columns = tuple(Column(title, index >= len(others)) for index, title in enumerate(titles))
    return TableBlock("The numbers", columns, tuple(rows), folded=True)
