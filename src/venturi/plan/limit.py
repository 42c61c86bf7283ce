"""The time at which a phase ends, and how long ranks may then take to the same count."""

from __future__ import annotations

from venturi.model.error import UserError
from venturi.model.workload import LimitStep
from venturi.plan.scope import Scope


def limit_of(
    limit: LimitStep | int | float | str | None, scope: Scope, where: str
) -> tuple[float | None, float]:
    """Limit and bound in seconds; no limit where there is none."""
    if limit is None:
        return None, 0.0
    rich = limit if isinstance(limit, LimitStep) else LimitStep(after=limit)
    after = float(scope.constant(rich.after, f"{where}.after"))
    if after <= 0:
        raise UserError(f"{where}: a limit must be longer than 0 s")
    if rich.then == "stop":
        return after, 0.0
    if rich.bound is None:
        return after, after
    return after, float(scope.constant(rich.bound, f"{where}.bound"))
