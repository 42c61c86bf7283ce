"""What a plan will do, counted without any I/O.

The plan's program is walked once; loops whose bodies do not depend on their variable are
multiplied, and ranks are counted one by one only where the work depends on the rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import prod

from venturi.model import plan as p
from venturi.model.document import INT64_MAX
from venturi.model.error import UserError
from venturi.model.expression import Compiled, ExpressionError, Number, compiled
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
from venturi.plan.rank_placement import BY_NODE, RankPlacement
from venturi.plan.request import codes_of, end_of, looks_of, requests_of
from venturi.plan.scope import slots_of
from venturi.plan.stage import staged_bytes, staged_count
from venturi.plan.together import WAITING_VERBS

_MAX_TURNS = 2_000_000
_MAX_SECONDS = 1e8
_RANK, _RANKS, _WORLD, _INSTANCE = 0, 1, 2, 3
_PLACED = {p.Operator.SAME_SLOT_NEXT_NODE, p.Operator.RANDOM_REMOTE_RANK, p.Operator.PERMUTE}
"""What only a run can evaluate."""
_OWN_RANK = p.Instruction(operator=p.Operator.VARIABLE, integer=_RANK)


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
        walker = _TotalInterpreter(plan, group, nodes, watch)
        part = Totals()
        try:
            walker.count_group(part)
        except ExpressionError as error:
            raise UserError(f"group '{group.name}', {walker.at or 'program'}: {error}") from None
        total.join(part)
    if max(total.bytes_written, total.bytes_read, total.files) > INT64_MAX:
        raise UserError("the workload moves more than 2^63 - 1 bytes")
    return total


class _TotalInterpreter:
    """Counts one group's program."""

    def __init__(
        self, plan: p.Plan, group: p.Group, nodes: int, watch: Watch | None = None
    ) -> None:
        self._plan = plan
        self._watch = watch
        self._group = group
        self._nodes = nodes
        self._rank_placement = RankPlacement(plan, group, nodes)
        self._slots: list[Number] = [0] * len(plan.slots)
        self._slots[_RANKS], self._slots[_WORLD] = group.ranks, plan.ranks
        self.files: dict[int, int] = {}
        self.at = ""
        self._turns = 0
        self._loops: list[tuple[int, int]] = []
        self._walked: set[int] = set()
        """Variables of the loops around that are counted turn by turn."""
        self._made: dict[tuple[int, bool], dict[tuple[int, int], int]] = {}
        """Items made, by file and whether in a window, then by step and dealt rank."""
        self._by_rank = False
        self._by_instance = False
        self._of_instances: set[int] = set()
        """Files whose names of all instances were counted one by one."""
        self._compiled: dict[int, tuple[list[p.Instruction], Compiled]] = {}
        """Expressions by the identity of their code, which lives as long as this does."""
        self._writers: dict[int, set[int]] = {}
        """Of each file, the ranks that write to it."""
        self._names: dict[int, set[tuple[int, ...]]] = {}
        """Of each file, the loops' values (and the rank) that name one that is made."""

    def count_group(self, total: Totals) -> None:
        """Add the work of all instances; the computing is the longest one's."""
        used = _slots_used(self._group.program, self._plan.files)
        by_instance = _INSTANCE in used or bool(BY_NODE & used)
        self._by_instance = by_instance
        longest = 0.0
        for instance in range(self._group.instances) if by_instance else (0,):
            self._slots[_INSTANCE] = instance
            self._rank_placement = RankPlacement(self._plan, self._group, self._nodes, instance)
            part = Totals()
            self._count_instance(part, used)
            longest = max(longest, part.seconds_computing)
            total.add(part, 1 if by_instance else self._group.instances)
        total.seconds_computing = longest
        self._count_items()
        self._prestage(total)
        for index, names in self.files.items():
            count = self._files_of(index, names)
            own = any(_INSTANCE in slots_of(part.value) for part in self._plan.files[index].path)
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
            names // self._rank_placement.files(file)
        )

    def _count_instance(self, total: Totals, used: set[int]) -> None:
        """Add the work of all ranks of one instance."""
        by_rank = _RANK in used or bool(BY_NODE & used)
        self._by_rank = by_rank
        longest = 0.0
        for rank in range(self._group.ranks) if by_rank else (0,):
            self._rank_placement.placement_of(self._slots, rank)
            part = self._body(self._group.program)
            longest = max(longest, part.seconds_computing)
            total.add(part, 1 if by_rank else self._group.ranks)
            if self._watch is not None and by_rank:
                self._watch(self._group.name, rank + 1, self._group.ranks)
        total.seconds_computing = longest
        self._settle_shared(total)
        for rank in {0, self._group.ranks - 1}:
            self._rank_placement.placement_of(self._slots, rank)
            self._check_ends(self._group.program)

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
            own = any(_INSTANCE in slots_of(part.value) for part in file.path)
            if file.tree is not None:
                self._prestage_items(index, file.tree, total, self._group.instances if own else 1)
                continue
            for rank in range(self._group.ranks):
                self._rank_placement.placement_of(self._slots, rank)
                sizes = staged_bytes(file, self._slots)
                names = staged_count(file) * (self._group.instances if own else 1)
                total.bytes_prestaged += sum(sizes) * names // len(sizes)
            made = self._rank_placement.files(file) * staged_count(file)
            self.files[index] = max(self.files.get(index, 0), made)

    def _prestage_items(self, index: int, tree: p.Tree, total: Totals, times: int) -> None:
        whole = p.Items(file=index, owner=[_OWN_RANK], verbs=[p.ItemVerb.CREATE])
        made = 0
        for rank in range(1 if tree.owner is p.ItemOwner.SHARED else self._group.ranks):
            self._rank_placement.placement_of(self._slots, rank)
            window, sizes = self._window(whole, tree)
            made += window.count
            total.bytes_prestaged += times * sum(size * count for size, count in sizes.items())
        self.files[index] = max(self.files.get(index, 0), made)

    def _value(self, code: list[p.Instruction]) -> Number:
        known = self._compiled.get(id(code))
        if known is None:
            known = self._compiled[id(code)] = (code, compiled(code))
        return known[1](self._slots)

    def _whole(self, code: list[p.Instruction]) -> int:
        value = self._value(code)
        if isinstance(value, float) and not value.is_integer():
            raise ExpressionError(f"a whole number is needed, not {value}")
        if value < 0:
            raise ExpressionError(f"a number of 0 or more is needed, not {value}")
        return int(value)

    def _seconds(self, code: list[p.Instruction]) -> float:
        value = float(self._value(code))
        if not 0 <= value <= _MAX_SECONDS:
            raise ExpressionError(f"computing for {value:g} s: 0 to {_MAX_SECONDS:g} s can be done")
        return value

    def _body(self, steps: Iterable[p.Step]) -> Totals:
        total = Totals()
        for step in steps:
            if isinstance(step, p.For):
                self._for(step, total)
            elif isinstance(step, p.When):
                if self._value(step.condition):
                    total.add(self._body(step.body), 1)
            elif isinstance(step, p.Phase):
                self.at = f"phase '{step.path}'"
                inside = self._body(step.body)
                inside.phases.insert(0, step.path)
                if step.cache is p.CachePolicy.DROP:
                    inside.cold_phases.append(step.path)
                if step.limit_s is not None:
                    inside.limits_s[step.path] = step.limit_s
                inside.bytes_by_phase[step.path] = inside.bytes_written + inside.bytes_read
                total.add(inside, 1)
            elif isinstance(step, p.Repeat):
                total.add(self._body(step.body), 1)
            elif isinstance(step, p.Compute):
                total.seconds_computing += self._seconds(step.seconds)
            elif not isinstance(step, p.Barrier):
                self._leaf(step, total)
        return total

    def _for(self, step: p.For, total: Totals) -> None:
        turns = self._whole(step.count)
        if turns == 0:
            return
        self._loops.append((step.variable, turns))
        if step.variable not in _slots_used(step.body, self._plan.files):
            total.add(self._body(step.body), turns)
        else:
            self._turns += turns
            if self._turns > _MAX_TURNS:
                raise ExpressionError(f"more than {_MAX_TURNS} turns of loops to count")
            self._walked.add(step.variable)
            for turn in range(turns):
                self._slots[step.variable] = turn
                total.add(self._body(step.body), 1)
            self._walked.discard(step.variable)
        self._loops.pop()

    def _leaf(self, step: p.Step, total: Totals) -> None:
        if isinstance(step, p.Transfer):
            if step.operation is p.Direction.WRITE:
                alone = {int(self._slots[_RANK])}
                ranks = alone if self._by_rank else range(self._group.ranks)
                self._writers.setdefault(step.file, set()).update(ranks)
            requests = requests_of(step, self._whole)
            calls = sum(count for _, _, count in requests)
            if step.seeks or step.empty_reads:
                total.operations += looks_of(step, calls)
            total.seconds_computing += step.think_s * calls
            for direction, size, count in requests:
                self._data(direction.value, count, size, total)
                if step.sync is not p.SyncMode.NONE and direction is step.operation:
                    total.operations["sync"] += count
        elif isinstance(step, p.Manage):
            self._manage(step, total)
        elif isinstance(step, p.Items):
            self._items(step, total)
        elif isinstance(step, p.Sync):
            total.operations["sync"] += 1
        elif isinstance(step, p.Exec):
            total.shared_calls["exec", 1] += 1

    def _data(self, direction: str, count: int, size: int, total: Totals) -> None:
        if count == 0:
            return
        if size == 0:
            raise ExpressionError(f"a {direction} of 0 bytes")
        total.operations[direction] += count
        total.sizes[direction, size] += count
        if direction == "write":
            total.bytes_written += count * size
        else:
            total.bytes_read += count * size

    def _manage(self, step: p.Manage, total: Totals) -> None:
        file = self._plan.files[step.file]
        calls = 1 if file.tree is None else directories_of(file.tree)
        if file.sharing is p.Sharing.RANK or step.verb not in WAITING_VERBS:
            for word, times in _calls(step.verb):
                total.operations[word] += calls * times
        else:
            files = self._rank_placement.files(file)
            for word, times in _calls(step.verb):
                total.shared_calls[word, files] += calls * times
        if step.verb is p.NameVerb.COPY:
            self._note_copied(file, total)
        made = {p.NameVerb.CREATE: step.file, p.NameVerb.COPY: step.to}.get(step.verb)
        if made is not None:
            self._note_file(made)

    def _note_copied(self, file: p.File, total: Totals) -> None:
        """Bytes of a copy, where it is known how long the file is."""
        if file.prestage is not None and file.sharing is p.Sharing.RANK:
            size = self._whole(file.prestage)
            total.bytes_read += size
            total.bytes_written += size

    def _note_file(self, index: int) -> None:
        """Count a file that is made, under as many names as loops give it."""
        file = self._plan.files[index]
        used = {slot for part in file.path for slot in slots_of(part.value)}
        around = [loop for loop in self._loops if loop[0] in used]
        name = [int(self._slots[variable]) for variable, _ in around if variable in self._walked]
        times = prod(turns for variable, turns in around if variable not in self._walked)
        if file.sharing is p.Sharing.RANK and self._by_rank:
            name.append(int(self._slots[_RANK]))
        else:
            times *= self._rank_placement.files(file)
        if self._by_instance and _INSTANCE in used:
            name.append(int(self._slots[_INSTANCE]))
            self._of_instances.add(index)
        names = self._names.setdefault(index, set())
        names.add(tuple(name))
        self.files[index] = max(self.files.get(index, 0), len(names) * times)

    def _items(self, step: p.Items, total: Totals) -> None:
        tree = self._plan.files[step.file].tree
        assert tree is not None
        window, sizes = self._window(step, tree)
        for verb in (p.ItemVerb.WRITE, p.ItemVerb.READ):
            for size, count in sizes.items() if verb in step.verbs else ():
                if size:
                    self._data(verb.value, count, size, total)
        if step.source is not None:
            copied = self._plan.files[step.source].tree
            assert copied is not None
            size = sum(size * count for size, count in self._window(step, copied)[1].items())
            total.bytes_read += size
            total.bytes_written += size
        total.operations += calls_of(step, window)
        if MAKING & set(step.verbs):
            self._note_made(step, tree, window.count)

    def _window(self, step: p.Items, tree: p.Tree) -> tuple[Window, Counter[int]]:
        """The items of a step in the place of the owner, and their sizes.

        Who shares a node is known when the run has started; then every rank has another owner,
        or one that is drawn, so that each counts as its own.
        """
        rank = owner = int(self._slots[_RANK])
        if not _PLACED & {instruction.operator for instruction in step.owner}:
            owner = self._whole(step.owner)
        self._rank_placement.placement_of(self._slots, owner)
        window = window_of(step, tree, owner, self._group.ranks, self._whole)
        sizes = sizes_in(window, tree, size_key(self._plan.seed, tree, owner), self._whole)
        if step.bytes is not None:
            sizes = cut_to(sizes, self._whole(step.bytes))
        self._rank_placement.placement_of(self._slots, rank)
        return window, sizes

    def _note_made(self, step: p.Items, tree: p.Tree, count: int) -> None:
        """Count files once, however often a tree is made anew."""
        file = self._plan.files[step.file]
        codes = [part.value or [] for part in file.path] + [step.first or []]
        used = {slot for code in codes for slot in slots_of(code)}
        moves_on = step.counted_from is p.CountedFrom.NEWEST
        for variable, turns in self._loops:
            count *= turns if moves_on or variable in used else 1
        in_window = moves_on or step.first is not None
        by_owner = self._made.setdefault((step.file, in_window), {})
        if tree.owner is p.ItemOwner.RANK:
            count *= self._group.ranks
        rank = 0 if tree.owner is p.ItemOwner.SHARED else int(self._slots[_RANK])
        place = id(step), rank if tree.owner is p.ItemOwner.ALL else 0
        by_owner[place] = max(by_owner.get(place, 0), count)

    def _count_items(self) -> None:
        """Windows of a tree add up; steps that make the whole tree make the same files."""
        for (file, in_windows), by_step in self._made.items():
            if in_windows:
                self.files[file] = self.files.get(file, 0) + sum(by_step.values())
        for (file, in_windows), by_step in self._made.items():
            if not in_windows:
                whole: Counter[int] = Counter()
                for (step, _), count in by_step.items():
                    whole[step] += count
                self.files[file] = self.files.get(file, 0) + max(whole.values())

    def _check_ends(self, steps: Iterable[p.Step]) -> None:
        """Evaluate the last offset of every transfer, so that overflow is found before a run."""
        for step in steps:
            if isinstance(step, p.For):
                turns = self._whole(step.count)
                self._slots[step.variable] = max(turns - 1, 0)
                if turns:
                    self._check_ends(step.body)
            elif isinstance(step, p.When):
                if self._value(step.condition):
                    self._check_ends(step.body)
            elif isinstance(step, p.Phase):
                self.at = f"phase '{step.path}'"
                self._check_ends(step.body)
            elif isinstance(step, p.Repeat):
                self._check_ends(step.body)
            elif isinstance(step, p.Transfer):
                self._check_end(step)
            elif isinstance(step, (p.Items, p.Manage)):
                self._check_names(step)

    def _check_names(self, step: p.Items | p.Manage) -> None:
        file = self._plan.files[step.file]
        for part in file.path:
            if part.value is not None:
                self._whole(part.value)
        if isinstance(step, p.Items):
            assert file.tree is not None
            self._window(step, file.tree)

    def _check_end(self, step: p.Transfer) -> None:
        if end_of(step, self._whole) > INT64_MAX:
            raise ExpressionError("the file would be larger than 2^63 - 1 bytes")


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
            codes.append(step.count)
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
            used |= {_RANK} if tree.owner is p.ItemOwner.ALL or tree.sizes else set()
            codes += _item_codes(step, tree)
            copied = None if step.source is None else files[step.source].tree
            if copied is not None:
                used |= {_RANK} if copied.sizes else set()
                codes += _item_codes(step, copied)
        used |= {slot for code in codes for slot in slots_of(code)}
    return used


def _item_codes(step: p.Items, tree: p.Tree) -> list[list[p.Instruction]]:
    """What the counts of a step on items depend on."""
    shares = [share.bytes for share in tree.sizes]
    codes = [tree.items, tree.size, *shares, step.count or [], step.bytes or []]
    places_matter = tree.sizes or step.count is None or p.ItemVerb.RENAME in step.verbs
    return codes + ([step.first] if step.first and places_matter else [])
