"""What a plan will do, counted without any I/O.

The plan's program is walked once; loops whose bodies do not depend on their variable are
multiplied, and ranks are counted one by one only where the work depends on the rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from venturi.model import plan as p
from venturi.model.document import INT64_MAX
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError, Number, evaluate
from venturi.plan.program import WAITING_VERBS

_MAX_TURNS = 2_000_000
_MAX_SECONDS = 1e8
_RANK, _RANKS, _WORLD = 0, 1, 2


@dataclass
class Totals:
    """Bytes, files and operations of all repetitions' worth of one repetition.

    `seconds_computing` is the longest rank's; `largest_offset` the end of the last byte.
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
        for key, count in other.sizes.items():
            self.sizes[key] += count * times
        for path, size in other.bytes_by_phase.items():
            self.bytes_by_phase[path] += size * times
        for call, count in other.shared_calls.items():
            self.shared_calls[call] += count * times
        self.seconds_computing += other.seconds_computing * times
        self.phases += [path for path in other.phases if path not in self.phases]
        self.cold_phases += [p for p in other.cold_phases if p not in self.cold_phases]


def totals_of(plan: p.Plan) -> Totals:
    """The totals of one repetition; UserError where an expression has no value."""
    total = Totals()
    for group in plan.groups:
        walker = _Walker(plan, group)
        try:
            walker.count_group(total)
        except ExpressionError as error:
            raise UserError(f"group '{group.name}', {walker.at or 'program'}: {error}") from None
        total.files += sum(walker.files.values())
    if max(total.bytes_written, total.bytes_read, total.files) > INT64_MAX:
        raise UserError("the workload moves more than 2^63 - 1 bytes")
    return total


class _Walker:
    """Counts one group's program."""

    def __init__(self, plan: p.Plan, group: p.Group) -> None:
        self._plan = plan
        self._group = group
        self._slots: list[Number] = [0] * len(plan.slots)
        self._slots[_RANKS], self._slots[_WORLD] = group.ranks, plan.ranks
        self.files: dict[int, int] = {}
        self.at = ""
        self._turns = 0
        self._loops: list[tuple[int, int]] = []

    def count_group(self, total: Totals) -> None:
        """Add the work of all ranks."""
        used = _slots_used(self._group.program)
        by_rank = _RANK in used or p.Slot.NODE in {self._plan.slots[s] for s in used}
        computing = total.seconds_computing
        longest = 0.0
        for rank in range(self._group.ranks) if by_rank else (0,):
            self._slots[_RANK] = rank
            part = self._body(self._group.program)
            longest = max(longest, part.seconds_computing)
            total.add(part, 1 if by_rank else self._group.ranks)
        total.seconds_computing = computing + longest
        self._settle_shared(total)
        for rank in {0, self._group.ranks - 1}:
            self._slots[_RANK] = rank
            self._check_ends(self._group.program)
        self._prestage(total)

    def _settle_shared(self, total: Totals) -> None:
        """One sharer makes or removes a shared name; after a `create` the others open it."""
        for (verb, files), calls in total.shared_calls.items():
            times = calls // self._group.ranks
            total.operations[verb] += times * files
            if verb == "create" and self._group.ranks > files:
                total.operations["open"] += times * (self._group.ranks - files)
        total.shared_calls.clear()

    def _prestage(self, total: Totals) -> None:
        for index, file in enumerate(self._plan.files):
            if file.prestage is None:
                continue
            for rank in range(self._group.ranks):
                self._slots[_RANK] = rank
                total.bytes_prestaged += self._whole(file.prestage)
            sharers = {"rank": 1, "every": file.every}.get(file.sharing, self._group.ranks)
            self.files[index] = max(self.files.get(index, 0), -(-self._group.ranks // sharers))

    def _whole(self, code: list[p.Instruction]) -> int:
        value = evaluate(code, self._slots)
        if isinstance(value, float) and not value.is_integer():
            raise ExpressionError(f"a whole number is needed, not {value}")
        if value < 0:
            raise ExpressionError(f"a number of 0 or more is needed, not {value}")
        return int(value)

    def _seconds(self, code: list[p.Instruction]) -> float:
        value = float(evaluate(code, self._slots))
        if not 0 <= value <= _MAX_SECONDS:
            raise ExpressionError(f"computing for {value:g} s: 0 to {_MAX_SECONDS:g} s can be done")
        return value

    def _body(self, steps: Iterable[p.Step]) -> Totals:
        total = Totals()
        for step in steps:
            if isinstance(step, p.For):
                self._for(step, total)
            elif isinstance(step, p.When):
                if evaluate(step.condition, self._slots):
                    total.add(self._body(step.body), 1)
            elif isinstance(step, p.Phase):
                self.at = f"phase '{step.path}'"
                inside = self._body(step.body)
                inside.phases.insert(0, step.path)
                if step.cache is p.CachePolicy.DROP:
                    inside.cold_phases.append(step.path)
                inside.bytes_by_phase[step.path] = inside.bytes_written + inside.bytes_read
                total.add(inside, 1)
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
        if step.variable not in _slots_used(step.body):
            total.add(self._body(step.body), turns)
        else:
            self._turns += turns
            if self._turns > _MAX_TURNS:
                raise ExpressionError(f"more than {_MAX_TURNS} turns of loops to count")
            for turn in range(turns):
                self._slots[step.variable] = turn
                total.add(self._body(step.body), 1)
        self._loops.pop()

    def _leaf(self, step: p.Step, total: Totals) -> None:
        if isinstance(step, p.Transfer):
            count = self._requests(step.pattern)
            size = self._whole(step.size)
            self._data(step.operation.value, count, size, total)
            if step.sync is not p.SyncMode.NONE:
                total.operations["sync"] += count
        elif isinstance(step, p.Manage):
            self._manage(step, total)
        elif isinstance(step, p.Items):
            self._items(step, total)
        elif isinstance(step, p.Sync):
            total.operations["sync"] += 1

    def _requests(self, pattern: p.Nest | p.Random) -> int:
        if isinstance(pattern, p.Random):
            return self._whole(pattern.count)
        count = 1
        for loop in pattern.loops:
            count *= self._whole(loop.count)
        return count

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
        if file.tree is not None:
            if self._slots[_RANK] == 0 or file.sharing is p.Sharing.RANK:
                total.operations[step.verb.value] += _directories(file.tree)
            return
        if file.sharing is p.Sharing.RANK or step.verb not in WAITING_VERBS:
            total.operations[step.verb.value] += 1
        else:
            files = 1 if file.sharing is p.Sharing.ALL else -(-self._group.ranks // file.every)
            total.shared_calls[step.verb.value, files] += 1
        if step.verb is p.NameVerb.CREATE:
            used = {i.integer for part in file.path for i in part.value or [] if _reads(i)}
            distinct = 1
            for variable, turns in self._loops:
                distinct *= turns if variable in used else 1
            owners = {"rank": self._group.ranks, "every": -(-self._group.ranks // file.every)}
            distinct *= owners.get(file.sharing, 1)
            self.files[step.file] = max(self.files.get(step.file, 0), distinct)

    def _items(self, step: p.Items, total: Totals) -> None:
        file = self._plan.files[step.file]
        assert file.tree is not None
        count = self._whole(file.tree.items) * _directories(file.tree)
        size = self._whole(file.tree.size)
        for verb in step.verbs:
            if verb in (p.ItemVerb.WRITE, p.ItemVerb.READ):
                if size:
                    self._data(verb.value, count, size, total)
            else:
                total.operations[verb.value] += count
        if p.ItemVerb.CREATE in step.verbs:
            self.files[step.file] = max(self.files.get(step.file, 0), count * self._group.ranks)

    def _check_ends(self, steps: Iterable[p.Step]) -> None:
        """Evaluate the last offset of every transfer, so that overflow is found before a run."""
        for step in steps:
            if isinstance(step, p.For):
                turns = self._whole(step.count)
                self._slots[step.variable] = max(turns - 1, 0)
                if turns:
                    self._check_ends(step.body)
            elif isinstance(step, p.When):
                if evaluate(step.condition, self._slots):
                    self._check_ends(step.body)
            elif isinstance(step, p.Phase):
                self.at = f"phase '{step.path}'"
                self._check_ends(step.body)
            elif isinstance(step, p.Transfer):
                self._check_end(step)
            elif isinstance(step, p.Manage):
                for part in self._plan.files[step.file].path:
                    if part.value is not None:
                        self._whole(part.value)

    def _check_end(self, step: p.Transfer) -> None:
        size, pattern = self._whole(step.size), step.pattern
        end = self._whole(pattern.base) + size
        if isinstance(pattern, p.Random):
            slots, count = self._whole(pattern.slots), self._whole(pattern.count)
            end += max(slots - 1, 0) * size
            reach = self._whole(pattern.first) + (count - 1) * self._whole(pattern.step)
            if count and not pattern.replacement and reach >= slots:
                raise ExpressionError(
                    f"{count} requests on each rank do not fit {slots} places without "
                    "touching one twice"
                )
        else:
            for loop in pattern.loops:
                end += max(self._whole(loop.count) - 1, 0) * self._whole(loop.stride)
        if end > INT64_MAX:
            raise ExpressionError("the file would be larger than 2^63 - 1 bytes")


def _directories(tree: p.Tree) -> int:
    """Directories of a tree, its root included."""
    if tree.branch == 1:
        return tree.depth + 1
    return int((tree.branch ** (tree.depth + 1) - 1) // (tree.branch - 1))


def _reads(instruction: p.Instruction) -> bool:
    return instruction.operator is p.Operator.VARIABLE


def _slots_used(steps: Iterable[p.Step]) -> set[int]:
    """Slots on which counts, sizes, conditions and times depend; places do not matter."""
    used: set[int] = set()
    for step in steps:
        codes: list[list[p.Instruction]] = []
        if isinstance(step, p.For):
            codes.append(step.count)
            used |= _slots_used(step.body)
        elif isinstance(step, p.When):
            codes.append(step.condition)
            used |= _slots_used(step.body)
        elif isinstance(step, p.Phase):
            used |= _slots_used(step.body)
        elif isinstance(step, p.Compute):
            codes.append(step.seconds)
        elif isinstance(step, p.Transfer):
            codes.append(step.size)
            codes += _count_codes(step.pattern)
        used |= {i.integer for code in codes for i in code if _reads(i)}
    return used


def _count_codes(pattern: p.Nest | p.Random) -> list[list[p.Instruction]]:
    if isinstance(pattern, p.Random):
        return [pattern.count]
    return [loop.count for loop in pattern.loops]
