"""Files of a workload as files of a plan: paths, sharing, trees, substituted interfaces."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from venturi.model.error import UserError
from venturi.model.expression import ExpressionError, names_in, parse
from venturi.model.plan import (
    Content,
    Fault,
    File,
    Interface,
    Option,
    PathPart,
    Sharing,
    Tree,
)
from venturi.model.record import Substitution
from venturi.model.workload import FileSpec, TreeSpec, Workload
from venturi.plan.parameter import INTERFACE_KEY
from venturi.plan.scope import Scope
from venturi.plan.setting import Settings

_FIELD = re.compile(r"\{\{|\}\}|\{([^{}:]+)(?::0?(\d{1,2})d)?\}|[{}]")


_MAX_WIDTH = 20
_MAX_DEPTH, _MAX_BRANCH = 64, 1_000_000
_RESERVED = (".venturi", ".manifest.")
"""Beginnings of names that a run's directory holds for itself."""


@dataclass(frozen=True)
class Interfaces:
    """What `--set interface=...` asks for."""

    name: Interface | None
    options: list[Option]


def interfaces_of(settings: Settings) -> Interfaces:
    """The interface that all files shall use instead of their own, with its options."""
    chosen = None
    options = []
    for key, value in settings.assignments.items():
        if key == INTERFACE_KEY:
            words = [interface.value for interface in Interface]
            if value not in words:
                raise UserError(f"--set interface={value}: no such interface", ", ".join(words))
            chosen = Interface(value)
        elif key.startswith(f"{INTERFACE_KEY}."):
            options.append(Option(name=key.removeprefix(f"{INTERFACE_KEY}."), value=value))
    return Interfaces(chosen, options)


def lower_file(
    name: str, spec: FileSpec, scope: Scope, settings: Settings, interfaces: Interfaces
) -> File:
    """One file; `scope` holds the names of every loop that may stand in its path."""
    where = f"files.{name}"
    kind, _, number = spec.shared.partition(" ")
    own = [
        Option(name=key, value=str(value).lower() if isinstance(value, bool) else str(value))
        for key, value in spec.options.items()
    ]
    wanted = interfaces.name or spec.interface
    if wanted != spec.interface:
        own = []
    return File(
        name=name,
        path=_path(name, spec, scope, settings),
        interface=wanted,
        options=own + interfaces.options,
        sharing=Sharing(kind),
        every=int(number or 1),
        content=Content(**spec.content.model_dump()),
        tree=_tree(spec.tree, scope, f"{where}.tree") if spec.tree else None,
        prestage=None if spec.prestage is None else scope.code(spec.prestage, f"{where}.prestage"),
        keep=spec.keep,
        foreign=spec.foreign,
        faults=[
            Fault(
                kind=fault.kind,
                operation=fault.operation,
                nth=fault.nth,
                every=fault.every,
                rank=fault.rank,
                seconds=float(scope.constant(fault.seconds, f"{where}.faults[{i}].seconds")),
            )
            for i, fault in enumerate(spec.faults)
        ],
    )


def template_names(path: str) -> set[str]:
    """The names that the fields of a path template read."""
    try:
        fields = [match[1] for match in _FIELD.finditer(path) if match[1]]
        return {name for text in fields for name in names_in(parse(text))}
    except ExpressionError as error:
        raise UserError(f"path '{path}': {error}") from None


def substitutions(workload: Workload, files: list[File]) -> list[Substitution]:
    """The files that run on another interface than the workload's own."""
    return [
        Substitution(
            file=file.name,
            wanted=workload.files[file.name].interface.value,
            used=file.interface.value,
            why=f"asked for with --set interface={file.interface.value}",
        )
        for file in files
        if workload.files[file.name].interface != file.interface
    ]


def _tree(spec: TreeSpec, scope: Scope, where: str) -> Tree:
    depth = scope.whole(spec.depth, f"{where}.depth")
    branch = scope.whole(spec.branch, f"{where}.branch", least=1)
    if depth > _MAX_DEPTH or branch > _MAX_BRANCH:
        raise UserError(f"{where}: at most {_MAX_DEPTH} deep and {_MAX_BRANCH} wide")
    return Tree(
        depth=depth,
        branch=branch,
        items=scope.code(spec.items, f"{where}.items"),
        size=scope.code(spec.size, f"{where}.size"),
    )


def _path(name: str, spec: FileSpec, scope: Scope, settings: Settings) -> list[PathPart]:
    where = f"files.{name}.path"
    _check_inside(spec, where)
    parts = _template(spec.path, scope, where)
    if spec.foreign:
        if not os.path.isabs(spec.path):
            parts.insert(0, PathPart(text=os.path.join(os.path.abspath(settings.directory), "")))
        return parts
    by_rank = "rank" in template_names(spec.path)
    if spec.shared == "all" and by_rank:
        raise UserError(
            f"{where}: a path with the rank in it is not shared by all", "say 'shared: rank'"
        )
    if spec.shared == "rank" and not by_rank:
        parts += [PathPart(text="."), PathPart(value=scope.code("rank", where), width=8)]
    if spec.shared.startswith("every") and not by_rank:
        number = spec.shared.split()[1]
        code = scope.code(f"rank // {number}", where)
        parts += [PathPart(text="."), PathPart(value=code, width=8)]
    return parts


def _check_inside(spec: FileSpec, where: str) -> None:
    """Nothing outside the run's own directory is written; foreign files are only read."""
    pieces = spec.path.split("/")
    odd = any(not character.isprintable() for character in spec.path)
    if odd or spec.path.endswith("/") or "." in pieces or pieces[0].startswith(_RESERVED):
        raise UserError(f"{where}: {spec.path!r} is not the path of a file of a run")
    if not spec.foreign and (os.path.isabs(spec.path) or ".." in pieces):
        raise UserError(
            f"{where}: '{spec.path}' leaves the run's own directory",
            "use a relative path; to read an existing file, say 'foreign: true'",
        )


def _template(text: str, scope: Scope, where: str) -> list[PathPart]:
    parts: list[PathPart] = []
    fixed, at = "", 0
    for match in _FIELD.finditer(text):
        fixed += text[at : match.start()]
        at = match.end()
        if match[0] in ("{{", "}}"):
            fixed += match[0][0]
        elif match[1] is None:
            raise UserError(f"{where}: '{text}': a brace without its pair", "write {{ for a brace")
        else:
            if fixed:
                parts.append(PathPart(text=fixed))
            fixed = ""
            code = scope.code(match[1], where)
            width = int(match[2] or 0)
            if width > _MAX_WIDTH:
                raise UserError(f"{where}: '{text}': at most {_MAX_WIDTH} digits")
            parts.append(PathPart(value=code, width=width))
    fixed += text[at:]
    if fixed:
        parts.append(PathPart(text=fixed))
    return parts
