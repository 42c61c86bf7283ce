"""Rows of a comparison: both sides of a metric, and whether they differ significantly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from venturi.analyse.contrast import Contrast, contrasts, described, is_enough
from venturi.analyse.detectable import MATTERS
from venturi.analyse.serial_dependence import allowance_of, serial_dependence
from venturi.model.comparison import (
    ComparisonRow,
    MedianInterval,
    MetricChange,
    SerialDependence,
)
from venturi.model.output import Better
from venturi.model.statistic import median_interval


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


@dataclass(frozen=True)
class JudgedRows:
    """The rows of each part, and what all of them share."""

    rows: list[list[ComparisonRow]]
    judged: int
    """Metrics that were judged together."""
    serial: SerialDependence | None
    """What the order of repetitions shows."""


def rows_of(parts: Sequence[Mapping[str, MetricPair]]) -> JudgedRows:
    """Return the rows of each part; the metrics of all parts are judged as one family.

    Where the order of repetitions shows serial dependence, it takes more to be significant.
    """
    alike = [
        {name: (pair.first, pair.second) for name, pair in pairs.items() if not pair.unlike}
        for pairs in parts
    ]
    serial = serial_dependence(
        [
            {name: sides for name, sides in own.items() if is_enough(*map(len, sides))}
            for own in alike
        ]
    )
    judged = contrasts([list(own.values()) for own in alike], allowance_of(serial))
    found = [
        dict(zip(own, results, strict=True)) for own, results in zip(alike, judged, strict=True)
    ]
    rows = [
        [
            _row(name, pair, own.get(name, described(pair.first, pair.second)))
            for name, pair in pairs.items()
        ]
        for pairs, own in zip(parts, found, strict=True)
    ]
    count = sum(row.p_adjusted is not None for own in rows for row in own)
    return JudgedRows(rows, count, serial)


def _row(name: str, pair: MetricPair, what: Contrast) -> ComparisonRow:
    change = _change(pair, what)
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
        p_adjusted=what.p if what.is_judged else None,
        superiority=what.superiority,
        detectable=what.detectable,
        change=change,
        is_worse=change is worse,
        why=pair.unlike,
    )


def _change(pair: MetricPair, what: Contrast) -> MetricChange:
    if pair.unlike:
        return MetricChange.UNLIKE
    if set(pair.first) == set(pair.second) and len(set(pair.first)) == 1:
        return MetricChange.EQUAL
    is_small = what.ratio is not None and abs(what.ratio - 1.0) < MATTERS
    if what.is_significant:
        if is_small:
            return MetricChange.SMALL
        return MetricChange.HIGHER if what.is_higher else MetricChange.LOWER
    if what.is_apart and not is_small:
        return MetricChange.APART
    return MetricChange.SAME if what.is_judged else MetricChange.UNSURE


def _measured(values: Sequence[float]) -> MedianInterval:
    found = median_interval(values)
    return MedianInterval(
        median=found.median,
        low=found.low,
        high=found.high,
        n=len(values),
        coverage=found.coverage,
    )


def headline_of(rows: Sequence[ComparisonRow]) -> str:
    """Return what a reader must know first."""
    found = [row for row in rows if row.is_significant]
    if found:
        most = max(found, key=_distance)
        times = f" ({most.ratio:.3g} times the first)" if most.ratio is not None else ""
        rest = f"; {len(found)} of {len(rows)} metrics differ" if len(rows) > 1 else ""
        return f"{most.name} is significantly {most.change.value} in the second run{times}{rest}."
    apart = [row for row in rows if row.change is MetricChange.APART]
    if apart:
        return _apart(rows, apart)
    return _none(rows)


def _apart(rows: Sequence[ComparisonRow], apart: Sequence[ComparisonRow]) -> str:
    most = max(apart, key=_distance)
    side = "above" if most.superiority > 0.5 else "below"
    times = f" ({most.ratio:.3g} times)" if most.ratio is not None else ""
    others = f", and so for {len(apart) - 1} more" if len(apart) > 1 else ""
    return (
        f"All values of {most.name} in the second run are {side} all of the first{times}{others}; "
        f"with {most.first.n} and {most.second.n} repetitions of {_counted(len(rows))} this is not "
        "significant. Repeat both runs more often."
    )


def _none(rows: Sequence[ComparisonRow]) -> str:
    """Return the headline where nothing differs: what could have been detected."""
    unsure = sum(row.change is MetricChange.UNSURE for row in rows)
    judged = [row for row in rows if row.change not in (MetricChange.UNSURE, MetricChange.UNLIKE)]
    if not judged and not unsure:
        return "No metric was measured alike in both runs."
    if not judged:
        few = f"{rows[0].first.n} and {rows[0].second.n}"
        return f"Too few repetitions ({few}): no difference can be significant; four each can."
    small = [row for row in judged if row.change is MetricChange.SMALL]
    seen = [row.detectable for row in judged if row.detectable and row.change is MetricChange.SAME]
    could = (
        f"this comparison could have detected changes of at least {100 * max(seen):.0f} %"
        if seen
        else ""
    )
    if small:
        most = max(small, key=_distance)
        said = f"{_nothing(judged)} by 5 % or more; {most.name} is {most.ratio:.3g} times the first"
    elif all(row.change is MetricChange.EQUAL for row in judged):
        said = f"All values of {_counted(len(judged))} are equal in both runs"
    else:
        said = _nothing(judged)
    left = f" {unsure} more have too few repetitions." if unsure else ""
    return f"{said}; {could}.{left}" if could else f"{said}.{left}"


def _nothing(judged: Sequence[ComparisonRow]) -> str:
    if len(judged) == 1:
        return f"{judged[0].name} does not differ significantly"
    return f"None of the {len(judged)} metrics differs significantly"


def _counted(count: int) -> str:
    return f"{count} metrics" if count > 1 else "one metric"


def _distance(row: ComparisonRow) -> float:
    """Return how far the two are apart, as a factor."""
    if not row.ratio:
        return float("inf")
    return max(row.ratio, 1 / row.ratio)
