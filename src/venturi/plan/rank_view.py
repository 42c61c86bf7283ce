"""One rank of a group as expressions see it: the values of names, and who shares what with whom."""

from __future__ import annotations

from venturi.model import plan as p
from venturi.model.expression import Compiled, ExpressionError, Number, compiled
from venturi.plan.rank_placement import RankPlacement

_WORDS = list(p.Slot)
RANK, RANKS, WORLD, INSTANCE, ITERATION = (
    _WORDS.index(word)
    for word in (p.Slot.RANK, p.Slot.RANKS, p.Slot.WORLD, p.Slot.INSTANCE, p.Slot.ITERATION)
)
"""The slots of names that a run gives values to."""


class RankView:
    """What a plan's expressions are worth on a rank, rank 0 at first.

    `nodes` are those of all ranks of the run, filled one behind the other.
    """

    def __init__(self, plan: p.Plan, group: p.Group, nodes: int = 1, instance: int = 0) -> None:
        self.plan = plan
        self.group = group
        self.placement = RankPlacement(plan, group, nodes, instance)
        self.slots: list[Number] = [0] * len(plan.slots)
        """The values of all names, loop variables among them."""
        self.slots[RANKS], self.slots[WORLD] = group.ranks, plan.ranks
        self.slots[INSTANCE] = instance
        self.at = "program"
        """Where in the program the rank is, for messages."""
        self._compiled: dict[int, tuple[list[p.Instruction], Compiled]] = {}
        """Expressions by the identity of their code, which lives as long as this does."""
        self.take_place_of(0)

    @property
    def rank(self) -> int:
        """The rank whose values names have."""
        return int(self.slots[RANK])

    def take_place_of(self, rank: int) -> None:
        """Take the place of a rank. Raises ExpressionError where there is none."""
        if not 0 <= rank < self.group.ranks:
            raise ExpressionError(f"there is no rank {rank}")
        self.placement.placement_of(self.slots, rank)

    def in_place_of(self, rank: int) -> InPlace:
        """Take the place of a rank for a while; ExpressionError where there is none."""
        return InPlace(self, rank)

    def value(self, code: list[p.Instruction]) -> Number:
        """The value of an expression; ExpressionError where it has none."""
        known = self._compiled.get(id(code))
        if known is None:
            made = compiled(code, self.placement.by_node())
            known = self._compiled[id(code)] = (code, made)
        return known[1](self.slots)

    def integer(self, code: list[p.Instruction]) -> int:
        """The value as a whole number, which may be negative."""
        value = self.value(code)
        return value if isinstance(value, int) else _as_integer(value)

    def whole(self, code: list[p.Instruction]) -> int:
        """The value as a whole number of 0 or more."""
        value = self.value(code)
        if not isinstance(value, int):
            value = _as_integer(value)
        if value < 0:
            raise ExpressionError(f"a number of 0 or more is needed, not {value}")
        return value

    def text(self, parts: list[p.PathPart]) -> str:
        """A template with its values: a path below the run's directory, or a signal's name."""
        if len(parts) == 1 and parts[0].value is None:
            return parts[0].text
        words = [
            part.text if part.value is None else str(self.whole(part.value)).zfill(part.width)
            for part in parts
        ]
        return "".join(words)

    def first_sharer(self, file: p.File, rank: int) -> int:
        """The rank that makes and removes a file for all that share it with `rank`."""
        return rank - self.placement.place(file, rank)


def _as_integer(value: float) -> int:
    if value != int(value):
        raise ExpressionError(f"a whole number is needed, not {value}")
    return int(value)


class InPlace:
    """While it is entered, a view has the place of another rank."""

    __slots__ = ("_before", "_rank", "_view")

    def __init__(self, view: RankView, rank: int) -> None:
        self._view = view
        self._rank = rank
        self._before = view.rank

    def __enter__(self) -> None:
        if self._rank != self._before:
            self._view.take_place_of(self._rank)

    def __exit__(self, *_: object) -> None:
        if self._rank != self._before:
            self._view.take_place_of(self._before)
