"""Latencies of single operations over time, a panel for each point of a campaign."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from venturi.model.campaign import CampaignRow
from venturi.model.latency_sample import LatencySample
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.campaign_text import changing
from venturi.report.figure import theme
from venturi.report.palette import MUTED, SERIES

_WIDTH_PX = 860
_HEIGHT_PX = 150
_MOST_PANELS = 6


def over_time(rows: Sequence[CampaignRow]) -> Figure | None:
    """The figure of a step's points that have samples; None where none has."""
    found = [(row, row.latency) for row in rows if row.latency is not None][:_MOST_PANELS]
    if not found:
        return None
    names = changing(list(rows))
    titles = [
        ", ".join(f"{name} {row.parameters[name]}" for name in names) or row.point
        for row, _ in found
    ]
    least = min(min(sample.latency_s) for _, sample in found)
    most = max(sample.most_s for _, sample in found)
    operation = found[0][1].operation
    panels = [
        _panel(title, sample, (least, most), SERIES[index % len(SERIES)][0])
        for index, (title, (_, sample)) in enumerate(zip(titles, found, strict=True))
    ]
    above = quantity.seconds(found[0][1].above_s)
    return Figure(
        name=f"latency-{operation}",
        title=f"Latency of {operation} over time",
        finding="; ".join(
            f"{title}: median {quantity.seconds(s.median_s)}, "
            f"longest {quantity.seconds(s.most_s)}, {s.over} of {s.operations} above {above}"
            for title, (_, s) in zip(titles, found, strict=True)
        )
        + ".",
        reading="Each mark is one operation of the last repetition, at its begin: some at random, "
        f"and every one above {above} (the dashed line).",
        spec=theme.whole({"vconcat": panels}),
        table=_table(titles, [sample for _, sample in found]),
    )


def _panel(
    title: str, sample: LatencySample, bounds: tuple[float, float], colour: str
) -> dict[str, Any]:
    points = [
        {"x": at, "y": 1000 * latency}
        for at, latency in zip(sample.at_s, sample.latency_s, strict=True)
    ]
    domain = [1000 * bounds[0] / 1.5, 1000 * max(bounds[1], sample.above_s) * 1.5]
    y = {
        "field": "y",
        "type": "quantitative",
        "scale": {"type": "log", "domain": domain, "nice": False},
        "axis": {**theme.unit_title("ms"), "grid": True},
    }
    x = {"field": "x", "type": "quantitative", "axis": {"title": "s", "titleAnchor": "end"}}
    rule = {"type": "rule", "color": MUTED, "strokeDash": [5, 4]}
    mark = {"type": "point", "filled": True, "size": 14, "opacity": 0.6, "color": colour}
    return {
        "title": title,
        "width": _WIDTH_PX,
        "height": _HEIGHT_PX,
        "layer": [
            {"data": {"values": points}, "mark": mark, "encoding": {"x": x, "y": y}},
            {
                "data": {"values": [{"y": 1000 * sample.above_s}]},
                "mark": rule,
                "encoding": {"y": y},
            },
        ],
    }


def _table(titles: Sequence[str], samples: Sequence[LatencySample]) -> TableBlock:
    names = ("Point", "Operations", "Median", "99th percentile", "Longest", "Above", "Run")
    rows = tuple(
        (
            title,
            str(sample.operations),
            *map(quantity.seconds, (sample.median_s, sample.p99_s, sample.most_s)),
            str(sample.over),
            sample.run,
        )
        for title, sample in zip(titles, samples, strict=True)
    )
    columns = tuple(Column(name, 0 < index < 6) for index, name in enumerate(names))
    return TableBlock("The numbers", columns, rows, folded=True)
