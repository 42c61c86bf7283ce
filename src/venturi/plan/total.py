"""What a plan will do, counted without any I/O.

The plan's program is walked once; loops whose bodies do not depend on their variable are
multiplied, and ranks are counted one by one only where the work depends on the rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

from venturi.model import plan as p
from venturi.model.document import INT64_MAX
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError
from venturi.model.verb import operation_of
from venturi.plan.group import staged_by
from venturi.plan.item import (
    MAKING,
    Window,
    calls_of,
    cut_to,
    directories_of,
    size_key,
    sizes_in,
    window_of,
)
from venturi.plan.rank_placement import BY_NODE
from venturi.plan.rank_view import INSTANCE, RANK, RankView
from venturi.plan.request import codes_of, end_of, looks_of, requests_of
from venturi.plan.row import variables_of
from venturi.plan.scope import slots_of
from venturi.plan.stage import staged_bytes, staged_count, staged_twice
from venturi.plan.together import WAITING_VERBS
from venturi.plan.walk import Enter, Leave, TurnsThatDiffer, Visit, last_turn, leaves, walk

_MAX_SECONDS = 1e8
_PLACED = {p.Operator.SAME_SLOT_NEXT_NODE, p.Operator.RANDOM_REMOTE_RANK, p.Operator.PERMUTE}
"""What only a run can evaluate."""
_OWN_RANK = p.Instruction(operator=p.Operator.VARIABLE, integer=RANK)


@dataclass
class Totals:
    """Bytes, files and operations of all repetitions' worth of one repetition.

    `seconds_computing` is the longest rank's, with its pauses between requests; `largest_offset`
    the end of the last byte.
    """

    bytes_written: int = 0
    bytes_read: int = 0
    files: int = 0
    operations: Counter[str] = field(default_factory=Counter)
    seconds_computing: float = 0.0
    bytes_prestaged: int = 0
    phases: list[str] = field(default_factory=list)
    cold_phases: list[str] = field(default_factory=list)
    """Phases before which caches are dropped."""
    limits_s: dict[str, float] = field(default_factory=dict)
    """Of phases that end after a time, done or not; so much is the most that they do."""
    sizes: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Requests by (direction, bytes)."""
    bytes_by_phase: Counter[str] = field(default_factory=Counter)
    shared_calls: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Calls that only the first sharer of a file makes, over all ranks, by verb and files."""

    def add(self, other: Totals, times: int) -> None:
        """Add what another part does, that many times."""
        self.bytes_written += other.bytes_written * times
        self.bytes_read += other.bytes_read * times
        for kind, count in other.operations.items():
            self.operations[kind] += count * times
        self.files += other.files * times
        self.bytes_prestaged += other.bytes_prestaged * times
        for key, count in other.sizes.items():
            self.sizes[key] += count * times
        for path, size in other.bytes_by_phase.items():
            self.bytes_by_phase[path] += size * times
        for call, count in other.shared_calls.items():
            self.shared_calls[call] += count * times
        self.seconds_computing += other.seconds_computing * times
        self.phases += [path for path in other.phases if path not in self.phases]
        self.cold_phases += [p for p in other.cold_phases if p not in self.cold_phases]
        self.limits_s |= other.limits_s

    def join(self, other: Totals) -> None:
        """Add what another group does at the same time."""
        longest = max(self.seconds_computing, other.seconds_computing)
        self.add(other, 1)
        self.seconds_computing = longest


Watch = Callable[[str, int, int], None]
"""Is told of a group, which of its ranks was counted, and how many there are."""


def totals_of(plan: p.Plan, nodes: int = 1, watch: Watch | None = None) -> Totals:
    """The totals of one repetition on so many nodes; UserError where an expression has no value.

    `watch` is told of each rank whose work is counted by itself.
    """
    total = Totals()
    for group in plan.groups:
        counter = _GroupCounter(plan, group, nodes, watch)
        part = Totals()
        try:
            counter.count_group(part)
        except ExpressionError as error:
            raise UserError(f"group '{group.name}', {counter.view.at}: {error}") from None
        total.join(part)
    if max(total.bytes_written, total.bytes_read, total.files) > INT64_MAX:
        raise UserError("the workload moves more than 2^63 - 1 bytes")
    return total


class _GroupCounter:
    """Counts what one group does."""

    def __init__(
        self, plan: p.Plan, group: p.Group, nodes: int, watch: Watch | None = None
    ) -> None:
        self._plan = plan
        self._watch = watch
        self._group = group
        self._nodes = nodes
        self.view = RankView(plan, group, nodes)
        self._turns = TurnsThatDiffer(self._slots_used, "to count")
        self._total = Totals()
        """Of the rank, or the ranks alike, that are counted now."""
        self._phases: list[str] = []
        """Those that are open."""
        self._loops: list[tuple[p.For, int]] = []
        self._files: dict[int, int] = {}
        self._made: dict[tuple[int, bool], dict[tuple[int, int], int]] = {}
        """Items made, by file and whether in a window, then by step and dealt rank."""
        self._by_rank = False
        self._by_instance = False
        self._of_instances: set[int] = set()
        """Files whose names of all instances were counted one by one."""
        self._writers: dict[int, set[int]] = {}
        """Of each file, the ranks that write to it."""
        self._names: dict[int, set[tuple[int, ...]]] = {}
        """Of each file, the loops' values (and the rank) that name one that is made."""

    def count_group(self, total: Totals) -> None:
        """Add the work of all instances; the computing is the longest one's."""
        used = _slots_used(self._group.program, self._plan.files)
        by_instance = INSTANCE in used or bool(BY_NODE & used)
        self._by_instance = by_instance
        longest = 0.0
        for instance in range(self._group.instances) if by_instance else (0,):
            self.view = RankView(self._plan, self._group, self._nodes, instance)
            part = Totals()
            self._count_instance(part, used)
            longest = max(longest, part.seconds_computing)
            total.add(part, 1 if by_instance else self._group.instances)
        total.seconds_computing = longest
        self._count_items()
        self._prestage(total)
        for index, names in self._files.items():
            count = self._files_of(index, names)
            own = any(INSTANCE in slots_of(part.value) for part in self._plan.files[index].path)
            own = own and index not in self._of_instances
            total.files += count * (self._group.instances if own else 1)

    def _files_of(self, index: int, names: int) -> int:
        """The files behind so many names: an interface may have more for each of its writers.

        Every writer is counted with all stores of the entry that it shares.
        """
        file = self._plan.files[index]
        beside = file.interface.entry.files_per_writer
        if not beside:
            return names
        return names + beside * len(self._writers.get(index, ())) * (
            names // self.view.placement.files(file)
        )

    def _count_instance(self, total: Totals, used: set[int]) -> None:
        """Add the work of all ranks of one instance."""
        by_rank = RANK in used or bool(BY_NODE & used)
        self._by_rank = by_rank
        longest = 0.0
        for rank in range(self._group.ranks) if by_rank else (0,):
            self.view.take_place_of(rank)
            self._total = Totals()
            self._count_rank()
            longest = max(longest, self._total.seconds_computing)
            total.add(self._total, 1 if by_rank else self._group.ranks)
            if self._watch is not None and by_rank:
                self._watch(self._group.name, rank + 1, self._group.ranks)
        total.seconds_computing = longest
        self._settle_shared(total)
        for rank in {0, self._group.ranks - 1}:
            self.view.take_place_of(rank)
            self._check_ends()

    def _settle_shared(self, total: Totals) -> None:
        """One sharer makes or removes a shared name; after a `create` the others open it."""
        for (verb, files), calls in total.shared_calls.items():
            times = calls // self._group.ranks
            total.operations[verb] += times * files
            if verb == "create" and self._group.ranks > files:
                total.operations["open"] += times * (self._group.ranks - files)
        total.shared_calls.clear()

    def _prestage(self, total: Totals) -> None:
        stages = staged_by(self._plan, self._group)
        for index, file in enumerate(self._plan.files):
            if file.prestage is None or index not in stages:
                continue
            own = any(INSTANCE in slots_of(part.value) for part in file.path)
            if file.tree is not None:
                self._prestage_items(index, file.tree, total, self._group.instances if own else 1)
                continue
            for rank in range(self._group.ranks):
                self.view.take_place_of(rank)
                sizes = staged_bytes(file, self.view.slots)
                names = staged_count(file) * (self._group.instances if own else 1)
                twice, bytes_twice = staged_twice(self._plan, index, self.view)
                total.bytes_prestaged += sum(sizes) * names // len(sizes) - bytes_twice
            made = self.view.placement.files(file) * (staged_count(file) - twice)
            self._files[index] = max(self._files.get(index, 0), made)

    def _prestage_items(self, index: int, tree: p.Tree, total: Totals, times: int) -> None:
        whole = p.Items(file=index, owner=[_OWN_RANK], verbs=[p.ItemVerb.CREATE])
        made = 0
        for rank in range(1 if tree.owner is p.ItemOwner.SHARED else self._group.ranks):
            self.view.take_place_of(rank)
            window, sizes = self._window(whole, tree)
            made += window.count
            total.bytes_prestaged += times * sum(size * count for size, count in sizes.items())
        self._files[index] = max(self._files.get(index, 0), made)

    def _seconds(self, code: list[p.Instruction]) -> float:
        value = float(self.view.value(code))
        if not 0 <= value <= _MAX_SECONDS:
            raise ExpressionError(f"computing for {value:g} s: 0 to {_MAX_SECONDS:g} s can be done")
        return value

    def _count_rank(self) -> None:
        """Add the work of the rank in whose place the view stands."""
        for event in walk(self.view, self._group.program, self._turns):
            match event:
                case Enter(p.Phase() as phase):
                    self._enter(phase)
                case Enter(p.For() as loop, turns=turns):
                    self._loops.append((loop, turns))
                case Leave(p.Phase()):
                    self._phases.pop()
                case Leave(p.For()):
                    self._loops.pop()
                case Visit(step, times):
                    self._visit(step, times)

    def _enter(self, phase: p.Phase) -> None:
        total = self._total
        self._phases.append(phase.path)
        if phase.path not in total.phases:
            total.phases.append(phase.path)
        if phase.cache is p.CachePolicy.DROP and phase.path not in total.cold_phases:
            total.cold_phases.append(phase.path)
        if phase.limit_s is not None:
            total.limits_s[phase.path] = phase.limit_s
        total.bytes_by_phase[phase.path] += 0

    def _slots_used(self, loop: p.For) -> set[int]:
        files = self._plan.files
        named = _slots_of_made(loop, files) if loop.columns else set()
        return _slots_used(loop.body, files) | named

    def _visit(self, step: p.Step, times: int) -> None:
        match step:
            case p.Compute():
                self._total.seconds_computing += self._seconds(step.seconds) * times
            case p.Transfer():
                self._transfer(step, times)
            case p.Manage():
                self._manage(step, times)
            case p.Items():
                self._items(step, times)
            case p.Sync():
                self._total.operations["sync"] += times
            case p.Exec():
                self._total.shared_calls["exec", 1] += times
            case _:
                pass

    def _transfer(self, step: p.Transfer, times: int) -> None:
        total = self._total
        if step.operation is p.Direction.WRITE:
            alone = {self.view.rank}
            ranks = alone if self._by_rank else range(self._group.ranks)
            self._writers.setdefault(step.file, set()).update(ranks)
        requests = requests_of(step, self.view.whole)
        calls = sum(count for _, _, count in requests)
        self._add_calls(looks_of(step, calls), times)
        total.seconds_computing += step.think_s * calls * times
        for direction, size, count in requests:
            self._data(direction.value, size, count * times)
            if step.sync is not p.SyncMode.NONE and direction is step.operation:
                total.operations["sync"] += count * times

    def _add_calls(self, calls: Mapping[str, int], times: int) -> None:
        for kind, count in calls.items():
            if count:
                self._total.operations[kind] += count * times

    def _data(self, direction: str, size: int, count: int) -> None:
        if count == 0:
            return
        if size == 0:
            raise ExpressionError(f"a {direction} of 0 bytes")
        self._total.operations[direction] += count
        self._total.sizes[direction, size] += count
        self._move(direction, size * count)

    def _move(self, direction: str, size: int) -> None:
        """Add bytes, to those of the phases that are open, too."""
        if direction == "write":
            self._total.bytes_written += size
        else:
            self._total.bytes_read += size
        for path in self._phases:
            self._total.bytes_by_phase[path] += size

    def _manage(self, step: p.Manage, times: int) -> None:
        file = self._plan.files[step.file]
        calls = times * (1 if file.tree is None else directories_of(file.tree))
        if file.sharing is p.Sharing.RANK or step.verb not in WAITING_VERBS:
            for word, each in _calls(step.verb):
                self._total.operations[word] += calls * each
        else:
            files = self.view.placement.files(file)
            for word, each in _calls(step.verb):
                self._total.shared_calls[word, files] += calls * each
        # How long a copied file is, is known of some.
        is_copy = step.verb is p.NameVerb.COPY and file.sharing is p.Sharing.RANK
        if is_copy and file.prestage is not None:
            self._copied(self.view.whole(file.prestage) * times)
        made = {p.NameVerb.CREATE: step.file, p.NameVerb.COPY: step.to}.get(step.verb)
        if made is not None:
            self._note_file(made)

    def _copied(self, size: int) -> None:
        self._move("read", size)
        self._move("write", size)

    def _note_file(self, index: int) -> None:
        """Count a file that is made, under as many names as loops give it."""
        file = self._plan.files[index]
        used = {slot for part in file.path for slot in slots_of(part.value)}
        around = [loop for loop in self._loops if variables_of(loop[0]) & used]
        name = [
            int(self.view.slots[slot])
            for loop, _ in around
            if self._turns.differ(loop)
            for slot in sorted(variables_of(loop) & used)
        ]
        times = prod(turns for loop, turns in around if not self._turns.differ(loop))
        if file.sharing is p.Sharing.RANK and self._by_rank:
            name.append(self.view.rank)
        else:
            times *= self.view.placement.files(file)
        if self._by_instance and INSTANCE in used:
            name.append(int(self.view.slots[INSTANCE]))
            self._of_instances.add(index)
        names = self._names.setdefault(index, set())
        names.add(tuple(name))
        self._files[index] = max(self._files.get(index, 0), len(names) * times)

    def _items(self, step: p.Items, times: int) -> None:
        tree = self._plan.files[step.file].tree
        assert tree is not None
        window, sizes = self._window(step, tree)
        for verb in (p.ItemVerb.WRITE, p.ItemVerb.READ):
            for size, count in sizes.items() if verb in step.verbs else ():
                if size:
                    self._data(verb.value, size, count * times)
        if step.source is not None:
            copied = self._plan.files[step.source].tree
            assert copied is not None
            sizes = self._window(step, copied)[1]
            self._copied(sum(size * count for size, count in sizes.items()) * times)
        self._add_calls(calls_of(step, window), times)
        self._total.seconds_computing += sum(step.thinks_s) * window.count * times
        if MAKING & set(step.verbs):
            self._note_made(step, tree, window.count)

    def _window(self, step: p.Items, tree: p.Tree) -> tuple[Window, Counter[int]]:
        """The items of a step in the place of the owner, and their sizes.

        Who shares a node is known when the run has started; then every rank has another owner,
        or one that is drawn, so that each counts as its own.
        """
        view = self.view
        is_placed = bool(_PLACED & {instruction.operator for instruction in step.owner})
        owner = view.rank if is_placed else view.whole(step.owner)
        with view.in_place_of(owner):
            window = window_of(step, tree, owner, self._group.ranks, view.whole)
            sizes = sizes_in(window, tree, size_key(self._plan.seed, tree, owner), view.whole)
            if step.bytes is not None:
                sizes = cut_to(sizes, view.whole(step.bytes))
        return window, sizes

    def _note_made(self, step: p.Items, tree: p.Tree, count: int) -> None:
        """Count files once, however often a tree is made anew."""
        file = self._plan.files[step.file]
        codes = [part.value or [] for part in file.path] + [step.first or []]
        used = {slot for code in codes for slot in slots_of(code)}
        moves_on = step.counted_from is p.CountedFrom.NEWEST
        for loop, turns in self._loops:
            count *= turns if moves_on or loop.variable in used else 1
        in_window = moves_on or step.first is not None
        by_owner = self._made.setdefault((step.file, in_window), {})
        if tree.owner is p.ItemOwner.RANK:
            count *= self._group.ranks
        rank = 0 if tree.owner is p.ItemOwner.SHARED else self.view.rank
        place = id(step), rank if tree.owner is p.ItemOwner.ALL else 0
        by_owner[place] = max(by_owner.get(place, 0), count)

    def _count_items(self) -> None:
        """Windows of a tree add up; steps that make the whole tree make the same files."""
        for (file, in_windows), by_step in self._made.items():
            if in_windows:
                self._files[file] = self._files.get(file, 0) + sum(by_step.values())
        for (file, in_windows), by_step in self._made.items():
            if not in_windows:
                whole: Counter[int] = Counter()
                for (step, _), count in by_step.items():
                    whole[step] += count
                self._files[file] = self._files.get(file, 0) + max(whole.values())

    def _check_ends(self) -> None:
        """Evaluate the last offset of every transfer, so that overflow is found before a run."""
        for event in walk(self.view, self._group.program, last_turn):
            match event:
                case Visit(p.Transfer() as step):
                    if end_of(step, self.view.whole) > INT64_MAX:
                        raise ExpressionError("the file would be larger than 2^63 - 1 bytes")
                case Visit(p.Items() | p.Manage() as step):
                    self._check_names(step)
                case _:
                    pass

    def _check_names(self, step: p.Items | p.Manage) -> None:
        file = self._plan.files[step.file]
        self.view.text(file.path)
        if isinstance(step, p.Items):
            assert file.tree is not None
            self._window(step, file.tree)


def _calls(verb: p.NameVerb) -> list[tuple[str, int]]:
    """The operations of one such step on one file."""
    if verb is p.NameVerb.COPY:
        return [("open", 1), ("create", 1), ("copy", 1), ("close", 2)]
    return [(operation_of(verb).value, 1)]


def _slots_used(steps: Iterable[p.Step], files: list[p.File]) -> set[int]:
    """Slots on which counts, sizes, conditions and times depend; places do not matter."""
    used: set[int] = set()
    for step in steps:
        codes: list[list[p.Instruction]] = []
        if isinstance(step, p.For):
            codes += [step.count, step.first or []]
            used |= _slots_used(step.body, files)
        elif isinstance(step, p.Choose):
            codes.append(step.number)
            used |= _slots_used(step.body, files)
        elif isinstance(step, p.When):
            codes.append(step.condition)
            used |= _slots_used(step.body, files)
        elif isinstance(step, (p.Phase, p.Repeat)):
            used |= _slots_used(step.body, files)
        elif isinstance(step, p.Compute):
            codes.append(step.seconds)
        elif isinstance(step, p.Manage) and step.verb is p.NameVerb.COPY:
            codes.append(files[step.file].prestage or [])
        elif isinstance(step, p.Transfer):
            codes += codes_of(step)
        elif isinstance(step, p.Items):
            tree = files[step.file].tree
            assert tree is not None
            used |= {RANK} if tree.owner is p.ItemOwner.ALL or tree.sizes else set()
            codes += _item_codes(step, tree)
            copied = None if step.source is None else files[step.source].tree
            if copied is not None:
                used |= {RANK} if copied.sizes else set()
                codes += _item_codes(step, copied)
        used |= {slot for code in codes for slot in slots_of(code)}
    return used


def _slots_of_made(loop: p.For, files: list[p.File]) -> set[int]:
    """Slots that name the files that are made in a loop over a table: its rows name them."""
    made = [
        step.to if step.verb is p.NameVerb.COPY else step.file
        for step, _ in leaves(loop.body)
        if isinstance(step, p.Manage) and step.verb in (p.NameVerb.CREATE, p.NameVerb.COPY)
    ]
    parts = (part for index in made if index is not None for part in files[index].path)
    return variables_of(loop) & {slot for part in parts for slot in slots_of(part.value)}


def _item_codes(step: p.Items, tree: p.Tree) -> list[list[p.Instruction]]:
    """What the counts of a step on items depend on."""
    shares = [share.bytes for share in tree.sizes]
    codes = [tree.items, tree.size, *shares, step.count or [], step.bytes or []]
    places_matter = tree.sizes or step.count is None or p.ItemVerb.RENAME in step.verbs
    return codes + ([step.first] if step.first and places_matter else [])
