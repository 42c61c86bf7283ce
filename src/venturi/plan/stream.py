"""The operations of one rank, one after the other, without any I/O.

The stream is what the engine's own log (`log_operations`) holds after a run in which nothing failed
and no limit ended a phase: the same kinds, files, offsets and bytes in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError
from venturi.model.shuffle import combine
from venturi.model.verb import operation_of
from venturi.plan.item import directories_of
from venturi.plan.item_stream import ItemsOf, ItemStream
from venturi.plan.place import Circumstances, requests_in_order
from venturi.plan.rank_view import RankView
from venturi.plan.request import turned_of
from venturi.plan.stage import staged_lengths
from venturi.plan.together import WAITING_VERBS
from venturi.plan.tree_name import TreeNames
from venturi.plan.walk import Enter, Leave, Visit, leaves, walk

_KINDS = {direction: p.OperationKind(direction.value) for direction in p.Direction}

_OF_ALL_NODES = frozenset({p.NameVerb.MKDIR, p.NameVerb.STAT, p.NameVerb.READ_DIR})
"""Of a tree, these are done to every directory, from the root down."""


class Operation(NamedTuple):
    """One operation of a rank."""

    phase: str
    """Path of the innermost phase; empty outside of phases."""
    serial: int
    """How many phases the rank has entered, this one included; 0 outside of phases."""
    kind: p.OperationKind
    file: int
    """Index into the plan's files."""
    path: str
    """Below the run's directory."""
    offset: int | None = None
    """Bytes from the file's beginning; None for what has no place, or one that only a run knows."""
    bytes: int | None = 0
    """What is moved; None where only a run knows it."""
    to: str | None = None
    """The other path of a rename, below the run's directory."""


class RequestStream:
    """Follows one rank through the program of its group."""

    def __init__(
        self,
        plan: p.Plan,
        rank: int,
        *,
        nodes: int = 1,
        repetition: int = 0,
        most_requests: int | None = None,
    ) -> None:
        """For rank `rank` of all, in one repetition, on so many nodes that are filled in order.

        With `most_requests`, no data step makes more, so that the calls on names of a long program
        are soon seen. Raises UserError if there is no such rank, or if its group does what only a
        run knows.
        """
        if not 0 <= rank < plan.ranks:
            raise UserError(f"there is no rank {rank}", f"ranks are 0 to {plan.ranks - 1}")
        self._plan = plan
        self._repetition = repetition
        self._most_requests = most_requests
        self._group = next(
            group
            for group in plan.groups
            if group.first <= rank < group.first + group.ranks * group.instances
        )
        _refuse_unknown(self._group.program)
        self._nodes = nodes
        self._instance, self._rank = divmod(rank - self._group.first, self._group.ranks)
        self._view = RankView(plan, self._group, nodes, self._instance)
        self._phases: list[tuple[str, int]] = []
        self._serial = 0
        self._open: list[list[str]] = [[] for _ in plan.files]
        self._ends: dict[str, int] = {}
        """Where files end that this rank alone writes, by path."""
        self._filled: dict[str, int] | None = None
        """How long files are that were filled before the run, by path; None: nobody asked yet."""
        self._positions: dict[str, int] = {}
        """Of open files, by path."""
        self._places_keys: dict[int, int] = {}
        """By file."""
        self._items = ItemStream(plan, self._group.ranks, repetition)
        self.seconds_between = 0.0
        """Time in which the rank computes between the operations that were asked for so far."""
        self.has_several = False
        """Some data step made more than one request so far."""

    def operations(self) -> Iterator[Operation]:
        """Yield every operation; UserError where an expression has no value."""
        self._view.take_place_of(self._rank)
        try:
            for event in walk(self._view, self._group.program):
                match event:
                    case Enter(p.Phase() as phase):
                        self._serial += 1
                        self._phases.append((phase.path, self._serial))
                    case Leave(p.Phase()):
                        self._phases.pop()
                    case Visit(step):
                        yield from self._leaf(step)
        except ExpressionError as error:
            raise UserError(f"group '{self._group.name}', {self._view.at}: {error}") from None

    def _leaf(self, step: p.Step) -> Iterator[Operation]:
        match step:
            case p.Transfer():
                yield from self._transfer(step)
            case p.Manage():
                yield from self._manage(step)
            case p.Items():
                yield from self._do_items(step)
            case p.Sync():
                yield from self._sync(step)
            case p.Compute():
                self.seconds_between += float(self._view.value(step.seconds))
            case _:
                pass  # it moves nothing: barriers, signals, waits

    def _operation(
        self,
        kind: p.OperationKind,
        file: int,
        path: str,
        offset: int | None = None,
        bytes_moved: int | None = 0,
    ) -> Operation:
        phase, serial = self._phases[-1] if self._phases else ("", 0)
        return Operation(phase, serial, kind, file, path, offset, bytes_moved)

    # Data

    def _transfer(self, step: p.Transfer) -> Iterator[Operation]:
        owner = self._view.whole(step.owner)
        with self._view.in_place_of(owner):
            file, path = self._plan.files[step.file], self._path(step.file)
            requests = requests_in_order(step, self._circumstances(step, file, path, owner))
            has_looks = bool(step.seeks or step.empty_reads)
            for number, (direction, offset, size) in enumerate(
                islice(requests, self._most_requests)
            ):
                self.seconds_between += step.think_s
                self.has_several |= number > 0
                if has_looks:
                    yield from self._calls_before(step, path, number)
                yield self._operation(_KINDS[direction], step.file, path, offset, size)
                if direction is p.Direction.WRITE and offset is not None:
                    self._ends[path] = max(self._ends.get(path, 0), offset + size)
                if offset is not None and isinstance(step.pattern, p.Sequential):
                    self._positions[path] = offset + size
                if step.sync is not p.SyncMode.NONE and direction is step.operation:
                    yield self._operation(p.OperationKind.SYNC, step.file, path)

    def _calls_before(self, step: p.Transfer, path: str, number: int) -> Iterator[Operation]:
        """The calls before a request that move nothing."""
        for kind, share in (
            (p.OperationKind.SEEK, step.seeks),
            (p.OperationKind.EMPTY_READ, step.empty_reads),
        ):
            for _ in range(turned_of(number + 1, share) - turned_of(number, share)):
                yield self._operation(kind, step.file, path)

    def _circumstances(
        self, step: p.Transfer, file: p.File, path: str, owner: int
    ) -> Circumstances:
        places = self._places_key(step.file)
        gathers = file.interface.entry.gathers and file.interface.entry.can_collect
        shared = file.sharing is not p.Sharing.RANK and file.tree is None
        together = step.collective or (gathers and shared)
        alone = self._group.ranks == 1 or file.sharing is p.Sharing.RANK
        return Circumstances(
            integer=self._view.integer,
            whole=self._view.whole,
            places_key=places,
            order_key=lambda: combine(places, 0 if together and step.reads else owner + 1),
            end_bytes=self._end_of(file, path) if alone else None,
            position_bytes=self._positions.get(path, 0),
            datasets=file.datasets,
        )

    def _places_key(self, file: int) -> int:
        """What chooses the places of random access to a file."""
        if file not in self._places_keys:
            key = combine(combine(self._plan.seed, file), self._repetition)
            self._places_keys[file] = key
        return self._places_keys[file]

    def _end_of(self, file: p.File, path: str) -> int:
        """Where a file of this rank ends, with what was written into it before the program."""
        if path not in self._ends and file.prestage is not None:
            self._ends[path] = self._filled_bytes(file, path)
        return self._ends.get(path, 0)

    def _filled_bytes(self, file: p.File, path: str) -> int:
        """How long a file is that was filled before the run."""
        assert file.prestage is not None
        if not any(loop.columns for loop in file.staged_loops):
            return self._view.whole(file.prestage)
        # Not every row that names a file says how long it is.
        if self._filled is None:
            before = RankView(self._plan, self._group, self._nodes, self._instance)
            before.take_place_of(self._view.rank)
            self._filled = staged_lengths(self._plan, before)
        return self._filled.get(path, 0)

    def _sync(self, step: p.Sync) -> Iterator[Operation]:
        if step.mode is p.SyncMode.FILE_SYSTEM:
            yield self._operation(p.OperationKind.SYNC, step.file, "")
            return
        named = [self._path(step.file)] if step.is_named else self._open[step.file]
        for path in named:
            yield self._operation(p.OperationKind.SYNC, step.file, path)

    # Names

    def _manage(self, step: p.Manage) -> Iterator[Operation]:
        owner = self._view.whole(step.owner)
        with self._view.in_place_of(owner):
            file, path = self._plan.files[step.file], self._path(step.file)
            verb = step.verb
            is_first = self._view.first_sharer(file, owner) == owner
            if verb is p.NameVerb.CREATE:
                kind = p.OperationKind.CREATE if is_first else p.OperationKind.OPEN
                yield self._operation(kind, step.file, path)
                self._open[step.file].append(path)
                self._ends[path] = self._positions[path] = 0
                return
            if verb in WAITING_VERBS and not is_first:
                return
            if verb is p.NameVerb.COPY:
                yield from self._copy(step, path)
                return
            to = self._path(step.to) if verb is p.NameVerb.RENAME and step.to is not None else None
            for one in self._paths_of(file, path, verb):
                yield self._operation(operation_of(verb), step.file, one)._replace(to=to)
            self._note(step, path)

    def _note(self, step: p.Manage, path: str) -> None:
        """What a step on a name leaves open, and where files end."""
        match step.verb:
            case p.NameVerb.OPEN:
                self._open[step.file].append(path)
                self._positions[path] = 0
            case p.NameVerb.CLOSE if path in self._open[step.file]:
                self._open[step.file].remove(path)
            case p.NameVerb.UNLINK:
                self._ends.pop(path, None)
            case p.NameVerb.TRUNCATE if step.bytes is not None:
                self._ends[path] = self._view.whole(step.bytes)
            case p.NameVerb.RENAME if step.to is not None:
                self._ends[self._path(step.to)] = self._ends.pop(path, 0)
            case _:
                pass

    def _copy(self, step: p.Manage, path: str) -> Iterator[Operation]:
        assert step.to is not None
        name = self._path(step.to)
        end = self._end_of(self._plan.files[step.file], path)
        yield self._operation(p.OperationKind.OPEN, step.file, path)
        yield self._operation(p.OperationKind.CREATE, step.to, name)
        yield self._operation(p.OperationKind.COPY, step.to, name, None, end)
        yield self._operation(p.OperationKind.CLOSE, step.to, name)
        yield self._operation(p.OperationKind.CLOSE, step.file, path)
        self._ends[name] = end

    def _paths_of(self, file: p.File, path: str, verb: p.NameVerb) -> Iterator[str]:
        """The names that a verb acts on: of a tree, its directories."""
        if file.tree is None or verb not in _OF_ALL_NODES | {p.NameVerb.RMDIR}:
            yield path
            return
        names = TreeNames(file.tree, path, self._view.whole)
        nodes = directories_of(file.tree)
        order = range(nodes) if verb in _OF_ALL_NODES else range(nodes - 1, -1, -1)
        for node in order:
            yield names.directory(node)

    # Items

    def _do_items(self, step: p.Items) -> Iterator[Operation]:
        owner = self._view.whole(step.owner)
        with self._view.in_place_of(owner):
            source = None if step.source is None else self._tree(step.source)
            tree = self._tree(step.file)
            for think_s, kind, path, offset, size in self._items.calls(step, tree, source, owner):
                self.seconds_between += think_s
                yield self._operation(kind, step.file, path, offset, size)

    def _tree(self, index: int) -> ItemsOf:
        tree, path = self._plan.files[index].tree, self._path(index)
        assert tree is not None
        return ItemsOf(tree, path, TreeNames(tree, path, self._view.whole), self._view.whole)

    # Ranks, names and values

    def _path(self, index: int) -> str:
        return self._view.text(self._plan.files[index].path)


def _refuse_unknown(program: list[p.Step]) -> None:
    """Refuse steps whose operations a run alone decides, before the first line is printed."""
    for step, around in leaves(program):
        what = _unknown_of(step)
        if what:
            phases = [f"phase '{outer.path}'" for outer in around if isinstance(outer, p.Phase)]
            raise UserError(
                f"{phases[-1] if phases else 'program'}: {what} is known in a run only",
                "run it with `log_operations: true` in the workload",
            )


def _unknown_of(step: p.Step) -> str:
    """Return what of a step only a run knows; empty if nothing."""
    if isinstance(step, p.Find):
        return "what 'find' meets"
    if isinstance(step, p.Exec):
        return "what a command does"
    if isinstance(step, p.Kernel):
        return "what a kernel measures"
    if isinstance(step, p.Items) and step.counted_from is not p.CountedFrom.START:
        return "where a window that moves on begins"
    return ""
