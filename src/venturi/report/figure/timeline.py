"""Rate over time: what was completed in each moment of one repetition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import theme
from venturi.report.palette import MUTED, style
from venturi.report.phase import PhaseSummary
from venturi.report.quantity import Units

_MOST_PANELS = 8
_MOST_BINS = 160
_FEWEST_BINS = 3
"""With fewer, there is no course to see."""
_FEWEST_INNER_BINS = 4
"""With fewer before the last, in which the phase ended, nothing is known of steadiness."""
_EARLY = 0.7
"""Share of a phase's time before which handing over all bytes is worth a sentence."""


@dataclass(frozen=True)
class Line:
    """Rates in equal bins of time."""

    bin_s: float
    end_s: float
    """When the phase ended: within the last bin."""
    rates: dict[str, list[float]]
    """By `write`, `read` or `operations`: bytes or operations per second in each bin."""

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return len(next(iter(self.rates.values())))


def _totals(phase: PhaseSummary) -> tuple[float, dict[str, list[float]]]:
    """Bytes or operations in equal bins since the first start of the repetition's rows."""
    rows = [row for row in phase.median_sample.rows if row.time_line.bin_s > 0]
    if not rows:
        return 0.0, {}
    start = min(row.at_s for row in rows)
    bin_s = max(row.time_line.bin_s for row in rows)
    end = max(row.at_s + row.time_line.bin_s * len(row.time_line.operations) for row in rows)
    bins = max(1, math.ceil((end - start) / bin_s - 1e-9))
    names = {"write": "bytes_written", "read": "bytes_read"}
    names = names if phase.in_bytes else {"operations": "operations"}
    bin_s *= max(1, math.ceil(bins / _MOST_BINS))
    bins = max(1, math.ceil((end - start) / bin_s - 1e-9))
    totals = {kind: [0.0] * bins for kind in names}
    for row in rows:
        for kind, name in names.items():
            for i, value in enumerate(getattr(row.time_line, name)):
                middle = row.at_s - start + (i + 0.5) * row.time_line.bin_s
                totals[kind][min(int(middle / bin_s), bins - 1)] += value
    return bin_s, totals


def line(phase: PhaseSummary) -> Line | None:
    """The rates of the repetition with the median rate, in at most 160 bins.

    The last bin is as long as the phase lasted in it, so that an unfinished bin is no drop.
    """
    bin_s, totals = _totals(phase)
    if not totals or not any(any(values) for values in totals.values()):
        return None
    sample = phase.median_sample
    start = min(row.at_s for row in sample.rows)
    end_s = max(row.at_s + row.seconds.total for row in sample.rows) - start
    bins = len(next(iter(totals.values())))
    last_s = min(max(end_s - (bins - 1) * bin_s, 0.1 * bin_s), bin_s)
    rates = {
        kind: [v / (last_s if i == bins - 1 else bin_s) for i, v in enumerate(values)]
        for kind, values in totals.items()
        if any(values)
    }
    return Line(bin_s, (bins - 1) * bin_s + last_s, rates)


def _time_unit(end_s: float) -> tuple[float, str]:
    if end_s < 0.1:
        return 1e-3, "ms"
    return (1.0, "s") if end_s < 600 else (60.0, "min")


def _panel(phase: PhaseSummary, drawn: Line, width: int, units: Units) -> dict[str, Any]:
    highest = max(max(values) for values in drawn.rates.values())
    factor, name = (
        quantity.rate_unit(highest, units)
        if phase.in_bytes
        else quantity.operation_rate_unit(highest)
    )
    step, unit = _time_unit(drawn.end_s)
    values = []
    for kind, rates in drawn.rates.items():
        points = [*rates, rates[-1]]
        values += [
            {"t": min(i * drawn.bin_s, drawn.end_s) / step, "rate": rate / factor, "kind": kind}
            for i, rate in enumerate(points)
        ]
    x = {
        "field": "t",
        "type": "quantitative",
        "axis": {"title": f"{unit} since the phase began", "titleAnchor": "end", "tickCount": 5},
        "scale": {"domain": [0, drawn.end_s / step], "nice": False},
    }
    y = {
        "field": "rate",
        "type": "quantitative",
        "axis": theme.unit_title(name),
        "scale": {"domain": [0, highest / factor * 1.08], "nice": True},
        "stack": None,
    }
    layers: list[dict[str, Any]] = []
    for kind in drawn.rates:
        look = style(phase.main_kind if kind == "operations" else kind)
        own = [value for value in values if value["kind"] == kind]
        layers.append(
            {
                "data": {"values": own},
                "mark": {
                    "type": "area",
                    "interpolate": "step-after",
                    "color": look.colour,
                    "fillOpacity": 0.16,
                    "line": {"color": look.colour, "strokeWidth": 2, "strokeDash": list(look.dash)},
                },
            }
        )
    median = phase.median_sample
    mean = (median.bytes_per_s if phase.in_bytes else median.operations_per_s()) / factor
    layers.append(
        {
            "data": {"values": [{"rate": mean}]},
            "mark": {"type": "rule", "color": MUTED, "strokeWidth": 1, "strokeDash": [2, 3]},
            "encoding": {"x": {"value": 0}, "x2": {"value": "width"}},
        }
    )
    kinds = " and ".join(f"{kind}s" if kind != "operations" else kind for kind in drawn.rates)
    return {
        "title": {"text": theme.shortened(phase.title, 40), "subtitle": kinds},
        "width": width,
        "height": 120,
        "layer": layers,
        "encoding": {"x": x, "y": y},
    }


def _finding(drawn: list[tuple[PhaseSummary, Line]], active: int, units: Units) -> str:
    """What to see in the lines; `active` phases did anything at all."""
    late, done_s = min(((p, _last_byte_s(p, entry)) for p, entry in drawn), key=lambda e: e[1][0])
    if done_s[0] < _EARLY:
        return (
            f"In {late.title} all bytes are handed over within {quantity.seconds(done_s[1])} of "
            f"{quantity.seconds(late.median_sample.total_s)}; the rest makes them persistent."
        )
    judged = [(p, entry) for p, entry in drawn if len(_inner(entry)) >= _FEWEST_INNER_BINS]
    if not judged:
        return "The phases are too short to say whether their rates are steady."
    return _steadiness(judged, len(judged) == active, units)


def _steadiness(judged: list[tuple[PhaseSummary, Line]], whole: bool, units: Units) -> str:
    """How the rates of the phases vary in time; `whole` if these are all phases."""

    def unrest(entry: tuple[PhaseSummary, Line]) -> float:
        total = _inner(entry[1])
        mean = sum(total) / len(total)
        return (max(total) - min(total)) / mean if mean > 0 else 0.0

    phase, chosen = max(judged, key=unrest)
    share = unrest((phase, chosen))
    total = _inner(chosen)
    low, high = phase.text(min(total), units), phase.text(max(total), units)
    if share < 0.3:
        range_text = f"from {low} to {high}" if low != high else f"at {low} throughout"
        if len(judged) == 1:
            return f"{phase.title} runs steadily, {range_text}."
        which = "All phases" if whole else "The phases that are long enough to judge"
        most = f"{phase.title} varies most, {range_text}" if low != high else "none varies visibly"
        return f"{which} run steadily; {most}."
    alone = len(judged) == 1
    name = f"{phase.title} is unsteady" if alone else f"The least steady is {phase.title}"
    if min(total) == 0:
        return f"{name}: it pauses, and reaches {high} at best."
    return f"{name}: between {low} and {high}."


def _last_byte_s(phase: PhaseSummary, drawn: Line) -> tuple[float, float]:
    """When a phase that syncs had moved all its bytes: as a share of its time, and in seconds."""
    together = [sum(values) for values in zip(*drawn.rates.values(), strict=True)]
    last = max((i for i, value in enumerate(together) if value > 0), default=0)
    if "sync" not in phase.kinds or not phase.in_bytes or last == len(together) - 1:
        return 1.0, drawn.end_s
    moved_s = (last + 1) * drawn.bin_s
    return moved_s / drawn.end_s, moved_s


def _inner(drawn: Line) -> list[float]:
    """The rate of all kinds together in each bin but the last, in which the phase ended."""
    return [sum(values) for values in zip(*drawn.rates.values(), strict=True)][:-1]


def _table(drawn: list[tuple[PhaseSummary, Line]], units: Units) -> TableBlock:
    rows = []
    for phase, entry in drawn:
        for kind, rates in entry.rates.items():
            busy = sorted(rates)
            picks = (busy[0], busy[len(busy) // 2], busy[-1])
            rows.append(
                (
                    phase.title,
                    kind,
                    quantity.seconds(entry.bin_s),
                    str(len(rates)),
                    *(phase.text(value, units) for value in picks),
                )
            )
    titles = ("Phase", "What", "Bin", "Bins", "Lowest", "Middle", "Highest")
    columns = tuple(Column(title, index > 1) for index, title in enumerate(titles))
    return TableBlock("Rates in the bins", columns, tuple(rows), folded=True)


def figure(phases: list[PhaseSummary], units: Units) -> Figure | None:
    """The time lines; none where every phase was over in two bins."""
    lines = [(phase, line(phase)) for phase in phases]
    drawn = [(p, entry) for p, entry in lines if entry is not None and entry.bins >= _FEWEST_BINS]
    if not drawn:
        return None
    shown = drawn[:_MOST_PANELS]
    columns = 3 if len(shown) == 3 or len(shown) > 4 else 2
    width = theme.column_px(min(columns, len(shown)))
    panels = [_panel(phase, entry, width, units) for phase, entry in shown]
    rest = len(drawn) - len(panels)
    return Figure(
        name="timeline",
        title="Rate over time",
        finding=_finding(drawn, sum(not phase.idle for phase in phases), units),
        reading=(
            "The repetition with the median rate, all ranks together. Dotted: its mean rate. Each "
            "panel has its own scales."
            + (f" The table has {quantity.counted(rest, 'more phase')}." if rest else "")
        ),
        spec=theme.whole({"concat": panels, "columns": columns, "spacing": theme.GAP_PX}),
        table=_table(drawn, units),
    )
