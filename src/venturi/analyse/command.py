"""What commands said: their metrics by name, one value for each repetition."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from venturi.analyse.output import check_pattern
from venturi.model.command import CommandRun, ExecStep
from venturi.model.error import UserError
from venturi.model.statistic import median
from venturi.model.workload import BareStep, StepSpec, Workload


def commands_of(workload: Workload) -> list[tuple[str, ExecStep]]:
    """Every command of a workload, with the place where it stands."""
    return [
        found
        for group, steps in workload.program.items()
        for found in _in_steps(steps, f"program.{group}")
    ]


def _in_steps(steps: Sequence[StepSpec | BareStep], where: str) -> Iterator[tuple[str, ExecStep]]:
    for index, step in enumerate(steps):
        if not isinstance(step, StepSpec):
            continue
        if step.exec is not None:
            yield f"{where}[{index}].exec", step.exec
        inside = "choose.of" if step.choose is not None else "do"
        yield from _in_steps(step.inner, f"{where}[{index}].{inside}")


def check_commands(workload: Workload) -> None:
    """UserError for a metric that cannot be found, or a name that is taken."""
    taken = dict.fromkeys([*workload.parameters, *workload.metrics], "the workload")
    for where, step in commands_of(workload):
        for name, metric in step.metrics.items():
            check_pattern(f"{where}.metrics.{name}", metric)
        for name in (*step.metrics, *step.files):
            if name in taken:
                raise UserError(
                    f"{where}: the name '{name}' is taken by {taken[name]}", "choose another one"
                )
            taken[name] = where


def said_by_commands(
    workload: Workload, commands: Sequence[CommandRun]
) -> dict[str, tuple[str, dict[int, float]]]:
    """Of each metric its unit, and its value by repetition.

    Where a command ran several times in a repetition, a metric is the median of what it said, and
    the bytes of files are those of all its runs. A run that failed says nothing.
    """
    found: dict[str, tuple[str, dict[int, float]]] = {}
    good = [run for run in commands if not run.failure]
    for _, step in commands_of(workload):
        for name, metric in step.metrics.items():
            said = [(run.repetition, run.metrics[name]) for run in good if name in run.metrics]
            found[name] = metric.unit, {n: median(own) for n, own in _gathered(said).items()}
        for name in step.files:
            sizes = [(run.repetition, run.files[name].bytes) for run in good if name in run.files]
            found[name] = "B", {n: math.fsum(own) for n, own in _gathered(sizes).items()}
    return found


def _gathered(pairs: Sequence[tuple[int, float]]) -> dict[int, list[float]]:
    values: dict[int, list[float]] = {}
    for repetition, value in pairs:
        values.setdefault(repetition, []).append(value)
    return values
