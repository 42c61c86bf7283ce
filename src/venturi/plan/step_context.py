"""Where a step of a program stands, and what is open and exists there."""

from __future__ import annotations

from dataclasses import dataclass, field

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import names_in
from venturi.model.verb import OnError
from venturi.plan.rank_placement import NAMES_BY_RANK
from venturi.plan.scope import Scope


@dataclass
class ProgramState:
    """What is open and what exists at this place of the program, in program order."""

    opened: dict[str, bool] = field(default_factory=dict)
    """File to whether the planner itself opened it."""
    existing: set[str] = field(default_factory=set)
    owners: dict[str, list[p.Instruction]] = field(default_factory=dict)
    """In whose place the planner opened a file."""


@dataclass(frozen=True)
class StepContext:
    """Where a step stands."""

    scope: Scope
    where: str
    phase: str = ""
    is_limited: bool = False
    by_rank: bool = False
    in_loop: bool = False
    repeats: bool = False
    """Each rank repeats this as often as it can."""
    on_error: OnError = OnError.STOP

    def must_be_in_phase(self, verb: str) -> None:
        """UserError for I/O that no phase measures."""
        if not self.phase:
            raise UserError(
                f"{self.where}: '{verb}' stands outside of every phase",
                "put I/O into a phase: only phases are measured",
            )

    def varies(self, value: int | float | str) -> bool:
        """Whether a value differs between ranks."""
        return bool(names_in(self.scope.tree(value, self.where)) & NAMES_BY_RANK)
