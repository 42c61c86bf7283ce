"""From a workload and settings to a checked plan with its totals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from venturi.model.error import UserError
from venturi.model.expression import ExpressionError, Literal, Number, bind, tree_of
from venturi.model.plan import ClockKind, Group, Interface, Plan, Slot
from venturi.model.record import Substitution
from venturi.model.workload import Parameter, Workload
from venturi.plan.file import interfaces_of, lower_file, substitutions
from venturi.plan.parameter import resolve_parameters
from venturi.plan.program import Lowering
from venturi.plan.scope import Scope
from venturi.plan.setting import Settings
from venturi.plan.total import Totals, totals_of

DEFAULT_REPETITIONS = 6


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
class Made:
    """A plan and what is known about it before it runs."""

    plan: Plan
    totals: Totals
    parameters: dict[str, Number]
    expectations: list[Expectation]
    substituted: list[Substitution]
    warnings: list[str]


def make_plan(workload: Workload, settings: Settings) -> Made:
    """The plan of a workload; raises UserError for whatever cannot be planned."""
    parameters = resolve_parameters(workload, settings)
    name, ranks = _group_of(workload, settings, parameters)
    slots = {slot.value: index for index, slot in enumerate(Slot)}
    scope = Scope(parameters, slots)
    lowering = Lowering(workload, settings, ranks)
    program = lowering.program(workload.program[name], scope, name)
    file_scope = Scope(parameters, {word: index for index, word in enumerate(lowering.slots)})
    interfaces = interfaces_of(settings)
    files = [
        lower_file(file, spec, file_scope, settings, interfaces)
        for file, spec in workload.files.items()
    ]
    simulated = [file.interface is Interface.SIMULATED for file in files]
    if any(simulated) and not all(simulated):
        raise UserError("some files are simulated and some are not", "simulated time needs all")
    plan = Plan(
        run=settings.run,
        name=workload.name,
        seed=settings.seed,
        ranks=ranks,
        repetitions=settings.repetitions or workload.repeat or DEFAULT_REPETITIONS,
        clock=ClockKind.SIMULATED if files and all(simulated) else ClockKind.REAL,
        directory=settings.run_directory,
        journal=settings.journal,
        slots=lowering.slots,
        files=files,
        groups=[Group(name=name, ranks=ranks, program=program)],
    )
    totals = totals_of(plan)
    if not totals.phases:
        raise UserError(f"{workload.name}: the program has no phase", "only phases are measured")
    expectations = _expectations(workload, parameters, ranks, totals)
    replaced = substitutions(workload, files)
    return Made(plan, totals, parameters, expectations, replaced, lowering.warnings)


def _group_of(
    workload: Workload, settings: Settings, parameters: dict[str, Number]
) -> tuple[str, int]:
    """The name and the ranks of the one group."""
    groups = list(workload.groups) or list(workload.program)
    if len(groups) > 1 or len(workload.program) > 1:
        raise UserError(
            f"{workload.name}: several groups ({', '.join(groups)}) cannot run at once yet",
            "run a workload with one group",
        )
    if not workload.program:
        raise UserError(f"{workload.name}: there is no program")
    name = next(iter(workload.program))
    if workload.groups and name not in workload.groups:
        raise UserError(
            f"program.{name}: there is no group '{name}'", f"groups: {', '.join(groups)}"
        )
    has_role = any(isinstance(q, Parameter) and q.role for q in workload.parameters.values())
    spec = workload.groups.get(name)
    if settings.ranks is not None and spec is not None and not has_role:
        raise UserError(
            f"{workload.name}: -n has no parameter to set; groups: {', '.join(groups)}",
            "mark a parameter with 'role: ranks'",
        )
    scope = Scope(parameters, {})
    if spec is None:
        ranks: Number = 1 if settings.ranks is None else settings.ranks
    else:
        ranks = scope.constant(spec.ranks, f"groups.{name}.ranks")
        if scope.constant(spec.instances, f"groups.{name}.instances") != 1:
            raise UserError(f"groups.{name}: several instances cannot run at once yet")
    if not isinstance(ranks, int) or ranks < 1:
        raise UserError(f"groups.{name}: {ranks} ranks: at least one is needed", "use -n RANKS")
    if ranks > settings.most_ranks:
        raise UserError(
            f"groups.{name}: {ranks} ranks are more than this machine's limit of "
            f"{settings.most_ranks}",
            "use fewer ranks (-n), or raise 'most_ranks' in the machine file",
        )
    return name, ranks


def _expectations(
    workload: Workload, parameters: dict[str, Number], ranks: int, totals: Totals
) -> list[Expectation]:
    """The workload's `expect`, checked against the totals."""
    planned = summary_totals(totals)
    known = {name: Literal(value) for name, value in parameters.items()}
    known |= {Slot.RANKS.value: Literal(ranks), Slot.WORLD.value: Literal(ranks)}
    result = []
    for name, value in workload.expect.items():
        if not isinstance(planned.get(name), int):
            words = ", ".join(k for k, v in planned.items() if isinstance(v, int))
            raise UserError(f"expect.{name}: no such total", f"totals: {words}")
        try:
            tree = bind(tree_of(value), known)
        except ExpressionError as error:
            raise UserError(f"expect.{name}: {error}") from None
        if not isinstance(tree, Literal) or not float(tree.value).is_integer():
            raise UserError(f"expect.{name}: '{value}' is not a whole number")
        result.append(Expectation(name, int(tree.value), planned[name]))
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
