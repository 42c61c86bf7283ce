"""Where the time of a phase went: opening, moving data, closing, computing, the rest."""

from __future__ import annotations

import statistics
from typing import Any

from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PAPER,
    PURPLE,
    SHADE,
    VERMILLION,
)
from venturi.report.phase import PhaseSummary

_REST = "waiting and other"

PARTS = {
    "open": ORANGE,
    "transfer": BLUE,
    "sync": VERMILLION,
    "close": PURPLE,
    "names": GREEN,
    "compute": MUTED,
    _REST: SHADE,
}
_LABEL_FROM = 0.09
_DARK_FILLS = ("transfer", "sync", "names", "compute")
_NAMES = (
    "stat",
    "unlink",
    "mkdir",
    "rmdir",
    "rename",
    "link",
    "symlink",
    "mknod",
    "read_dir",
    "set_xattr",
    "get_xattr",
    "truncate",
    "find",
    "copy",
    "clone",
    "seek",
    "empty_read",
    "set_attribute",
    "miss",
)


def shares(phase: PhaseSummary) -> dict[str, float]:
    """Shares of the phase's time, of the mean rank in the repetition with the median rate.

    Sync is taken out of the transfer, in which the engine counts it; compute is the largest
    rank's. What is left of the phase's time is waiting for other ranks, and whatever no
    clock of the engine covers.
    """
    sample = phase.median_sample
    ranks = sample.ranks()
    total = sample.total_s
    if total <= 0 or not ranks.open_s:
        return dict.fromkeys(PARTS, 0.0)
    transfer_s = statistics.fmean(ranks.transfer_s)
    sync_s = min(sample.mean_s("sync"), transfer_s)
    seconds = {
        "open": statistics.fmean(ranks.open_s),
        "transfer": transfer_s - sync_s,
        "sync": sync_s,
        "close": statistics.fmean(ranks.close_s),
        "names": sample.mean_s(*_NAMES),
        "compute": sum(row.seconds.compute for row in sample.rows),
    }
    whole = max(total, sum(seconds.values()))
    values = {part: value / whole for part, value in seconds.items()}
    return values | {_REST: max(0.0, 1 - sum(values.values()))}


def _bars(split: list[tuple[PhaseSummary, dict[str, float]]]) -> list[dict[str, Any]]:
    bars = []
    for row, (_, values) in enumerate(split):
        start = 0.0
        for part, share in values.items():
            if share > 0:
                bars.append(
                    {
                        "y": row - 0.32,
                        "y2": row + 0.32,
                        "middle": row,
                        "x": 100 * start,
                        "x2": 100 * (start + share),
                        "part": part,
                        "at": 100 * (start + share / 2),
                        "text": quantity.percent(share) if share >= _LABEL_FROM else "",
                        "dark": part in _DARK_FILLS,
                    }
                )
            start += share
    return bars


def _spec(split: list[tuple[PhaseSummary, dict[str, float]]]) -> dict[str, Any]:
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


def _finding(split: list[tuple[PhaseSummary, dict[str, float]]]) -> str:
    phase, values = max(split, key=lambda entry: entry[0].median_sample.total_s)
    part = max(values, key=lambda name: values[name])
    verb = {
        "open": "opening files",
        "transfer": "moving data",
        "sync": "making data persistent",
        "close": "closing files",
        "names": "working on names",
        "compute": "computing",
        _REST: "waiting and on other things",
    }[part]
    text = f"The longest phase, {phase.title}, spends {quantity.percent(values[part])} {verb}."
    names = [p.title for p, v in split if p is not phase and v["open"] + v["close"] > 0.3]
    if names:
        text += f" Opening and closing take more than 30 % of {', '.join(names)}."
    return text


def figure(phases: list[PhaseSummary]) -> Figure | None:
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
            "rate. From left to right: opening and creating, "
            "transfer, sync, closing, names (stat, unlink, mkdir, rmdir), "
            "computing (with think time), waiting and other."
        ),
        spec=theme.whole(_spec(split)),
        table=TableBlock("Shares of time", columns, rows, folded=True),
    )
