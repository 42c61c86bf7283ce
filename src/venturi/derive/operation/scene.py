"""What stands around a step: loops with their variables, and the ranks that take part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venturi.derive.program import EVERY_RANK, rank_condition
from venturi.model.operation import Column

RANKS = "np"
"""The parameter that `-n` chooses; `ranks` itself is a reserved name."""

VARIABLES = ("i", "j", "k", "l", "m", "n", "o", "p")


Loops = tuple[tuple[str, int], ...]
"""(variable, turns), outermost first; each loop of a program is an object of its own."""


class SomeTurns(tuple[str, int]):
    """Some turns of a loop, as if they were a loop of their own."""

    loop: tuple[str, int]
    """The whole loop."""


def some_turns(loops: Loops, count: int, number: str) -> Loops:
    """Loops of which the innermost is only done so often here; `number` says the how many-th time
    it is."""
    some = SomeTurns((number, count))
    some.loop = getattr(loops[-1], "loop", loops[-1])
    return *loops[:-1], some


@dataclass(frozen=True)
class Crew:
    """The ranks of one part, and how an expression names them."""

    ranks: Column
    world: int
    condition: str
    place: str
    """The rank's number among them, as an expression."""
    is_true: bool
    """Whether these are the very ranks; else the first ranks stand for them."""

    @property
    def is_all(self) -> bool:
        """Whether every rank takes part."""
        return self.condition == EVERY_RANK

    def __len__(self) -> int:
        return len(self.ranks)


def crew_of(ranks: Column, world: int) -> Crew:
    """The crew of these ranks, which rise."""
    found = rank_condition([int(rank) for rank in ranks], world)
    if found is None:
        return Crew(ranks, world, f"rank < {len(ranks)}", "rank", False)
    return Crew(ranks, world, *found, True)


@dataclass(frozen=True)
class Scene:
    """Loops around a step, outermost first, and who does it."""

    crew: Crew
    loops: Loops = ()

    def inside(self, turns: int) -> Scene:
        """The scene within one more loop."""
        return Scene(self.crew, (*self.loops, (self.variable, turns)))

    def is_around(self, loops: Loops) -> bool:
        """Whether what stands within these loops is done no less often than what stands here."""
        mine = self.loops
        both = zip(mine, loops, strict=False)
        return len(loops) >= len(mine) and all(_is_within(a, b) for a, b in both)

    @property
    def variable(self) -> str:
        """The next free variable."""
        depth = len(self.loops)
        return VARIABLES[depth] if depth < len(VARIABLES) else f"x{depth}"

    def terms(self, slopes: tuple[int, ...]) -> list[tuple[int, str]]:
        """Slopes beside the names of the loops that they belong to."""
        return [(slope, name) for slope, (name, _) in zip(slopes, self.loops, strict=False)]

    @property
    def units(self) -> int:
        """How often the step is done, over all loops and ranks."""
        return int(np.prod([turns for _, turns in self.loops], dtype=object) or 1) * len(self.crew)

    @property
    def turn(self) -> str:
        """The number of the loops' turn, as an expression."""
        text = ""
        for name, turns in self.loops:
            if turns == 1:
                continue
            text = f"{_factor(text)} * {turns} + {name}" if text else name
        return text or "0"

    @property
    def unit(self) -> str:
        """The number of loops' turn and rank together, from 0 to units - 1."""
        place = self.crew.place
        if all(turns == 1 for _, turns in self.loops):
            return place
        ranks = len(self.crew)
        return self.turn if ranks == 1 else f"{_factor(self.turn)} * {ranks} + {place}"


def _is_within(here: tuple[str, int], there: tuple[str, int]) -> bool:
    """Whether what is done in some turns of a loop is done in these, too."""
    return here is there or getattr(here, "loop", None) is there


def _factor(text: str) -> str:
    return f"({text})" if " " in text else text
