"""Phases that last at least so long: their transfers repeat from the beginning."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.workload import Value
from venturi.plan.scope import Scope


def repeated(body: Sequence[p.Step], at_least_s: float, where: str) -> list[p.Step]:
    """The body with its transfers, and what stands between them, as one `Repeat`.

    Raises UserError where there is none, or where names are made or ranks wait between them.
    """
    places = [i for i, step in enumerate(body) if _transfers(step)]
    if not places:
        raise UserError(
            f"{where}: 'at_least' finds no 'write' or 'read' to repeat",
            "only transfers to files repeat; drop it, or raise their count",
        )
    first, end = places[0], places[-1] + 1
    for step in body[first:end]:
        if not _may_repeat(step):
            raise UserError(
                f"{where}: between transfers that repeat no names are made and no ranks wait",
                "in a phase with 'at_least' only 'write', 'read', 'sync' and 'compute' may stand "
                "between the first transfer and the last",
            )
    repeat = p.Repeat(at_least_s=at_least_s, body=list(body[first:end]))
    return [*body[:first], repeat, *body[end:]]


def _transfers(step: p.Step) -> bool:
    if isinstance(step, (p.For, p.Choose, p.When)):
        return any(_transfers(inner) for inner in step.body)
    return isinstance(step, p.Transfer)


def _may_repeat(step: p.Step) -> bool:
    if isinstance(step, (p.For, p.Choose, p.When)):
        return all(_may_repeat(inner) for inner in step.body)
    return isinstance(step, (p.Transfer, p.Sync, p.Compute))


def at_least_of(said: Value | None, scope: Scope, where: str) -> float:
    """How old a phase must become, in seconds; 0 where it need not."""
    if said is None:
        return 0.0
    seconds = float(scope.constant(said, where))
    if seconds <= 0:
        raise UserError(f"{where}: a time must be longer than 0 s")
    return seconds
