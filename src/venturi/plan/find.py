"""A walk over directories as a step of a plan."""

from __future__ import annotations

import re

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.workload import FindStep, Workload
from venturi.plan.scope import Scope
from venturi.plan.template import template_fields


def lower_find(find: FindStep | None, workload: Workload, scope: Scope, where: str) -> p.Find:
    """The plan's step; UserError where the directory or the file to compare with is none."""
    assert find is not None
    newer = workload.files.get(find.newer) if find.newer else None
    if find.newer is not None and (newer is None or newer.tree is not None):
        raise UserError(
            f"{where}.newer: '{find.newer}' is {'no file here' if newer is None else 'a tree'}",
            "name a single file of the workload",
        )
    if find.foreign is not None and find.in_:
        raise UserError(f"{where}: 'in' and 'foreign' exclude each other")
    if find.foreign is not None and not find.foreign.startswith("/"):
        raise UserError(
            f"{where}.foreign: '{find.foreign}' is no absolute path",
            "below the run's own directory say 'in'",
        )
    if find.foreign is None and (find.in_.startswith("/") or ".." in find.in_.split("/")):
        raise UserError(
            f"{where}.in: '{find.in_}' leads out of the run's directory",
            "for somebody else's directory say 'foreign: /its/path'",
        )
    parts = re.sub(r"\{[^}]*\}", "_", find.in_.rstrip("/")).split("/")
    if find.in_ and {"", "."} & set(parts):
        raise UserError(
            f"{where}.in: '{find.in_}' has an empty part",
            "leave it out to walk over all that the run made",
        )
    if "/" in find.name:
        raise UserError(
            f"{where}.name: '{find.name}' has a slash: only the last part of a name is compared"
        )
    text = find.in_ if find.foreign is None else find.foreign
    return p.Find(
        top=_parts(text.rstrip("/") or text[:1], scope, where),
        foreign=find.foreign is not None,
        name=find.name,
        bytes=None if find.bytes is None else scope.code(find.bytes, f"{where}.bytes"),
        newer=None if find.newer is None else list(workload.files).index(find.newer),
    )


def _parts(text: str, scope: Scope, where: str) -> list[p.PathPart]:
    parts = []
    for piece in template_fields(text, where):
        if isinstance(piece, str):
            parts.append(p.PathPart(text=piece))
        else:
            parts.append(p.PathPart(value=scope.code(piece.text, where), width=piece.width))
    return parts
