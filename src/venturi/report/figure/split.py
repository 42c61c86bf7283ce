"""Where the time of a phase went: opening, moving data, closing, computing, the rest."""

from __future__ import annotations

import statistics
from typing import Any

from venturi.report import quantity
from venturi.report.block import Column, Figure, Table
from venturi.report.figure import theme
from venturi.report.palette import BLUE, GREEN, INK, MUTED, ORANGE, PAPER, PURPLE, SHADE
from venturi.report.phase import Phase

PARTS = {
    "open": ORANGE,
    "transfer": BLUE,
    "close": PURPLE,
    "compute": GREEN,
    "waiting and other": SHADE,
}
_LABEL_FROM = 0.09
_DARK_FILLS = ("transfer", "compute")


def shares(phase: Phase) -> dict[str, float]:
    """Shares of the phase's time, of the mean rank in the repetition with the median rate.

    Open, transfer and close are means over the ranks; compute is the largest rank's; what is
    left of the phase's time is waiting for other ranks and whatever is none of these.
    """
    sample = phase.median_sample
    ranks = sample.ranks()
    total = sample.total_s
    if total <= 0 or not ranks.open_s:
        return dict.fromkeys(PARTS, 0.0)
    values = {
        "open": statistics.fmean(ranks.open_s) / total,
        "transfer": statistics.fmean(ranks.transfer_s) / total,
        "close": statistics.fmean(ranks.close_s) / total,
        "compute": sum(row.seconds.compute for row in sample.rows) / total,
    }
    known = sum(values.values())
    if known > 1:
        values = {part: value / known for part, value in values.items()}
    return values | {"waiting and other": max(0.0, 1 - known)}


def _bars(split: list[tuple[Phase, dict[str, float]]]) -> list[dict[str, Any]]:
    bars = []
    for row, (_, values) in enumerate(split):
        start = 0.0
        for part, share in values.items():
            if share > 0:
                bars.append(
                    {
                        "y": row - 0.32, "y2": row + 0.32, "middle": row,
                        "x": 100 * start, "x2": 100 * (start + share),
                        "part": part,
                        "at": 100 * (start + share / 2),
                        "text": quantity.percent(share) if share >= _LABEL_FROM else "",
                        "dark": part in _DARK_FILLS,
                    }
                )  # fmt: skip
            start += share
    return bars


def _spec(split: list[tuple[Phase, dict[str, float]]]) -> dict[str, Any]:
    bars = _bars(split)
    rows = [
        {
            "y": row,
            "name": theme.shortened(phase.title),
            "time": quantity.seconds(phase.median_sample.total_s),
        }
        for row, (phase, _) in enumerate(split)
    ]
    width = theme.WIDTH - theme.NAME_PX - theme.VALUE_PX
    y = {
        "field": "y",
        "type": "quantitative",
        "axis": None,
        "scale": {"domain": [-0.5, len(split) - 0.5], "reverse": True, "nice": False},
    }
    x = {
        "field": "x",
        "type": "quantitative",
        "axis": {"title": "% of the phase's time", "titleAnchor": "end", "grid": False},
        "scale": {"domain": [0, 100], "nice": False},
    }
    present = [part for part in PARTS if any(bar["part"] == part for bar in bars)]
    colour = {"domain": present, "range": [PARTS[part] for part in present]}
    inside = {"condition": {"test": "datum.dark", "value": PAPER}, "value": INK}
    return {
        "width": width,
        "height": 36 * len(split),
        "layer": [
            {
                "data": {"values": bars},
                "mark": {"type": "rect", "stroke": PAPER, "strokeWidth": 1.5},
                "encoding": {
                    "x": x,
                    "x2": {"field": "x2"},
                    "y": y,
                    "y2": {"field": "y2"},
                    "color": {"field": "part", "type": "nominal", "scale": colour},
                },
            },
            {
                "data": {"values": [bar for bar in bars if bar["text"]] or [{"text": ""}]},
                "mark": {"type": "text", "fontSize": 12},
                "encoding": {
                    "x": {**x, "field": "at"},
                    "y": {**y, "field": "middle"},
                    "text": {"field": "text"},
                    "color": inside,
                },
            },
            theme.names(rows, y),
            {
                "data": {"values": rows},
                "mark": {"type": "text", "fontSize": 13, "align": "left", "color": MUTED},
                "encoding": {"x": {"value": width + 16}, "y": y, "text": {"field": "time"}},
            },
        ],
    }


def _finding(split: list[tuple[Phase, dict[str, float]]]) -> str:
    phase, values = max(split, key=lambda entry: entry[0].median_sample.total_s)
    part = max(values, key=lambda name: values[name])
    verb = {
        "open": "opening files",
        "transfer": "moving data",
        "close": "closing files",
        "compute": "computing",
    }.get(part, "waiting for other ranks or in other operations")
    text = f"The longest phase, {phase.title}, spends {quantity.percent(values[part])} {verb}."
    if part == "waiting and other":
        text = f"Of the longest phase, {phase.title}, {quantity.percent(values[part])} is {verb}."
    names = [p.title for p, v in split if p is not phase and v["open"] + v["close"] > 0.3]
    if names:
        text += f" Opening and closing take more than 30 % of {', '.join(names)}."
    return text


def figure(phases: list[Phase]) -> Figure | None:
    """Stacked bars, one for each phase; none where no time passed."""
    split = [(p, shares(p)) for p in phases if p.median_sample.total_s > 0]
    split = [(phase, values) for phase, values in split if any(values.values())]
    if not split:
        return None
    rows = tuple(
        (
            phase.title,
            quantity.seconds(phase.median_sample.total_s),
            *(quantity.percent(values[part]) for part in PARTS),
        )
        for phase, values in split
    )
    titles = ("Phase", "Time", *(part.capitalize() for part in PARTS))
    columns = tuple(Column(title, index > 0) for index, title in enumerate(titles))
    return Figure(
        name="split",
        title="Where the time went",
        finding=_finding(split),
        reading=(
            "Shares of each phase's time, mean over the ranks, in the repetition with the median "
            "rate. From left to right: opening (and creating), transfer, closing, computing, the "
            "rest."
        ),
        spec=theme.whole(_spec(split)),
        table=Table("Shares of time", columns, rows, folded=True),
    )
