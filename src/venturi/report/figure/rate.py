"""Rate per phase: every repetition as a mark, the median as a line, its interval as a band."""

from __future__ import annotations

import math
from typing import Any

from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import INK, SHADE, ordered, style
from venturi.report.phase import PhaseSummary
from venturi.report.quantity import Units

_LOG_FROM_RATIO = 15
_MOST_TICKS = 8
_ROW_PX = 46
_LOW_ROW_PX = 30
_MOST_HIGH_ROWS = 12
_SPREAD_ROWS = 0.27
_LETTER_PX = 9
_VALUE_MARGIN_PX = 16


def _offset(index: int, n: int) -> float:
    """Vertical place of a repetition within its row: the first above."""
    return 0.0 if n == 1 else _SPREAD_ROWS * (2 * index / (n - 1) - 1)


def _values(phases: list[PhaseSummary], factor: float) -> tuple[list[dict[str, Any]], ...]:
    marks, medians, names = [], [], []
    for row, phase in enumerate(phases):
        kind = phase.main_kind
        n = len(phase.samples)
        marks += [
            {"x": rate / factor, "y": row + _offset(i, n), "kind": kind}
            for i, rate in enumerate(phase.rates)
        ]
        interval = phase.rate
        medians.append(
            {
                "x": interval.median / factor,
                "low": interval.low / factor,
                "high": interval.high / factor,
                "y": row,
                "top": row - 0.38,
                "bottom": row + 0.38,
            }
        )
        names.append({"y": row, "name": theme.shortened(phase.title), "n": n})
    return marks, medians, names


def _log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten in the range; of a wide range the powers only."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    inside = [tick for tick in ticks if low <= tick <= high]
    if len(inside) <= _MOST_TICKS:
        return inside
    return [10.0**power for power in powers if low <= 10.0**power <= high]


def _horizontal(phases: list[PhaseSummary], units: Units) -> tuple[float, dict[str, Any]]:
    """The unit of the axis (bytes or operations per second), and the encoding of x."""
    highest = max(phase.rate.most for phase in phases)
    lowest = min(phase.rate.least for phase in phases)
    far = lowest > 0 and highest / lowest > _LOG_FROM_RATIO
    typical = math.sqrt(lowest * highest) if far else highest
    unit = quantity.rate_unit(typical, units) if phases[0].in_bytes else None
    factor, name = unit or quantity.operation_rate_unit(typical)
    axis: dict[str, Any] = {"title": name, "grid": True, "titleAnchor": "end"}
    scale: dict[str, Any] = {"domain": [0, highest / factor * 1.04]}
    if far:
        domain = [lowest / factor * 0.8, highest / factor * 1.25]
        axis |= {"title": f"{name}, logarithmic scale", "format": ",~g"}
        axis["values"] = _log_ticks(domain[0], domain[1])
        scale = {"type": "log", "domain": domain}
    return factor, {"field": "x", "type": "quantitative", "axis": axis, "scale": scale}


def _panel(phases: list[PhaseSummary], units: Units, value_px: int) -> dict[str, Any]:
    factor, x = _horizontal(phases, units)
    marks, medians, names = _values(phases, factor)
    for median, phase in zip(medians, phases, strict=True):
        median["text"] = phase.text(phase.rate.median, units)
    domain = {"domain": [-0.5, len(phases) - 0.5], "reverse": True, "nice": False}
    y = {"field": "y", "type": "quantitative", "axis": None, "scale": domain}
    vertical = {"y": {**y, "field": "top"}, "y2": {"field": "bottom"}}
    kinds = sorted({mark["kind"] for mark in marks})
    colours, shapes, _ = theme.kind_scales(kinds)
    width = theme.WIDTH - theme.NAME_PX - value_px
    number = {"type": "text", "align": "left", "fontSize": 13, "fontWeight": "bold", "color": INK}
    band = {
        "data": {"values": medians},
        "mark": {"type": "rect", "color": SHADE, "opacity": 0.55},
        "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, **vertical},
    }
    middle = {
        "data": {"values": medians},
        "mark": {"type": "rule", "color": INK, "strokeWidth": 2},
        "encoding": {"x": x, **vertical},
    }
    repetitions = {
        "data": {"values": marks},
        "mark": {"type": "point", "filled": True, "size": 66, "opacity": 0.9},
        "encoding": {
            "x": x,
            "y": y,
            "shape": {"field": "kind", "scale": shapes, "legend": None},
            "color": {"field": "kind", "scale": colours, "legend": None},
        },
    }
    values = {
        "data": {"values": medians},
        "mark": number,
        "encoding": {"x": {"value": width + _VALUE_MARGIN_PX}, "y": y, "text": {"field": "text"}},
    }
    return {
        "width": width,
        "height": (_ROW_PX if len(phases) <= _MOST_HIGH_ROWS else _LOW_ROW_PX) * len(phases),
        "layer": [band, middle, repetitions, theme.names(names, y), values],
    }


def _finding(phases: list[PhaseSummary], units: Units) -> str:
    parts = []
    if len(phases) == 1:
        only = phases[0]
        parts.append(f"The only phase, {only.title}, runs at {only.text(only.rate.median, units)}.")
    for data in (True, False):
        rated = [phase for phase in phases if phase.in_bytes is data]
        if not rated or len(phases) == 1:
            continue
        best = max(rated, key=lambda phase: phase.rate.median)
        top = f"{best.title} at {best.text(best.rate.median, units)}"
        if len(rated) == 1:
            parts.append(f"{'With data' if data else 'On names'}: {top}.")
            continue
        worst = min(rated, key=lambda phase: phase.rate.median)
        low = f"{worst.title} at {worst.text(worst.rate.median, units)}"
        parts.append(f"{'Fastest' if data else 'On names the fastest'} is {top}, slowest {low}.")
    widest = max(phases, key=_relative_range)
    share = _relative_range(widest)
    if max(phase.rate.n for phase in phases) < 2:
        parts.append("Each ran once, so nothing is known about how much the rates vary.")
    elif share > 0.25:
        parts.append(
            f"The repetitions of {widest.title} differ by {quantity.percent(share)} of the "
            "median: do not rest a decision on its median alone."
        )
    else:
        parts.append(
            f"Repetitions agree: the widest range is {quantity.percent(share)} of the median"
            f" ({widest.title})."
        )
    return " ".join(parts)


def _relative_range(phase: PhaseSummary) -> float:
    """(largest - smallest) / median of the repetitions' rates."""
    rate = phase.rate
    return (rate.most - rate.least) / rate.median if rate.median > 0 else 0.0


def _reading(phases: list[PhaseSummary]) -> str:
    """Return what the marks that are drawn stand for."""
    by_shape: dict[str, list[str]] = {}
    for kind in ordered({phase.main_kind for phase in phases}):
        by_shape.setdefault(style(kind).shape, []).append(kind)
    shapes = [f"{shape}: mostly {' or '.join(kinds)}" for shape, kinds in by_shape.items()]
    first = ", the first on top" if any(len(phase.samples) > 1 for phase in phases) else ""
    has_band = any(phase.rate.low < phase.rate.high for phase in phases)
    band = " Band: interval of the median." if has_band else ""
    return f"Each mark is one repetition{first} ({', '.join(shapes)}). Line: median.{band}"


def table(phases: list[PhaseSummary], units: Units) -> TableBlock:
    """Every repetition of every phase."""
    columns = ("Phase", "Repetition", "Rate", "Time", "Bytes", "Operations", "Errors")
    rows = tuple(
        (
            phase.title,
            str(sample.repetition + 1),
            phase.text(value, units),
            quantity.seconds(sample.total_s),
            quantity.size(sample.bytes, units),
            quantity.count(sample.operations),
            quantity.count(sample.errors),
        )
        for phase in phases
        for sample, value in zip(phase.samples, phase.rates, strict=True)
    )
    return TableBlock(
        "Every repetition",
        tuple(Column(title, index > 0) for index, title in enumerate(columns)),
        rows,
        folded=True,
    )


def figure(phases: list[PhaseSummary], units: Units) -> Figure | None:
    """The strip plot; none where no phase moved anything."""
    active = [phase for phase in phases if not phase.idle and phase.rate.most > 0]
    if not active:
        return None
    longest = max(len(phase.text(phase.rate.median, units)) for phase in active)
    value_px = max(theme.VALUE_PX, longest * _LETTER_PX + 2 * _VALUE_MARGIN_PX)
    panels = [
        _panel(chosen, units, value_px)
        for chosen in ([p for p in active if p.in_bytes], [p for p in active if not p.in_bytes])
        if chosen
    ]
    return Figure(
        name="rate",
        title="Rate of each phase",
        finding=_finding(active, units),
        reading=_reading(active),
        spec=theme.whole(
            {
                "vconcat": panels,
                "spacing": 26,
                "resolve": {"scale": {"color": "independent", "shape": "independent"}},
            }
        ),
        table=table(active, units),
    )
