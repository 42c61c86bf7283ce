"""What ranks do together in calls of an interface, and where a plan may ask for it."""

from __future__ import annotations

from venturi.model.error import UserError
from venturi.model.plan import Interface, NameVerb, Option
from venturi.model.workload import FileSpec
from venturi.plan.part import Access

_VIEW = "view"
"""The option by which sharers set file views."""

WAITING_VERBS = frozenset(
    {
        NameVerb.CREATE,
        NameVerb.UNLINK,
        NameVerb.MKDIR,
        NameVerb.RMDIR,
        NameVerb.RENAME,
        NameVerb.TRUNCATE,
        NameVerb.COPY,
    }
)
"""On a shared name the first sharer does these while the others wait."""


def opens_together(interface: Interface, spec: FileSpec) -> bool:
    """Whether ranks wait for each other in every open and close of a file."""
    return interface.entry.can_collect and spec.shared != "rank" and spec.tree is None


def moves_together(interface: Interface, spec: FileSpec) -> bool:
    """Whether ranks wait for each other in every transfer of a file, whatever a step says."""
    return interface.entry.gathers and opens_together(interface, spec)


def keeps_collective(in_force: Interface, spec: FileSpec, where: str) -> bool:
    """Whether a step's `collective` reaches the plan: a stand-in may have no such calls.

    UserError if the workload's own interface has none.
    """
    if in_force.entry.can_collect:
        return True
    if in_force is not spec.interface:
        return False
    words = ", ".join(sorted(each.value for each in Interface if each.entry.can_collect))
    raise UserError(
        f"{where}.collective: {in_force.value} has no calls that ranks make together",
        f"these have: {words}",
    )


def check_known(limited: bool, reads: float, where: str) -> None:
    """Raise UserError where a rank that a limit stopped could not know which calls read."""
    if limited and reads:
        raise UserError(
            f"{where}: 'reads' in calls of all ranks cannot stand in a phase with a limit, "
            "because a rank that stops would not know which calls read",
            "drop the limit, or 'collective'",
        )


def shows_places(interface: Interface, options: list[Option]) -> bool:
    """Whether the sharers of a file set file views of their places before each step."""
    return _view(interface, options) in ("strided", "dataset")


def shows_datasets(interface: Interface, options: list[Option]) -> bool:
    """Whether such a view makes a rank's part of a dataset one request."""
    return _view(interface, options) == "dataset"


def _view(interface: Interface, options: list[Option]) -> str:
    words = {option.name: option.value for option in options}
    return words.get(_VIEW, "none") if interface.entry.has_option(_VIEW) else "none"


def check_shown(parts: list[Access], reads: float, where: str) -> None:
    """Raise UserError where requests do not lie so that a file view can show them."""
    regular = all(
        not (access.shuffle or access.run or access.rows or access.mix) for access in parts
    )
    if regular and not reads:
        return
    raise UserError(
        f"{where}: a file view shows regular places of requests of one size and direction",
        "leave out the file's option 'view', or use another pattern",
    )


def check_met(parts: int, limited: bool, repeats: bool, where: str) -> None:
    """Raise UserError where sharers cannot all come to set their views for each part of a step."""
    if repeats:
        raise UserError(
            f"{where}: with 'at_least' each rank repeats as often as it can, and file views are "
            "set by all sharers together",
            "raise the count instead, or leave out the file's option 'view'",
        )
    if limited and parts > 1:
        raise UserError(
            f"{where}: a shorter last request needs a view of its own, and ranks do not wait for "
            "each other in a phase with a limit",
            "let 'transfer' divide the size, or end the phase before",
        )
