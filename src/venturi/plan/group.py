"""Groups of ranks: how many ranks each has, and which files only one of them may make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from venturi.model import plan as p
from venturi.model.command import ExecStep
from venturi.model.error import UserError
from venturi.model.expression import Number
from venturi.model.plan import Slot
from venturi.model.workload import BareStep, DataStep, StepSpec, Workload
from venturi.plan.scope import Scope
from venturi.plan.setting import RunSettings
from venturi.plan.walk import leaves


@dataclass(frozen=True)
class GroupSize:
    """A group, the ranks of each of its instances, and how many instances there are."""

    name: str
    ranks: int
    instances: int = 1

    @property
    def world(self) -> int:
        """Ranks of all instances."""
        return self.ranks * self.instances


@dataclass
class PlanNames:
    """What all groups of a plan number or name together: variables, phases, commands."""

    slots: list[str] = field(default_factory=lambda: [slot.value for slot in Slot])
    phases: set[str] = field(default_factory=set)
    commands: list[ExecStep] = field(default_factory=list)


def sizes_of(
    workload: Workload, settings: RunSettings, parameters: Mapping[str, Number]
) -> list[GroupSize]:
    """The groups in the order in which they get their ranks; all run at the same time."""
    _check_names(workload)
    scope = Scope(parameters, {})
    sizes = []
    for name in workload.program:
        spec = workload.groups.get(name)
        if spec is None:
            ranks: Number = 1 if settings.ranks is None else settings.ranks
            sizes.append(GroupSize(name, _positive(ranks, f"groups.{name}")))
            continue
        ranks = scope.constant(spec.ranks, f"groups.{name}.ranks")
        instances = scope.whole(spec.instances, f"groups.{name}.instances", least=0)
        if instances:
            sizes.append(GroupSize(name, _positive(ranks, f"groups.{name}"), instances))
    if not sizes:
        raise UserError("no group has an instance, so nobody does anything")
    world = sum(size.world for size in sizes)
    if world > settings.most_ranks:
        words = ", ".join(size.name for size in sizes)
        raise UserError(
            f"groups {words}: {world} ranks are more than this machine's limit of "
            f"{settings.most_ranks}",
            "use fewer ranks (-n), or raise 'most_ranks' in the machine file",
        )
    return sizes


def _check_names(workload: Workload) -> None:
    if not workload.program:
        raise UserError(f"{workload.name}: there is no program")
    for name in workload.program:
        if workload.groups and name not in workload.groups:
            known = ", ".join(workload.groups)
            raise UserError(f"program.{name}: there is no group '{name}'", f"groups: {known}")
    if len(workload.program) > 1 and not workload.groups:
        raise UserError(
            f"{workload.name}: several programs need 'groups' that say how many ranks each has"
        )
    idle = [name for name in workload.groups if name not in workload.program]
    if idle:
        raise UserError(f"groups.{idle[0]}: it has no program", "give it one, or take it out")


def ranks_of_groups(workload: Workload, parameters: Mapping[str, Number]) -> int:
    """The ranks of all groups that have a program; raises UserError for what is no number."""
    scope = Scope(parameters, {})
    total = 0
    for name in workload.program:
        if (spec := workload.groups.get(name)) is not None:
            ranks = scope.whole(spec.ranks, f"groups.{name}.ranks")
            total += ranks * scope.whole(spec.instances, f"groups.{name}.instances")
    return total


def _positive(ranks: Number, where: str) -> int:
    if not isinstance(ranks, int) or ranks < 1:
        raise UserError(f"{where}: {ranks} ranks: at least one is needed", "use -n RANKS")
    return ranks


_OnFile = p.Manage | p.Items | p.Transfer | p.Sync


@dataclass
class _Use:
    """Files that a program makes, and files that it only uses."""

    made: set[int] = field(default_factory=set)
    used: set[int] = field(default_factory=set)


def check_sharing(
    groups: Sequence[p.Group], workload: Workload, awaited: Mapping[str, set[str]]
) -> None:
    """Refuse files that one group makes while another one, at the same time, makes or uses them.

    `awaited`: of each group, those whose signals it waits for.
    """
    names = list(workload.files)
    makers: dict[int, str] = {}
    uses = {group.name: _use_of(group.program) for group in groups}
    for name, use in uses.items():
        for index in sorted(use.made):
            if index in makers:
                raise UserError(
                    f"files.{names[index]}: the groups '{makers[index]}' and '{name}' both make it",
                    "give each group files of its own",
                )
            makers[index] = name
    for name, use in uses.items():
        makers_too = {names.index(m) for i in use.used for m in workload.files[names[i]].made_by}
        for index in sorted(use.used | makers_too):
            spec = workload.files[names[index]]
            maker = makers.get(index, name)
            if maker != name and not _follows(groups, maker, name, index, awaited):
                raise UserError(
                    f"files.{names[index]}: the group '{makers[index]}' makes it while '{name}' "
                    "uses it, and nothing says who comes first",
                    f"let '{maker}' give a 'signal' when it is there and '{name}' 'wait' for it, "
                    "or give it 'prestage: SIZE', so that it is there before both",
                )
            others = [g for g, other in uses.items() if g != name and index in other.used]
            if others and spec.content.verify:
                raise UserError(
                    f"files.{names[index]}: the groups '{name}' and '{others[0]}' use it at the "
                    "same time, so its content cannot be verified",
                    "leave 'verify' out",
                )


def _follows(
    groups: Sequence[p.Group], maker: str, user: str, file: int, awaited: Mapping[str, set[str]]
) -> bool:
    """Whether one group waits, before it uses a file, for another one that has made it by then."""
    if maker not in awaited.get(user, ()):
        return False
    programs = {group.name: group.program for group in groups}
    index = [group.name for group in groups].index(user)
    made = told = False
    for step, _ in leaves(programs[maker]):
        made |= isinstance(step, _OnFile) and step.file == file and _makes(step)
        told |= made and isinstance(step, p.Signal) and index in step.to
    for step, _ in leaves(programs[user]):
        if isinstance(step, _OnFile) and step.file == file:
            return False
        if isinstance(step, p.Wait):
            return told
    return False


def made_elsewhere(workload: Workload, group: str) -> set[str]:
    """The files that the programs of other groups make or write."""
    return {
        file
        for name, steps in workload.program.items()
        if name != group
        for file in _targets(steps)
    }


def _targets(steps: Sequence[StepSpec | BareStep]) -> Iterator[str]:
    for step in steps:
        if not isinstance(step, StepSpec):
            continue
        yield from _targets(step.inner)
        target = step.write.to if isinstance(step.write, DataStep) else step.write
        each = step.each.on if step.each is not None and p.ItemVerb.CREATE in step.each.do else None
        yield from (name.partition(".")[0] for name in (step.create, target, each) if name)


def made_by(group: p.Group) -> set[int]:
    """Indices of the files that a group's program makes."""
    return _use_of(group.program).made


def staged_by(plan: p.Plan, group: p.Group) -> set[int]:
    """Indices of the files that this group fills before the run: it is the first to use them.

    A file that no program uses is the first group's.
    """
    before: set[int] = set()
    for other in plan.groups:
        used = _use_of(other.program).used
        if other is plan.groups[0]:
            used |= set(range(len(plan.files))) - {
                index for each in plan.groups for index in _use_of(each.program).used
            }
        if other is group:
            return used - before
        before |= used
    return set()


def _use_of(steps: Iterable[p.Step]) -> _Use:
    use = _Use()
    for step, _ in leaves(steps):
        if isinstance(step, _OnFile):
            use.used.add(step.file)
            if _makes(step):
                use.made.add(step.file)
            if isinstance(step, p.Manage) and step.to is not None:
                use.used.add(step.to)
                use.made.add(step.to)
            if isinstance(step, p.Items) and step.source is not None:
                use.used.add(step.source)
    return use


def _makes(step: _OnFile) -> bool:
    if isinstance(step, p.Manage):
        return step.verb in (p.NameVerb.CREATE, p.NameVerb.MKDIR)
    makes = {p.ItemVerb.CREATE, p.ItemVerb.COPY}
    return isinstance(step, p.Items) and not makes.isdisjoint(step.verbs)
