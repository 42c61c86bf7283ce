"""A workload as a plan: files, groups and their programs, before anything of it is counted."""

from __future__ import annotations

from dataclasses import dataclass, field

from venturi.model.command import ExecStep
from venturi.model.error import UserError
from venturi.model.expression import Number
from venturi.model.plan import ClockKind, File, Group, Plan, Signal
from venturi.model.record import Substitution
from venturi.model.workload import Workload
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

DEFAULT_REPETITIONS = 6


@dataclass(frozen=True)
class LoweredPlan:
    """A plan, and what was settled on the way to it."""

    plan: Plan
    parameters: dict[str, Number]
    substituted: list[Substitution]
    warnings: list[str]
    commands: list[ExecStep]
    """What the plan's `exec` steps run, by their number."""
    repeat_within_s: float | None
    """No repetition begins later."""


def lowered_plan(workload: Workload, settings: RunSettings) -> LoweredPlan:
    """The plan of a workload, whose requests nobody has looked at yet.

    Raises UserError for what needs no request to be seen wrong.
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
    programs = _lower_groups(workload, settings, scope, sizes, names)
    groups = programs.groups
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
            appended=file in programs.appended,
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
    replaced = substitutions(workload, files, programs.uncollective)
    within = _repeat_within_s(workload, settings, scope)
    return LoweredPlan(plan, parameters, replaced, programs.warnings, names.commands, within)


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
class _LoweredGroups:
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
) -> _LoweredGroups:
    lowered = _LoweredGroups()
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
