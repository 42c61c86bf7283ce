"""The links between ranks as a matrix, with a histogram in the same colours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from venturi.model.kernel_value import PointSamples
from venturi.model.link_model import Pair, judged_links, link_rate
from venturi.model.statistic import median
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import INK

_SIDE_PX = 420
_BINS = 24
_MOST_ROWS = 20


def figure(path: str, points: Sequence[PointSamples], facts: Mapping[str, str]) -> Figure | None:
    """The picture of the first series that two ranks name; None where there is none."""
    pairs = [point for point in points if [a.name for a in point.series.axes] == ["from", "to"]]
    if not pairs:
        return None
    pairs = [point for point in pairs if point.series.name == pairs[0].series.name]
    factor = _factor(median([point.value for point in pairs]))
    cells = [
        {"from": one, "to": other, "t": point.value / factor[0]}
        for point in pairs
        for one, other in (point.at, point.at[::-1])
    ]
    slowest = max(pairs, key=lambda point: point.value)
    middle = median([point.value for point in pairs])
    size_bytes = int(facts.get("message, bytes", "0"))
    rate = f" ({quantity.rate(link_rate(size_bytes, middle))})" if size_bytes else ""
    times, again = (_times(points, name) for name in (pairs[0].series.name, "retest"))
    return Figure(
        name=f"links-{path}".replace("/", "-").replace(" ", "-"),
        title=f"{path}: {_what(pairs[0].series.name)} between each two ranks",
        finding=(
            f"{quantity.count(len(pairs))} pairs: median {quantity.seconds(middle)}{rate}, the "
            f"slowest {slowest.at[0]}-{slowest.at[1]} with {quantity.seconds(slowest.value)}. "
            f"{judged_links(times, again).text}"
        ),
        reading=(
            "A cell is a pair of ranks, whose message is measured once for both directions; the "
            "histogram counts pairs in the same colours. Yellow is slow."
        ),
        spec=theme.whole(_spec(cells, [point.value / factor[0] for point in pairs], factor[1])),
        table=_table(pairs),
    )


def _what(series: str) -> str:
    """What a series is the time of: whether it was a network or loopback stands in its name."""
    return "time of a message" if series == "time" else series.removesuffix(" of pair")


def _times(points: Sequence[PointSamples], name: str) -> dict[Pair, float]:
    """The seconds of each pair in a series."""
    return {
        (point.at[0], point.at[1]): point.value for point in points if point.series.name == name
    }


def _factor(typical_s: float) -> tuple[float, str]:
    for factor, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if typical_s >= factor:
            return factor, name
    return 1e-9, "ns"


def _spec(cells: list[dict[str, Any]], values: list[float], unit: str) -> dict[str, Any]:
    low, high = min(values), max(values)
    scale = {
        "type": "log",
        "scheme": "viridis",
        "domain": [low, high if high > low else low * 1.01],
        "nice": False,
    }
    side = max(max(cell["from"], cell["to"]) for cell in cells) + 1
    step = (math.log(high) - math.log(low)) / _BINS or 1.0
    bins = [0] * _BINS
    for value in values:
        bins[min(int((math.log(value) - math.log(low)) / step), _BINS - 1)] += 1
    bars = [
        {
            "low": low * math.exp(i * step),
            "high": low * math.exp((i + 1) * step),
            "middle": low * math.exp((i + 0.5) * step),
            "pairs": count,
            "zero": 0,
        }
        for i, count in enumerate(bins)
        if count
    ]
    place = {"type": "ordinal", "scale": {"domain": list(range(side)), "padding": 0}}
    shown = [rank for rank in range(side) if rank % max(1, side // 16) == 0]
    axis = {"values": shown, "labelAngle": 0, "ticks": False, "domain": False}
    matrix = {
        "width": _SIDE_PX,
        "height": _SIDE_PX,
        "data": {"values": cells},
        "mark": {"type": "rect"},
        "encoding": {
            "x": {"field": "to", **place, "axis": {"title": "rank", **axis}},
            "y": {"field": "from", **place, "axis": {"title": "rank", **axis}},
            "color": {"field": "t", "type": "quantitative", "scale": scale,
                      "legend": {"title": unit, "orient": "right", "direction": "vertical",
                                 "gradientLength": _SIDE_PX // 2}},
        },
    }  # fmt: skip
    axis_x = {"type": "quantitative", "scale": {"type": "log", "nice": False,
                                               "domain": scale["domain"]}}  # fmt: skip
    histogram = {
        "width": 260,
        "height": _SIDE_PX,
        "data": {"values": bars},
        "mark": {"type": "rect", "stroke": INK, "strokeWidth": 0.3},
        "encoding": {
            "x": {"field": "low", **axis_x, "axis": {"title": f"time, {unit}", "tickCount": 4}},
            "x2": {"field": "high"},
            "y": {"field": "zero", "type": "quantitative", "axis": {"title": "pairs"}},
            "y2": {"field": "pairs"},
            "color": {"field": "middle", "type": "quantitative", "scale": scale, "legend": None},
        },
    }  # fmt: skip
    return {"hconcat": [matrix, histogram], "resolve": {"scale": {"color": "independent"}}}


def _table(pairs: Sequence[PointSamples]) -> TableBlock:
    slow = sorted(pairs, key=lambda point: -point.value)[:_MOST_ROWS]
    rows = tuple(
        (f"{point.at[0]}-{point.at[1]}", quantity.seconds(point.value), str(len(point.samples)))
        for point in slow
    )
    columns = (Column("Ranks"), Column("Time", True), Column("Samples", True))
    return TableBlock("The slowest pairs", columns, rows, folded=True)
