"""Two runs of one workload: which metrics differ significantly, and what else was not the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from venturi.analyse.background import first_suspect
from venturi.analyse.contrast_row import MetricPair, headline_of, rows_of
from venturi.model.comparison import COMPARISON_SCHEMA, Difference, RunComparison
from venturi.model.error import UserError
from venturi.model.record import Level, MetricValue, Record
from venturi.model.result import direction_of

_RUN_ALIKE = ("files", "groups", "program")
"""Parts of a workload that say what is done."""


def compared_runs(first: Record, second: Record) -> RunComparison:
    """Compare the metrics of two runs.

    A metric is higher or lower if it differs significantly, with a rate of 5 % for all metrics
    together (`contrasts`), and by as much as matters. Raises UserError, which names what differs,
    for runs that did not do the same, and for invalid ones.
    """
    _refuse_invalid(first, second)
    _refuse_unlike(first, second)
    unlike = _unlike_labels(first, second)
    pairs = {
        name: MetricPair(
            one.unit,
            direction_of(one.unit),
            one.values,
            second.metrics[name].values,
            unlike.get(name, ""),
            one.of,
        )
        for name, one in first.metrics.items()
        if _is_same_quantity(one, second.metrics.get(name))
        and one.values
        and second.metrics[name].values
    }
    if not pairs:
        raise UserError(
            f"'{first.id}' and '{second.id}' have no metric in common",
            "a run that ended before its first phase has none",
        )
    found = rows_of([pairs])
    [rows] = found.rows
    return RunComparison(
        schema_=COMPARISON_SCHEMA,
        first=first.id,
        second=second.id,
        first_on=_place(first),
        second_on=_place(second),
        name=first.name,
        ranks=first.ranks,
        rows=rows,
        differences=list(_differences(first, second)),
        headline=headline_of(rows),
        judged=found.judged,
        serial=found.serial,
        suspect=first_suspect(first.background, second.background),
    )


def _place(run: Record) -> str:
    """Return where a run did its I/O."""
    system = run.environment.file_system
    return f"{system.type} at {run.environment.directory}"


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


def _is_same_quantity(first: MetricValue, second: MetricValue | None) -> bool:
    """Whether both count the same thing in the same unit."""
    return second is not None and (first.unit, first.of) == (second.unit, second.of)


def _quantity(metric: MetricValue | None) -> str:
    """What a metric counts, in words."""
    if metric is None or not metric.values:
        return "not measured"
    return f"{metric.unit} ({metric.of})" if metric.of else metric.unit or "a number"


def _unlike_labels(first: Record, second: Record) -> dict[str, str]:
    """By metric: how the labels of the two differ, so that they have not one name."""
    return {
        name: f"it is {_said(one.labels)} in the first and "
        f"{_said(second.metrics[name].labels)} in the second"
        for name, one in first.metrics.items()
        if name in second.metrics and one.labels != second.metrics[name].labels
    }


def _said(labels: list[str]) -> str:
    return ", ".join(labels) or "without a label"


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
    for name in dict.fromkeys((*first.metrics, *second.metrics)):
        of_both = (run.metrics.get(name) for run in (first, second))
        counted, counted_there = (_quantity(metric) for metric in of_both)
        pairs[f"{name}, not compared"] = (counted, counted_there)
    for what, (one, other) in pairs.items():
        if one != other:
            yield Difference(what=what, first=str(one), second=str(other))
