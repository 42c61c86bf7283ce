"""Latency: the share of operations that were done within a time, a panel for each phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.latency import Latency
from venturi.report.palette import PAPER, ordered
from venturi.report.phase import PhaseSummary

_COLUMNS = 3
MOST_PANELS = 9
_FAR_TIMES = 2
_TICKS = [10.0**power for power in range(12)]
_TICK_TEXT = (
    "datum.value < 1e3 ? datum.value + ' ns' : datum.value < 1e6 ? datum.value / 1e3 + ' µs' : "
    "datum.value < 1e9 ? datum.value / 1e6 + ' ms' : datum.value / 1e9 + ' s'"
)


def _points(
    latencies: Mapping[str, Latency],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    lines, marks = [], []
    for kind, latency in latencies.items():
        lines += [
            {"x": x, "y": round(100 * share, 2), "kind": kind} for x, share in latency.curve()
        ]
        if latency.operations:
            marks += [
                {"x": max(latency.quantile_ns(share), 1), "y": 100 * share, "kind": kind}
                for share in (0.5, 0.99)
            ]
    return lines, marks


def _panel(
    title: str, latencies: Mapping[str, Latency], kinds: list[str], domain: list[float], width: int
) -> dict[str, Any]:
    colour, shape, dash = theme.kind_scales(kinds)
    lines, marks = _points(latencies)
    ticks = [tick for tick in _TICKS if domain[0] <= tick <= domain[1]]
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": "log", "domain": domain},
        "axis": {
            "values": ticks,
            "labelExpr": _TICK_TEXT,
            "title": None,
            "grid": True,
            "labelOverlap": True,
        },
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "scale": {"domain": [0, 100]},
        "axis": {**theme.unit_title("% done within"), "values": [0, 25, 50, 75, 100]},
    }
    paint = {"field": "kind", "type": "nominal", "scale": colour}
    return {
        "title": theme.shortened(title, 34),
        "width": width,
        "height": 170,
        "encoding": {"x": x, "y": y, "color": paint},
        "layer": [
            {
                "data": {"values": lines},
                "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
                "encoding": {"strokeDash": {"field": "kind", "type": "nominal", "scale": dash}},
            },
            {
                "data": {"values": marks},
                "mark": {
                    "type": "point",
                    "filled": True,
                    "size": 70,
                    "opacity": 1,
                    "stroke": PAPER,
                    "strokeWidth": 1,
                },
                "encoding": {"shape": {"field": "kind", "type": "nominal", "scale": shape}},
            },
        ],
    }


def spec_of(
    panels: Sequence[tuple[str, Mapping[str, Latency]]], kinds: list[str]
) -> dict[str, Any]:
    """Curves of latencies by kind, a panel for each title; `kinds` in the order of the legend."""
    every = [entry for _, latencies in panels for entry in latencies.values() if entry.operations]
    low = min(max(entry.min_ns, 1) for entry in every)
    high = max(entry.max_ns for entry in every)
    domain = [low * 0.7, max(high, low + 1) * 1.5]
    columns = min(_COLUMNS, len(panels))
    width = theme.column_px(columns)
    drawn = [_panel(title, latencies, kinds, domain, width) for title, latencies in panels]
    return theme.whole({"concat": drawn, "columns": columns, "spacing": theme.GAP_PX})


def _finding(phases: list[PhaseSummary]) -> str:
    parts = []
    candidates = [
        (phase, kind, phase.latencies[kind]) for phase in phases for kind in ordered(phase.kinds)
    ]
    candidates = [entry for entry in candidates if entry[2].operations]
    phase, kind, latency = max(candidates, key=lambda entry: entry[2].operations)
    values = latency.percentiles_ns()
    parts.append(
        f"Half of the {quantity.count(latency.operations)} {kind}s of {phase.title} took at most "
        f"{quantity.nanoseconds(values['p50'])}, 99 % at most "
        f"{quantity.nanoseconds(values['p99'])}."
    )
    phase, kind, latency = max(candidates, key=lambda entry: entry[2].max_ns)
    slowest = quantity.nanoseconds(latency.max_ns)
    times = latency.max_ns / max(latency.quantile_ns(0.5), 1)
    beside = f", {quantity.number(times)} times the median" if times >= _FAR_TIMES else ""
    parts.append(f"The slowest operation of all was a {kind} of {phase.title}: {slowest}{beside}.")
    return " ".join(parts)


def table(phases: list[PhaseSummary]) -> TableBlock:
    """Percentiles of each operation of each phase, over all repetitions."""
    titles = (
        "Phase",
        "Operation",
        "Operations",
        "Least",
        "Median",
        "90 %",
        "99 %",
        "99.9 %",
        "Most",
    )
    rows = []
    for phase in phases:
        for kind in ordered(phase.kinds):
            latency = phase.latencies[kind]
            values = latency.percentiles_ns().values()
            times = tuple(quantity.nanoseconds(value) for value in values)
            rows.append((phase.title, kind, quantity.count(latency.operations), *times))
    columns = tuple(Column(title, index > 1) for index, title in enumerate(titles))
    return TableBlock("Latencies", columns, tuple(rows), folded=True)


def figure(phases: list[PhaseSummary]) -> Figure | None:
    """The distributions; none where no operation was timed."""
    active = [p for p in phases if any(p.latencies[kind].operations for kind in p.kinds)]
    if not active:
        return None
    shown = active[:MOST_PANELS]
    kinds = ordered({kind for phase in shown for kind in phase.kinds})
    panels = [(p.title, {kind: p.latencies[kind] for kind in ordered(p.kinds)}) for p in shown]
    rest = len(active) - len(shown)
    return Figure(
        name="latency",
        title="How long single operations took",
        finding=_finding(active),
        reading=(
            "The share of operations done within a time (logarithmic), all repetitions together. "
            "Marks: median and 99 %. The further right a line, the slower; a flat top is a tail."
            + (f" {rest} more phases are in the table." if rest else "")
        ),
        spec=spec_of(panels, kinds),
        table=table(active),
    )
