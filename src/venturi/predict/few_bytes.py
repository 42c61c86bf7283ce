"""Writes of fewer bytes than were measured: how often they need a new page."""

from __future__ import annotations

from dataclasses import replace

from venturi.analyse.surface import Surface
from venturi.model.plan import OperationKind
from venturi.model.profile import State
from venturi.predict.demand import Demand


def by_page(demand: Demand, surface: Surface) -> list[Demand]:
    """A write that makes its file longer, as its calls and its pages.

    The smallest size that was measured pays for new pages in proportion to its bytes. A smaller
    write does so as much more rarely; the rest are calls into a page that is there.
    """
    manner = demand.manner
    if manner.operation is not OperationKind.WRITE or manner.state is not State.NEW:
        return [demand]
    there = manner.model_copy(update={"state": State.CACHED})
    near, other = surface.nearest(manner), surface.nearest(there)
    if near is None or other is None or other[0].manner != there:
        return [demand]
    least = min(point.bytes for point in near[0].points)
    if not 0 < demand.bytes < least:
        return [demand]
    share = demand.bytes / least
    return [
        replace(demand, count=demand.count * share),
        replace(demand, manner=there, count=demand.count * (1.0 - share)),
    ]
