"""Steps of a workload as steps of a plan.

The planner settles what the language leaves open: it opens what is used without an `open`,
closes it at the end of the phase, and turns words such as `from: next node` into numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError, Literal, Tree, names_in
from venturi.model.plan import NameVerb
from venturi.model.workload import (
    BareStep,
    ComputeStep,
    DataStep,
    EachStep,
    FileSpec,
    LimitStep,
    StepSpec,
    SyncStep,
    Workload,
)
from venturi.plan.access import (
    RANK,
    Access,
    accesses,
    dataset_accesses,
    dataset_bytes,
    sharers_of,
)
from venturi.plan.file import template_names
from venturi.plan.scope import Scope, plus, rest
from venturi.plan.setting import Settings

_ITEM_VERBS = {
    "create": [p.ItemVerb.CREATE, p.ItemVerb.CLOSE],
    "write": [p.ItemVerb.OPEN, p.ItemVerb.WRITE, p.ItemVerb.CLOSE],
    "read": [p.ItemVerb.OPEN, p.ItemVerb.READ, p.ItemVerb.CLOSE],
    "stat": [p.ItemVerb.STAT],
    "unlink": [p.ItemVerb.UNLINK],
}
_NAME_VERBS = ("create", "open", "close", "stat", "unlink", "mkdir", "rmdir")


WAITING_VERBS = frozenset({NameVerb.CREATE, NameVerb.UNLINK, NameVerb.MKDIR, NameVerb.RMDIR})
"""On a shared name the first sharer does these while the others wait."""


@dataclass
class _State:
    """What is open and what exists at this place of the program, in program order."""

    opened: dict[str, bool] = field(default_factory=dict)
    """File to whether the planner itself opened it."""
    existing: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Place:
    """Where a step stands."""

    scope: Scope
    where: str
    phase: str = ""
    is_limited: bool = False
    by_rank: bool = False
    in_loop: bool = False


class Lowering:
    """Turns the steps of one group into plan steps; collects the loop variables' slots."""

    def __init__(self, workload: Workload, settings: Settings, ranks: int) -> None:
        self._workload = workload
        self._settings = settings
        self._ranks = ranks
        self._indices = {name: index for index, name in enumerate(workload.files)}
        self._state = _State()
        self.slots: list[str] = [slot.value for slot in p.Slot]
        self.warnings: list[str] = []
        self._phases: set[str] = set()
        self._at_work = False
        for name, spec in workload.files.items():
            if spec.foreign or spec.prestage is not None:
                self._state.existing.add(name)

    def program(
        self, steps: Sequence[StepSpec | BareStep], scope: Scope, group: str
    ) -> list[p.Step]:
        """The plan steps of one group's program."""
        return self._body(steps, _Place(scope, f"program.{group}"))

    def _body(self, steps: Sequence[StepSpec | BareStep], place: _Place) -> list[p.Step]:
        result: list[p.Step] = []
        for index, step in enumerate(steps):
            here = _Place(**{**vars(place), "where": f"{place.where}[{index}]"})
            try:
                if step == "barrier":
                    result.append(self._barrier(here))
                elif isinstance(step, StepSpec):
                    result += self._step(step, here)
            except ExpressionError as error:
                raise UserError(f"{here.where}: {error}") from None
        return result

    def _step(self, step: StepSpec, place: _Place) -> list[p.Step]:
        verb = step.verb
        if verb not in _NAME_VERBS and verb != "phase":
            steps = self._work(step, verb, place)
            self._at_work = True
            return steps
        if verb == "phase":
            return [self._phase(step, place)]
        self._must_be_in_phase(verb, place)
        return self._name(step, verb, place)

    def _work(self, step: StepSpec, verb: str, place: _Place) -> list[p.Step]:
        """Steps at which a rank may reach a limit."""
        if verb == "for_":
            return [self._for(step, place)]
        if verb == "when":
            return [self._when(step, place)]
        if verb == "barrier":
            return [self._barrier(place)]
        if verb == "compute":
            return [self._compute(step, place)]
        self._must_be_in_phase(verb, place)
        if verb in ("write", "read"):
            return self._data(step, place)
        if verb == "each":
            assert step.each is not None
            return [self._items(step.each, step, place)]
        return self._sync(step, place)

    def _must_be_in_phase(self, verb: str, place: _Place) -> None:
        if not place.phase:
            raise UserError(
                f"{place.where}: '{verb}' stands outside of every phase",
                "put I/O into a phase: only phases are measured",
            )

    def _barrier(self, place: _Place) -> p.Barrier:
        self._refuse_waiting("barrier", place)
        return p.Barrier()

    def _refuse_waiting(self, what: str, place: _Place) -> None:
        """Where ranks go different ways, none may wait for the others."""
        if place.by_rank:
            raise UserError(
                f"{place.where}: '{what}' under a condition on the rank would wait for ever",
                "put the 'when' inside the phase, or give these ranks files of their own "
                "('shared: rank')",
            )
        if place.is_limited and (what != "create" or place.in_loop or self._at_work):
            raise UserError(
                f"{place.where}: '{what}' cannot stand in a phase with a limit, because ranks "
                "stop at different places",
                "end the phase before it",
            )

    def _for(self, step: StepSpec, place: _Place) -> p.For:
        assert step.for_ is not None
        assert step.in_ is not None
        assert step.do is not None
        count = place.scope.code(step.in_, f"{place.where}.in")
        if step.for_ not in self.slots:
            self.slots.append(step.for_)
        slot = self.slots.index(step.for_)
        inner = _Place(
            **{
                **vars(place),
                "scope": place.scope.inside(step.for_, slot),
                "where": f"{place.where}.do",
                "in_loop": place.in_loop or bool(place.phase),
                "by_rank": place.by_rank or self._varies(step.in_, place),
            }
        )
        return p.For(variable=slot, count=count, body=self._body(step.do, inner))

    def _varies(self, value: int | float | str, place: _Place) -> bool:
        return bool(names_in(place.scope.tree(value, place.where)) & {"rank", "node"})

    def _when(self, step: StepSpec, place: _Place) -> p.When:
        assert step.when is not None
        assert step.do is not None
        inner = _Place(
            **{
                **vars(place),
                "where": f"{place.where}.do",
                "by_rank": place.by_rank or self._varies(step.when, place),
            }
        )
        return p.When(
            condition=place.scope.code(step.when, f"{place.where}.when"),
            body=self._body(step.do, inner),
        )

    def _phase(self, step: StepSpec, place: _Place) -> p.Phase:
        assert step.phase is not None
        assert step.do is not None
        self._refuse_waiting("phase", place)
        path = f"{place.phase}/{step.phase}" if place.phase else step.phase
        if path in self._phases:
            raise UserError(
                f"{place.where}: there is already a phase '{path}'", "name it otherwise"
            )
        self._phases.add(path)
        limit_s, bound_s = self._limit(step.limit, place)
        inner = _Place(
            **{
                **vars(place),
                "where": f"{place.where}.do",
                "phase": path,
                "is_limited": place.is_limited or limit_s is not None,
                "in_loop": False,
            }
        )
        before = set(self._state.opened)
        self._at_work = False
        body = self._body(step.do, inner)
        for name, automatic in list(self._state.opened.items()):
            if automatic and name not in before:
                body.append(self._manage(NameVerb.CLOSE, name, inner))
                del self._state.opened[name]
        return p.Phase(path=path, limit_s=limit_s, bound_s=bound_s, cache=step.cache, body=body)

    def _limit(
        self, limit: LimitStep | int | float | str | None, place: _Place
    ) -> tuple[float | None, float]:
        if limit is None:
            return None, 0.0
        rich = limit if isinstance(limit, LimitStep) else LimitStep(after=limit)
        after = float(place.scope.constant(rich.after, f"{place.where}.limit.after"))
        if after <= 0:
            raise UserError(f"{place.where}.limit: a limit must be longer than 0 s")
        if rich.then == "stop":
            return after, 0.0
        if rich.bound is None:
            return after, after
        return after, float(place.scope.constant(rich.bound, f"{place.where}.limit.bound"))

    def _compute(self, step: StepSpec, place: _Place) -> p.Compute:
        assert step.compute is not None
        rich = step.compute
        if not isinstance(rich, ComputeStep):
            rich = ComputeStep(seconds=rich)
        return p.Compute(
            seconds=place.scope.code(rich.seconds, f"{place.where}.compute"), mode=rich.mode
        )

    def _owner(self, step: StepSpec, place: _Place) -> list[p.Instruction]:
        """The rank in whose place a rank acts."""
        owner: Tree = RANK
        if step.from_ == "next node":
            per_node = -(-self._ranks // self._settings.nodes)
            shift = per_node if self._settings.nodes > 1 else 1
            if self._settings.nodes == 1:
                self.warnings.append(
                    f"{place.phase}: 'from: next node' on one node takes the next rank: the "
                    "data may still be in this node's cache"
                )
            owner = rest(plus(RANK, shift), self._ranks)
        elif step.from_ != "self":
            shift_tree = place.scope.tree(step.from_.removeprefix("shift "), f"{place.where}.from")
            owner = rest(plus(RANK, shift_tree), self._ranks)
        return place.scope.compile(owner, f"{place.where}.from")

    def _file(self, name: str, place: _Place) -> FileSpec:
        if name not in self._workload.files:
            known = ", ".join(self._workload.files) or "none"
            raise UserError(f"{place.where}: there is no file '{name}'", f"files: {known}")
        spec = self._workload.files[name]
        outside = (
            template_names(spec.path) - place.scope.slots.keys() - place.scope.constants.keys()
        )
        if outside:
            raise UserError(
                f"{place.where}: the path of '{name}' has '{min(outside)}', which is no name here",
                "use the file inside the loop that runs over it",
            )
        return spec

    def _manage(
        self, verb: NameVerb, name: str, place: _Place, owner: list[p.Instruction] | None = None
    ) -> p.Manage:
        spec = self._file(name, place)
        if spec.foreign and verb not in (NameVerb.OPEN, NameVerb.CLOSE, NameVerb.STAT):
            raise UserError(f"{place.where}: '{name}' is somebody else's file; it is only read")
        if spec.shared != "rank" and verb in WAITING_VERBS:
            self._refuse_waiting(verb.value, place)
        code = owner if owner is not None else place.scope.compile(RANK, place.where)
        return p.Manage(verb=verb, file=self._indices[name], owner=code)

    def _name(self, step: StepSpec, verb: str, place: _Place) -> list[p.Step]:
        name = str(getattr(step, verb))
        spec = self._file(name, place)
        if spec.tree is not None and verb in _ITEM_VERBS:
            each = EachStep(on=name, do=_ITEM_VERBS[verb])
            return [self._items(each, step, place)]
        if spec.tree is not None and verb in ("open", "close"):
            raise UserError(f"{place.where}: '{name}' is a tree of files", "use 'each'")
        opened = self._state.opened
        if verb in ("create", "open"):
            if name in opened:
                raise UserError(f"{place.where}: '{name}' is already open", "close it first")
            if verb == "open" and name not in self._state.existing:
                raise UserError(
                    f"{place.where}: '{name}' is opened but nothing made it",
                    "'create' it first, or give it 'prestage: SIZE'",
                )
            opened[name] = False
            self._state.existing.add(name)
        elif verb == "close" and opened.pop(name, None) is None:
            raise UserError(f"{place.where}: '{name}' is closed but not open")
        elif verb == "unlink":
            self._state.existing.discard(name)
        return [self._manage(NameVerb(verb), name, place, self._owner(step, place))]

    def _items(self, each: EachStep, step: StepSpec, place: _Place) -> p.Items:
        spec = self._file(each.on, place)
        if spec.tree is None:
            raise UserError(f"{place.where}: '{each.on}' has no 'tree'")
        if place.is_limited and each.order == "shuffled" and p.ItemVerb.CREATE in each.do:
            raise UserError(
                f"{place.where}: files made in shuffled order under a limit could not be found "
                "again",
                "make them in order, or without a limit",
            )
        return p.Items(
            file=self._indices[each.on],
            owner=self._owner(step, place),
            verbs=list(each.do),
            shuffled=each.order == "shuffled",
        )

    def _sync(self, step: StepSpec, place: _Place) -> list[p.Step]:
        rich = step.sync
        names = [rich.on] if isinstance(rich, SyncStep) else list(self._state.opened)
        mode = rich.mode if isinstance(rich, SyncStep) else rich
        assert mode is not None
        if mode is p.SyncMode.NONE:
            return []
        for name in names or [""]:
            if name not in self._state.opened:
                raise UserError(f"{place.where}: 'sync' finds no open file {name}".rstrip())
        return [p.Sync(file=self._indices[name], mode=mode) for name in names]

    def _data(self, step: StepSpec, place: _Place) -> list[p.Step]:
        is_write = step.write is not None
        verb = "write" if is_write else "read"
        short = step.write if is_write else step.read
        rich = short if isinstance(short, DataStep) else None
        target = short if isinstance(short, str) else self._target(rich, is_write, place)
        name, _, part = target.partition(".")
        spec = self._file(name, place)
        if spec.tree is not None:
            return [self._items(EachStep(on=name, do=_ITEM_VERBS[verb]), step, place)]
        if is_write and spec.foreign:
            raise UserError(f"{place.where}: '{name}' is somebody else's file; it is only read")
        rich = rich or DataStep(to=target)
        where = f"{place.where}.{verb}"
        parts = self._parts(rich, name, part, place, where)
        opening = self._open_for(name, is_write, step, place)
        owner = self._owner(step, place)
        think = float(place.scope.constant(rich.think, f"{where}.think"))
        direction = p.Direction(verb)
        return opening + [
            p.Transfer(
                operation=direction,
                file=self._indices[name],
                owner=owner,
                size=place.scope.compile(access.size, where),
                pattern=_pattern(access, place.scope, where),
                sync=rich.sync,
                think_s=think,
            )
            for access in parts
        ]

    def _target(self, rich: DataStep | None, is_write: bool, place: _Place) -> str:
        assert rich is not None
        wanted, other = (rich.to, rich.from_) if is_write else (rich.from_, rich.to)
        word, wrong = ("to", "from") if is_write else ("from", "to")
        if other is not None:
            raise UserError(f"{place.where}: use '{word}' here, not '{wrong}'")
        if wanted is None:
            raise UserError(f"{place.where}: '{word}' is missing (a file or file.dataset)")
        return wanted

    def _parts(
        self, rich: DataStep, name: str, part: str, place: _Place, where: str
    ) -> list[Access]:
        spec = self._workload.files[name]
        if not part:
            sharers = sharers_of(spec.shared)
            if sharers.count == Literal(0):
                raise UserError(f"{where}: 'shared: node' needs to know the nodes: not yet built")
            return accesses(rich, sharers, place.scope, where)
        if part not in spec.datasets:
            known = ", ".join(spec.datasets) or "none"
            raise UserError(f"{where}: '{name}' has no dataset '{part}'", f"datasets: {known}")
        if spec.shared != "all":
            raise UserError(f"{where}: datasets need 'shared: all'")
        offset = 0
        for other, dataset in spec.datasets.items():
            if other == part:
                break
            size = dataset_bytes(dataset, place.scope, f"files.{name}.datasets.{other}")
            count = place.scope.whole(dataset.count, f"files.{name}.datasets.{other}.count")
            offset += size * count
        dataset = spec.datasets[part]
        label = f"files.{name}.datasets.{part}"
        self._check_split(label, [place.scope.whole(v, label, least=1) for v in dataset.split])
        return dataset_accesses(dataset, rich, offset, place.scope, label)

    def _check_split(self, label: str, split: list[int]) -> None:
        product = 1
        for parts in split:
            product *= parts
        if product != self._ranks:
            raise UserError(
                f"{label}: split into {product} parts, but there are {self._ranks} ranks",
                "the product of 'split' must be the number of ranks",
            )

    def _open_for(self, name: str, is_write: bool, step: StepSpec, place: _Place) -> list[p.Step]:
        """The opening of a file that the program uses without saying so."""
        state = self._state
        if name in state.opened:
            return []
        if not is_write and name not in state.existing:
            raise UserError(
                f"{place.where}: '{name}' is read but nothing wrote it",
                "write it first, or give it 'prestage: SIZE'",
            )
        if place.in_loop or place.by_rank:
            raise UserError(
                f"{place.where}: '{name}' is used in a loop or under a condition without being "
                "open",
                "say where it is opened and closed",
            )
        verb = NameVerb.OPEN if name in state.existing else NameVerb.CREATE
        state.opened[name] = True
        state.existing.add(name)
        return [self._manage(verb, name, place, self._owner(step, place))]


def _pattern(access: Access, scope: Scope, where: str) -> p.Nest | p.Random:
    base = scope.compile(access.base, where)
    if access.shuffle is None:
        loops = [
            p.Loop(count=scope.compile(count, where), stride=scope.compile(stride, where))
            for count, stride in access.loops
        ]
        return p.Nest(base=base, loops=loops)
    shuffle = access.shuffle
    return p.Random(
        base=base,
        slots=scope.compile(shuffle.slots, where),
        count=scope.compile(shuffle.count, where),
        first=scope.compile(shuffle.first, where),
        step=scope.compile(shuffle.step, where),
        replacement=shuffle.replacement,
    )
