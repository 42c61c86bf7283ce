"""Steps of a workload as steps of a plan.

The planner settles what the language leaves open: it opens what is used without an `open`,
closes it at the end of the phase, and turns words such as `from: next node` into numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError, Literal
from venturi.model.plan import NameVerb
from venturi.model.verb import ATTRIBUTE_VERBS
from venturi.model.workload import (
    RESERVED_NAMES,
    BareStep,
    CopyStep,
    DataStep,
    EachStep,
    FileSpec,
    PatternKind,
    RenameStep,
    StepSpec,
    SyncStep,
    TruncateStep,
    Workload,
)
from venturi.plan.access import RANK, Access, accesses, fixed_sharers_of, sharers_of, target_of
from venturi.plan.cache import cache_of
from venturi.plan.choice import lower_choice
from venturi.plan.copy import check_copy, each_of
from venturi.plan.dataset import dataset_accesses
from venturi.plan.file import interfaces_of, template_names
from venturi.plan.group import GroupSize, PlanNames, made_elsewhere
from venturi.plan.halo import halo_of
from venturi.plan.issue_mode import IssueMode, check_sequential, issue_mode_of, mix_of, pattern_of
from venturi.plan.item import DIRECTORY_VERBS, FILE_VERBS, check_each, lower_items
from venturi.plan.joint_step import JOINT_VERBS, lower_joint
from venturi.plan.limit import compute_of, limit_of
from venturi.plan.literal import literal_of, of_size, with_literal_size
from venturi.plan.loop import loop_of
from venturi.plan.owner import check_same, owner_of
from venturi.plan.rename import check_rename
from venturi.plan.repeat import at_least_of, repeated
from venturi.plan.scope import Scope, duration
from venturi.plan.setting import RunSettings
from venturi.plan.signal import lower_signal, lower_wait
from venturi.plan.step_context import ProgramState, StepContext
from venturi.plan.together import (
    WAITING_VERBS,
    check_known,
    check_met,
    check_shown,
    keeps_collective,
    moves_together,
    opens_together,
    shows_datasets,
    shows_places,
)

_NAME_VERBS = (
    "create",
    "open",
    "close",
    "stat",
    "unlink",
    "mkdir",
    "rmdir",
    "read_dir",
    "rename",
    "truncate",
    "copy_",
    "miss",
    *ATTRIBUTE_VERBS,
)
_BY_EACH = frozenset({NameVerb.STAT, NameVerb.MISS, *map(NameVerb, ATTRIBUTE_VERBS)})
"""Each rank does these by itself, also to what all share."""


class Lowering:
    """Turns the steps of one group into plan steps; numbers the loop variables."""

    def __init__(
        self, workload: Workload, settings: RunSettings, size: GroupSize, names: PlanNames
    ) -> None:
        self._workload = workload
        self._settings = settings
        self._group = size.name
        self._ranks = size.ranks
        self._names = names
        self._interfaces = interfaces_of(settings)
        self._indices = {name: index for index, name in enumerate(workload.files)}
        self._state = ProgramState()
        self.warnings: list[str] = []
        self.uncollective: set[str] = set()
        """Files whose collective calls became calls of each rank."""
        self._at_work = False
        self._appends: dict[str, bool] = {}
        for name, spec in workload.files.items():
            if spec.foreign or spec.prestage is not None:
                self._state.existing.add(name)

    def program(
        self, steps: Sequence[StepSpec | BareStep], scope: Scope, group: str
    ) -> list[p.Step]:
        """The plan steps of one group's program."""
        return self._body(steps, StepContext(scope, f"program.{group}"))

    def _body(self, steps: Sequence[StepSpec | BareStep], place: StepContext) -> list[p.Step]:
        result: list[p.Step] = []
        for index, step in enumerate(steps):
            here = StepContext(**{**vars(place), "where": f"{place.where}[{index}]"})
            try:
                if step == "barrier":
                    result.append(self._barrier(here))
                elif isinstance(step, StepSpec):
                    result += self._step(step, here)
            except ExpressionError as error:
                raise UserError(f"{here.where}: {error}") from None
        return result

    def _step(self, step: StepSpec, place: StepContext) -> list[p.Step]:
        verb = step.verb
        if verb not in _NAME_VERBS and verb != "phase":
            steps = self._work(step, verb, place)
            self._at_work = True
            return steps
        if verb == "phase":
            return [self._phase(step, place)]
        place.must_be_in_phase(verb)
        return self._name(step, verb, place)

    def _work(self, step: StepSpec, verb: str, place: StepContext) -> list[p.Step]:
        """Steps at which a rank may reach a limit."""
        if verb == "for_":
            return [self._for(step, place)]
        if step.choose is not None:
            return [lower_choice(step.choose, self._state, place, self._step)]
        if verb == "when":
            made = self._when(step, place)  # checked, even where parameters leave its phases out
            never = not place.phase and place.scope.tree(step.when or 0, place.where) == Literal(0)
            return [] if never else [made]
        if verb == "barrier":
            return [self._barrier(place)]
        if verb == "compute":
            return [compute_of(step.compute, place.scope, place.where)]
        if verb in ("signal", "wait"):
            return [self._signal(step, place)]
        place.must_be_in_phase(verb)
        if verb in ("write", "read"):
            return self._data(step, place)
        if verb in JOINT_VERBS:
            self._refuse_waiting(verb, place)
            commands, where = self._names.commands, f"{place.where}.{verb}"
            return [lower_joint(step, self._workload, commands, place.scope, where)]
        if step.each is not None:
            return [self._items(step.each, step, place)]
        return self._sync(step, place)

    def _barrier(self, place: StepContext) -> p.Barrier:
        self._refuse_waiting("barrier", place)
        return p.Barrier()

    def _signal(self, step: StepSpec, place: StepContext) -> p.Signal | p.Wait:
        """A signal, or a wait behind which the files of other groups may be there."""
        if step.signal is not None:
            if place.is_limited:
                raise UserError(
                    f"{place.where}: 'signal' cannot stand in a phase with a limit: a rank that "
                    "stops before it would let others wait for ever",
                    "put it behind the phase",
                )
            return lower_signal(step.signal, place.scope, f"{place.where}.signal")
        assert step.wait is not None
        self._refuse_waiting("wait", place)
        self.know_others()
        return lower_wait(step.wait, place.scope, f"{place.where}.wait")

    def know_others(self) -> None:
        """Files that only other groups make may be there from here on."""
        self._state.existing |= made_elsewhere(self._workload, self._group)

    def _refuse_waiting(self, what: str, place: StepContext) -> None:
        """Where ranks go different ways, none may wait for the others."""
        if place.by_rank:
            raise UserError(
                f"{place.where}: '{what}' under a condition on the rank would wait for ever",
                "put the 'when' inside the phase, give these ranks files of their own "
                "('shared: rank'), or put it over a table without the column 'rank'",
            )
        early = what in ("create", "open", "view") and not place.in_loop and not self._at_work
        met = what == "close" or (what == "barrier" and not place.in_loop)
        if place.is_limited and not early and not met:
            raise UserError(
                f"{place.where}: '{what}' cannot stand in a phase with a limit, because ranks "
                "stop at different places",
                "end the phase before it",
            )

    def _for(self, step: StepSpec, place: StepContext) -> p.For:
        loop, inner = loop_of(step, self._workload, self._names.slots, place)
        return loop.model_copy(update={"body": self._body(step.do or [], inner)})

    def _when(self, step: StepSpec, place: StepContext) -> p.When:
        assert step.when is not None
        by_rank = place.by_rank or place.varies(step.when)
        inner = replace(place, where=f"{place.where}.do", by_rank=by_rank)
        body = self._body(step.do or [], inner)
        condition = place.scope.tree(step.when, f"{place.where}.when")
        never = isinstance(condition, Literal) and not condition.value
        code = place.scope.compile(condition, f"{place.where}.when")
        # What no rank ever does is asked of no interface.
        return p.When(condition=code, body=[] if never else body)

    def _phase(self, step: StepSpec, place: StepContext) -> p.Phase:
        assert step.phase is not None
        self._refuse_waiting("phase", place)
        path = f"{place.phase}/{step.phase}" if place.phase else step.phase
        if path in self._names.phases:
            raise UserError(
                f"{place.where}: there is already a phase '{path}'", "name it otherwise"
            )
        self._names.phases.add(path)
        limit_s, bound_s = limit_of(step.limit, place.scope, place.where)
        at_least_s = self._at_least(step, path, place)
        on_error = step.on_error or place.on_error
        inner = replace(
            place,
            where=f"{place.where}.do",
            phase=path,
            is_limited=place.is_limited or limit_s is not None,
            in_loop=False,
            repeats=at_least_s > 0,
            on_error=on_error,
        )
        before = set(self._state.opened)
        self._at_work = False
        body = self._body(step.do or [], inner)
        if at_least_s:
            body = repeated(body, at_least_s, place.where)
        for name, automatic in list(self._state.opened.items()):
            if automatic and name not in before:
                owner = self._state.owners.pop(name)
                body.append(self._manage(NameVerb.CLOSE, name, inner, owner))
                del self._state.opened[name]
        return p.Phase(
            path=path,
            limit_s=limit_s,
            bound_s=bound_s,
            on_error=on_error,
            deadline_s=None
            if step.deadline is None
            else duration(step.deadline, place.scope, f"{place.where}.deadline"),
            **cache_of(
                step.cache, place.scope, self._settings.server_memory_bytes, f"{place.where}.cache"
            ),
            body=body,
        )

    def _at_least(self, step: StepSpec, path: str, place: StepContext) -> float:
        """How old a phase must become; 0 where it need not."""
        seconds = at_least_of(step.at_least, place.scope, f"{place.where}.at_least")
        if seconds:
            self.warnings.append(
                f"{path}: its transfers repeat for at least {seconds:g} s, so what is planned is a "
                "lower bound"
            )
        return seconds

    def _note_append(self, rich: DataStep, name: str, is_write: bool, place: StepContext) -> None:
        """A file is appended to by all of its writes or by none."""
        if not is_write:
            return
        if self._appends.setdefault(name, rich.pattern is PatternKind.APPEND) != (
            rich.pattern is PatternKind.APPEND
        ):
            raise UserError(
                f"{place.where}: '{name}' is appended to in one place and written elsewhere in "
                "another",
                "a file that is open for appending takes every write at its end: use two files",
            )

    @property
    def appended(self) -> set[str]:
        """Files that are appended to."""
        return {name for name, appends in self._appends.items() if appends}

    def _owner(self, step: StepSpec, place: StepContext) -> list[p.Instruction]:
        """The rank in whose place a rank acts."""
        where = f"{place.where}.from"
        owner = owner_of(
            step.from_, self._ranks, self._settings.nodes, self._settings.seed, place.scope, where
        )
        warning = f"{place.phase}: {owner.warning}"
        if owner.warning and warning not in self.warnings:
            self.warnings.append(warning)
        return place.scope.compile(owner.rank, where)

    def _file(self, name: str, place: StepContext) -> FileSpec:
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
        self,
        verb: NameVerb,
        name: str,
        place: StepContext,
        owner: list[p.Instruction] | None = None,
    ) -> p.Manage:
        spec = self._file(name, place)
        if spec.foreign and verb not in (NameVerb.OPEN, NameVerb.CLOSE, NameVerb.STAT):
            raise UserError(f"{place.where}: '{name}' is somebody else's file; it is only read")
        if spec.made_by and verb is NameVerb.CREATE:
            raise UserError(f"{place.where}: '{name}' is made by '{spec.made_by[0]}'", "open it")
        if (spec.shared != "rank" and verb in WAITING_VERBS) or (
            opens_together(self._in_force(spec), spec) and verb not in _BY_EACH
        ):
            self._refuse_waiting(verb.value, place)
        code = owner if owner is not None else place.scope.compile(RANK, place.where)
        return p.Manage(verb=verb, file=self._indices[name], owner=code)

    def _name(self, step: StepSpec, verb: str, place: StepContext) -> list[p.Step]:
        long = self._long_name(step, place)
        if long is not None:
            return [long]
        name = str(getattr(step, verb))
        spec = self._file(name, place)
        short = self._short_each(name, verb, place)
        if short is not None:
            return [self._items(short, step, place)]
        if spec.tree is not None and verb in ("open", "close", "miss"):
            hint = "name a single file" if verb == "miss" else "use 'each'"
            raise UserError(f"{place.where}: '{name}' is a tree of files", hint)
        if spec.tree is None and verb == "read_dir":
            raise UserError(f"{place.where}: '{name}' has no 'tree'")
        opened = self._state.opened
        owner = self._owner(step, place)
        if verb in ("create", "open"):
            if name in opened:
                raise UserError(f"{place.where}: '{name}' is already open", "close it first")
            if verb == "open" and not self._is_there(name):
                raise UserError(
                    f"{place.where}: '{name}' is opened but nothing made it",
                    "'create' it first, or give it 'prestage: SIZE'",
                )
            opened[name] = False
            self._state.owners[name] = owner
            self._state.existing.add(name)
        elif verb == "close":
            if opened.pop(name, None) is None:
                raise UserError(f"{place.where}: '{name}' is closed but not open")
            check_same(spec, name, self._state.owners.get(name, owner), owner, place.where)
        elif verb == "unlink":
            self._state.existing.discard(name)
        return [self._manage(NameVerb(verb), name, place, owner)]

    def _long_name(self, step: StepSpec, place: StepContext) -> p.Step | None:
        if step.rename is not None:
            return self._rename(step.rename, step, place)
        if step.truncate is not None:
            return self._truncate(step.truncate, step, place)
        return None if step.copy_ is None else self._copy(step.copy_, step, place)

    def _rename(self, rename: RenameStep, step: StepSpec, place: StepContext) -> p.Manage:
        state = self._state
        self._file(rename.to, place)
        check_rename(rename, self._workload.files, state.opened, place.where)
        if not self._is_there(rename.on):
            raise UserError(f"{place.where}: '{rename.on}' is renamed but nothing made it")
        manage = self._manage(NameVerb.RENAME, rename.on, place, self._owner(step, place))
        state.existing = (state.existing - {rename.on}) | {rename.to}
        return manage.model_copy(update={"to": self._indices[rename.to]})

    def _copy(self, copy: CopyStep, step: StepSpec, place: StepContext) -> p.Step:
        self._check_copy(copy.from_, copy.to, place)
        if self._workload.files[copy.to].tree is not None:
            return self._items(each_of(copy), step, place)
        if not self._is_there(copy.from_):
            raise UserError(f"{place.where}: '{copy.from_}' is copied but nothing made it")
        manage = self._manage(NameVerb.COPY, copy.from_, place, self._owner(step, place))
        self._state.existing.add(copy.to)
        return manage.model_copy(update={"to": self._indices[copy.to], "way": copy.by})

    def _check_copy(self, source: str, target: str, place: StepContext) -> None:
        self._file(source, place)
        self._file(target, place)
        check_copy(source, target, self._workload.files, self._state.opened, place.where)

    def _truncate(self, said: TruncateStep | str, step: StepSpec, place: StepContext) -> p.Manage:
        truncate = TruncateStep(on=said) if isinstance(said, str) else said
        manage = self._manage(NameVerb.TRUNCATE, truncate.on, place, self._owner(step, place))
        if truncate.on not in self._state.opened:
            raise UserError(f"{place.where}: '{truncate.on}' is truncated but not open", "open it")
        size = place.scope.code(truncate.size, f"{place.where}.truncate.size")
        return manage.model_copy(update={"bytes": size})

    def _is_there(self, name: str) -> bool:
        made_by = self._workload.files[name].made_by
        makers = made_by or [name]
        return all(maker in self._state.existing for maker in makers)

    def _short_each(self, name: str, verb: str, place: StepContext) -> EachStep | None:
        """What a verb for one name means for the items of a tree, if it is about them."""
        tree = self._workload.files[name].tree
        if tree is None:
            return None
        verbs = DIRECTORY_VERBS if tree.kind is p.ItemKind.DIRECTORY else FILE_VERBS
        if verb in FILE_VERBS and verb not in verbs:
            raise UserError(f"{place.where}: the items of '{name}' are directories")
        return EachStep(on=name, do=verbs[verb]) if verb in verbs else None

    def _items(self, each: EachStep, step: StepSpec, place: StepContext) -> p.Items:
        spec = self._file(each.on, place)
        if spec.tree is None:
            raise UserError(f"{place.where}: '{each.on}' has no 'tree'")
        check_each(each, spec, place.is_limited, place.by_rank, place.where)
        if each.from_ is not None:
            self._check_copy(each.from_, each.on, place)
        owner = self._owner(step, place)
        return lower_items(each, self._indices, owner, place.scope, f"{place.where}.each")

    def _sync(self, step: StepSpec, place: StepContext) -> list[p.Step]:
        rich = step.sync
        names = [rich.on] if isinstance(rich, SyncStep) else list(self._state.opened)
        mode = rich.mode if isinstance(rich, SyncStep) else rich
        assert mode is not None
        if mode is p.SyncMode.NONE:
            return []
        if mode is p.SyncMode.FILE_SYSTEM:
            return [p.Sync(file=self._file_to_sync(rich, place), mode=mode)]
        for name in names or [""]:
            if name not in self._state.opened:
                raise UserError(f"{place.where}: 'sync' finds no open file {name}".rstrip())
        is_named = isinstance(rich, SyncStep) and self._is_chosen_here(rich.on, place)
        return [p.Sync(file=self._indices[name], mode=mode, is_named=is_named) for name in names]

    def _is_chosen_here(self, name: str, place: StepContext) -> bool:
        """Whether loops around choose which of an entry's files is meant, of a rank's own."""
        own = place.scope.compile(RANK, place.where)
        loops = template_names(self._workload.files[name].path) & place.scope.slots.keys()
        return bool(loops - set(RESERVED_NAMES)) and self._state.owners.get(name, own) == own

    def _file_to_sync(self, rich: SyncStep | p.SyncMode | None, place: StepContext) -> int:
        """A file on the file system that is written out: it need not be open, or be at all."""
        name = rich.on if isinstance(rich, SyncStep) else next(iter(self._workload.files), "")
        self._file(name, place)
        return self._indices[name]

    def _data(self, step: StepSpec, place: StepContext) -> list[p.Step]:
        is_write = step.write is not None
        verb = "write" if is_write else "read"
        short = step.write if is_write else step.read
        rich = short if isinstance(short, DataStep) else None
        target = short if isinstance(short, str) else target_of(rich, is_write, place.where)
        name, _, part = target.partition(".")
        spec = self._file(name, place)
        short_each = self._short_each(name, verb, place)
        if short_each is not None:
            return [self._items(short_each, step, place)]
        if is_write and spec.foreign:
            raise UserError(f"{place.where}: '{name}' is somebody else's file; it is only read")
        where = f"{place.where}.{verb}"
        rich = with_literal_size(rich or DataStep(to=target), where)
        literal = literal_of(rich, spec, is_write, place.scope, where)
        parts = self._parts(rich, name, part, place, where)
        parts = of_size(parts, rich) if literal else parts
        if place.by_rank and moves_together(self._in_force(spec), spec):
            self._refuse_waiting(verb, place)
        owner = self._owner(step, place)
        opening = self._open_for(name, is_write, owner, place)
        check_same(spec, name, self._state.owners.get(name, owner), owner, place.where)
        issue_mode = issue_mode_of(rich, spec, is_write, place.scope, where)
        if issue_mode.looks_about and not self._in_force(spec).entry.can_seek:
            issue_mode = self._without_looks(issue_mode, name)
        self._note_append(rich, name, is_write, place)
        check_sequential(rich, place, where)
        collective = self._collective(rich, name, place, where)
        check_known(collective and place.is_limited, issue_mode.reads, where)
        if shows_places(self._in_force(spec), self._interfaces.options_of(spec)):
            check_shown(parts, issue_mode.reads, where)
            if spec.shared != "rank":
                limited = place.is_limited and not collective
                check_met(len(parts), limited, place.repeats, place.where)
                if place.by_rank or not collective:
                    self._refuse_waiting("view", place)
        return opening + [
            p.Transfer(
                operation=p.Direction(verb),
                file=self._indices[name],
                owner=owner,
                size=place.scope.compile(access.size, where),
                pattern=pattern_of(access, place.scope, where),
                mix=mix_of(access, place.scope, where),
                reads=issue_mode.reads,
                rate_per_s=issue_mode.rate_per_s,
                arrivals=issue_mode.arrivals,
                sync=rich.sync,
                think_s=issue_mode.think_s,
                memory_bytes=issue_mode.memory_bytes,
                fresh=issue_mode.fresh,
                halo=halo_of(rich, spec, part, access, place.scope, where),
                seeks=issue_mode.seeks,
                empty_reads=issue_mode.empty_reads,
                depth=place.scope.whole(rich.depth, f"{where}.depth", least=1, most=4096),
                collective=collective,
                literal=literal,
                verify=rich.verify,
            )
            for access in parts
        ]

    def _without_looks(self, issue_mode: IssueMode, name: str) -> IssueMode:
        """The manner on an interface that knows neither positions nor the end of a file."""
        interface = self._in_force(self._workload.files[name]).value
        warning = f"{name}: {interface} knows no seeks and empty reads, so they are left out"
        if warning not in self.warnings:
            self.warnings.append(warning)
        return replace(issue_mode, seeks=0.0, empty_reads=0.0)

    def _parts(
        self, rich: DataStep, name: str, part: str, place: StepContext, where: str
    ) -> list[Access]:
        spec = self._workload.files[name]
        if not part:
            if spec.datasets and self._keeps_datasets(spec):
                known = ", ".join(f"{name}.{dataset}" for dataset in spec.datasets)
                raise UserError(f"{where}: say which dataset of '{name}'", f"datasets: {known}")
            sharers = sharers_of(spec.shared)
            return accesses(rich, sharers, self._ranks, place.scope, where)
        if part not in spec.datasets:
            known = ", ".join(spec.datasets) or "none"
            raise UserError(f"{where}: '{name}' has no dataset '{part}'", f"datasets: {known}")
        label = f"files.{name}.datasets.{part}"
        return dataset_accesses(
            spec.datasets,
            part,
            rich,
            fixed_sharers_of(spec.shared, self._ranks, label),
            place.scope,
            label,
            as_boxes=self._keeps_datasets(spec),
        )

    def _keeps_datasets(self, spec: FileSpec) -> bool:
        interface, options = self._in_force(spec), self._interfaces.options_of(spec)
        return interface.entry.has_datasets or shows_datasets(interface, options)

    def _in_force(self, spec: FileSpec) -> p.Interface:
        return self._interfaces.in_force(spec)

    def _collective(self, rich: DataStep, name: str, place: StepContext, where: str) -> bool:
        """Whether the step's calls are made by all sharers together."""
        if not rich.collective:
            return False
        spec = self._workload.files[name]
        if not keeps_collective(self._in_force(spec), spec, where):
            self.uncollective.add(name)
            return False
        if place.by_rank and spec.shared != "rank":
            self._refuse_waiting("collective", place)
        return True

    def _open_for(
        self, name: str, is_write: bool, owner: list[p.Instruction], place: StepContext
    ) -> list[p.Step]:
        """The opening of a file that the program uses without saying so."""
        state = self._state
        if name in state.opened:
            return []
        if not is_write and not self._is_there(name):
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
        verb = NameVerb.OPEN if self._is_there(name) else NameVerb.CREATE
        state.opened[name] = True
        state.existing.add(name)
        state.owners[name] = owner
        return [self._manage(verb, name, place, owner)]
