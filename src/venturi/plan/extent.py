"""How large the files of a plan become, for formats that must know it before the first write.

A file of a self-describing format whose workload names no dataset gets one of bytes, `data`,
which the workload's offsets count.
"""

from __future__ import annotations

from collections.abc import Iterable

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError, Number, evaluate
from venturi.plan.rank_placement import RankPlacement
from venturi.plan.request import end_of
from venturi.plan.stage import staged_bytes

_RANKS, _WORLD = 1, 2
_MOST_TURNS = 2_000_000


def with_byte_datasets(plan: p.Plan, nodes: int = 1) -> p.Plan:
    """The plan with a dataset of bytes in each file whose format needs one and has none.

    `nodes` are those that the run is to have.
    """
    wanted = {
        index
        for index, file in enumerate(plan.files)
        if file.interface.entry.has_datasets and not file.datasets and not file.foreign
    }
    if not wanted:
        return plan
    sizes = dict.fromkeys(wanted, 0)
    for group in plan.groups:
        _ExtentInterpreter(plan, group, nodes, sizes).interpret()
    files = list(plan.files)
    for index, size in sizes.items():
        files[index] = files[index].model_copy(update={"datasets": _bytes(size)})
    return plan.model_copy(update={"files": files})


def _bytes(size: int) -> list[p.Dataset]:
    return [p.Dataset(name="data", type=p.ElementType.I8, shape=[size])] if size else []


class _ExtentInterpreter:
    """Finds the end of every wanted file, as each rank of a group sees it."""

    def __init__(self, plan: p.Plan, group: p.Group, nodes: int, sizes: dict[int, int]) -> None:
        self._plan = plan
        self._group = group
        self._rank_placement = RankPlacement(plan, group, nodes)
        self._sizes = sizes
        self._slots: list[Number] = [0] * len(plan.slots)
        self._slots[_RANKS], self._slots[_WORLD] = group.ranks, plan.ranks
        self._turns = 0
        self._at = "program"

    def interpret(self) -> None:
        try:
            for rank in range(self._group.ranks):
                self._rank_placement.placement_of(self._slots, rank)
                self._staged(rank)
                self._steps(self._group.program)
        except ExpressionError as error:
            raise UserError(f"group '{self._group.name}', {self._at}: {error}") from None

    def _staged(self, rank: int) -> None:
        for index in self._sizes:
            file = self._plan.files[index]
            if file.tree is not None:
                self._grow(index, self._whole(file.tree.size))
            elif file.prestage is not None:
                part = max(staged_bytes(file, self._slots), default=0)
                self._grow(index, (self._rank_placement.place(file, rank) + 1) * part)

    def _steps(self, steps: Iterable[p.Step]) -> None:
        for step in steps:
            if isinstance(step, p.For):
                self._for(step)
            elif isinstance(step, p.When):
                if evaluate(step.condition, self._slots):
                    self._steps(step.body)
            elif isinstance(step, p.Phase):
                self._at = f"phase '{step.path}'"
                self._steps(step.body)
            elif isinstance(step, p.Repeat):
                self._steps(step.body)
            elif isinstance(step, p.Transfer) and step.file in self._sizes:
                self._grow(step.file, self._end(step))

    def _for(self, step: p.For) -> None:
        turns = self._whole(step.count)
        if turns and step.variable not in _places(step.body):
            turns = 1
        self._turns += turns
        if self._turns > _MOST_TURNS:
            raise ExpressionError(f"more than {_MOST_TURNS} turns of loops to find a file's size")
        for turn in range(turns):
            self._slots[step.variable] = turn
            self._steps(step.body)

    def _end(self, step: p.Transfer) -> int:
        pattern = step.pattern
        if not isinstance(pattern, p.Nest):
            return end_of(step, self._whole)
        end = self._whole(pattern.base) + self._whole(step.size)
        counts = [self._whole(loop.count) for loop in pattern.loops]
        if not all(counts):
            return 0
        strides = [int(evaluate(loop.stride, self._slots)) for loop in pattern.loops]
        return end + sum(
            (count - 1) * max(stride, 0) for count, stride in zip(counts, strides, strict=True)
        )

    def _grow(self, index: int, end: int) -> None:
        self._sizes[index] = max(self._sizes[index], end)

    def _whole(self, code: list[p.Instruction]) -> int:
        value = evaluate(code, self._slots)
        if value < 0 or value != int(value):
            raise ExpressionError(f"a whole number of 0 or more is needed, not {value}")
        return int(value)


def _places(steps: Iterable[p.Step]) -> set[int]:
    """The slots that anything in these steps reads."""
    used: set[int] = set()
    for step in steps:
        dumped = step.model_dump(mode="json")
        _collect(dumped, used)
    return used


def _collect(value: object, used: set[int]) -> None:
    if isinstance(value, dict):
        if value.get("operator") == p.Operator.VARIABLE.value:
            used.add(value["integer"])
        for part in value.values():
            _collect(part, used)
    elif isinstance(value, list):
        for part in value:
            _collect(part, used)
