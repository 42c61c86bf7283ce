"""Limits of phases: when they stop beginning new work, how long they finish; and pauses."""

from __future__ import annotations

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.workload import ComputeStep, LimitStep, Value
from venturi.plan.scope import Scope


def limit_of(
    limit: LimitStep | int | float | str | None, scope: Scope, where: str
) -> tuple[float | None, float]:
    """Seconds until a phase stops, and the seconds that ranks may take to come to one count.

    None and 0 without a limit. Raises UserError for a limit that is not longer than 0 s.
    """
    if limit is None:
        return None, 0.0
    rich = limit if isinstance(limit, LimitStep) else LimitStep(after=limit)
    after = float(scope.constant(rich.after, f"{where}.limit.after"))
    if after <= 0:
        raise UserError(f"{where}.limit: a limit must be longer than 0 s")
    if rich.then == "stop":
        return after, 0.0
    if rich.bound is None:
        return after, after
    return after, float(scope.constant(rich.bound, f"{where}.limit.bound"))


def compute_of(said: ComputeStep | Value | None, scope: Scope, where: str) -> p.Compute:
    """Time that passes without I/O."""
    rich = said if isinstance(said, ComputeStep) else ComputeStep(seconds=said or 0)
    return p.Compute(seconds=scope.code(rich.seconds, f"{where}.compute"), mode=rich.mode)
