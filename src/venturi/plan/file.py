"""Files of a workload as files of a plan: paths, sharing, trees, substituted interfaces."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from venturi.model.error import UserError
from venturi.model.expression import ExpressionError, Number, names_in, parse
from venturi.model.plan import (
    Content,
    Fault,
    File,
    Interface,
    Option,
    PathPart,
    Sharing,
    Stripe,
)
from venturi.model.record import Substitution
from venturi.model.workload import FileSpec, StripeSpec, Workload
from venturi.plan.dataset import lower_datasets
from venturi.plan.item import lower_tree
from venturi.plan.option import lower_options, options_of_settings
from venturi.plan.parameter import INTERFACE_KEY
from venturi.plan.scope import Scope, duration
from venturi.plan.setting import RunSettings
from venturi.plan.template import Field, template_fields
from venturi.plan.together import shows_datasets

_MAX_WIDTH = 20
_STRIPE_UNIT_BYTES = 65_536
_MOST_STRIPE_BYTES = 65_535 * _STRIPE_UNIT_BYTES
_MOST_STRIPES = 65_534
_RESERVED = (".venturi", ".manifest.", ".overfill.", ".commands.")
"""Beginnings of names that a run's directory holds for itself."""


@dataclass(frozen=True)
class Interfaces:
    """What `--set interface=...` asks for."""

    name: Interface | None
    options: list[Option]

    def in_force(self, spec: FileSpec) -> Interface:
        """The interface that a file is reached by."""
        return self.name or spec.interface

    def said_at(self, option: str) -> str:
        """Where the command line says an option; empty: it does not."""
        is_said = any(one.name == option for one in self.options)
        return f"--set {INTERFACE_KEY}.{option}" if is_said else ""

    def options_of(self, spec: FileSpec) -> list[Option]:
        """The options in force for a file: of its own ones, for its own interface, the others."""
        if self.in_force(spec) is not spec.interface:
            return self.options
        own = options_of_settings(spec.options)
        return [option for option in own if not self.said_at(option.name)] + self.options


def interfaces_of(settings: RunSettings) -> Interfaces:
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


def with_sharers(workload: Workload, parameters: Mapping[str, Number]) -> Workload:
    """The workload with numbers where the ranks that share a file are an expression."""
    scope = Scope(parameters, {})
    files = dict(workload.files)
    for name, spec in files.items():
        kind, _, number = spec.shared.partition(" ")
        if kind == "every":
            every = scope.whole(number, f"files.{name}.shared", least=1)
            files[name] = spec.model_copy(update={"shared": f"every {every}"})
    return workload.model_copy(update={"files": files})


def lower_file(
    name: str,
    spec: FileSpec,
    scope: Scope,
    settings: RunSettings,
    interfaces: Interfaces,
    by_instance: bool = False,
    appended: bool = False,
) -> File:
    """One file; `scope` holds the names of every loop that may stand in its path.

    `by_instance`: each instance of a group makes one of its own.
    """
    where = f"files.{name}"
    kind, _, number = spec.shared.partition(" ")
    wanted = interfaces.in_force(spec)
    _refuse_unfit(spec, wanted, where)
    if spec.foreign and spec.content.verify and (spec.tree or not wanted.entry.has_bare_files):
        bare = sorted(each.value for each in Interface if each.entry.has_bare_files)
        raise UserError(
            f"{where}: 'verify' of somebody else's file looks for the stamps where it begins, so "
            f"it is for plain files: {', '.join(bare)}",
            "leave 'verify' away, or write and check in one run",
        )
    if spec.content.repeats and (spec.content.verify or spec.content.duplicates is not None):
        raise UserError(
            f"{where}.content: 'repeats' writes the same bytes in all requests, so it excludes "
            "'verify' and 'duplicates'",
            "leave one of them out",
        )
    has_datasets = wanted.entry.has_datasets or shows_datasets(wanted, interfaces.options_of(spec))
    options = lower_options(
        interfaces.options_of(spec),
        [*wanted.entry.options, *wanted.entry.mpi_options],
        wanted.value,
        scope,
        lambda option: interfaces.said_at(option) or f"{where}.options.{option}",
    )
    return File(
        name=name,
        path=_path(name, spec, scope, settings, by_instance),
        interface=wanted,
        options=options,
        hints=options_of_settings(spec.hints) if wanted is spec.interface else [],
        stripe=_stripe(spec, wanted, scope, where),
        sharing=Sharing(kind),
        every=int(number or 1),
        content=Content(**spec.content.model_dump()),
        datasets=lower_datasets(spec, scope, where) if has_datasets else [],
        tree=lower_tree(name, spec, scope) if spec.tree else None,
        append=appended,
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
                seconds=duration(
                    fault.seconds, scope, f"{where}.faults[{i}].seconds", or_none=True
                ),
            )
            for i, fault in enumerate(spec.faults)
        ],
    )


def check_faults(files: Sequence[File], ranks: int) -> None:
    """Refuses faults of ranks that the run does not have: they would never come."""
    for file in files:
        for number, fault in enumerate(file.faults):
            if fault.rank >= ranks:
                raise UserError(
                    f"files.{file.name}.faults[{number}].rank: there is no rank {fault.rank}",
                    f"the run has {ranks}, from 0 on; -1 is every one",
                )


def _refuse_unfit(spec: FileSpec, wanted: Interface, where: str) -> None:
    """Raise UserError where a file has what means something else on its interface."""
    entry = wanted.entry
    if entry.has_keys and (spec.tree or spec.prestage is not None):
        raise UserError(
            f"{where}: {entry.container} has neither 'tree' nor 'prestage'",
            f"its {entry.pieces} are put by a write step",
        )
    is_own = wanted is spec.interface or not entry.reaches_storage
    if spec.options.get("records", "none") != "none" and not is_own:
        raise UserError(
            f"{where}: its records follow each other and have no places, which {wanted.value} "
            "needs",
            f"leave it on {spec.interface.value}",
        )


def _stripe(spec: FileSpec, wanted: Interface, scope: Scope, where: str) -> Stripe | None:
    """The stripes of a file's spec; a stand-in without storage has none."""
    if spec.stripe is None:
        return None
    if not spec.interface.entry.reaches_storage:
        raise UserError(
            f"{where}.stripe: {spec.interface.value} makes no files that could be striped"
        )
    if spec.foreign:
        raise UserError(f"{where}.stripe: somebody else's file is only read")
    stripe = Stripe(
        count=_stripe_count(spec.stripe, scope, f"{where}.stripe.count"),
        bytes=_stripe_bytes(spec.stripe, scope, f"{where}.stripe.size"),
    )
    if spec.stripe.count is None and spec.stripe.size is None:
        raise UserError(f"{where}.stripe: say how many ('count'), how long ('size'), or both")
    is_asked = stripe.count != 0 or stripe.bytes != 0
    return stripe if is_asked and wanted.entry.reaches_storage else None


def _stripe_count(stripe: StripeSpec, scope: Scope, where: str) -> int:
    if stripe.count is None:
        return 0
    count = scope.whole(stripe.count, where, least=-1)
    if count > _MOST_STRIPES:
        raise UserError(f"{where}: {count} is neither -1 (all) nor from 1 to {_MOST_STRIPES}")
    return count


def _stripe_bytes(stripe: StripeSpec, scope: Scope, where: str) -> int:
    if stripe.size is None:
        return 0
    size = scope.whole(stripe.size, where)
    if size % _STRIPE_UNIT_BYTES or size > _MOST_STRIPE_BYTES:
        raise UserError(f"{where}: {size} B is no multiple of 64 KiB below 4 GiB")
    return size


def template_names(path: str) -> set[str]:
    """The names that the fields of a path template read."""
    try:
        fields = [piece for piece in template_fields(path, "path") if isinstance(piece, Field)]
        return {name for field in fields for name in names_in(parse(field.text))}
    except ExpressionError as error:
        raise UserError(f"path '{path}': {error}") from None


def substitutions(
    workload: Workload, files: list[File], uncollective: set[str]
) -> list[Substitution]:
    """The files that run on another interface than the workload's own.

    `uncollective` are those that lost their collective calls by it.
    """
    lost = "; its collective calls are calls of each rank there"
    return [
        Substitution(
            file=file.name,
            wanted=workload.files[file.name].interface.value,
            used=file.interface.value,
            why=f"asked for with --set interface={file.interface.value}"
            + (lost if file.name in uncollective else ""),
        )
        for file in files
        if workload.files[file.name].interface != file.interface
    ]


def _path(
    name: str, spec: FileSpec, scope: Scope, settings: RunSettings, by_instance: bool
) -> list[PathPart]:
    where = f"files.{name}.path"
    _check_inside(spec, where)
    parts = _template(spec.path, scope, where)
    if spec.foreign:
        if not os.path.isabs(spec.path):
            parts.insert(0, PathPart(text=os.path.join(os.path.abspath(settings.directory), "")))
        return parts
    if by_instance and "instance" not in template_names(spec.path):
        parts += [PathPart(text="."), PathPart(value=scope.code("instance", where), width=4)]
    by_rank = "rank" in template_names(spec.path)
    if spec.shared == "all" and by_rank:
        raise UserError(
            f"{where}: a path with the rank in it is not shared by all", "say 'shared: rank'"
        )
    if spec.shared == "rank" and not by_rank:
        parts += [PathPart(text="."), PathPart(value=scope.code("rank", where), width=8)]
    by_node = "node" in template_names(spec.path)
    if spec.shared == "node" and by_rank:
        raise UserError(
            f"{where}: a path with the rank in it is not shared by the ranks of a node",
            "use {node}, or say 'shared: rank'",
        )
    if spec.shared == "node" and not by_node:
        parts += [PathPart(text="."), PathPart(value=scope.code("node", where), width=8)]
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
    for piece in template_fields(text, where):
        if isinstance(piece, str):
            parts.append(PathPart(text=piece))
            continue
        if piece.width > _MAX_WIDTH:
            raise UserError(f"{where}: '{text}': at most {_MAX_WIDTH} digits")
        parts.append(PathPart(value=scope.code(piece.text, where), width=piece.width))
    return parts
