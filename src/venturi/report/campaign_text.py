"""A campaign on a terminal: how far it is, and its table of results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from venturi.model.campaign import (
    CampaignEstimate,
    CampaignResult,
    CampaignRow,
    MetricSummary,
    PlannedPoint,
    TaskState,
)
from venturi.model.traced_run import LogMaker
from venturi.model.verdict import Outcome
from venturi.model.workload import Scalar
from venturi.report import quantity, traced_run
from venturi.report.printer import Printer
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from rich.console import Console

_LEAST_PROSE = 16
"""Fewer characters are no room for parameters in words."""
_MOST_ROWS = 60
_SURE = 0.95


def states_line(spent: str, states: Mapping[str, int]) -> str:
    """How many runs are in which state after so long."""
    said = ", ".join(f"{count} {state}" for state, count in states.items())
    return f" {spent}   {quantity.counted(sum(states.values()), 'run')}: {said}"


def print_result(result: CampaignResult, console: Console, units: Units, folder: str) -> None:
    """States, then for each step a table: parameters, metrics with their intervals."""
    out = Printer(console)
    said = ", ".join(f"{count} {state}" for state, count in result.states.items())
    out.line((f" {result.name}", "bold"), f" on {result.machine}, {result.directory}")
    out.line(f" {quantity.counted(result.points, 'point')}; runs: {said}")
    for step in dict.fromkeys(row.step for row in result.rows):
        rows = [row for row in result.rows if row.step == step]
        if len({row.step for row in result.rows}) > 1 or step != "run":
            out.line()
            out.line((f" {step}", "bold"))
        else:
            out.line()
        _print_step(out, rows, units)
    _print_failures(out, result)
    if result.study is not None:
        from venturi.report.scaling_study import print_study

        print_study(out, result.study, units)
    gates = gate_sentences(result)
    if result.study is not None and gates:
        out.line()
    for outcome, text in gates:
        out.wrapped(f"{outcome.value:<9} ", text)
    out.line()
    if any(not TaskState(state).is_final for state in result.states):
        out.unbroken(" Next: ", f"venturi campaign resume {folder}")
    else:
        out.unbroken(" Next: ", f"venturi report {folder}")


def _print_step(out: Printer, rows: list[CampaignRow], units: Units) -> None:
    parameters = changing(rows)
    shown_metrics = headline_metrics(rows)
    own = [["", *(name.upper() for name in parameters)]]
    measured = [["RUNS", *(name.upper() for name in shown_metrics)]]
    for row in rows[:_MOST_ROWS]:
        own.append([row.point, *(str(row.parameters.get(name, "")) for name in parameters)])
        metrics = [_metric_text(row, name, units) for name in shown_metrics]
        measured.append([runs_text(row), *metrics])
    whole = [[*left, *right] for left, right in zip(own, measured, strict=True)]
    nameless = [line[1:] for line in whole]
    for titles, *lines in (whole, nameless) if parameters else (whole,):
        if out.fits(list(zip(titles, *lines, strict=True))):
            out.table(titles, lines)
            break
    else:
        said = [["PARAMETERS"], *([_said(row, parameters)] for row in rows[:_MOST_ROWS])]
        titles, *lines = [
            [left[0], *right, *last] for left, right, last in zip(own, measured, said, strict=True)
        ]
        fixed = list(zip(titles, *lines, strict=True))[:-1]
        if out.fits([*fixed, (" " * _LEAST_PROSE,)]):
            out.table(titles, lines, left=("PARAMETERS",), prose=True)
        else:
            _print_in_parts(out, nameless if parameters else whole, own)
    if len(rows) > _MOST_ROWS:
        out.line(f" and {len(rows) - _MOST_ROWS} more; all of them: --json")
    for text in dict.fromkeys(row.enough for row in rows if row.enough):
        points = [row.point for row in rows if row.enough == text]
        out.wrapped("- ", f"{', '.join(points)}: {text}")
    for text in label_sentences(rows, shown_metrics):
        out.wrapped("- ", text)
    for text in traced_run.sentences(rows[:_MOST_ROWS], units):
        out.wrapped("- ", text)
    if any(metric.coverage < _SURE for row in rows for metric in row.metrics):
        out.wrapped("- ", "±: half the range of fewer than six repetitions, not a 95 % interval")


def _print_in_parts(out: Printer, whole: list[list[str]], own: list[list[str]]) -> None:
    """One table below the other, each with the points and as many metrics as fit beside them."""
    columns = list(zip(*whole, strict=True))
    kept = max(len(own[0]) - 1, 1)
    named, metrics = columns[:kept], columns[kept:]
    while metrics:
        count = 1
        while count < len(metrics) and out.fits([*named, *metrics[: count + 1]]):
            count += 1
        titles, *lines = map(list, zip(*named, *metrics[:count], strict=True))
        out.table(titles, lines)
        metrics = metrics[count:]
        if metrics:
            out.line()


def _said(row: CampaignRow | PlannedPoint, parameters: list[str]) -> str:
    return " ".join(f"{name}={row.parameters.get(name, '')}" for name in parameters)


def headline_metrics(rows: list[CampaignRow]) -> list[str]:
    """The metrics that a workload or its step names; without any, the rates of the phases.

    What a log of the I/O says stands by itself.
    """
    names = list(dict.fromkeys(metric.name for row in rows for metric in row.metrics))
    logged = tuple(f"{maker.value}." for maker in LogMaker)
    names = [name for name in names if not name.startswith(logged)]
    own = [name for name in names if not name.endswith((".rate", ".seconds"))]
    return own or [name for name in names if name.endswith(".rate")] or names


def changing(rows: list[CampaignRow]) -> list[str]:
    """The parameters that are not the same everywhere, without those that only echo another."""
    names = list(dict.fromkeys(name for row in rows for name in row.parameters))
    kept: list[str] = []
    for name in names:
        own = [row.parameters.get(name, "") for row in rows]
        if len(set(own)) > 1 and not any(_is_echo(rows, other, own) for other in kept):
            kept.append(name)
    return kept


def _is_echo(rows: list[CampaignRow], other: str, own: list[Scalar]) -> bool:
    """Whether values go one to one with those of another parameter."""
    pairs = set(zip((row.parameters.get(other, "") for row in rows), own, strict=True))
    return len(pairs) == len({first for first, _ in pairs}) == len({second for _, second in pairs})


def label_sentences(rows: list[CampaignRow], names: list[str]) -> list[str]:
    """The labels of metrics: what belongs to their names."""
    found = []
    for name in names:
        labels = [m.labels for row in rows for m in row.metrics if m.name == name]
        told = dict.fromkeys(label for own in labels for label in own)
        if told:
            found.append(f"{name}: {', '.join(told)}")
    return found


def gate_sentences(result: CampaignResult) -> list[tuple[Outcome, str]]:
    """Each threshold of each point with what became of it, and each rule that was broken."""
    found = [
        (one.outcome, f"{row.point}: {one.metric} {one.rule}: {one.says}")
        for row in result.rows
        for one in row.thresholds
    ]
    return found + [
        (Outcome.FAIL, f"{row.point}: rule of the workload: {rule}")
        for row in result.rows
        for rule in row.broken_rules
    ]


def runs_text(row: CampaignRow) -> str:
    """`6`, or what happened instead."""
    if set(row.states) == {TaskState.DONE.value}:
        return str(row.states[TaskState.DONE.value])
    return ", ".join(f"{count} {state}" for state, count in row.states.items())


def _metric_text(row: CampaignRow, name: str, units: Units) -> str:
    found = next((metric for metric in row.metrics if metric.name == name), None)
    return "–" if found is None else metric_text(found, units)


def metric_text(metric: MetricSummary, units: Units) -> str:
    """The median, and how far the interval reaches from it at most."""
    text = quantity.with_unit(metric.median, metric.unit, units, metric.of)
    if len(metric.values) > 1 and metric.median:
        reach = max(metric.high - metric.median, metric.median - metric.low)
        text += f" ±{quantity.percent(abs(reach / metric.median))}"
    return text


def _print_failures(out: Printer, result: CampaignResult) -> None:
    failures = [(row.point, reason) for row in result.rows for reason in row.reasons]
    if failures:
        out.line()
    for point, reason in failures[:_MOST_ROWS]:
        out.wrapped("- ", f"{point}: {reason}")


def print_estimate(estimate: CampaignEstimate, console: Console, units: Units) -> None:
    """Points, runs, bytes and hours, and what each point takes."""
    out = Printer(console)
    out.line((f" {estimate.name}", "bold"))
    out.line(
        f" {quantity.counted(estimate.points, 'point')}, {quantity.counted(estimate.runs, 'run')}; "
        f"writes {quantity.size(estimate.bytes_written, units)}, "
        f"reads {quantity.size(estimate.bytes_read, units)}; "
        f"at most {estimate.most_hours:.3g} h"
    )
    out.line()
    rows = [_planned_row(row, units) for row in estimate.rows[:_MOST_ROWS]]
    titles = ("", "RUNS", "RANKS", "WRITES", "READS", "PARAMETERS")
    out.table(titles, rows, left=("PARAMETERS",), prose=True)
    if len(estimate.rows) > _MOST_ROWS:
        out.line(f" and {len(estimate.rows) - _MOST_ROWS} more; all of them: --json")


def _planned_row(row: PlannedPoint, units: Units) -> list[str]:
    written, read = (
        "–" if amount is None else quantity.size(amount, units)
        for amount in (row.bytes_written, row.bytes_read)
    )
    said = _said(row, list(row.parameters))
    return [row.point, str(row.runs), str(row.ranks), written, read, said]
