"""How large the files of a plan become, for formats that must know it before the first write.

A file of a self-describing format whose workload names no dataset gets one of bytes, `data`,
which the workload's offsets count.
"""

from __future__ import annotations

from collections.abc import Iterable

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError
from venturi.plan.rank_view import RankView
from venturi.plan.request import end_of
from venturi.plan.stage import staged_bytes
from venturi.plan.walk import TurnsThatDiffer, Visit, walk


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
        _Extents(plan, group, nodes, sizes).find()
    files = list(plan.files)
    for index, size in sizes.items():
        files[index] = files[index].model_copy(update={"datasets": _bytes(size)})
    return plan.model_copy(update={"files": files})


def _bytes(size: int) -> list[p.Dataset]:
    return [p.Dataset(name="data", type=p.ElementType.I8, shape=[size])] if size else []


class _Extents:
    """Finds the end of every wanted file, as each rank of a group sees it."""

    def __init__(self, plan: p.Plan, group: p.Group, nodes: int, sizes: dict[int, int]) -> None:
        self._plan = plan
        self._group = group
        self._view = RankView(plan, group, nodes)
        self._sizes = sizes
        self._turns = TurnsThatDiffer(lambda loop: _places(loop.body), "to find a file's size")

    def find(self) -> None:
        """Let the sizes of the wanted files grow to their ends."""
        try:
            for rank in range(self._group.ranks):
                self._view.take_place_of(rank)
                self._staged(rank)
                for event in walk(self._view, self._group.program, self._turns):
                    match event:
                        case Visit(p.Transfer() as step) if step.file in self._sizes:
                            self._grow(step.file, self._end(step))
                        case _:
                            pass
        except ExpressionError as error:
            raise UserError(f"group '{self._group.name}', {self._view.at}: {error}") from None

    def _staged(self, rank: int) -> None:
        for index in self._sizes:
            file = self._plan.files[index]
            if file.tree is not None:
                self._grow(index, self._view.whole(file.tree.size))
            elif file.prestage is not None:
                part = max(staged_bytes(file, self._view.slots), default=0)
                self._grow(index, (self._view.placement.place(file, rank) + 1) * part)

    def _end(self, step: p.Transfer) -> int:
        pattern = step.pattern
        if isinstance(pattern, p.Sequential):
            name = self._plan.files[step.file].name
            raise UserError(
                f"group '{self._group.name}', {self._view.at}: how far 'sequential' requests "
                f"reach in '{name}' is known in a run only, and its format must know it before",
                "say where they lie with 'at', or use another interface",
            )
        if not isinstance(pattern, p.Nest):
            return end_of(step, self._view.whole)
        end = self._view.whole(pattern.base) + self._view.whole(step.size)
        counts = [self._view.whole(loop.count) for loop in pattern.loops]
        if not all(counts):
            return 0
        strides = [self._view.integer(loop.stride) for loop in pattern.loops]
        return end + sum(
            (count - 1) * max(stride, 0) for count, stride in zip(counts, strides, strict=True)
        )

    def _grow(self, index: int, end: int) -> None:
        self._sizes[index] = max(self._sizes[index], end)


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
