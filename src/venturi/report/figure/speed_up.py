"""Speed-up and efficiency over the number of processors, with the ideal line and fitted laws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from venturi.model.scaling import Ratio, ScalingCurve, ScalingStudy, StudyKind
from venturi.report.block import Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import MUTED, SERIES

_HEIGHT_PX = 300
_WIDE = 8
"""From this ratio of the largest to the smallest number on, axes are logarithmic."""
_LAW_STEPS = 48
_SPEED_UP = {StudyKind.STRONG: "speed-up", StudyKind.WEAK: "scaled speed-up"}


def figure(
    study: ScalingStudy, curves: Sequence[ScalingCurve], finding: str, table: TableBlock
) -> Figure:
    """The figure of the curves of one metric of a step, as many as have a look of their own."""
    drawn = list(curves[: len(SERIES)])
    marks = [mark for curve in drawn for mark in _marks(curve)]
    sizes = sorted({mark["x"] for mark in marks})
    names = [name_of(curve) for curve in drawn]
    x = _x(study.over, sizes)
    fitted = [row for curve in drawn for row in _law(curve, study.base)]
    shown = [("speedup", _SPEED_UP[study.kind]), ("efficiency", "efficiency")]
    plots = [
        _plot(field, title, x, (marks, _ideal(study, sizes), fitted), names)
        for field, title in shown
    ]
    first = curves[0]
    return Figure(
        name=f"scaling-study-{first.step}-{first.metric}".replace(".", "-").replace("/", "-"),
        title=f"{first.metric}: {_SPEED_UP[study.kind]} and efficiency over {study.over}",
        finding=finding,
        reading=_reading(study, marks, bool(fitted), len(curves) - len(drawn)),
        spec=theme.whole({"hconcat": plots, "spacing": theme.GAP_PX}),
        table=table,
    )


def name_of(curve: ScalingCurve) -> str:
    """What tells a curve from the others of its metric; the metric where there is one."""
    said = ", ".join(f"{name} {value}" for name, value in curve.parameters.items())
    return said or curve.metric


def _reading(
    study: ScalingStudy, marks: Sequence[dict[str, Any]], has_law: bool, left_out: int
) -> str:
    bars = any(mark["speedup_low"] < mark["speedup_high"] for mark in marks)
    text = (
        f"Marks are ratios of medians over repetitions to {study.over} {study.base:g}"
        f"{', bars their intervals' if bars else ''}. Grey dashes: the ideal."
    )
    if has_law:
        text += " Thin lines: the fitted law, as far as it agrees with the times."
    if left_out:
        text += f" {left_out} more lines are in the table only."
    return text


def _marks(curve: ScalingCurve) -> list[dict[str, Any]]:
    return [
        {
            "x": point.size,
            "series": name_of(curve),
            **_ends("speedup", point.speedup),
            **_ends("efficiency", point.efficiency),
        }
        for point in curve.points
    ]


def _ends(field: str, ratio: Ratio) -> dict[str, float]:
    return {field: ratio.value, f"{field}_low": ratio.low, f"{field}_high": ratio.high}


def _ideal(study: ScalingStudy, sizes: Sequence[float]) -> list[dict[str, Any]]:
    return [{"x": size, "speedup": size / study.base, "efficiency": 1.0} for size in sizes]


def _law(curve: ScalingCurve, base: float) -> list[dict[str, Any]]:
    """Places along the fitted law, close enough for a smooth line."""
    fit = curve.fit
    if fit is None:
        return []
    ratio = fit.last / fit.first
    rows = []
    for step in range(_LAW_STEPS + 1):
        size = fit.first * ratio ** (step / _LAW_STEPS)
        speedup = fit.law.speedup(fit.serial, size / base)
        rows.append(
            {
                "x": size,
                "speedup": speedup,
                "efficiency": speedup * base / size,
                "series": name_of(curve),
            }
        )
    return rows


def _x(over: str, sizes: Sequence[float]) -> dict[str, Any]:
    return {
        "field": "x",
        "type": "quantitative",
        "scale": {**_scale(sizes), "padding": 20},
        "axis": {"title": over, "titleAnchor": "end", "values": sizes, "format": "~g"},
    }


def _scale(values: Sequence[float]) -> dict[str, Any]:
    """A logarithmic scale where values span much; none of them is 0."""
    is_wide = max(values) / min(values) >= _WIDE
    return {"type": "log", "base": 2, "nice": False} if is_wide else {"type": "linear"}


def _plot(
    field: str,
    title: str,
    x: dict[str, Any],
    rows: tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]],
    names: Sequence[str],
) -> dict[str, Any]:
    marks, ideal, fitted = rows
    scale: dict[str, Any] = {"type": "linear", "zero": True}
    if field == "speedup":
        lows = [row["speedup_low"] for row in marks]
        scale |= _scale([*lows, *(row["x"] / ideal[0]["x"] for row in ideal)])
        if scale["type"] == "log":
            scale.pop("zero")
    y = {
        "field": field,
        "type": "quantitative",
        "scale": scale,
        "axis": {**theme.unit_title(title), "grid": True, "format": "~g"},
    }
    looks = SERIES[: len(names)]
    colour = {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": names, "range": [look for look, _ in looks]},
        "legend": None if len(names) == 1 else {"labelLimit": 300},
    }
    shape = {**colour, "scale": {"domain": names, "range": [shape for _, shape in looks]}}
    own: dict[str, Any] = {"x": x, "y": y, "color": colour}
    bars = {"x": x, "y": {**y, "field": f"{field}_low"}, "y2": {"field": f"{field}_high"}}
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": ideal},
            "mark": {"type": "line", "color": MUTED, "strokeDash": [6, 4], "strokeWidth": 1.5},
            "encoding": {"x": x, "y": y},
        },
        {"mark": {"type": "rule", "strokeWidth": 2}, "encoding": {**bars, "color": colour}},
        {
            "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
            "encoding": {**own, "shape": shape},
        },
    ]
    if fitted:
        law = {"type": "line", "strokeWidth": 1.2, "opacity": 0.8}
        layers.insert(1, {"data": {"values": fitted}, "mark": law, "encoding": own})
    return {
        "width": theme.column_px(2),
        "height": _HEIGHT_PX,
        "data": {"values": marks},
        "layer": layers,
    }
