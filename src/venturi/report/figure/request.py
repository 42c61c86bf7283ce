"""Sizes of requests: the application's beside the proxy's, in the classes of Darshan."""

from __future__ import annotations

from typing import Any

from venturi.model.record import Record
from venturi.model.workload import REQUEST_EDGES_BYTES, Observed, request_class
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import MUTED, SHADE, style
from venturi.report.phase import phases
from venturi.report.quantity import Units

_DIRECTIONS = ("write", "read")
Classes = dict[str, list[int]]
"""Requests in each class, of writes and of reads."""


def of_proxy(record: Record) -> Classes:
    """What the engine counted in one repetition, in the ten classes."""
    counts: Classes = {kind: [0] * len(REQUEST_EDGES_BYTES) for kind in _DIRECTIONS}
    for phase in phases(record):
        for row in phase.median_sample.rows:
            for request in row.request_sizes:
                if request.kind.value in counts:
                    counts[request.kind.value][request_class(request.bytes)] += request.count
    return counts


def _share(values: list[int]) -> list[float]:
    total = sum(values)
    return [100 * value / total if total else 0.0 for value in values]


def _panel(direction: str, labels: list[str], bars: list[float], dots: list[float]) -> Any:
    x = {
        "field": "size",
        "type": "ordinal",
        "sort": None,
        "axis": {
            "labelAngle": 0,
            "title": "size of a request, up to",
            "labelOverlap": False,
            "titleAnchor": "end",
            "ticks": False,
        },
        "scale": {"domain": labels, "paddingInner": 0.35},
    }
    y = {
        "field": "share",
        "type": "quantitative",
        "axis": theme.unit_title("% of requests"),
        "scale": {"domain": [0, 100]},
    }
    bar_values = [{"size": a, "share": b or None} for a, b in zip(labels, bars, strict=True)]
    dot_values = [{"size": a, "share": b} for a, b in zip(labels, dots, strict=True) if b > 0]
    colour = style(direction).colour
    layers: list[dict[str, Any]] = []
    bar = {"type": "bar", "color": SHADE, "stroke": MUTED, "strokeWidth": 1}
    dot = {
        "type": "point",
        "shape": style(direction).shape,
        "size": 130,
        "strokeWidth": 2.5,
        "color": colour,
        "filled": False,
    }
    if any(bars):
        layers.append({"data": {"values": bar_values}, "mark": bar})
    else:
        dot = {"type": "bar", "color": colour}
    layers.append(
        {"data": {"values": dot_values or [{"size": labels[0], "share": 0}]}, "mark": dot}
    )
    return {
        "title": f"{direction}s",
        "width": theme.WIDTH - 40,
        "height": 130,
        "layer": layers,
        "encoding": {"x": x, "y": y},
    }


def _peak(classes: Classes, edges: tuple[int, ...], units: Units, who: str) -> str:
    parts = []
    for kind in _DIRECTIONS:
        total = sum(classes[kind])
        if total:
            at = max(range(len(edges)), key=lambda i: classes[kind][i])
            low = 0 if at == 0 else edges[at - 1]
            top = quantity.edge(edges[at], units)
            span = f"{quantity.size(low, units)} to {top}"
            if top == "larger":
                span = f"more than {quantity.size(low, units)}"
            parts.append(
                f"{quantity.percent(classes[kind][at] / total)} of {quantity.count(total)} "
                f"{kind}s are of {span}"
            )
    return f"{who}: {'; '.join(parts)}." if parts else f"{who} made no requests for data."


def _table(both: dict[str, Classes], labels: list[str]) -> TableBlock:
    columns = [Column("Up to", True)]
    columns += [Column(f"{who}: {kind}s", True) for who in both for kind in _DIRECTIONS]
    rows = tuple(
        (label, *(quantity.count(both[who][kind][i]) for who in both for kind in _DIRECTIONS))
        for i, label in enumerate(labels)
    )
    return TableBlock("Number of requests by size", tuple(columns), rows, folded=True)


def figure(record: Record, observed: Observed | None, units: Units) -> Figure | None:
    """The histogram; none where nobody moved data."""
    application = observed.request_classes() if observed is not None else {}
    edges = REQUEST_EDGES_BYTES
    labels = [quantity.edge(edge, units) for edge in edges]
    proxy = of_proxy(record)
    both = {"proxy": proxy}
    finding = _peak(proxy, edges, units, "This run")
    if any(any(counts) for counts in application.values()):
        both = {"application": application, "proxy": proxy}
        finding = _peak(application, edges, units, "The application")
        if record.fidelity is not None:
            finding += f" {_agreement(record.fidelity.size_distance)}"
    empty = [0] * len(edges)
    panels = [
        _panel(
            kind,
            labels,
            _share(both.get("application", {}).get(kind, empty)),
            _share(proxy[kind]),
        )
        for kind in _DIRECTIONS
        if any(any(classes[kind]) for classes in both.values())
    ]
    if not panels:
        return None
    reading = (
        "Bars: the application, from its log. Open marks: the proxy, as the engine counted in one "
        "repetition. Where a mark sits on its bar's top, the proxy makes the same requests."
        if "application" in both
        else "As the engine counted in one repetition."
    )
    return Figure(
        name="request",
        title="Sizes of requests",
        finding=finding,
        reading=reading,
        spec=theme.whole({"vconcat": panels, "spacing": 22}),
        table=_table(both, labels),
    )


def of_capture(counts: Classes, units: Units, who: str = "application") -> Figure | None:
    """The histogram of one that was captured or run; none where it moved no data."""
    labels = [quantity.edge(edge, units) for edge in REQUEST_EDGES_BYTES]
    nothing = [0.0] * len(labels)
    panels = [
        _panel(kind, labels, nothing, _share(counts[kind]))
        for kind in _DIRECTIONS
        if any(counts[kind])
    ]
    if not panels:
        return None
    return Figure(
        name="request",
        title="Sizes of requests",
        finding=_peak(counts, REQUEST_EDGES_BYTES, units, "By number"),
        reading="Each bar: the share of the calls that move more than the edge before it.",
        spec=theme.whole({"vconcat": panels, "spacing": 22}),
        table=_table({who: counts}, labels),
    )


def _agreement(value: float) -> str:
    if value == 0:
        return "The proxy makes requests of exactly the same classes."
    if value < 0.02:
        return f"The proxy makes nearly the same requests ({quantity.percent(value)} differ)."
    return f"The proxy's requests differ: {quantity.percent(value)} are in another class."
