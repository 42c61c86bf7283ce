"""Two runs of one workload: which of their metrics surely differ, and what else did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from venturi.model.comparison import (
    COMPARISON_SCHEMA,
    Change,
    ComparisonRow,
    Difference,
    Measured,
    RunComparison,
)
from venturi.model.error import UserError
from venturi.model.record import Level, MetricValue, Record

SURE = 0.95
"""Least coverage of both intervals for a verdict (six repetitions)."""

_TIMES = ("s", "ns")

_RUN_ALIKE = ("files", "groups", "program")
"""Parts of a workload that say what is done."""


def compared_runs(first: Record, second: Record) -> RunComparison:
    """The metrics of two runs beside each other.

    A metric is higher or lower where the intervals of its medians do not overlap. Raises
    UserError, which names what differs, for runs that did not do the same, and for invalid ones.
    """
    _refuse_invalid(first, second)
    _refuse_unlike(first, second)
    unlike = _unlike_caches(first, second)
    rows = [
        _row(name, value, second.metrics[name], unlike.get(name, ""))
        for name, value in first.metrics.items()
        if name in second.metrics
    ]
    if not rows:
        raise UserError(
            f"'{first.id}' and '{second.id}' have no metric in common",
            "a run that ended before its first phase has none",
        )
    return RunComparison(
        schema_=COMPARISON_SCHEMA,
        first=first.id,
        second=second.id,
        name=first.name,
        ranks=first.ranks,
        rows=rows,
        differences=list(_differences(first, second)),
        headline=_headline(rows),
    )


def _refuse_invalid(*runs: Record) -> None:
    for run in runs:
        if run.verdict.level is Level.INVALID:
            why = run.verdict.reasons[0] if run.verdict.reasons else "see venturi results show"
            raise UserError(f"'{run.id}' is INVALID and has nothing to compare: {why}")


def _refuse_unlike(first: Record, second: Record) -> None:
    """Raises UserError with the first thing in which the two did not do the same."""
    for what, one, other in _unlikes(first, second):
        raise UserError(
            f"'{first.id}' and '{second.id}' did not do the same: {what} is {_shown(one)} in the "
            f"first and {_shown(other)} in the second",
            "compare runs of one workload with the same ranks and parameters",
        )


def _unlikes(first: Record, second: Record) -> Iterator[tuple[str, Any, Any]]:
    if first.ranks != second.ranks:
        yield "the number of ranks", first.ranks, second.ranks
    for name in dict.fromkeys((*first.parameters, *second.parameters)):
        one, other = first.parameters.get(name), second.parameters.get(name)
        if one != other:
            yield f"parameter '{name}'", one, other
    for part in _RUN_ALIKE:
        yield from _parts(part, first.workload.get(part), second.workload.get(part))
    ours, theirs = ({s.file: s.used for s in run.substituted} for run in (first, second))
    for file in dict.fromkeys((*ours, *theirs)):
        if ours.get(file) != theirs.get(file):
            yield (
                f"the interface of '{file}'",
                ours.get(file, "its own"),
                theirs.get(file, "its own"),
            )


def _parts(where: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    """The places in two documents where they differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*one, *other)):
            yield from _parts(f"{where}.{key}", one.get(key), other.get(key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _parts(f"{where}[{place}]", left, right)
    elif one != other:
        yield where, one, other


def _shown(value: Any) -> str:
    if value is None:
        return "absent"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _unlike_caches(first: Record, second: Record) -> dict[str, str]:
    """By phase: how the caches of the two differed."""
    states = [
        {row.path: row.cache.value for row in sorted(run.phases, key=lambda row: row.repetition)}
        for run in (first, second)
    ]
    return {
        path: f"the cache was {state} in the first and {states[1][path]} in the second"
        for path, state in states[0].items()
        if path in states[1] and states[1][path] != state
    }


def _row(name: str, one: MetricValue, other: MetricValue, why: str) -> ComparisonRow:
    first, second = _measured(one), _measured(other)
    change = _change(first, second) if not why else Change.UNLIKE
    worse = Change.HIGHER if one.unit in _TIMES else Change.LOWER
    return ComparisonRow(
        name=name,
        unit=one.unit,
        first=first,
        second=second,
        ratio=_ratio(second.median, first.median),
        low=_ratio(second.low, first.high),
        high=_ratio(second.high, first.low),
        change=change,
        is_worse=change is worse,
        why=why,
    )


def _measured(value: MetricValue) -> Measured:
    return Measured(
        median=value.median, low=value.low, high=value.high, n=value.n, coverage=value.coverage
    )


def _ratio(above: float, below: float) -> float | None:
    return above / below if below > 0 else None


def _change(first: Measured, second: Measured) -> Change:
    if min(first.coverage, second.coverage) < SURE:
        return Change.UNSURE
    if second.low > first.high:
        return Change.HIGHER
    return Change.LOWER if second.high < first.low else Change.SAME


def _differences(first: Record, second: Record) -> Iterator[Difference]:
    """What of the surroundings differed."""
    ours, theirs = first.environment, second.environment
    pairs: dict[str, tuple[object, object]] = {
        "host": (ours.host, theirs.host),
        "directory": (ours.directory, theirs.directory),
        "file system": (ours.file_system.type, theirs.file_system.type),
        "file system's source": (ours.file_system.source, theirs.file_system.source),
        "mount options": (ours.file_system.options, theirs.file_system.options),
        "kernel": (ours.kernel, theirs.kernel),
        "CPU": (ours.cpu, theirs.cpu),
        "cores": (ours.cores, theirs.cores),
        "memory, bytes": (ours.memory_bytes, theirs.memory_bytes),
        "ranks started by": (ours.comm, theirs.comm),
        "engine": (ours.engine, theirs.engine),
        "Venturi": (ours.venturi, theirs.venturi),
        "seed": (first.seed, second.seed),
        "repetitions": (first.repetitions, second.repetitions),
        "verdict": (first.verdict.level.value, second.verdict.level.value),
    }
    for name in dict.fromkeys((*ours.variables, *theirs.variables)):
        pairs[name] = (ours.variables.get(name, "unset"), theirs.variables.get(name, "unset"))
    for what, (one, other) in pairs.items():
        if one != other:
            yield Difference(what=what, first=str(one), second=str(other))


def _headline(rows: list[ComparisonRow]) -> str:
    sure = [row for row in rows if row.change in (Change.HIGHER, Change.LOWER)]
    if sure:
        most = max(sure, key=_distance)
        rest = f"; {len(sure) - 1} more differ" if len(sure) > 1 else ""
        times = f" ({most.ratio:.2f} times the first)" if most.ratio is not None else ""
        return f"{most.name} is {most.change.value} in the second run{times}{rest}."
    unsure = sum(row.change is Change.UNSURE for row in rows)
    unlike = sum(row.change is Change.UNLIKE for row in rows)
    if unsure:
        return f"{unsure} of {len(rows)} metrics have too few repetitions for a verdict (six do)."
    if unlike == len(rows):
        return "No metric was measured alike in both runs."
    return f"No metric of {len(rows) - unlike} surely differs between the two runs."


def _distance(row: ComparisonRow) -> float:
    """How far the medians are apart, as a factor."""
    if not row.ratio:
        return float("inf")
    return max(row.ratio, 1 / row.ratio)
