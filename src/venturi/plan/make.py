"""From a workload and settings to a checked plan with its totals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from venturi.model.command import ExecStep
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError, Literal, Number, bind, tree_of
from venturi.model.plan import ClockKind, File, Group, Plan, Signal, Slot
from venturi.model.record import Substitution
from venturi.model.workload import Workload
from venturi.plan.constraint import check_constraints
from venturi.plan.extent import with_byte_datasets
from venturi.plan.file import (
    check_faults,
    interfaces_of,
    lower_file,
    substitutions,
    with_sharers,
)
from venturi.plan.group import GroupSize, PlanNames, check_sharing, made_by, sizes_of
from venturi.plan.made_by import check_made_by, with_makers
from venturi.plan.parameter import resolve_parameters
from venturi.plan.program import Lowering
from venturi.plan.scope import Scope, duration
from venturi.plan.setting import RunSettings
from venturi.plan.signal import all_signals, end_of, following, settle
from venturi.plan.stage import with_staged_loops
from venturi.plan.total import Totals, Watch, totals_of
from venturi.plan.unused import unused_names
from venturi.plan.written import check_reads

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
    parameters = resolve_parameters(workload, settings)
    workload = with_sharers(workload, parameters)
    sizes = sizes_of(workload, settings, parameters)
    ranks = sum(size.world for size in sizes)
    names = PlanNames()
    slots = {slot: index for index, slot in enumerate(names.slots)}
    scope = Scope(parameters, slots).defining(workload.define)
    interfaces = interfaces_of(settings)
    check_made_by(workload, interfaces)
    lowered = _lower_groups(workload, settings, scope, sizes, names)
    groups = lowered.groups
    several = {index for group in groups if group.instances > 1 for index in made_by(group)}
    several = with_makers(workload, several)
    file_scope = Scope(parameters, {word: index for index, word in enumerate(names.slots)})
    files = [
        lower_file(
            file,
            spec,
            file_scope,
            settings,
            interfaces,
            by_instance=index in several,
            appended=file in lowered.appended,
        )
        for index, (file, spec) in enumerate(workload.files.items())
    ]
    check_faults(files, ranks)
    plan = Plan(
        run=settings.run,
        name=workload.name,
        seed=settings.seed,
        ranks=ranks,
        repetitions=settings.repetitions or workload.repeat or DEFAULT_REPETITIONS,
        clock=_clock_of(files, names),
        directory=settings.run_directory,
        journal=settings.journal,
        expect_fstype=settings.expect_fstype,
        stall_s=duration(workload.heartbeat, scope, "heartbeat"),
        deadline_s=None
        if workload.deadline is None
        else duration(workload.deadline, scope, "deadline"),
        log_operations=workload.log_operations,
        slots=names.slots,
        files=files,
        groups=groups,
    )
    settled = settle(with_staged_loops(plan))
    plan = settled.plan
    if len(groups) > 1:
        check_sharing(plan.groups, workload, settled.awaited)
    totals = totals_of(plan, settings.nodes, watch)
    check_reads(plan, settings.nodes)
    plan = with_byte_datasets(plan, settings.nodes)
    check_constraints(plan)
    if not totals.phases:
        raise UserError(f"{workload.name}: the program has no phase", "only phases are measured")
    expectations = _expectations(workload, parameters, ranks, totals)
    replaced = substitutions(workload, files, lowered.uncollective)
    warnings = lowered.warnings
    commands = names.commands
    warnings += unused_names(workload)
    if commands:
        warnings.append("what its commands read and write is not known before they run")
    within = _repeat_within_s(workload, settings, scope)
    return PlanResult(plan, totals, parameters, expectations, replaced, warnings, commands, within)


def _clock_of(files: list[File], names: PlanNames) -> ClockKind:
    """Simulated where all files are; raises UserError where that cannot be."""
    simulated = [file.interface.entry.is_simulated for file in files]
    if not any(simulated):
        return ClockKind.REAL
    if not all(simulated):
        raise UserError("some files are simulated and some are not", "simulated time needs all")
    if names.commands:
        raise UserError("a command runs in real time", "leave out '--set interface=simulated'")
    return ClockKind.SIMULATED


def _repeat_within_s(workload: Workload, settings: RunSettings, scope: Scope) -> float | None:
    """When repetitions cease to begin; None where the user says how many, or nobody says."""
    if workload.repeat_within is None or settings.repetitions is not None:
        return None
    return duration(workload.repeat_within, scope, "repeat_within")


@dataclass
class _Lowered:
    """The groups with their programs, and what was found on the way."""

    groups: list[Group] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    appended: set[str] = field(default_factory=set)
    uncollective: set[str] = field(default_factory=set)


def _lower_groups(
    workload: Workload,
    settings: RunSettings,
    scope: Scope,
    sizes: list[GroupSize],
    names: PlanNames,
) -> _Lowered:
    lowered = _Lowered()
    first = 0
    after = following(workload)
    for size in sizes:
        lowering = Lowering(workload, settings, size, names)
        if size.name in after:
            lowering.know_others()
        program = lowering.program(workload.program[size.name], scope, size.name)
        if size.name in after:
            program.insert(0, all_signals(end_of(after[size.name])))
        if size.name in after.values():
            program.append(Signal(name=end_of(size.name), to=[]))
        lowered.warnings += lowering.warnings
        lowered.appended |= lowering.appended
        lowered.uncollective |= lowering.uncollective
        lowered.groups.append(
            Group(
                name=size.name,
                first=first,
                ranks=size.ranks,
                instances=size.instances,
                program=program,
            )
        )
        first += size.world
    return lowered


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
