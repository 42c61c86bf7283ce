"""Points that the machine's engine cannot run for want of an interface."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.campaign.task import CampaignTask
from venturi.execute.engine import describe_interfaces, find_engine
from venturi.model.error import UserError
from venturi.model.machine import Machine

_INTERFACE = "interface"


def without_unbuilt(
    tasks: Sequence[CampaignTask], machine: Machine
) -> tuple[list[CampaignTask], list[str]]:
    """The tasks that the engine can run, and a sentence for each interface that it lacks.

    Without an engine here nothing is known, and all tasks stay. UserError where none is left.
    """
    wanted = sorted({task.assignments.get(_INTERFACE, "") for task in tasks} - {""})
    if not wanted:
        return list(tasks), []
    try:
        known = describe_interfaces(find_engine(machine.launcher.mpi), tuple(wanted))
    except UserError:
        return list(tasks), []
    lacking = {
        name: known[name]["reason"] if name in known else "unknown to this engine"
        for name in wanted
        if name not in known or not known[name]["built"]
    }
    kept = [task for task in tasks if task.assignments.get(_INTERFACE) not in lacking]
    if not kept:
        raise UserError(
            f"machine {machine.name}: no point can run: "
            + "; ".join(f"{name} is not built here ({why})" for name, why in lacking.items()),
            "name a machine with --on",
        )
    points = {name: _points_of(tasks, name) for name in lacking}
    return kept, [
        f"{name}: {points[name]} left out, as the interface is not built for machine "
        f"{machine.name} ({why})"
        for name, why in lacking.items()
    ]


def _points_of(tasks: Sequence[CampaignTask], interface: str) -> str:
    own = {task.point for task in tasks if task.assignments.get(_INTERFACE) == interface}
    return f"{len(own)} point{'s' if len(own) != 1 else ''}"
