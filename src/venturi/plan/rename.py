"""Which files may get the name of another entry."""

from __future__ import annotations

from collections.abc import Container, Mapping

from venturi.model.error import UserError
from venturi.model.workload import FileSpec, RenameStep


def check_rename(
    rename: RenameStep, files: Mapping[str, FileSpec], opened: Container[str], where: str
) -> None:
    """UserError where a file cannot get the name of the entry, both of which are there."""
    if rename.on == rename.to:
        raise UserError(f"{where}: '{rename.on}' has that name already")
    one, other = files[rename.on], files[rename.to]
    if (one.interface, one.shared) != (other.interface, other.shared):
        raise UserError(
            f"{where}: '{rename.to}' has another interface than '{rename.on}', or is shared "
            "otherwise",
            "a file keeps both when it is renamed",
        )
    for name in (rename.on, rename.to):
        spec = files[name]
        if spec.tree or spec.foreign or spec.content.verify or spec.prestage is not None:
            raise UserError(
                f"{where}: '{name}' is renamed, or replaced: not with 'tree', 'foreign', 'verify' "
                "or 'prestage'",
                "make it in the program; items of a tree are renamed with 'each'",
            )
        if name in opened:
            raise UserError(f"{where}: '{name}' is still open", "close it first")
