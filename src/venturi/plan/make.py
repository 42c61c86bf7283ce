"""From a workload and settings to a checked plan with its totals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from venturi.model.command import ExecStep
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError, Literal, Number, bind, tree_of
from venturi.model.plan import Plan, Slot
from venturi.model.record import Substitution
from venturi.model.workload import Workload
from venturi.plan.constraint import check_constraints
from venturi.plan.extent import with_byte_datasets
from venturi.plan.group import sizes_of
from venturi.plan.lowered import lowered_plan
from venturi.plan.parameter import resolve_parameters
from venturi.plan.setting import RunSettings
from venturi.plan.total import Totals, Watch, totals_of
from venturi.plan.unused import unused_names
from venturi.plan.written import check_reads


@dataclass(frozen=True)
class Expectation:
    """One exact total that the workload promises, beside what was planned."""

    name: str
    expected: int
    planned: int

    @property
    def holds(self) -> bool:
        """Whether the two agree."""
        return self.expected == self.planned


@dataclass(frozen=True)
class PlanResult:
    """A plan and what is known about it before it runs."""

    plan: Plan
    totals: Totals
    parameters: dict[str, Number]
    expectations: list[Expectation]
    substituted: list[Substitution]
    warnings: list[str]
    commands: list[ExecStep]
    """What the plan's `exec` steps run, by their number."""
    repeat_within_s: float | None = None
    """No repetition begins later."""


def make_plan(workload: Workload, settings: RunSettings, watch: Watch | None = None) -> PlanResult:
    """The plan of a workload; raises UserError for whatever cannot be planned.

    `watch` is told what is counted, as by `totals_of`.
    """
    lowered = lowered_plan(workload, settings)
    plan, parameters = lowered.plan, lowered.parameters
    totals = totals_of(plan, settings.nodes, watch)
    check_reads(plan, settings.nodes)
    plan = with_byte_datasets(plan, settings.nodes)
    check_constraints(plan)
    if not totals.phases:
        raise UserError(f"{workload.name}: the program has no phase", "only phases are measured")
    expectations = _expectations(workload, parameters, plan.ranks, totals)
    warnings = [*lowered.warnings, *unused_names(workload)]
    if lowered.commands:
        warnings.append("what its commands read and write is not known before they run")
    return PlanResult(
        plan,
        totals,
        parameters,
        expectations,
        lowered.substituted,
        warnings,
        lowered.commands,
        lowered.repeat_within_s,
    )


def _expectations(
    workload: Workload, parameters: dict[str, Number], ranks: int, totals: Totals
) -> list[Expectation]:
    """The workload's `expect`, checked against the totals."""
    planned = summary_totals(totals)
    for name in workload.expect:
        if not isinstance(planned.get(name), int):
            words = ", ".join(k for k, v in planned.items() if isinstance(v, int))
            raise UserError(f"expect.{name}: no such total", f"totals: {words}")
    promised = _promised(workload, parameters, ranks)
    return [Expectation(name, value, planned[name]) for name, value in promised.items()]


def ranks_of(workload: Workload, settings: RunSettings) -> int:
    """How many ranks a run starts, without planning what they do.

    Raises UserError for parameters that cannot be, as `make_plan` does.
    """
    parameters = resolve_parameters(workload, settings)
    return sum(size.world for size in sizes_of(workload, settings, parameters))


def promised_totals(workload: Workload, settings: RunSettings) -> dict[str, int]:
    """What the workload's `expect` says that a run will do, without planning it.

    Raises UserError for parameters that cannot be, as `make_plan` does.
    """
    parameters = resolve_parameters(workload, settings)
    return _promised(workload, parameters, ranks_of(workload, settings))


def _promised(workload: Workload, parameters: dict[str, Number], ranks: int) -> dict[str, int]:
    known = {name: Literal(value) for name, value in parameters.items()}
    known |= {Slot.RANKS.value: Literal(ranks), Slot.WORLD.value: Literal(ranks)}
    result = {}
    for name, value in workload.expect.items():
        try:
            tree = bind(tree_of(value), known)
        except ExpressionError as error:
            raise UserError(f"expect.{name}: {error}") from None
        if not isinstance(tree, Literal) or not float(tree.value).is_integer():
            raise UserError(f"expect.{name}: '{value}' is not a whole number")
        result[name] = int(tree.value)
    return result


def summary_totals(totals: Totals) -> dict[str, Any]:
    """The totals under the names that scripts rely on."""
    return {
        "bytes_written": totals.bytes_written,
        "bytes_read": totals.bytes_read,
        "files": totals.files,
        "operations": sum(totals.operations.values()),
        "operations_by_kind": dict(sorted(totals.operations.items())),
        "bytes_prestaged": totals.bytes_prestaged,
        "seconds_computing": totals.seconds_computing,
    }
