"""Rows of a comparison: both sides of a metric, and what two samples say of each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from venturi.analyse.two_samples import ALPHA, Contrast, contrast, holm
from venturi.model.campaign import Better
from venturi.model.comparison import ComparisonRow, MedianInterval, MetricChange
from venturi.model.statistic import median_interval

MATTERS = 0.05
"""The least change that is called one, as a share."""


@dataclass(frozen=True)
class MetricPair:
    """A metric of both sides."""

    unit: str
    better: Better
    first: Sequence[float]
    second: Sequence[float]
    unlike: str = ""
    """How the two were not measured alike; empty: they were."""
    of: str = ""
    """The operation that rates in 1/s count."""


def rows_of(parts: Sequence[Mapping[str, MetricPair]]) -> list[list[ComparisonRow]]:
    """The rows of each part; all their tests count as one family."""
    found = [
        {name: contrast(pair.first, pair.second) for name, pair in pairs.items()} for pairs in parts
    ]
    judged = [
        (index, name)
        for index, pairs in enumerate(parts)
        for name, pair in pairs.items()
        if not pair.unlike and found[index][name].least_p_value <= ALPHA
    ]
    p_values = holm([found[index][name].p_value for index, name in judged])
    adjusted = dict(zip(judged, p_values, strict=True))
    return [
        [
            _row(name, pair, found[index][name], adjusted.get((index, name)))
            for name, pair in pairs.items()
        ]
        for index, pairs in enumerate(parts)
    ]


def _row(name: str, pair: MetricPair, what: Contrast, p_value: float | None) -> ComparisonRow:
    change = MetricChange.UNLIKE if pair.unlike else _change(pair, what, p_value)
    worse = {Better.HIGHER: MetricChange.LOWER, Better.LOWER: MetricChange.HIGHER}.get(pair.better)
    return ComparisonRow(
        name=name,
        unit=pair.unit,
        of=pair.of,
        first=_measured(pair.first),
        second=_measured(pair.second),
        ratio=what.ratio,
        low=what.low,
        high=what.high,
        p_value=min(what.p_value if p_value is None else p_value, 1.0),
        superiority=what.superiority,
        detectable=what.detectable,
        change=change,
        is_worse=change is worse,
        why=pair.unlike,
    )


def _change(pair: MetricPair, what: Contrast, p_value: float | None) -> MetricChange:
    if p_value is None:
        same = set(pair.first) == set(pair.second) and len(set(pair.first)) == 1
        return MetricChange.SAME if same else MetricChange.UNSURE
    if p_value > ALPHA:
        return MetricChange.SAME
    if what.ratio is not None and abs(what.ratio - 1.0) < MATTERS:
        return MetricChange.SMALL
    return MetricChange.HIGHER if what.superiority > 0.5 else MetricChange.LOWER


def _measured(values: Sequence[float]) -> MedianInterval:
    found = median_interval(values)
    return MedianInterval(
        median=found.median,
        low=found.low,
        high=found.high,
        n=len(values),
        coverage=found.coverage,
    )


def headline_of(rows: Sequence[ComparisonRow], where: str = "") -> str:
    """What a reader must know first."""
    significant = [row for row in rows if row.is_significant]
    if significant:
        most = max(significant, key=_distance)
        rest = f"; {len(significant) - 1} more differ" if len(significant) > 1 else ""
        times = f" ({most.ratio:.2f} times the first)" if most.ratio is not None else ""
        return f"{most.name}{where} is {most.change.value} in the second run{times}{rest}."
    unsure = sum(row.change is MetricChange.UNSURE for row in rows)
    unlike = sum(row.change is MetricChange.UNLIKE for row in rows)
    if unsure:
        return f"{unsure} of {len(rows)} metrics have too few repetitions for a verdict (four do)."
    if unlike == len(rows):
        return "No metric was measured alike in both runs."
    seen = [row.detectable for row in rows if row.change is MetricChange.SAME and row.detectable]
    could = f"; a change of {max(seen):.0%} would have been seen" if seen else ""
    small = [row for row in rows if row.change is MetricChange.SMALL]
    if small:
        most = max(small, key=_distance)
        return f"{most.name}{where} is hardly another in the second run ({most.ratio:.2f} times)."
    return f"No metric of {len(rows) - unlike} surely differs between the two runs{could}."


def _distance(row: ComparisonRow) -> float:
    """How far the two are apart, as a factor."""
    if not row.ratio:
        return float("inf")
    return max(row.ratio, 1 / row.ratio)
