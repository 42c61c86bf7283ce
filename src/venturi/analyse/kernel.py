"""Metrics of kernels: their figures by name, one value for each repetition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from venturi.model.error import UserError
from venturi.model.event import KernelResult
from venturi.model.kernel_value import points_of
from venturi.model.record import PhaseRow
from venturi.model.workload import BareStep, StepSpec, Workload

By = dict[int, float]
"""A value by repetition."""


def figure_units(workload: Workload) -> dict[str, str]:
    """The metrics that the kernels of a workload give, `PHASE: FIGURE`, and their units.

    UserError where two kernels of a phase give one figure.
    """
    found: dict[str, str] = {}
    for steps in workload.program.values():
        for path, kernel in _kernels(steps, ""):
            from venturi.model.kernel import KERNELS  # where there are kernels alone

            entry = KERNELS.get(kernel)
            for figure in entry.figures if entry else ():
                name = metric_name(path, figure.name)
                if name in found:
                    raise UserError(
                        f"phase '{path}': two kernels in it measure '{figure.name}'",
                        "give each kernel a phase of its own",
                    )
                found[name] = figure.unit
    return found


def _kernels(steps: Sequence[StepSpec | BareStep], path: str) -> Iterator[tuple[str, str]]:
    """Every kernel with the path of the phase around it."""
    for step in steps:
        if not isinstance(step, StepSpec):
            continue
        if step.kernel is not None:
            yield path, step.kernel.name
        below = path if step.phase is None else f"{path}/{step.phase}".lstrip("/")
        yield from _kernels(step.inner, below)


def metric_name(path: str, figure: str) -> str:
    """The metric of a figure of the kernel in a phase."""
    return f"{path}: {figure}"


def phase_of(metric: str) -> str:
    """The phase of a metric that `metric_name` named; empty for another one."""
    return metric.rpartition(": ")[0]


def figures_of(phases: Sequence[PhaseRow]) -> dict[str, tuple[str, By]]:
    """The figures that kernels measured, by metric: the unit, and a value for each repetition.

    A phase whose kernel failed in some repetition has none.
    """
    found: dict[str, tuple[str, By]] = {}
    failed = {row.path for row in phases if kernel_failures([row])}
    for path, repetition in dict.fromkeys((row.path, row.repetition) for row in phases):
        if path in failed:
            continue  # what it measured in other repetitions is not to be trusted either
        for point in points_of(_results(phases, path, repetition)):
            if point.figure:
                name = metric_name(path, point.figure)
                found.setdefault(name, (point.series.unit, {}))[1][repetition] = point.value
    return found


def kernel_failures(rows: Sequence[PhaseRow]) -> list[str]:
    """What failed, each once: `triad: memory_triad FAILED: element 3 is 5, not 4`."""
    return list(
        dict.fromkeys(
            f"{row.path}: {result.name} FAILED: {result.failure}"
            for row in rows
            for result in row.kernels
            if result.failure
        )
    )


def _results(phases: Sequence[PhaseRow], path: str, repetition: int) -> Iterator[KernelResult]:
    for row in phases:
        if (row.path, row.repetition) == (path, repetition):
            yield from row.kernels


def sampled(name: str, rows: Sequence[PhaseRow]) -> float | None:
    """The value of a figure or a point (`copy at 32 KiB`) in some rows; None where it is not."""
    for point in points_of(result for row in rows for result in row.kernels):
        if name in (point.figure, point.name):
            return point.value
    return None


def measures_machine(rows: Sequence[PhaseRow]) -> bool:
    """Whether phases ran kernels and nothing else."""
    return any(row.kernels for row in rows) and not any(row.operations for row in rows)
