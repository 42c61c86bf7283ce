"""The steps of a program in the order in which a rank comes to them.

What loops, conditions, phases and repeated steps mean is said here and nowhere else. Whoever
counts, times or lists what a plan does is told each other step, and how often it is done alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, get_args

from venturi.model import plan as p
from venturi.model.expression import ExpressionError
from venturi.plan.rank_view import RankView
from venturi.plan.row import LoopRows, variables_of

Nesting = p.For | p.Choose | p.When | p.Phase | p.Repeat
"""Steps with others inside."""
_NESTING = frozenset(get_args(Nesting))
Frame = p.For | p.Phase | p.Repeat
Turns = Iterable[tuple[int, int]]
"""Turns of a loop that are followed, each with how many it stands for."""
ChooseTurns = Callable[[p.For, range], Turns]
"""Chooses from the turns of a loop."""
_MOST_TURNS = 2_000_000


class Enter(NamedTuple):
    """A frame begins; of a loop, once for all its turns."""

    frame: Frame
    times: int
    """How often it does."""
    turns: int = 1
    """Of a loop."""


class Leave(NamedTuple):
    """A frame ends."""

    frame: Frame


class Visit(NamedTuple):
    """A step that is no frame and no condition."""

    step: p.Step
    times: int
    """How often it is done like this."""


Event = Enter | Leave | Visit


def leaves(
    steps: Iterable[p.Step], around: tuple[Nesting, ...] = ()
) -> Iterator[tuple[p.Step, tuple[Nesting, ...]]]:
    """Yield the steps without others inside as they are written, done or not, with those around.

    The outermost one comes first.
    """
    for step in steps:
        if isinstance(step, Nesting):
            yield from leaves(step.body, (*around, step))
        else:
            yield step, around


def every_turn(loop: p.For, turns: range) -> Turns:
    """Choose all turns."""
    return ((turn, 1) for turn in turns)


def last_turn(loop: p.For, turns: range) -> Turns:
    """Choose the last turn for itself, the farthest in a file in most programs; of a table, those
    with the largest numbers."""
    if loop.columns:
        return LoopRows(loop).farthest(turns)
    return ((turns[-1], 1),)


class TurnsThatDiffer:
    """Chooses all turns of loops on whose variable something depends, and one for all of others.

    Raises ExpressionError beyond two million turns; `why` says what they were followed for.
    """

    def __init__(self, slots_used: Callable[[p.For], set[int]], why: str) -> None:
        self._slots_used = slots_used
        self._why = why
        self._known: dict[int, tuple[p.For, set[int], bool]] = {}
        """Of each loop, the slots that matter in it, and whether its turns differ."""
        self._turns = 0

    def __call__(self, loop: p.For, turns: range) -> Turns:
        """Choose the turns of a loop."""
        _, used, differ = self._of(loop)
        if not differ:
            return ((turns[0], len(turns)),)
        if loop.columns and loop.variable not in used:
            return LoopRows(loop).distinct(used, turns)
        self._turns += len(turns)
        if self._turns > _MOST_TURNS:
            raise ExpressionError(f"more than {_MOST_TURNS} turns of loops {self._why}")
        return every_turn(loop, turns)

    def differ(self, loop: p.For) -> bool:
        """Whether the turns of a loop are followed one by one."""
        return self._of(loop)[2]

    def _of(self, loop: p.For) -> tuple[p.For, set[int], bool]:
        known = self._known.get(id(loop))
        if known is None:
            used = self._slots_used(loop)
            known = self._known[id(loop)] = (loop, used, bool(variables_of(loop) & used))
        return known


def chosen_step(view: RankView, choice: p.Choose) -> p.Step:
    """The step on which a choice falls. Raises ExpressionError where there is none."""
    number = view.whole(choice.number)
    if number >= len(choice.body):
        raise ExpressionError(f"there is no step {number} to choose, of {len(choice.body)}")
    return choice.body[number]


def turns_of(view: RankView, loop: p.For) -> range:
    """The turns of a loop: of one over a table, the rows. Raises ExpressionError where it has not
    so many."""
    count = view.whole(loop.count)
    first = 0 if loop.first is None else view.whole(loop.first)
    if loop.columns and first + count > loop.rows:
        raise ExpressionError(f"{count} rows from row {first} on are not in a table of {loop.rows}")
    return range(first, first + count)


def walk(
    view: RankView,
    steps: Iterable[p.Step],
    choose: ChooseTurns = every_turn,
    times: int = 1,
) -> Iterator[Event]:
    """Yield what a rank comes to; its view has the values that hold there.

    Raises ExpressionError where an expression has no value.
    """
    for step in steps:
        if type(step) not in _NESTING:  # nearly all
            yield Visit(step, times)
            continue
        match step:
            case p.For():
                turns = turns_of(view, step)
                if turns:
                    yield Enter(step, times, len(turns))
                    rows = LoopRows(step)
                    for turn, alike in choose(step, turns):
                        rows.take(view.slots, turn)
                        yield from walk(view, step.body, choose, times * alike)
                    rows.leave(view.slots)
                    yield Leave(step)
            case p.Choose():
                yield from walk(view, [chosen_step(view, step)], choose, times)
            case p.When():
                if view.value(step.condition):
                    yield from walk(view, step.body, choose, times)
            case p.Phase():
                outside, view.at = view.at, f"phase '{step.path}'"
                yield Enter(step, times)
                yield from walk(view, step.body, choose, times)
                yield Leave(step)
                view.at = outside
            case p.Repeat():
                yield Enter(step, times)
                yield from walk(view, step.body, choose, times)
                yield Leave(step)
