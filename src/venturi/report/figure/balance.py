"""Balance: seconds in I/O and bytes of each rank; sorted curves where there are many."""

from __future__ import annotations

from typing import Any

from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import BLUE, GREEN, INK, MUTED, ORANGE, PURPLE, SHADE
from venturi.report.phase import PhaseSummary, Ranks
from venturi.report.quantity import Units

_COLUMNS = 3
_MOST_PANELS = 6
_MOST_BARS = 64
_MOST_POINTS = 200
_MOST_TABLE_RANKS = 64
_MOST_TABLE_ROWS = 512
_PARTS = {"open": ORANGE, "transfer": BLUE, "close": PURPLE, "names": GREEN}


def _thinned(values: list[float]) -> list[tuple[int, float]]:
    """(place, value) of ascending values, at most 200, always with both ends."""
    ascending = sorted(values)
    last = len(ascending) - 1
    if last < _MOST_POINTS:
        return list(enumerate(ascending))
    picked = sorted({round(i * last / (_MOST_POINTS - 1)) for i in range(_MOST_POINTS)})
    return [(i, ascending[i]) for i in picked]


def _time_unit(longest_s: float) -> tuple[float, str]:
    for factor, name in ((1.0, "s"), (1e-3, "ms")):
        if longest_s >= factor:
            return factor, name
    return 1e-6, "µs"


def _size_unit(largest: float, units: Units) -> tuple[float, str]:
    factor, name = quantity.rate_unit(largest, units)
    return factor, name.removesuffix("/s")


def _bars(ranks: Ranks, factor: float) -> dict[str, Any]:
    times = (ranks.open_s, ranks.transfer_s, ranks.close_s, ranks.other_s)
    columns = dict(zip(_PARTS, times, strict=True))
    values = [
        {"rank": rank, "value": column[rank] / factor, "part": part, "order": order}
        for order, (part, column) in enumerate(columns.items())
        for rank in range(len(column))
    ]
    colour = {"domain": list(_PARTS), "range": list(_PARTS.values())}
    return {
        "data": {"values": values},
        "mark": {"type": "bar", "stroke": INK, "strokeWidth": 0.4},
        "encoding": {
            "color": {"field": "part", "type": "nominal", "scale": colour},
            "order": {"field": "order"},
        },
    }


def _plot(layer: dict[str, Any], ranks: int, height: int, unit: str, last: bool) -> dict[str, Any]:
    """One small plot over the ranks."""
    many = ranks > _MOST_BARS
    step = max(1, ranks // 8)
    x: dict[str, Any] = {
        "field": "rank",
        "type": "quantitative" if many else "ordinal",
        "axis": {
            "title": None,
            "labels": last,
            "ticks": False,
            "labelAngle": 0,
            "labelOverlap": True,
        },
    }
    if many:
        x["scale"] = {"domain": [0, ranks - 1], "nice": False}
    else:
        x["axis"]["values"] = list(range(0, ranks, step))
    if last:
        x["axis"] |= {"title": "ranks, sorted" if many else "rank", "titleAnchor": "end"}
    y = {
        "field": "value",
        "type": "quantitative",
        "axis": {**theme.unit_title(unit), "tickCount": 3},
        "scale": {"zero": True},
    }
    encoding = {"x": x, "y": y, **layer.get("encoding", {})}
    return {"height": height} | layer | {"encoding": encoding}


def _panel(phase: PhaseSummary, width: int, units: Units) -> dict[str, Any]:
    ranks = phase.median_sample.ranks()
    n = len(ranks.bytes)
    factor, unit = _time_unit(max(ranks.busy_s))
    size, size_name = _size_unit(max(ranks.bytes), units)
    curve = {"type": "area", "color": SHADE, "line": {"color": BLUE, "strokeWidth": 2}}
    if n <= _MOST_BARS:
        top = _bars(ranks, factor)
        values = [{"rank": i, "value": value / size} for i, value in enumerate(ranks.bytes)]
        bottom: dict[str, Any] = {
            "data": {"values": values},
            "mark": {"type": "bar", "color": SHADE, "stroke": MUTED, "strokeWidth": 0.8},
        }
    else:
        busy = [{"rank": i, "value": v / factor} for i, v in _thinned(ranks.busy_s)]
        moved = [float(value) for value in ranks.bytes]
        low = [{"rank": i, "value": v / size} for i, v in _thinned(moved)]
        top = {"data": {"values": busy}, "mark": curve}
        bottom = {"data": {"values": low}, "mark": curve}
    plots = [_plot(top, n, 105, f"{unit} at work", not any(ranks.bytes))]
    if any(ranks.bytes):
        plots.append(_plot(bottom, n, 55, size_name, True))
    return {
        "title": theme.shortened(phase.title, 34),
        "spacing": 26,
        "vconcat": [{**plot, "width": width} for plot in plots],
    }


def slowest(ranks: Ranks) -> tuple[int, float]:
    """The rank with most seconds in I/O, and how much more than the mean that is."""
    busy = ranks.busy_s
    at = max(range(len(busy)), key=lambda rank: busy[rank])
    mean = sum(busy) / len(busy)
    return at, busy[at] / mean - 1 if mean > 0 else 0.0


def _waited_s(ranks: Ranks) -> float:
    """How long the mean rank may have to wait for the slowest one."""
    return max(ranks.busy_s) - sum(ranks.busy_s) / len(ranks.busy_s)


def _finding(phases: list[PhaseSummary], units: Units) -> str:
    found = [(phase, phase.median_sample.ranks()) for phase in phases]
    phase, ranks = max(found, key=lambda entry: _waited_s(entry[1]))
    at, excess = slowest(ranks)
    if max(len(entry.bytes) for _, entry in found) == 1:
        return "One rank does all the work, so there is nothing to balance."
    if excess < 0.1:
        text = "All ranks spend about the same time in I/O"
        text += f" (the slowest {quantity.percent(excess)} above the mean)."
    else:
        text = (
            f"In {phase.title}, rank {at} spends {quantity.signed_percent(excess)} more time in "
            "I/O than the mean: the others may have to wait for it."
        ).replace("+", "")
    uneven = [(p, r) for p, r in found if r.bytes and max(r.bytes) != min(r.bytes)]
    if not uneven:
        return f"{text} Every rank moves the same number of bytes."
    other, lopsided = max(uneven, key=lambda entry: max(entry[1].bytes) - min(entry[1].bytes))
    low, high = min(lopsided.bytes), max(lopsided.bytes)
    return (
        f"{text} Bytes are unequal in {other.title}: from {quantity.size(low, units)} to "
        f"{quantity.size(high, units)} a rank."
    )


def _table(phases: list[PhaseSummary], units: Units) -> TableBlock:
    """The ranks of each phase; where they are too many for a page, the slowest of them."""
    most = max(4, min(_MOST_TABLE_RANKS, _MOST_TABLE_ROWS // len(phases)))
    rows, cut = [], False
    for phase in phases:
        ranks = phase.median_sample.ranks()
        busy = ranks.busy_s
        order = list(range(len(busy)))
        if len(busy) > most:
            order, cut = sorted(order, key=lambda rank: -busy[rank])[:most], True
        for rank in order:
            columns_s = (ranks.open_s, ranks.transfer_s, ranks.close_s, ranks.other_s, busy)
            times = tuple(quantity.seconds(column[rank]) for column in columns_s)
            rows.append((phase.title, str(rank), quantity.size(ranks.bytes[rank], units), *times))
    titles = ("Phase", "Rank", "Bytes", "Open", "Transfer", "Close", "Names", "Together")
    columns = tuple(Column(title, index > 0) for index, title in enumerate(titles))
    title = f"The {most} slowest ranks of each phase" if cut else "Ranks"
    return TableBlock(title, columns, tuple(rows), folded=True)


def figure(phases: list[PhaseSummary], units: Units) -> Figure | None:
    """Panels for the longest phases; none where no rank did anything."""
    active = [p for p in phases if not p.idle and p.median_sample.ranks().bytes]
    if not active:
        return None
    longest = sorted(active, key=lambda p: -p.median_sample.total_s)[:_MOST_PANELS]
    shown = [phase for phase in active if phase in longest]
    columns = min(max(len(shown), 2), _COLUMNS)
    panels = [_panel(phase, theme.column_px(columns), units) for phase in shown]
    rest = len(active) - len(shown)
    return Figure(
        name="balance",
        title="Balance of the ranks",
        finding=_finding(active, units),
        reading=(
            "Above: seconds at work on files; below: bytes moved; the repetition with the median "
            "rate. Names: all of a rank's time in a phase that only works on names. From 65 ranks "
            "on, both are sorted." + (f" {rest} shorter phases are in the table." if rest else "")
        ),
        spec=theme.whole({"concat": panels, "columns": columns, "spacing": theme.GAP_PX}),
        table=_table(active, units),
    )
