"""Writes of fewer bytes than were measured: how often they need a new page."""

from __future__ import annotations

from dataclasses import replace

from venturi.analyse.performance_model import PerformanceModel
from venturi.model.plan import OperationKind
from venturi.model.profile import DataState
from venturi.predict.demand import Demand


def by_page(demand: Demand, performance_model: PerformanceModel) -> list[Demand]:
    """A write that makes its file longer, as its calls and its pages.

    The smallest size that was measured pays for new pages in proportion to its bytes. A smaller
    write does so as much more rarely; the rest are calls into a page that is there.
    """
    access = demand.access
    if access.operation is not OperationKind.WRITE or access.state is not DataState.NEW:
        return [demand]
    there = access.model_copy(update={"state": DataState.CACHED})
    near, other = performance_model.nearest(access), performance_model.nearest(there)
    if near is None or other is None or other[0].access != there:
        return [demand]
    least = min(point.bytes for point in near[0].points)
    if not 0 < demand.bytes < least:
        return [demand]
    share = demand.bytes / least
    return [
        replace(demand, count=demand.count * share),
        replace(demand, access=there, count=demand.count * (1.0 - share)),
    ]
