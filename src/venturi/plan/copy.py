"""Which files may be copied to another entry's, and what that means for items of trees."""

from __future__ import annotations

from collections.abc import Container, Mapping

from venturi.model.error import UserError
from venturi.model.plan import ItemKind, ItemVerb
from venturi.model.workload import CopyStep, EachStep, FileSpec, TreeSpec


def check_copy(
    source: str, target: str, files: Mapping[str, FileSpec], opened: Container[str], where: str
) -> None:
    """UserError where files of an entry cannot be copied to those of another; both are there."""
    if source == target:
        raise UserError(f"{where}: '{source}' would be copied to itself")
    one, other = files[source], files[target]
    for name, spec in ((source, one), (target, other)):
        if not spec.interface.entry.can_copy:
            raise UserError(
                f"{where}: '{name}' is a file of {spec.interface.value}, which copies none",
                "files are copied with 'interface: posix'",
            )
        if name in opened:
            raise UserError(f"{where}: '{name}' is still open", "close it first")
    if one.shared != other.shared:
        raise UserError(f"{where}: '{target}' is shared otherwise than '{source}'")
    if other.foreign or other.prestage is not None or other.made_by or other.content.verify:
        raise UserError(
            f"{where}: '{target}' is made by the copy: not with 'foreign', 'prestage', 'made_by' "
            "or 'verify'"
        )
    if (one.tree is None) != (other.tree is None):
        raise UserError(f"{where}: a tree is copied to a tree, a file to a file")
    if one.tree is not None and other.tree is not None:
        _check_shapes(one.tree, other.tree, f"{where}: '{target}'")


def _check_shapes(one: TreeSpec, other: TreeSpec, where: str) -> None:
    for key in ("depth", "branch", "items", "owner", "kind", "leaves"):
        if getattr(one, key) != getattr(other, key):
            raise UserError(f"{where} is a tree of another shape: its '{key}' differs")
    if one.kind is not ItemKind.FILE:
        raise UserError(f"{where} has directories as items, and those are not copied")


def each_of(copy: CopyStep) -> EachStep:
    """What the copy of a tree means for its items."""
    said = {"on": copy.to, "do": [ItemVerb.COPY], "from": copy.from_, "by": copy.by}
    return EachStep.model_validate(said)
