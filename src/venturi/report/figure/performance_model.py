"""The surface of a machine: seconds of a call, and bytes per second, over the size of a request."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from venturi.model.interface import DEFAULT_INTERFACE
from venturi.model.plan import OperationKind
from venturi.model.profile import (
    AccessClass,
    DataState,
    FileSharing,
    MeasuredCurve,
    Order,
    Point,
    Profile,
    Volume,
)
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import BLUE, GREEN, INK, ORANGE, PAPER, PURPLE, VERMILLION
from venturi.report.quantity import Units

_HEIGHT = 190
_LEGEND_COLUMNS = 5
_LINES = {
    "new": (BLUE, (1, 0)),
    "cached": (GREEN, (1, 0)),
    "cold": (VERMILLION, (1, 0)),
    "random, cached": (GREEN, (6, 3)),
    "random, cold": (VERMILLION, (6, 3)),
    "ranks in turn, new": (BLUE, (2, 2)),
    "ranks in turn, cached": (GREEN, (2, 2)),
    "ranks in turn, cold": (VERMILLION, (2, 2)),
    "small volumes, new": (BLUE, (9, 3)),
    "small volumes, cached": (GREEN, (9, 3)),
    "small files, new": (PURPLE, (8, 2, 2, 2)),
    "small files, cached": (ORANGE, (8, 2, 2, 2)),
    "small files, cold": (VERMILLION, (8, 2, 2, 2)),
    "other": (INK, (1, 0)),
}
_DATA = (OperationKind.WRITE, OperationKind.READ, OperationKind.SYNC)
_WORDS = {
    Order.SEQUENTIAL: "",
    Order.RANDOM: "random, ",
    Order.STRIDED: "ranks in turn, ",
    Order.ITEM: "small files, ",
}
TIME_TEXT = (
    "datum.value < 1e-6 ? format(datum.value * 1e9, '~g') + ' ns' : datum.value < 1e-3 ? "
    "format(datum.value * 1e6, '~g') + ' µs' : datum.value < 1 ? "
    "format(datum.value * 1e3, '~g') + ' ms' : format(datum.value, '~g') + ' s'"
)
"""Labels of an axis of seconds."""
_SIZES = (
    (2**30, "GiB"),
    (2**20, "MiB"),
    (2**10, "KiB"),
)


@dataclass(frozen=True)
class _Panel:
    """One small plot: an operation by so many ranks on files of this kind."""

    operation: OperationKind
    ranks: int
    place: FileSharing

    @property
    def title(self) -> str:
        files = (
            ""
            if self.ranks == 1
            else ", own files"
            if self.place is FileSharing.OWN
            else ", shared"
        )
        return f"{self.operation.value}: {quantity.counted(self.ranks, 'rank')}{files}"


def line_of(access: AccessClass) -> str:
    """The name of a curve in the legend."""
    word = _WORDS[access.order] + access.state.value
    if access.volume is Volume.SMALL:
        word = f"small volumes, {access.state.value}"
    return word if word in _LINES else "other"


def _panels(profile: Profile) -> list[_Panel]:
    """Least and most ranks, own files and shared ones, for each operation that moves data."""
    ranks = sorted({point.ranks for curve in profile.curves for point in curve.points})
    columns = [(ranks[0], FileSharing.OWN)]
    if len(ranks) > 1:
        columns += [(ranks[-1], FileSharing.OWN), (ranks[-1], FileSharing.SHARED)]
    return [
        panel
        for operation in _DATA
        for count, place in columns
        if _lines(profile, panel := _Panel(operation, count, place))
    ]


def _lines(profile: Profile, panel: _Panel) -> list[tuple[MeasuredCurve, list[Point]]]:
    found = []
    for curve in profile.curves:
        access = curve.access
        posix = access.interface is DEFAULT_INTERFACE and access.is_plain
        if access.operation is panel.operation and access.place is panel.place and posix:
            points = [p for p in curve.points if p.ranks == panel.ranks and p.bytes > 0]
            if points:
                found.append((curve, sorted(points, key=lambda point: point.bytes)))
    return found


def _rows(profile: Profile, panel: _Panel) -> list[dict[str, Any]]:
    return [
        {
            "x": point.bytes,
            "y": point.seconds,
            "low": point.low,
            "high": point.high,
            "rate": point.bytes * panel.ranks / max(point.seconds, 1e-12),
            "line": line_of(curve.access),
        }
        for curve, points in _lines(profile, panel)
        for point in points
    ]


def _plot(
    panel: _Panel, rows: list[dict[str, Any]], names: list[str], scale: tuple[str, list[float]]
) -> dict[str, Any]:
    field, domain = scale
    colour = {"domain": names, "range": [_LINES[name][0] for name in names]}
    dash = {"domain": names, "range": [list(_LINES[name][1]) for name in names]}
    size_text = " : ".join(
        f"datum.value >= {size} ? format(datum.value / {size}, '~g') + ' {unit}'"
        for size, unit in _SIZES
    )
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": "log", "base": 2, "domain": [2**9, 2**27]},
        "axis": {"values": [2**9, 2**15, 2**21, 2**27], "title": None, "grid": True,
                 "labelExpr": f"{size_text} : datum.value + ' B'"},
    }  # fmt: skip
    text = TIME_TEXT if field == "y" else _rate_text()
    y = {
        "field": field,
        "type": "quantitative",
        "scale": {"type": "log", "domain": domain, "nice": False},
        "axis": {"title": None, "grid": True, "labelExpr": text, "values": decades(domain)},
    }
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "line", "strokeWidth": 2, "clip": True},
            "encoding": {
                "y": y,
                "strokeDash": {"field": "line", "type": "nominal", "scale": dash},
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 34, "opacity": 1,
                     "stroke": PAPER, "strokeWidth": 1, "clip": True},
            "encoding": {"y": y},
        },
    ]  # fmt: skip
    if field == "y":
        bar = {"mark": {"type": "rule", "strokeWidth": 1, "clip": True},
               "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}}}  # fmt: skip
        layers.insert(0, bar)
    return {
        "title": panel.title,
        "width": theme.column_px(3),
        "height": _HEIGHT,
        "data": {"values": rows},
        "encoding": {
            "x": x,
            "color": {
                "field": "line",
                "type": "nominal",
                "scale": colour,
                "legend": {
                    "columns": _LEGEND_COLUMNS,
                    "symbolType": "stroke",
                    "symbolSize": 900,
                    "symbolStrokeWidth": 2,
                },
            },
        },
        "layer": layers,
    }


_RATES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def _rate_text() -> str:
    steps = " : ".join(
        f"datum.value >= {size} ? format(datum.value / {size}, '~g') + ' {unit}/s'"
        for size, unit in _RATES
    )
    return f"{steps} : datum.value + ' B/s'"


def _spec(
    drawn: Sequence[tuple[_Panel, list[dict[str, Any]]]], field: str, columns: int
) -> dict[str, Any]:
    present = {row["line"] for _, rows in drawn for row in rows}
    names = [name for name in _LINES if name in present]
    plots = [
        _plot(panel, rows, names, (field, _domain(drawn, panel.operation, field)))
        for panel, rows in drawn
    ]
    return theme.whole({"concat": plots, "columns": columns, "spacing": theme.GAP_PX})


def _domain(
    drawn: Sequence[tuple[_Panel, list[dict[str, Any]]]], operation: OperationKind, field: str
) -> list[float]:
    """The vertical range that all plots of an operation share."""
    values = [
        row[field]
        for panel, rows in drawn
        if panel.operation is operation
        for row in rows
        if row[field] > 0
    ]
    return [min(values, default=1.0) / 1.5, max(values, default=1.0) * 1.5]


def decades(domain: list[float]) -> list[float]:
    """Powers of ten, and thrice these where there are few."""
    powers = range(math.floor(math.log10(domain[0])), math.ceil(math.log10(domain[1])) + 1)
    tens = [10.0**power for power in powers]
    inside = [value for value in tens if domain[0] <= value <= domain[1]]
    if len(inside) >= 3:
        return inside
    return sorted(v for ten in tens for v in (ten, 3 * ten) if domain[0] <= v <= domain[1])


def _finding(profile: Profile) -> str:
    """The two ends of the plain write and read of one rank, in a stream."""
    words = []
    for operation, state in (
        (OperationKind.WRITE, DataState.NEW),
        (OperationKind.READ, DataState.COLD),
    ):
        access = AccessClass(operation=operation, order=Order.SEQUENTIAL, state=state)
        points = [
            p
            for curve in profile.curves
            if curve.access == access
            for p in curve.points
            if p.ranks == 1 and p.bytes > 0
        ]
        if points:
            small, large = points[0], points[-1]
            words.append(
                f"a {state.value} {operation.value} of {quantity.size(small.bytes)} takes "
                f"{quantity.seconds(small.seconds)}, one of {quantity.size(large.bytes)} moves "
                f"{quantity.rate(large.bytes / max(large.seconds, 1e-12))}"
            )
    text = "; ".join(words)
    if not text:
        return ""
    ahead = ", of reads most are read ahead" if "cold read" in text else ""
    return f"{text[:1].upper()}{text[1:]} (one rank, in order{ahead})."


def _best(profile: Profile) -> str:
    """The highest rates in a stream of large volume: into memory, from it, and from the device."""
    words = []
    for operation, state in (
        (OperationKind.WRITE, DataState.NEW), (OperationKind.READ, DataState.CACHED),
        (OperationKind.READ, DataState.COLD),
    ):  # fmt: skip
        rates = [
            (point.bytes * point.ranks / max(point.seconds, 1e-12), point)
            for curve in profile.curves
            if curve.access.operation is operation and curve.access.state is state
            and curve.access.interface is DEFAULT_INTERFACE
            and curve.access.order is Order.SEQUENTIAL and curve.access.volume is Volume.LARGE
            for point in curve.points
            if point.bytes > 0
        ]  # fmt: skip
        if rates:
            rate, point = max(rates, key=lambda entry: entry[0])
            words.append(
                f"{state.value} {operation.value}s {quantity.rate(rate)} "
                f"({quantity.size(point.bytes)}, {quantity.counted(point.ranks, 'rank')})"
            )
    return f"Most in order: {'; '.join(words)}." if words else ""


def table(profile: Profile, units: Units) -> TableBlock:
    """Every point."""
    titles = ("Operation", "Size", "Ranks", "Median", "Least", "Most", "Repetitions", "Calls")
    rows = [
        (
            curve.access.text(),
            quantity.size(point.bytes, units) if point.bytes else "–",
            str(point.ranks),
            quantity.seconds(point.seconds),
            quantity.seconds(point.low),
            quantity.seconds(point.high),
            str(point.n),
            quantity.count(point.operations),
        )
        for curve in profile.curves
        for point in sorted(curve.points, key=lambda p: (p.ranks, p.bytes))
    ]
    columns = tuple(Column(title, index > 0) for index, title in enumerate(titles))
    return TableBlock("All points", columns, tuple(rows), folded=True)


_RATED = (4096, 2**16, 2**20, 2**24)


def _rates(profile: Profile, units: Units) -> TableBlock:
    """Bytes per second of all ranks, at a few sizes."""
    rows = []
    for curve in profile.curves:
        access = curve.access
        is_stream = access.order is not Order.ITEM and access.is_plain
        if access.operation is OperationKind.SYNC or not is_stream:
            continue
        by_place = {(p.ranks, p.bytes): p for p in curve.points}
        for ranks in sorted({p.ranks for p in curve.points}):
            found = (by_place.get((ranks, size)) for size in _RATED)
            cells = (
                quantity.rate(p.bytes * ranks / max(p.seconds, 1e-12), units) if p else "–"
                for p in found
            )
            rows.append((curve.access.text(), str(ranks), *cells))
    sizes = (Column(quantity.size(size, units), True) for size in _RATED)
    columns = (Column("Operation"), Column("Ranks", True), *sizes)
    return TableBlock("Rates", columns, tuple(rows), folded=True)


def figures(profile: Profile, units: Units) -> list[Figure]:
    """Latency, and bandwidth, over size; none where nothing with data was measured."""
    drawn = [(panel, _rows(profile, panel)) for panel in _panels(profile)]
    if not drawn:
        return []
    columns = len({(panel.ranks, panel.place) for panel, _ in drawn})
    points = table(profile, units)
    reading = (
        "Both axes are logarithmic. Bars: the extremes of the repetitions. 'new': the write makes "
        "the file longer; 'cached': the pages are in memory; 'cold': they are on the device only; "
        "'random': requests at places without order; 'ranks in turn': requests of the ranks "
        "alternate in one file; 'small volumes': 1 MiB repeatedly, which stays in the "
        "processor's caches; 'small files': one request each. All others are back to back. "
        "A sync is drawn over what it has to make persistent."
    )
    moved = [entry for entry in drawn if entry[0].operation is not OperationKind.SYNC]
    return [
        Figure("surface-time", "How long one call takes", _finding(profile), reading,
               _spec(drawn, "y", columns), points),
        Figure("surface-rate", "Bytes per second of all ranks together", _best(profile),
               "The same points as a rate while the calls run: size × ranks / seconds of a call.",
               _spec(moved, "rate", columns), _rates(profile, units)),
    ]  # fmt: skip
