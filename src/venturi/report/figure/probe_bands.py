"""Bands over the clock: what went on while a probe measured, shaded and named.

Above the rows each band has a bar with its name, in lanes, so that jobs which ran at once can be
told apart. In the rows themselves there is shade alone: neighbours by turns, or the deeper the more
went on at once.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from venturi.model.probe_history import PhaseSource, ProbePhase
from venturi.report import quantity
from venturi.report.figure import theme
from venturi.report.palette import INK, MUTED, SHADE

_NARROW_PX = 3.0
"""Bands of phases that are narrower in the middle are drawn as bands of runs."""
_NAME_PX = 10.5
"""Size of the names."""
_LETTER_PX = 6.2
_LANE_PX = 15.0
_BAR_PX = 2.5
_MOST_LANES = 10
_LEAST_PX = 1.5
"""Width of a bar that would be narrower."""
_SHADES = (0.55, 0.28)
_DEPTHS = (0.22, 0.38, 0.54, 0.7)
_WORDS = {
    PhaseSource.RUN: "phases of runs",
    PhaseSource.IO500: "phases of IO500",
    PhaseSource.SLURM: "Slurm jobs",
    PhaseSource.DARSHAN: "jobs with a Darshan log",
    PhaseSource.FILE: "times of a table",
}


@dataclass(frozen=True)
class ClockAxis:
    """The horizontal axis: from `begin_s` to `end_s` after a moment since 1970."""

    zero_ns: int
    begin_s: float
    end_s: float

    def text(self, at_s: float) -> str:
        """A moment in words, as fine as the axis is long."""
        moment = datetime.fromtimestamp(self.zero_ns / 1e9 + at_s, UTC)
        is_long = self.end_s - self.begin_s > 2 * 86_400
        is_short = self.end_s - self.begin_s < 7200
        form = "%Y-%m-%d %H:%M" if is_long else "%H:%M:%S" if is_short else "%H:%M"
        return moment.strftime(form)

    def date(self, at_s: float) -> str:
        """A moment with its date."""
        return datetime.fromtimestamp(self.zero_ns / 1e9 + at_s, UTC).strftime("%Y-%m-%d %H:%M")

    def place(self, at_s: float) -> float:
        """A moment as the axis counts, in milliseconds since 1970."""
        return round(self.zero_ns / 1e6 + 1e3 * at_s)


@dataclass(frozen=True)
class RunBand:
    """A run, a phase of one, or a job, in seconds after the begin."""

    name: str
    begin_s: float
    end_s: float


@dataclass(frozen=True)
class NamedBar:
    """A band's bar above the rows, in pixels; without a name where there is no room for it."""

    name: str
    begin_px: float
    end_px: float
    at_px: float
    """Where the name begins."""
    lane: int


@dataclass
class _Lane:
    """What stands in one lane already, as begins and ends that follow each other."""

    edges: list[tuple[float, float]] = field(default_factory=list)

    def take(self, begin: float, end: float) -> bool:
        """Take the room from begin to end; False where something stands there."""
        at = bisect_right(self.edges, (begin, end))
        if at and self.edges[at - 1][1] > begin:
            return False
        if at < len(self.edges) and self.edges[at][0] < end:
            return False
        insort(self.edges, (begin, end))
        return True


def bands_of(phases: Sequence[ProbePhase], clock: ClockAxis, width_px: int) -> list[RunBand]:
    """Bands of phases, or of whole runs where most phases are too narrow to be seen."""
    per_s = width_px / (clock.end_s - clock.begin_s)
    seen = [one for one in phases if one.end_s > clock.begin_s and one.begin_s < clock.end_s]
    own = [one for one in seen if _has_phases(one)]
    jobs = [RunBand(f"{one.path} ({one.run})" if one.source is not PhaseSource.FILE else one.path,
                    one.begin_s, one.end_s) for one in seen if not _has_phases(one)]  # fmt: skip
    widths = sorted((one.end_s - one.begin_s) * per_s for one in own)
    if own and widths[len(widths) // 2] < _NARROW_PX:
        whole: dict[str, RunBand] = {}
        for one in own:
            old = whole.get(one.run, RunBand(one.run, one.begin_s, one.end_s))
            begin_s, end_s = min(old.begin_s, one.begin_s), max(old.end_s, one.end_s)
            whole[one.run] = RunBand(one.run, begin_s, end_s)
        return [*whole.values(), *jobs]
    several = len({one.repetition for one in own}) > 1
    return [
        *(
            RunBand(
                f"{one.path}, rep {one.repetition + 1}" if several else one.path,
                one.begin_s,
                one.end_s,
            )
            for one in own
        ),
        *jobs,
    ]


def _has_phases(phase: ProbePhase) -> bool:
    return phase.source in (PhaseSource.RUN, PhaseSource.IO500)


def shaded_words(phases: Sequence[ProbePhase], clock: ClockAxis, width_px: int) -> str:
    """What is shaded, and how many of the names there was room for; empty where nothing is."""
    bands = bands_of(phases, clock, width_px)
    if not bands:
        return ""
    seen = [one for one in phases if one.end_s > clock.begin_s and one.begin_s < clock.end_s]
    kinds = [words for source, words in _WORDS.items() if any(one.source is source for one in seen)]
    text = f"Shaded: {', '.join(kinds)}"
    if _overlap(bands):
        text += "; the deeper, the more at once"
    bars = bars_of(bands, clock, width_px)
    named = sum(bool(bar.name) for bar in bars)
    if named < len(bands):
        text += (
            f". Above stand the names of {quantity.count(named)} of {quantity.count(len(bands))}: "
            "there is no room for more"
        )
    return f"{text}."


def layers_of(
    bands: Sequence[RunBand], clock: ClockAxis, x: dict[str, Any], width_px: int
) -> list[dict[str, Any]]:
    """The shade in one row."""
    if _overlap(bands):
        depths = _depths(bands, clock, width_px)
        return [_layer(values, opacity, clock, x) for opacity, values in depths]
    parts = [bands[index::2] for index in range(2)]
    return [
        _layer(
            [(max(one.begin_s, clock.begin_s), min(one.end_s, clock.end_s)) for one in part],
            opacity,
            clock,
            x,
        )
        for opacity, part in zip(_SHADES, parts, strict=True)
        if part
    ]


def _layer(
    values: Sequence[tuple[float, float]], opacity: float, clock: ClockAxis, x: dict[str, Any]
) -> dict[str, Any]:
    rows = [{"x": clock.place(begin), "x2": clock.place(end)} for begin, end in values]
    return {
        "data": {"values": rows},
        "mark": {"type": "rect", "color": SHADE, "opacity": opacity},
        "encoding": {"x": x, "x2": {"field": "x2"}},
    }


def _overlap(bands: Sequence[RunBand]) -> bool:
    """Whether some went on at once, for longer than clocks are wrong."""
    ordered = sorted(bands, key=lambda one: one.begin_s)
    end_s = -math.inf
    for band in ordered:
        if band.begin_s < end_s - 1.0:
            return True
        end_s = max(end_s, band.end_s)
    return False


def _depths(
    bands: Sequence[RunBand], clock: ClockAxis, width_px: int
) -> list[tuple[float, list[tuple[float, float]]]]:
    """Parts of the axis, one pixel wide at least, by how much went on in them."""
    per_s = width_px / (clock.end_s - clock.begin_s)
    steps = [0] * (width_px + 1)
    for band in bands:
        begin_px = max(0, math.floor((band.begin_s - clock.begin_s) * per_s))
        end_px = min(width_px, math.ceil((band.end_s - clock.begin_s) * per_s))
        if begin_px < width_px:
            steps[begin_px] += 1
            steps[max(end_px, begin_px + 1)] -= 1
    counts, now = [], 0
    for step in steps[:-1]:
        now += step
        counts.append(now)
    most = max(counts)
    levels = [math.ceil(count / most * min(most, len(_DEPTHS))) for count in counts]
    found: dict[int, list[tuple[float, float]]] = {}
    begin = 0
    for at in range(1, width_px + 1):
        if at == width_px or levels[at] != levels[begin]:
            edges = (clock.begin_s + begin / per_s, clock.begin_s + at / per_s)
            found.setdefault(levels[begin], []).append(edges)
            begin = at
    return [(_DEPTHS[level - 1], parts) for level, parts in sorted(found.items()) if level]


def bars_of(bands: Sequence[RunBand], clock: ClockAxis, width_px: int) -> list[NamedBar]:
    """Return the bars that find room: all in the order of time, or else the longest first."""
    ordered = sorted(bands, key=lambda one: (one.begin_s, -one.end_s))
    bars = _placed(ordered, clock, width_px)
    if len(bars) == len(bands) and all(bar.name for bar in bars):
        return bars
    longest = sorted(ordered, key=lambda one: one.begin_s - one.end_s)
    return _placed(longest, clock, width_px)


def _placed(bands: Sequence[RunBand], clock: ClockAxis, width_px: int) -> list[NamedBar]:
    per_s = width_px / (clock.end_s - clock.begin_s)
    lanes = [_Lane() for _ in range(_MOST_LANES)]
    found = []
    for band in bands:
        begin = max(0.0, (band.begin_s - clock.begin_s) * per_s)
        end = min(float(width_px), (band.end_s - clock.begin_s) * per_s)
        begin, end = min(begin, width_px - _LEAST_PX), max(end, begin + _LEAST_PX)
        name = theme.shortened(band.name, 34)
        room = len(name) * _LETTER_PX + 8
        right = max(0.0, min(begin, width_px - room))
        left = max(0.0, end - room + 8)
        for text, at in ((name, right), (name, left), ("", begin)):
            high = max(end + 1, at + room) if text else end + 1
            lane = next((n for n, one in enumerate(lanes) if one.take(min(at, begin), high)), None)
            if lane is not None:
                found.append(NamedBar(text, begin, end, at, lane))
                break
    return found


def names_over(bands: Sequence[RunBand], clock: ClockAxis, width_px: int) -> list[dict[str, Any]]:
    """The lanes of bars above the rows; nothing where there is no band."""
    bars = bars_of(bands, clock, width_px)
    if not bars:
        return []
    height = _LANE_PX * (1 + max(bar.lane for bar in bars))
    values = [_bar_values(bar) for bar in bars]
    pixels = {"type": "quantitative", "axis": None}
    x = {**pixels, "field": "px", "scale": {"domain": [0, width_px], "nice": False}}
    down = {"domain": [0, height], "nice": False, "reverse": True}
    named = [one for one in values if one["name"]]
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": values},
            "mark": {"type": "rect", "color": MUTED, "opacity": 0.7},
            "encoding": {
                "x": x,
                "x2": {"field": "px2"},
                "y": {**pixels, "field": "top", "scale": down},
                "y2": {"field": "bottom"},
            },
        }
    ]
    if named:
        layers.append(
            {
                "data": {"values": named},
                "mark": {"type": "text", "align": "left", "fontSize": _NAME_PX, "color": INK},
                "encoding": {
                    "x": {**x, "field": "at"},
                    "y": {**pixels, "field": "middle", "scale": down},
                    "text": {"field": "name"},
                },
            }
        )
    return [{"width": width_px, "height": height, "layer": layers}]


def _bar_values(bar: NamedBar) -> dict[str, Any]:
    """The bar runs below its name, which begins or ends with it."""
    bottom = _LANE_PX * (bar.lane + 1)
    return {
        "px": round(bar.begin_px, 1),
        "px2": round(bar.end_px, 1),
        "top": bottom - _BAR_PX,
        "bottom": bottom,
        "at": round(bar.at_px, 1),
        "middle": bottom - _BAR_PX - _NAME_PX * 0.5,
        "name": bar.name,
    }
