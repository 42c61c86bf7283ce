"""In whose place a rank acts: the words after `from` as expressions."""

from __future__ import annotations

from dataclasses import dataclass

from venturi.model.error import UserError
from venturi.model.expression import Apply, Literal, Tree, Variable
from venturi.model.plan import Instruction, Operator, Slot
from venturi.model.workload import FileSpec
from venturi.plan.part import RANK
from venturi.plan.scope import Scope, plus, rest

_ITERATION = Variable(Slot.ITERATION.value)
_MOST_KEY = 2**62


@dataclass(frozen=True)
class Owner:
    """The rank in whose place a rank acts, and what the reader must know of it."""

    rank: Tree
    warning: str = ""


def owner_of(word: str, ranks: int, nodes: int, seed: int, scope: Scope, where: str) -> Owner:
    """The owner of a step by the word of the language.

    Which ranks share a node is known when the run has started; `nodes` only decides about the
    warning that on one node no choice leaves the node's cache.
    """
    key = plus(_ITERATION, seed % _MOST_KEY)
    near = f"'from: {word}' on one node: the data may still be in this node's cache"
    warning = near if nodes == 1 else ""
    if word == "next node":
        return Owner(Apply(Operator.SAME_SLOT_NEXT_NODE, (RANK, Literal(1))), warning)
    if word.startswith("nodes "):
        further = scope.tree(word.removeprefix("nodes "), where)
        return Owner(Apply(Operator.SAME_SLOT_NEXT_NODE, (RANK, further)), warning)
    if word == "random":
        return Owner(Apply(Operator.RANDOM_REMOTE_RANK, (RANK, key)), warning)
    if word == "permuted":
        return Owner(Apply(Operator.PERMUTE, (RANK, Literal(ranks), key)), warning)
    if word == "self":
        return Owner(RANK)
    shift = scope.tree(word.removeprefix("shift "), where)
    return Owner(rest(plus(RANK, shift), ranks))


def check_same(
    spec: FileSpec, name: str, opener: list[Instruction], user: list[Instruction], where: str
) -> None:
    """Raises UserError where a rank opened one rank's file and works on another's."""
    if spec.shared in ("rank", "node") and opener != user:
        raise UserError(
            f"{where}: '{name}' is a file of each {spec.shared}, opened for another rank than here",
            "give the same 'from' to all that opens, uses and closes it",
        )
