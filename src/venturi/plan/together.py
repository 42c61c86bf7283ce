"""What ranks do together in calls of an interface, and where a plan may ask for it."""

from __future__ import annotations

from venturi.model.error import UserError
from venturi.model.plan import Interface
from venturi.model.workload import FileSpec

COLLECTIVE_INTERFACES = frozenset(
    {Interface.MPIIO, Interface.HDF5, Interface.PNETCDF, Interface.NETCDF}
)
"""Those with transfers that all who share a file make together."""

OPENED_TOGETHER = COLLECTIVE_INTERFACES
"""Those whose shared files are opened and closed by all sharers together."""


def opens_together(interface: Interface, spec: FileSpec) -> bool:
    """Whether ranks wait for each other in every open and close of a file."""
    return interface in OPENED_TOGETHER and spec.shared != "rank" and spec.tree is None


def keeps_collective(in_force: Interface, spec: FileSpec, where: str) -> bool:
    """Whether a step's `collective` reaches the plan: a stand-in may have no such calls.

    UserError if the workload's own interface has none.
    """
    if in_force in COLLECTIVE_INTERFACES:
        return True
    if in_force is not spec.interface:
        return False
    words = ", ".join(sorted(interface.value for interface in COLLECTIVE_INTERFACES))
    raise UserError(
        f"{where}.collective: {in_force.value} has no calls that ranks make together",
        f"these have: {words}",
    )
