"""A copy as a machine makes it: shared blocks, a copy in the kernel, or reads and writes."""

from __future__ import annotations

from dataclasses import replace

from venturi.analyse.surface import Surface
from venturi.model.plan import OperationKind
from venturi.model.profile import State
from venturi.predict.demand import Demand


def as_measured(demand: Demand, surface: Surface) -> list[Demand]:
    """The operations that a demand is on this machine; only copies are others than they say.

    `clone` shares blocks where the profile saw that, else it is a copy. A copy moves data in the
    kernel; what is cold is read from the device first, and where no copy was measured, all is read
    and written.
    """
    operation = demand.manner.operation
    if operation not in (OperationKind.CLONE, OperationKind.COPY):
        return [demand]
    is_cold = demand.manner.state is State.COLD and not surface.in_memory
    there = {"state": State.CACHED} if demand.manner.state is State.COLD else {}
    if operation is OperationKind.CLONE:
        shared = _other(demand, OperationKind.CLONE, **there)
        if surface.nearest(shared.manner) is not None:
            return [shared]
    read = _other(demand, OperationKind.READ, state=State.COLD if is_cold else State.CACHED)
    copied = _other(demand, OperationKind.COPY, **there)
    if surface.nearest(copied.manner) is not None:
        return [read, copied] if is_cold else [copied]
    return [read, _other(demand, OperationKind.WRITE, state=State.NEW)]


def _other(demand: Demand, operation: OperationKind, **manner: State) -> Demand:
    changed = demand.manner.model_copy(update={"operation": operation, **manner})
    return replace(demand, manner=changed)
