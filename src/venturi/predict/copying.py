"""A copy as a machine makes it: shared blocks, a copy in the kernel, or reads and writes."""

from __future__ import annotations

from dataclasses import replace

from venturi.analyse.performance_model import PerformanceModel
from venturi.model.plan import OperationKind
from venturi.model.profile import DataState
from venturi.predict.demand import Demand


def as_measured(demand: Demand, performance_model: PerformanceModel) -> list[Demand]:
    """The operations that a demand is on this machine; only copies are others than they say.

    `clone` shares blocks where the profile saw that, else it is a copy. A copy moves data in the
    kernel; what is cold is read from the device first, and where no copy was measured, all is read
    and written.
    """
    operation = demand.access.operation
    if operation not in (OperationKind.CLONE, OperationKind.COPY):
        return [demand]
    is_cold = demand.access.state is DataState.COLD and not performance_model.in_memory
    there = {"state": DataState.CACHED} if demand.access.state is DataState.COLD else {}
    if operation is OperationKind.CLONE:
        shared = _other(demand, OperationKind.CLONE, **there)
        if performance_model.nearest(shared.access) is not None:
            return [shared]
    read = _other(demand, OperationKind.READ, state=DataState.COLD if is_cold else DataState.CACHED)
    copied = _other(demand, OperationKind.COPY, **there)
    if performance_model.nearest(copied.access) is not None:
        return [read, copied] if is_cold else [copied]
    return [read, _other(demand, OperationKind.WRITE, state=DataState.NEW)]


def _other(demand: Demand, operation: OperationKind, **access: DataState) -> Demand:
    changed = demand.access.model_copy(update={"operation": operation, **access})
    return replace(demand, access=changed)
