"""A plan's program followed on one rank: what each phase demands, and what its caches hold.

The rules of caches are few. A write goes to memory, new where the file grows and replacing
where it does not, until a sync, or until all ranks together hold more unwritten data than the
kernel allows: what is above that is written at the device's rate. A read is cached when this run
wrote or read the data before, nothing dropped them, and all data of the run fit the memory;
otherwise it is cold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

from venturi.model import plan as p
from venturi.model.document import INT64_MAX
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError
from venturi.model.plan import OperationKind
from venturi.model.profile import AccessClass, ContextEffect, DataState, FileSharing, Order
from venturi.model.verb import ATTRIBUTE_VERBS, operation_of
from venturi.plan.item import size_key, sizes_in, window_of
from venturi.plan.rank_view import RankView
from venturi.plan.request import end_of, looks_of, requests_of
from venturi.plan.walk import Enter, Leave, Turns, Visit, every_turn, walk
from venturi.predict.chunked import filled_bytes, passes_cache
from venturi.predict.context_effect import ContextEffects, context_effects_of
from venturi.predict.demand import Demand, FileState, PhaseDemand, place_of, sync_of
from venturi.predict.file_use import files_in
from venturi.predict.pieces import is_cut, pieces_of
from venturi.predict.warm import READ_AHEAD, windows_of

_MOST_TURNS = 4096
"""Iterations, with enclosing loops, that are followed one by one; of more (> _FEW) only two."""
_FEW = 64
_STAGED = "what is there before the run is taken to be in memory (--cache drop: it is not)"
_EMPTY = "reads behind a file's end are taken to cost what the smallest ones do"
_FILLED = "HDF5 is taken to fill the chunks of shared files as all ranks create them together"
_MEMORY_SHARE = 0.8
_BLOCK = 4096
_AROUND_COPY = (
    OperationKind.OPEN, OperationKind.CREATE, OperationKind.CLOSE, OperationKind.CLOSE,
)  # fmt: skip
_BY_EACH = frozenset(map(p.NameVerb, ("open", "close", "stat", "miss", *ATTRIBUTE_VERBS)))
"""Each rank does these by itself, also to what all share."""
_BY_LIBRARY = (p.NameVerb.CREATE, p.NameVerb.OPEN, p.NameVerb.CLOSE)
"""Other names are left to the file system whatever moves the data."""
_AT_RUN_TIME = {p.Operator.SAME_SLOT_NEXT_NODE, p.Operator.RANDOM_REMOTE_RANK, p.Operator.PERMUTE}

Settle = Callable[[PhaseDemand], float]
"""Told a phase, it answers which share of the phase's work is done: 1, or less under a limit."""


class ForecastInterpreter:
    """Follows one group's program in one rank's place."""

    def __init__(
        self, plan: p.Plan, group: p.Group, rank: int, memory_bytes: int, dirty_bytes: int
    ) -> None:
        self._plan = plan
        self._group = group
        self._view = RankView(plan, group)
        self._view.take_place_of(rank)
        self._rank = rank
        self._world = group.ranks * group.instances
        self._memory_bytes = memory_bytes
        self._dirty_limit = dirty_bytes
        self._states: dict[str | int, FileState] = {}
        self._reach: dict[int, float] = {}
        self._touched_bytes = 0
        self._times = 1
        self._phase = PhaseDemand("", 1)
        self._made: set[int] = set()
        self._followed = [1]
        """Of the loops around, and of none: iterations that are followed one by one."""
        self._freed_bytes = 0
        """Given back by files that were removed or made anew, less what was taken since."""
        self._forgotten: set[int] = set()
        self._pause_s = 0.0
        """Computing since the last call, or before each call of a step."""
        self._context_effects: ContextEffects = ()
        self._moved_last: int | None = None

    def phases(self, settle: Settle) -> Iterator[PhaseDemand]:
        """Every phase in the order of the program; `settle` is asked at each one's end."""
        self._stage()
        open_phases = outside = 0
        for event in walk(self._view, self._group.program, self._choose_turns):
            match event:
                case Enter(p.Phase() as phase, times):
                    open_phases += 1
                    if open_phases == 1:
                        outside = times
                        self._begin(phase, times)
                case Enter(p.Repeat() as repeated) if open_phases:
                    self._phase.at_least_s = repeated.at_least_s
                case Leave(p.For()):
                    self._followed.pop()
                case Leave(p.Phase()):
                    open_phases -= 1
                    if not open_phases:
                        yield self._ended(settle)
                case Visit(step, times) if open_phases:
                    self._times = times // outside
                    self._leaf(step)
                case _:
                    pass

    def _stage(self) -> None:
        for index, file in enumerate(self._plan.files):
            if file.prestage is not None:
                self._state(index)

    def _choose_turns(self, loop: p.For, turns: range) -> Turns:
        """Many turns are the first one, and the second for all others."""
        around, count = self._followed[-1], len(turns)
        if loop.columns:
            self._followed.append(around)
            return every_turn(loop, turns)
        if count <= _FEW or count * around <= _MOST_TURNS:
            self._followed.append(count * around)
            return every_turn(loop, turns)
        self._followed.append(around)
        return ((0, 1), (1, count - 1))

    def _begin(self, phase: p.Phase, times: int) -> None:
        self._phase = PhaseDemand(phase.path, times, phase.limit_s)
        self._made, self._moved_last, self._times = set(), None, 1
        if phase.cache is p.CachePolicy.DROP:
            used = set(files_in(phase.body))
            for state in self._states.values():
                if state.entries & used:
                    state.forget()
            self._forgotten |= used

    def _ended(self, settle: Settle) -> PhaseDemand:
        share = settle(self._phase)
        for file in self._made:
            self._reach[file] = share
        self._times = 1
        return self._phase

    def _leaf(self, step: p.Step) -> None:
        match step:
            case p.Compute():
                seconds = float(self._view.value(step.seconds))
                self._phase.computing_s += seconds * self._times
                self._pause_s += seconds
                return
            case p.Transfer():
                self._transfer(step)
            case p.Items():
                self._items(step)
            case p.Manage():
                self._manage(step)
            case p.Sync():
                self._sync(step)
            case p.Exec():
                raise UserError(
                    f"phase '{self._phase.path}': nothing is known of what its command does",
                    "a forecast is of workloads without 'exec'",
                )
            case p.Kernel():
                raise UserError(
                    f"phase '{self._phase.path}': a kernel measures the machine that it runs on",
                    "a forecast is of workloads without 'kernel'",
                )
            case _:
                pass
        self._pause_s = 0.0

    def _transfer(self, step: p.Transfer) -> None:
        state = self._state(step.file)
        requests = requests_of(step, self._whole)
        if not requests:
            return
        order = self._order(step)
        start, end = self._extent(step, requests)
        number = sum(n for _, _, n in requests)
        self._phase.computing_s += step.think_s * number * self._times
        self._pause_s = step.think_s or (self._pause_s if number == 1 else 0.0)
        grows = self._share_beyond(step, state, (start, end))
        in_turn, self._moved_last = self._moved_last not in (None, step.file), step.file
        for direction, size, count in requests:
            calls = count * self._times
            self._context_effects = context_effects_of(step, start, (size, number), in_turn)
            if direction is p.Direction.WRITE:
                for data, share in ((DataState.CACHED, 1.0 - grows), (DataState.NEW, grows)):
                    demand = Demand(
                        self._data(step, "write", order, data),
                        size,
                        calls * share,
                        passes_cache=self._passes_cache(step),
                    )
                    if data is DataState.NEW:
                        self._freed_bytes -= round(size * calls * share)
                        demand = replace(demand, on_fresh_pages=self._freed_bytes < 0)
                    if share > 0:
                        self._write(step, state, self._in_pieces(step, direction, demand))
            else:
                self._read(step, state, (order, size, calls), (start, end))
        self._context_effects = ()
        self._look(step, looks_of(step, number))
        moved = sum(size * count for _, size, count in requests)
        if isinstance(step.pattern, p.Sequential):
            state.position_bytes = start + moved * self._times
        if step.operation is p.Direction.WRITE:
            state.end_bytes = max(state.end_bytes, end)
            state.cached = True
            self._made.add(step.file)
            self._touched_bytes += moved * self._times
        elif self._is_followed(step):
            state.warm.add(start, end)
        else:
            state.cached = True

    def _look(self, step: p.Transfer, looks: Mapping[str, int]) -> None:
        """Add the calls that move nothing."""
        nothing = self._data(step, "read", Order.SEQUENTIAL, DataState.CACHED)
        empty = looks.get(OperationKind.EMPTY_READ.value, 0)
        self._add(Demand(nothing, 1, empty * self._times, _EMPTY))
        seek = AccessClass(operation=OperationKind.SEEK, place=nothing.place)
        self._add(Demand(seek, 0, looks.get(OperationKind.SEEK.value, 0) * self._times))

    def _read(
        self, step: p.Transfer, state: FileState, calls: tuple[Order, int, float],
        extent: tuple[int, int],
    ) -> None:  # fmt: skip
        """Add reads: of what is in memory, and of what the device brings.

        What does not go on behind an earlier read waits for the device as a random one does. A
        file that is no larger than what is read ahead comes by windows, each with one access.
        """
        order, size, count = calls
        count *= self._reach.get(step.file, 1.0)
        cold = count * (1.0 - self._share_in_memory(step, state, extent))
        note = self._read_note(step.file)
        if cold > 0 and self._is_followed(step):
            here = Demand(self._data(step, "read", order, DataState.COLD), size, cold, note)
            if 0 < state.end_bytes <= READ_AHEAD:
                # Each window is one access; together they hold all of these requests, or most.
                begin, end = extent
                windows = windows_of(begin, end, size, state.end_bytes)
                access = here.access.model_copy(
                    update={"order": Order.ITEM, "interface": p.DEFAULT_INTERFACE}
                )
                once = min(cold, self._times)
                for window in windows:
                    self._add(replace(here, access=access, bytes=window, count=once))
                state.warm.add(begin, begin + sum(windows))
                count, cold = count - cold, 0.0
            elif order is Order.SEQUENTIAL and not state.warm.goes_on(extent[0]):
                first = min(cold, self._times)
                access = here.access.model_copy(update={"order": Order.RANDOM})
                self._add(replace(here, access=access, count=first))
                count, cold = count - first, cold - first
        through = self._passes_cache(step)
        for data, done in ((DataState.CACHED, count - cold), (DataState.COLD, cold)):
            access = self._data(step, "read", order, data)
            demand = Demand(access, size, done, note, passes_cache=through)
            demand = self._in_pieces(step, p.Direction.READ, demand)
            self._add(replace(demand, of_bytes=state.held_bytes))

    def _share_beyond(self, step: p.Transfer, state: FileState, extent: tuple[int, int]) -> float:
        """How much of what a step writes makes its file longer."""
        start, end = extent
        if state.filled:
            return 0.0
        if end <= start or not self._is_followed(step):
            return float(start >= state.end_bytes)
        return max(0, end - max(start, state.end_bytes)) / (end - start)

    def _is_followed(self, step: p.Transfer) -> bool:
        """Whether it is known which bytes reads have brought to memory: one rank's, in order."""
        alone = self._is_alone(self._file(step.file))
        return alone and isinstance(step.pattern, p.Nest | p.Table | p.Sequential)

    def _share_in_memory(
        self, step: p.Transfer, state: FileState, extent: tuple[int, int]
    ) -> float:
        """How much of what a step reads is in memory."""
        if self._is_cached(state):
            return 1.0
        fits = self._fits_memory() and self._is_followed(step)
        return state.warm.share(*extent) if fits else 0.0

    def _in_pieces(self, step: p.Transfer, direction: p.Direction, whole: Demand) -> Demand:
        """Calls on a part of a dataset as what reaches a shared file, each piece a request."""
        box, file = step.pattern, self._file(step.file)
        if not isinstance(box, p.Box) or whole.access.place is not FileSharing.SHARED:
            return whole
        extent = [self._whole(length) for length in box.extent]
        pieces = pieces_of(extent, file.datasets[box.dataset])
        if pieces <= 1 or whole.bytes < pieces:
            return whole
        strided = whole.access.model_copy(update={"order": Order.STRIDED})
        if step.collective or not is_cut(file.interface, direction):
            return replace(whole, access=strided)
        below = strided.model_copy(update={"interface": file.interface.below})
        name, each = file.interface.value, round(whole.bytes / pieces)
        note = f"{name} is taken to move independent calls in pieces of {each} bytes, by MPI-IO"
        return Demand(below, each, whole.count * pieces, note)

    def _passes_cache(self, step: p.Transfer) -> bool:
        """Whether a library keeps the chunks that a step moves parts of."""
        file, box = self._file(step.file), step.pattern
        if not isinstance(box, p.Box):
            return False
        return passes_cache(file, file.datasets[box.dataset], not self._is_alone(file))

    def _is_alone(self, file: p.File) -> bool:
        """Whether a rank has a file for itself."""
        return self._group.ranks == 1 or file.sharing is p.Sharing.RANK

    def _write(self, step: p.Transfer, state: FileState, demand: Demand) -> None:
        """Add writes: into the cache, with a sync each, or above the limit to the device."""
        if self._file(step.file).interface.entry.buffers and step.sync is p.SyncMode.FLUSH:
            step = step.model_copy(update={"sync": p.SyncMode.NONE})
        self._add(demand)
        state.dirty_order, state.dirty_state = demand.access.order, demand.access.state
        if step.sync is not p.SyncMode.NONE:
            state.dirty_bytes = demand.bytes
            sync = sync_of(state, demand.access)
            self._add(Demand(sync.access, sync.bytes, demand.count))
            return
        moved = int(demand.bytes * demand.count)
        state.dirty_bytes += moved
        held = sum(other.dirty_bytes for other in self._states.values()) * self._world
        above = (held - self._dirty_limit) // self._world if self._dirty_limit else 0
        if above > 0:
            above = min(above, moved)
            state.dirty_bytes -= above
            like = sync_of(FileState(dirty_bytes=above, dirty_state=DataState.NEW), demand.access)
            note = "what is above the kernel's limit of unwritten data waits for the device"
            self._add(Demand(like.access, above, 1, note, written_back=True))

    def _items(self, step: p.Items) -> None:
        tree = self._file(step.file).tree
        if step.source is not None:
            tree = self._file(step.source).tree
        assert tree is not None
        owner = self._rank
        if not _AT_RUN_TIME & {instruction.operator for instruction in step.owner}:
            owner = self._whole(step.owner)
        with self._view.in_place_of(owner):
            window = window_of(step, tree, owner, self._group.ranks, self._whole)
            sizes = sizes_in(window, tree, size_key(self._plan.seed, tree, owner), self._whole)
            most = None if step.bytes is None else self._whole(step.bytes)
        state = self._state(step.file)
        makes = p.ItemVerb.CREATE in step.verbs or p.ItemVerb.COPY in step.verbs
        reach = 1.0 if makes else self._reach.get(step.file, 1.0)
        for size, count in sizes.items():
            moved = size if most is None else min(size, most)
            for number, verb in enumerate(step.verbs):
                self._pause_s = step.thinks_s[number] if step.thinks_s else 0.0
                self._item(step, verb, (size, moved), count * self._times * reach, state)
            self._phase.computing_s += sum(step.thinks_s) * count * self._times * reach
        if makes or p.ItemVerb.MKDIR in step.verbs:
            self._made.add(step.file)
            self._touched_bytes += sum(size * count for size, count in sizes.items())
        if {p.ItemVerb.WRITE, p.ItemVerb.READ, p.ItemVerb.COPY} & set(step.verbs):
            state.cached = True

    def _item(
        self,
        step: p.Items,
        verb: p.ItemVerb,
        sizes: tuple[int, int],
        count: float,
        state: FileState,
    ) -> None:
        size, moved = sizes
        alone = self._is_alone(self._file(step.file))
        if verb is p.ItemVerb.COPY and step.source is not None:
            self._copy(self._state(step.source), (size, count), step.way, place_of(alone))
            return
        operation = operation_of(verb)
        data, at = DataState.NONE, size and max(size, _BLOCK)
        if verb is p.ItemVerb.WRITE:
            is_new = p.ItemVerb.CREATE in step.verbs
            data, at = (DataState.NEW if is_new else DataState.CACHED), moved
        elif verb is p.ItemVerb.READ:
            data, at = (DataState.CACHED if self._is_cached(state) else DataState.COLD), moved
        elif verb is p.ItemVerb.SYNC:
            data, at = DataState.NEW, moved
        if verb in (p.ItemVerb.WRITE, p.ItemVerb.READ) and moved == 0:
            return
        order = Order.SEQUENTIAL if verb is p.ItemVerb.SYNC else Order.ITEM
        place = place_of(alone)
        access = AccessClass(operation=operation, order=order, place=place, state=data)
        self._add(Demand(access, at, count))

    def _manage(self, step: p.Manage) -> None:
        file, verb = self._file(step.file), step.verb
        alone = self._is_alone(file)
        first = alone or self._rank % self._sharers(file) == 0
        state = self._state(step.file)
        if verb in (p.NameVerb.CREATE, p.NameVerb.UNLINK) and state.end_bytes < INT64_MAX:
            self._freed_bytes = max(self._freed_bytes, 0) + state.end_bytes
        if verb in (p.NameVerb.CREATE, p.NameVerb.OPEN):
            state.position_bytes = 0
        if verb is p.NameVerb.CREATE:
            state.end_bytes = state.dirty_bytes = 0
            self._made.add(step.file)
            self._fill(file, state)
            verb = verb if first else p.NameVerb.OPEN
        elif not first and verb not in _BY_EACH:
            return
        if verb is p.NameVerb.UNLINK:
            state.end_bytes = state.dirty_bytes = 0
            state.cached = False
        elif verb is p.NameVerb.TRUNCATE and step.bytes is not None:
            state.end_bytes = min(state.end_bytes, self._whole(step.bytes))
            state.dirty_bytes = min(state.dirty_bytes, state.end_bytes)
        elif verb is p.NameVerb.COPY and step.to is not None:
            self._copied(step, step.to, place_of(alone))
            return
        elif step.to is not None:
            self._renamed(step.file, step.to)
        access = AccessClass(
            operation=operation_of(verb),
            order=Order.ITEM,
            place=place_of(alone),
            interface=file.interface if verb in _BY_LIBRARY else p.DEFAULT_INTERFACE,
        )
        self._add(Demand(access, 0, self._times))

    def _fill(self, file: p.File, state: FileState) -> None:
        """What a library writes into all chunks when ranks create a file together."""
        state.filled = (whole := filled_bytes(file, not self._is_alone(file))) > 0
        if not state.filled:
            return
        access = AccessClass(
            operation=OperationKind.WRITE,
            order=Order.SEQUENTIAL,
            place=FileSharing.SHARED,
            interface=file.interface,
            state=DataState.NEW,
            collective=True,
        )
        each = Demand(access, whole // self._sharers(file), self._times, _FILLED)
        self._add(replace(each, context_effects=((ContextEffect.FRESH, 1.0),)))

    def _copied(self, step: p.Manage, target: int, place: FileSharing) -> None:
        one, other = self._state(step.file), self._state(target)
        staged = self._file(step.file).prestage
        size = one.end_bytes if staged is None else self._whole(staged)
        self._copy(one, (size, self._times), step.way, place)
        other.end_bytes, other.dirty_bytes, other.cached = size, size, True
        self._made.add(target)

    def _copy(
        self,
        source: FileState,
        copies: tuple[int, float],
        way: p.CopyWay | None,
        place: FileSharing,
    ) -> None:
        """Copies of files of one size, so many; `send` never shares blocks."""
        size, count = copies
        for named in _AROUND_COPY:
            self._add(Demand(AccessClass(operation=named, order=Order.ITEM, place=place), 0, count))
        data = DataState.COLD
        if self._is_cached(source):
            data = DataState.NEW if source.dirty_bytes else DataState.CACHED
        shares = way is not p.CopyWay.SEND
        operation = OperationKind.CLONE if shares else OperationKind.COPY
        access = AccessClass(operation=operation, order=Order.ITEM, place=place, state=data)
        if size:
            self._add(Demand(access, size, count))
        source.cached = True

    def _renamed(self, source: int, target: int) -> None:
        """The target's state is from now on that of the file which got its name."""
        one, other = self._state(source), self._state(target)
        other.end_bytes, other.dirty_bytes, other.cached = (
            one.end_bytes, one.dirty_bytes, one.cached,
        )  # fmt: skip
        one.end_bytes = one.dirty_bytes = 0
        self._made.add(target)

    def _sync(self, step: p.Sync) -> None:
        file = self._file(step.file)
        if step.mode in (p.SyncMode.NONE, p.SyncMode.FLUSH):
            return
        alone = self._is_alone(file)
        like = AccessClass(
            operation=OperationKind.SYNC, place=place_of(alone), interface=file.interface
        )
        state = self._state(step.file)
        if step.mode is p.SyncMode.FILE_SYSTEM:
            state.dirty_bytes = sum(other.dirty_bytes for other in self._states.values())
            for other in self._states.values():
                other.dirty_bytes = state.dirty_bytes if other is state else 0
        demand = sync_of(state, like)
        self._add(Demand(demand.access, demand.bytes, self._times))

    def _add(self, demand: Demand) -> None:
        if demand.count > 0:
            context_effects = self._context_effects or demand.context_effects
            self._phase.add(replace(demand, think_s=self._pause_s, context_effects=context_effects))

    def _data(
        self, step: p.Transfer, operation: str, order: Order, state: DataState
    ) -> AccessClass:
        file = self._file(step.file)
        alone = self._is_alone(file)
        return AccessClass(
            operation=OperationKind(operation),
            order=order,
            place=place_of(alone),
            interface=file.interface,
            state=state,
            collective=step.collective,
        )

    def _order(self, step: p.Transfer) -> Order:
        """How the requests lie, from the innermost loop that has several turns."""
        pattern = step.pattern
        if isinstance(pattern, p.Random):
            return Order.RANDOM
        if isinstance(pattern, p.Table):
            rows = pattern.rows
            near = all(a.offset + a.bytes == b.offset for a, b in pairwise(rows))
            return Order.SEQUENTIAL if near else Order.RANDOM
        if not isinstance(pattern, p.Nest):
            return Order.SEQUENTIAL
        size = self._whole(step.size)
        for loop in reversed(pattern.loops):
            if self._whole(loop.count) > 1:
                return Order.SEQUENTIAL if self._whole(loop.stride) == size else Order.STRIDED
        return Order.SEQUENTIAL

    def _extent(
        self, step: p.Transfer, requests: list[tuple[p.Direction, int, int]]
    ) -> tuple[int, int]:
        """Where a step begins and ends in the file; appends and boxes go behind what is there."""
        pattern = step.pattern
        if isinstance(pattern, (p.Append, p.Box)):
            here = self._state(step.file).end_bytes
            return here, here + sum(size * count for _, size, count in requests)
        if isinstance(pattern, p.Sequential):
            here = self._state(step.file).position_bytes
            if pattern.base is not None:
                here = self._whole(pattern.base)
            return here, here + sum(size * count for _, size, count in requests)
        start = self._whole(pattern.base)
        if isinstance(pattern, p.Random):
            start = 0
        return start, end_of(step, self._whole)

    def _is_cached(self, state: FileState) -> bool:
        return state.cached and self._fits_memory()

    def _fits_memory(self) -> bool:
        return self._touched_bytes * self._world <= _MEMORY_SHARE * self._memory_bytes

    def _read_note(self, index: int) -> str:
        if self._file(index).foreign:
            return "somebody's file is taken to be on the device only"
        if self._file(index).prestage is not None and index not in self._forgotten:
            return _STAGED
        return ""

    def _state(self, index: int) -> FileState:
        """The state of the file that a step means now; all ranks' own files are one."""
        key: str | int = index
        with self._view.in_place_of(0), suppress(ExpressionError):
            key = self._view.text(self._plan.files[index].path)
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = self._as_staged(index)
        state.entries.add(index)
        return state

    def _as_staged(self, index: int) -> FileState:
        """A file that is met first: what was written into it before the program, if that was."""
        file = self._file(index)
        if file.prestage is None:
            return FileState()
        size = self._whole(file.prestage)
        self._touched_bytes += size * self._times
        alone = self._is_alone(file)
        end = size if alone else INT64_MAX
        return FileState(end_bytes=end, cached=index not in self._forgotten)

    def _file(self, index: int) -> p.File:
        return self._plan.files[index]

    def _sharers(self, file: p.File) -> int:
        return file.every if file.sharing is p.Sharing.EVERY else self._group.ranks

    def _whole(self, code: list[p.Instruction]) -> int:
        return self._view.integer(code)
