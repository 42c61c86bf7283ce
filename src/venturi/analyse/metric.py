"""Metrics: named numbers over phases, one value for each repetition."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from venturi.analyse.command import check_commands, commands_of, said_by_commands
from venturi.analyse.kernel import figure_units, figures_of, measures_machine, sampled
from venturi.analyse.threshold import check_threshold
from venturi.model.command import CommandRun
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError, Literal, Number, bind, names_in, parse
from venturi.model.record import MetricValue, PhaseRow, busy_seconds
from venturi.model.statistic import median_interval
from venturi.model.workload import BareStep, Metric, StepSpec, Workload

_MEASURED = (
    "bytes",
    "time",
    "operations",
    "found",
    "seconds",
    "serving",
    "saved",
    "span",
    "mean",
    "shortest",
    "longest",
    "period",
    "executions",
    "delay",
    "sample",
)
_TERM = re.compile(
    rf"\b({'|'.join(_MEASURED)})"
    r"\(\s*([^(),]+?)\s*(?:,\s*([^(),]+?)\s*)?\)"
)
_OF_PHASES = {
    "time",
    "found",
    "serving",
    "saved",
    "span",
    "mean",
    "shortest",
    "longest",
    "period",
    "executions",
}
"""Terms over whole executions of a phase."""
_ALL = "all"
FIELD = re.compile(r"\{([^{}]+)\}")
"""An expression in the text of a rule."""
NODES = "nodes"
"""How many nodes a run had, as rules may name it."""
NODE_MEMORY = "node_memory"
"""Memory of the node that starts the run, in bytes, as metrics and rules may name it."""
_KINDS = {
    "write",
    "read",
    "open",
    "create",
    "close",
    "stat",
    "unlink",
    "mkdir",
    "rmdir",
    "sync",
    "rename",
    "link",
    "symlink",
    "mknod",
    "read_dir",
    "set_xattr",
    "get_xattr",
    "truncate",
    "find",
    "exec",
    "copy",
    "clone",
    "seek",
    "empty_read",
    "set_attribute",
    "miss",
}


def check_metrics(
    workload: Workload, phase_paths: Sequence[str], moved: Mapping[str, int] | None = None
) -> None:
    """Raise UserError for a metric or a rule that names no phase or is no expression.

    `moved`: the bytes of each phase, where they are known; a threshold must fit their rates.
    """
    check_commands(workload)
    named = {path for steps in workload.program.values() for path in _paths(steps)}
    phase_paths = list(dict.fromkeys((*phase_paths, *sorted(named))))
    for name, curve in workload.curves.items():
        for drawn in (path for phases in curve.lines.values() for path in phases):
            if drawn not in phase_paths:
                raise UserError(
                    f"curves.{name}: '{drawn}' is no phase", f"phases: {', '.join(phase_paths)}"
                )
    units = units_of(workload, phase_paths, moved or {})
    for name, threshold in workload.thresholds.items():
        if name not in units:
            raise UserError(
                f"thresholds.{name}: there is no such metric", f"metrics: {', '.join(units)}"
            )
        check_threshold(f"thresholds.{name}", threshold, units[name])
    _check_expressions(workload, phase_paths, set(units) - set(workload.metrics))


def _check_expressions(
    workload: Workload, phase_paths: Sequence[str], measured: Collection[str]
) -> None:
    """Raise UserError for a metric or a rule that is no expression over what a run has: parameters,
    what is `measured`, and metrics (of a metric those before it)."""
    numbers = {*workload.parameters, NODE_MEMORY, *measured}
    for name, metric in workload.metrics.items():
        _check_expression(f"metrics.{name}", metric.value, phase_paths, numbers)
        numbers.add(name)
    numbers.add(NODES)
    for name, rule in workload.rules.items():
        for text in (rule.holds, *(match[1] for match in FIELD.finditer(rule.says))):
            _check_expression(f"rules.{name}", text, phase_paths, numbers)


def _check_expression(
    where: str, text: str, phase_paths: Sequence[str], numbers: Collection[str]
) -> None:
    for match in _TERM.finditer(text):
        kind, path = _meaning(match[1], match[2], match[3])
        wrong = kind if kind is not None and kind not in _KINDS else None
        known = path in (None, *phase_paths) or (path == _ALL and match[1] in _OF_PHASES)
        wrong = wrong if known else path
        if match[1] == "delay" and match[2] not in phase_paths:
            wrong = match[2]
        if wrong is not None:
            words = ", ".join(phase_paths)
            raise UserError(
                f"{where}: '{wrong}' is neither a phase nor a kind of operation",
                f"phases: {words}",
            )
    try:
        unknown = names_in(parse(_TERM.sub("1", text))).difference(numbers)
    except ExpressionError as error:
        of_phases = ", ".join(_MEASURED)
        raise UserError(f"{where}: {error}", f"of phases there are {of_phases}") from None
    if unknown:
        words = ", ".join(sorted(numbers))
        raise UserError(f"{where}: '{min(unknown)}' is not defined", f"defined are {words}")


def units_of(
    workload: Workload, phase_paths: Sequence[str], moved: Mapping[str, int]
) -> dict[str, tuple[str, ...]]:
    """The metrics that a run will have, and the units that each may have.

    A phase of many small files may be told in operations though it moves bytes; one that moves
    none never has a rate in bytes. `moved`: absent where nobody knows.
    """
    known: dict[str, tuple[str, ...]] = {
        path: ("1/s",) if moved.get(path) == 0 else ("B/s", "1/s") for path in phase_paths
    }
    known |= {name: (unit,) for name, unit in figure_units(workload).items()}
    known |= {name: (metric.unit,) for name, metric in workload.metrics.items()}
    for _, step in commands_of(workload):
        known |= {name: (metric.unit,) for name, metric in step.metrics.items()}
        known |= dict.fromkeys(step.files, ("B",))
    return known


def _paths(steps: Sequence[StepSpec | BareStep], above: str = "") -> Iterator[str]:
    """The paths of all phases, also of groups that a run leaves out."""
    for step in steps:
        if isinstance(step, StepSpec) and step.do is not None:
            path = above if step.phase is None else f"{above}/{step.phase}".lstrip("/")
            if step.phase is not None:
                yield path
            yield from _paths(step.do, path)


def metrics_of(
    workload: Workload,
    parameters: dict[str, Number],
    phases: Sequence[PhaseRow],
    commands: Sequence[CommandRun] = (),
) -> dict[str, MetricValue]:
    """The workload's metrics and a rate for each phase, with intervals over repetitions."""
    return measured_in(workload, parameters, phases, commands)[0]


def measured_in(
    workload: Workload,
    parameters: dict[str, Number],
    phases: Sequence[PhaseRow],
    commands: Sequence[CommandRun] = (),
) -> tuple[dict[str, MetricValue], dict[int, dict[str, Number]]]:
    """The metrics, and for each repetition all numbers that have a name.

    Rates are total bytes (or operations) over total time of a repetition; they are never
    averaged. Repetitions in which a metric has no value are left out and show in its `n`. A metric
    may name the rate of a phase and metrics that stand before it: their values in the same
    repetition; of a parameter and a metric of one name, the parameter is meant. What commands
    said and what kernels measured comes before all of them.
    """
    repetitions = sorted({row.repetition for row in phases})
    known: dict[int, dict[str, Number]] = {n: dict(parameters) for n in repetitions}
    said = {**said_by_commands(workload, commands), **figures_of(phases)}
    rates = _default_metrics(phases)
    wanted = {**rates, **workload.metrics}
    result = {}
    for name, (unit, by_repetition) in said.items():
        told = {n: by_repetition[n] for n in repetitions if n in by_repetition}
        for repetition, number in told.items():
            known[repetition].setdefault(name, number)
        if told:
            result[name] = _with_interval(list(told.values()), unit)
    for name, metric in wanted.items():
        values = []
        for repetition in repetitions:
            rows = [row for row in phases if row.repetition == repetition]
            value = evaluate(metric.value, known[repetition], rows)
            if value is not None:
                values.append(value)
                known[repetition].setdefault(name, value)
        if values:
            of = (
                _main_kind(phases, name)
                if metric.unit == "1/s" and metric is rates.get(name)
                else ""
            )
            result[name] = _with_interval(values, metric.unit, of)
    return result, known


def _with_interval(values: list[float], unit: str, of: str = "") -> MetricValue:
    interval = median_interval(values)
    return MetricValue(
        value=interval.median,
        unit=unit,
        median=interval.median,
        low=interval.low,
        high=interval.high,
        n=len(values),
        coverage=interval.coverage,
        values=values,
        of=of,
    )


def _default_metrics(phases: Sequence[PhaseRow]) -> dict[str, Metric]:
    metrics = {}
    for path in dict.fromkeys(row.path for row in phases):
        if measures_machine([row for row in phases if row.path == path]):
            continue
        if any(row.bytes for row in phases if row.path == path) and not _is_metadata(phases, path):
            metrics[path] = Metric(value=f"bytes({_ALL}, {path}) / time({path})", unit="B/s")
        else:
            kind = _main_kind(phases, path)
            metrics[path] = Metric(value=f"operations({kind}, {path}) / time({path})", unit="1/s")
    return metrics


def _is_metadata(phases: Sequence[PhaseRow], path: str) -> bool:
    """Whether a phase makes, opens or removes a file for nearly every request it moves.

    The repetition in which it came furthest decides, so the number of repetitions never does.
    """
    counts: dict[int, Counter[str]] = {}
    for row in phases:
        if row.path == path:
            counts.setdefault(row.repetition, Counter()).update(
                {kind: operation.operations for kind, operation in row.by_operation.items()}
            )
    most = max(counts.values(), key=lambda count: count.total())
    names = max(most[kind] for kind in ("create", "open", "stat", "unlink"))
    return names >= 100 and 2 * names > most["write"] + most["read"]


def _main_kind(phases: Sequence[PhaseRow], path: str) -> str:
    """The operation that a metadata phase is about."""
    rows = [row for row in phases if row.path == path]
    order = (
        "create",
        "mknod",
        "stat",
        "unlink",
        "mkdir",
        "rmdir",
        "rename",
        "link",
        "symlink",
        "read_dir",
        "find",
        "set_xattr",
        "get_xattr",
        "truncate",
        "open",
        "read",
        "write",
        "sync",
        "set_attribute",
        "miss",
        "close",
        "exec",
        "copy",
        "clone",
        "seek",
        "empty_read",
    )
    counts = {kind: sum(_count(row, kind) for row in rows) for kind in order}
    return max(order, key=lambda kind: counts[kind])


def _count(row: PhaseRow, kind: str) -> int:
    operation = row.by_operation.get(kind)
    return operation.operations if operation else 0


def evaluate(text: str, parameters: dict[str, Number], rows: Sequence[PhaseRow]) -> float | None:
    """The value of an expression over the phases of one repetition; None where it has none."""
    known = {name: Literal(value) for name, value in parameters.items()}
    terms: list[Number | None] = []

    def placeholder(match: re.Match[str]) -> str:
        terms.append(_term(match[1], match[2], match[3], rows))
        return f" _term{len(terms) - 1} "

    rewritten = _TERM.sub(placeholder, text)
    known |= {f"_term{i}": Literal(value) for i, value in enumerate(terms) if value is not None}
    try:
        tree = bind(parse(rewritten), known)
    except ExpressionError:
        return None
    return float(tree.value) if isinstance(tree, Literal) else None


def _term(function: str, first: str, second: str | None, rows: Sequence[PhaseRow]) -> Number | None:
    """One term: `time(phase)`, `bytes(kind)`, `bytes(phase)` or `bytes(kind, phase)`."""
    kind, path = _meaning(function, first, second)
    chosen = [row for row in rows if path in (None, _ALL, row.path)]
    if function in _OF_PHASES:
        return _of_phases(function, chosen)
    if function == "delay":
        return _delay(first, second or first, rows)
    if function == "sample":
        return sampled(first, chosen)
    if kind is None:
        return sum(row.bytes if function == "bytes" else row.operations for row in chosen)
    found = [row.by_operation[kind] for row in chosen if kind in row.by_operation]
    if function == "seconds":
        return sum(item.seconds for item in found)
    return sum(item.bytes if function == "bytes" else item.operations for item in found)


def _of_phases(function: str, rows: Sequence[PhaseRow]) -> Number | None:
    """A term over the executions of a phase, in seconds; None where there is none.

    `span`: from the first one's beginning to the last one's end. `period`: the mean distance of
    their beginnings, None of a single one. `mean`, `shortest`, `longest`: of what each took.
    """
    if function == "time":
        return busy_seconds(rows)
    if function == "found":
        return sum(row.found or 0 for row in rows)
    if function == "executions":
        return len(rows)
    if function == "serving":
        return sum(row.seconds.serving for row in rows)
    if function == "saved":
        return sum(row.bytes_saved for row in rows)
    if not rows:
        return None
    totals = [row.seconds.total for row in rows]
    starts = [row.at_s for row in rows]
    if function == "span":
        return max(map(sum, zip(starts, totals, strict=True))) - min(starts)
    if function == "period":
        return (max(starts) - min(starts)) / (len(rows) - 1) if len(rows) > 1 else None
    return {"mean": sum(totals) / len(totals), "shortest": min(totals)}.get(function, max(totals))


def _delay(first: str, last: str, rows: Sequence[PhaseRow]) -> float | None:
    """Mean time from the beginnings of a phase to the ends of another one, as often executed.

    The mean is the same whichever execution of the one belongs to which of the other.
    """
    begins = [row.at_s for row in rows if row.path == first]
    ends = [row.at_s + row.seconds.total for row in rows if row.path == last]
    if not begins or len(begins) != len(ends):
        return None
    return sum(ends) / len(ends) - sum(begins) / len(begins)


def _meaning(function: str, first: str, second: str | None) -> tuple[str | None, str | None]:
    """The kind and the phase that a term names; a phase may be called like a kind.

    Time and what was found have phases only. A single word is a kind if there is one of that
    name; `all` with a phase stands for every kind.
    """
    if function in _OF_PHASES:
        return None, first
    if function == "delay":
        return None, second or first
    if function == "sample":
        return None, second
    if function == "seconds":
        return first, second
    if second is not None:
        return (None if first == _ALL else first), second
    return (first, None) if first in _KINDS else (None, first)
