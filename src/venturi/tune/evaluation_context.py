"""What a change is judged by before anything runs: a workload, its numbers, and the machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from venturi.model.error import UserError
from venturi.model.expression import ExpressionError, Literal, Number, compiled
from venturi.model.plan import Interface
from venturi.model.workload import DataStep, FileSpec, Finding, StepSpec, Value, Workload
from venturi.plan.make import PlanResult
from venturi.plan.scope import Scope

_MOST_TURNS = 200_000
"""Of longer loops not every turn is looked at."""


class DoesNotApply(Exception):
    """A change says nothing about this workload; the message says why, as `because ...`."""


@dataclass(frozen=True)
class EvaluationContext:
    """A workload with all that a change may look at."""

    workload: Workload
    made: PlanResult
    """Its plan, for `ranks` ranks."""
    file_system: str
    """The type of the target's."""
    interfaces: frozenset[Interface]
    """Those that the engine has on this machine."""
    has_mpi: bool = True
    """Ranks are started under MPI."""
    findings: tuple[Finding, ...] = ()
    """What was found in the capture that the workload comes from."""

    @property
    def ranks(self) -> int:
        """All ranks of the run."""
        return self.made.plan.ranks

    @property
    def parameters(self) -> dict[str, Number]:
        """The number of every parameter."""
        return self.made.parameters

    def number(self, value: Value | None) -> Number | None:
        """The number that a value is on every rank and in every turn; None: it varies."""
        if value is None:
            return None
        slots = {name: i for i, name in enumerate(self.made.plan.slots)}
        scope = Scope(self.parameters, slots).defining(self.workload.define)
        tree = scope.tree(value, "value")
        return tree.value if isinstance(tree, Literal) else None

    def whole(self, value: Value | None) -> int | None:
        """As `number`, where it is a whole one."""
        number = self.number(value)
        return number if isinstance(number, int) else None

    def of_turns(self, value: Value, loop: StepSpec) -> list[Number] | None:
        """What a value is in each turn of a loop; None where it depends on more than that, or the
        turns are unknown, none or too many to look at."""
        turns = self.whole(loop.in_)
        if not turns or turns > _MOST_TURNS:
            return None
        scope = Scope(self.parameters, {loop.for_ or "": 0}).defining(self.workload.define)
        try:
            number = compiled(scope.code(value, "tune"))
            return [number([turn]) for turn in range(turns)]
        except (ExpressionError, UserError):
            return None

    def known(self, name: str) -> str:
        """How the application's user knows a file, or a dataset `file.dataset`."""
        file, dot, dataset = name.partition(".")
        spec = self.workload.files.get(file)
        if spec is None or not spec.about:
            return name
        return f"{dataset} in {spec.about}" if dot else spec.about

    def listed(self, names: Sequence[str], most: int = 3) -> str:
        """Files or datasets in a sentence, as users know them: `a, b and 4 more`."""
        unique = list(dict.fromkeys(map(self.known, names)))
        if len(unique) > most:
            return f"{', '.join(unique[:most])} and {len(unique) - most} more"
        if len(unique) > 1:
            return f"{', '.join(unique[:-1])} and {unique[-1]}"
        return unique[0] if unique else "nothing"

    def sharers(self, spec: FileSpec) -> int | None:
        """How many ranks share a file; None where that is not one number."""
        kind, _, number = spec.shared.partition(" ")
        if kind == "rank":
            return 1
        if kind == "every":
            return int(number) if number.isdecimal() else None
        sizes = {group.ranks for group in self.made.plan.groups}
        return sizes.pop() if kind == "all" and len(sizes) == 1 else None


@dataclass(frozen=True)
class DataStepUse:
    """A data step on a plain file or a dataset."""

    name: str
    dataset: str
    step: DataStep
    is_write: bool
    place: str
    """In whose place a rank acts: `self`, `shift 1`, ..."""


def use_of(step: StepSpec, workload: Workload) -> DataStepUse | None:
    """The data step of a step, in its long form; None for other verbs and for trees."""
    given = step.write if step.write is not None else step.read
    if given is None:
        return None
    is_write = step.write is not None
    if isinstance(given, DataStep):
        rich = given
        target = (given.to if is_write else given.from_) or ""
    else:
        target = given
        rich = DataStep(to=target) if is_write else DataStep(from_=target)
    name, _, dataset = target.partition(".")
    spec = workload.files.get(name)
    if spec is None or spec.tree is not None:
        return None
    return DataStepUse(name, dataset, rich, is_write, step.from_)


def steps_of(workload: Workload) -> Iterator[StepSpec]:
    """Every step of every program, outer ones before those inside."""
    pending = [step for steps in workload.program.values() for step in reversed(steps)]
    while pending:
        step = pending.pop()
        if isinstance(step, StepSpec):
            yield step
            pending += reversed(step.inner)


def uses_of(workload: Workload) -> Iterator[DataStepUse]:
    """Every data step on a plain file or a dataset."""
    for step in steps_of(workload):
        use = use_of(step, workload)
        if use is not None:
            yield use
