"""What files of keyed storage cannot be: refused by what their interface's entry says it can do."""

from __future__ import annotations

from collections.abc import Iterable

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.interface_entry import InterfaceEntry
from venturi.plan.walk import leaves

_OF_KEYS = frozenset(
    {
        p.NameVerb.CREATE,
        p.NameVerb.OPEN,
        p.NameVerb.CLOSE,
        p.NameVerb.STAT,
        p.NameVerb.UNLINK,
        p.NameVerb.MISS,
    }
)
"""What can be done to a name that is in no directory."""
_ANOTHER = "choose an interface of files, e.g. posix"


def check_flat_keys(plan: p.Plan) -> None:
    """Raise UserError for the first file that keyed storage cannot hold, or step that it lacks."""
    for file in plan.files:
        if not file.interface.entry.has_directories:
            _check_file(file)
    for group in plan.groups:
        for step, _ in leaves(group.program):
            for index in _files_of(step):
                file = plan.files[index]
                if not file.interface.entry.has_directories:
                    _check_step(step, file)


def _check_file(file: p.File) -> None:
    entry, where, name = file.interface.entry, f"files.{file.name}", file.interface.value
    if file.tree:
        raise UserError(
            f"{where}: {name} has no directories, so there is no 'tree' on it",
            "let a loop make files with its number in their path, or choose an interface of files",
        )
    if file.foreign:
        raise UserError(
            f"{where}: {name} reaches the objects of the run only, not 'foreign' ones", _ANOTHER
        )
    if file.append:
        raise UserError(f"{where}: {name} cannot append to what is there", _ANOTHER)
    if file.stripe:
        raise UserError(f"{where}: {name} makes no files that could be striped", _ANOTHER)
    if file.sharing is not p.Sharing.RANK and not entry.can_share_writes:
        raise UserError(
            f"{where}: on {name} ranks cannot share a file, because an object has one writer",
            "say 'shared: rank', so that each rank makes its own",
        )


def _check_step(step: p.Step, file: p.File) -> None:
    where, name = f"files.{file.name}", file.interface.value
    if isinstance(step, p.Manage) and step.verb not in _OF_KEYS:
        raise UserError(f"{where}: {name} has no '{step.verb.value}'", _ANOTHER)
    if isinstance(step, p.Transfer) and step.operation is p.Direction.WRITE:
        _check_write(step, file.interface.entry, where, name)


def _check_write(step: p.Transfer, entry: InterfaceEntry, where: str, name: str) -> None:
    if entry.writes_anywhere:
        return
    if isinstance(step.pattern, p.Random):
        raise UserError(
            f"{where}: {name} writes a file once, from its beginning on, so not at random places",
            _ANOTHER,
        )
    if step.reads:
        raise UserError(
            f"{where}: {name} reads a file when it is whole, so not among its writes", _ANOTHER
        )
    if step.sync is not p.SyncMode.NONE:
        raise UserError(
            f"{where}: on {name} a file is whole after a sync, so none can follow each write",
            "put one 'sync' or 'close' behind the writes",
        )


def _files_of(step: p.Step) -> Iterable[int]:
    """The files that a step acts on."""
    if isinstance(step, p.Manage):
        return (step.file,) if step.to is None else (step.file, step.to)
    return (step.file,) if isinstance(step, p.Transfer) else ()
