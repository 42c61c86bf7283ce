"""Limits of phases: when they stop beginning new work, how long they finish; and pauses."""

from __future__ import annotations

from venturi.model import plan as p
from venturi.model.workload import ComputeStep, LimitStep, Value
from venturi.plan.scope import Scope, duration


def limit_of(
    limit: LimitStep | int | float | str | None, scope: Scope, where: str
) -> tuple[float | None, float]:
    """Seconds until a phase stops, and the seconds that ranks may take to come to one count.

    None and 0 without a limit. Raises UserError for a limit that is not longer than 0 s.
    """
    if limit is None:
        return None, 0.0
    rich = limit if isinstance(limit, LimitStep) else LimitStep(after=limit)
    after = duration(rich.after, scope, f"{where}.limit")
    if rich.then == "stop":
        return after, 0.0
    if rich.bound is None:
        return after, after
    return after, duration(rich.bound, scope, f"{where}.limit.bound", or_none=True)


def compute_of(said: ComputeStep | Value | None, scope: Scope, where: str) -> p.Compute:
    """Time that passes without I/O."""
    rich = said if isinstance(said, ComputeStep) else ComputeStep(seconds=said or 0)
    return p.Compute(seconds=scope.code(rich.seconds, f"{where}.compute"), mode=rich.mode)
