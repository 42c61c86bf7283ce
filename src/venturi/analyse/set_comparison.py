"""Two sets of runs, point by point: machines, tags, sessions of a campaign.

Runs of one session share the day's load. Where a side has several sessions, each counts as one
value, the median of its repetitions; with one session a side, its repetitions are the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from venturi.analyse.contrast_row import MetricPair, headline_of, rows_of
from venturi.analyse.left_out import is_invalid, left_out_text
from venturi.model.comparison import (
    COMPARISON_SCHEMA,
    ComparisonSet,
    Difference,
    MetricChange,
    RunComparison,
)
from venturi.model.error import UserError
from venturi.model.result import Result
from venturi.model.statistic import median

Points = dict[str, list[Result]]
_SHOWN = 3


def compared_sets(
    first: Sequence[Result], second: Sequence[Result], names: tuple[str, str]
) -> ComparisonSet:
    """Every point that both sides have. UserError where there is none, naming what differs."""
    sides = _points(first), _points(second)
    common = [key for key in sides[0] if key in sides[1]]
    if not common:
        raise UserError(
            f"{names[0]} and {names[1]} did nothing alike: {_nearest(*sides)}",
            "compare runs of one workload or campaign with the same ranks and parameters",
        )
    pairs = {key: _pairs(sides[0][key], sides[1][key]) for key in common}
    pairs = {key: own for key, own in pairs.items() if own}
    if not pairs:
        raise UserError(f"{names[0]} and {names[1]} have no metric in common")
    found = rows_of(list(pairs.values()))
    parts = [
        RunComparison(
            schema_=COMPARISON_SCHEMA,
            first=names[0],
            second=names[1],
            name=_title(sides[0][key][0]),
            ranks=sides[0][key][0].ranks,
            rows=rows,
            differences=[],
            headline=headline_of(rows),
            judged=found.judged,
            serial=found.serial,
            parameters=sides[0][key][0].parameters,
        )
        for key, rows in zip(pairs, found.rows, strict=True)
    ]
    return ComparisonSet(
        schema_="venturi.comparison-set/2",
        first=names[0],
        second=names[1],
        differences=list(_differences(first, second)),
        parts=parts,
        only_first=[point_text(own[0]) for key, own in sides[0].items() if key not in sides[1]],
        only_second=[point_text(own[0]) for key, own in sides[1].items() if key not in sides[0]],
        headline=_headline(parts) + left_out_text([*first, *second]),
    )


def point_text(result: Result) -> str:
    """What was done, in a line."""
    said = ", ".join(f"{name} {value}" for name, value in result.parameters.items())
    return f"{_title(result)} on {result.ranks} ranks" + (f" ({said})" if said else "")


def _title(result: Result) -> str:
    return f"{result.name} {result.step}".rstrip()


def _points(results: Sequence[Result]) -> Points:
    points: Points = {}
    for result in results:
        if not is_invalid(result) and result.metrics:
            points.setdefault(result.key, []).append(result)
    return points


def values_by_session(results: Sequence[Result], name: str) -> dict[str, list[float]]:
    """All values of a metric by session, sessions in the order of their first run."""
    found: dict[str, list[float]] = {}
    for result in sorted(results, key=lambda result: result.started):
        if name in result.metrics:
            found.setdefault(result.session, []).extend(result.metrics[name].values)
    return found


def _pairs(first: Sequence[Result], second: Sequence[Result]) -> dict[str, MetricPair]:
    names = dict.fromkeys(name for result in first for name in result.metrics)
    there = {name for result in second for name in result.metrics}
    pairs = {}
    for name in names:
        if name not in there:
            continue
        sides = values_by_session(first, name), values_by_session(second, name)
        several = any(len(side) > 1 for side in sides)
        values = [
            [median(own) for own in side.values()] if several else next(iter(side.values()))
            for side in sides
        ]
        measure = next(result.metrics[name] for result in first if name in result.metrics)
        unlike, of = _unlike(first, second, name), measure.of
        pairs[name] = MetricPair(measure.unit, measure.better, values[0], values[1], unlike, of)
    return pairs


def _unlike(first: Sequence[Result], second: Sequence[Result], name: str) -> str:
    """How values of a metric were not measured alike."""
    sides = [
        {(m.unit, m.of, m.condition) for r in side if (m := r.metrics.get(name)) is not None}
        for side in (first, second)
    ]
    quantities = {(unit, of) for side in sides for unit, of, _ in side}
    if sides[0] == sides[1] and len(quantities) == 1:
        return ""
    told = [" and ".join(sorted(" ".join(filter(None, key)) for key in side)) for side in sides]
    return f"{told[0]} in the first and {told[1]} in the second"


def _differences(first: Sequence[Result], second: Sequence[Result]) -> Iterator[Difference]:
    """What of the surroundings differs between the sides, or within one."""
    names = dict.fromkeys(name for result in (*first, *second) for name in result.facts)
    sides = [("machine", [{r.machine for r in side} for side in (first, second)])]
    sides += [
        (name, [{r.facts.get(name, "not said") for r in side} for side in (first, second)])
        for name in names
    ]
    for what, (one, other) in sides:
        if one != other:
            yield Difference(what=what, first=_said(one), second=_said(other))


def _said(values: set[str]) -> str:
    shown = sorted(values)[:_SHOWN]
    more = len(values) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _nearest(first: Points, second: Points) -> str:
    """What differs between the two points that are most alike."""
    if not first or not second:
        return f"the {'second' if first else 'first'} has no run that measured anything"
    best: list[str] | None = None
    for one in list(first.values())[:50]:
        for other in list(second.values())[:50]:
            found = list(_unlikes(one[0], other[0]))
            if best is None or len(found) < len(best):
                best = found
    return "; ".join((best or [])[:_SHOWN])


def _unlikes(one: Result, other: Result) -> Iterator[str]:
    pairs: dict[str, tuple[object, object]] = {
        "what ran": (_title(one), _title(other)),
        "the tool": (one.source.tool, other.source.tool),
        "ranks": (one.ranks, other.ranks),
        "nodes": (one.nodes, other.nodes),
        "what it does": (one.work, other.work),
    }
    for name in dict.fromkeys((*one.parameters, *other.parameters)):
        pairs[name] = (one.parameters.get(name, "absent"), other.parameters.get(name, "absent"))
    for what, (left, right) in pairs.items():
        if left != right:
            yield f"{what} is {left} in the first and {right} in the second"


def _headline(parts: Sequence[RunComparison]) -> str:
    if len(parts) == 1:
        return parts[0].headline
    found = [part for part in parts if any(row.is_significant for row in part.rows)]
    worse = [part for part in parts if any(row.is_worse for row in part.rows)]
    if found:
        return (
            f"{len(found)} of {len(parts)} points differ significantly, {len(worse)} of them for "
            "the worse."
        )
    apart = [part for part in parts if any(row.change is MetricChange.APART for row in part.rows)]
    if apart:
        return f"{len(apart)} of {len(parts)} points: {apart[0].headline}"
    seen = [row.detectable for part in parts for row in part.rows if row.detectable is not None]
    could = (
        f"; this comparison could have detected changes of at least {100 * max(seen):.0f} %"
        if seen
        else ""
    )
    return f"None of the {len(parts)} points differs significantly{could}."
