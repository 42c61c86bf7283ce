"""Files that another entry makes, chosen in another way: which of them may be named so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from venturi.model.error import UserError
from venturi.model.plan import CachePolicy
from venturi.model.workload import (
    BareStep,
    CacheStep,
    DataStep,
    EachStep,
    FileSpec,
    StepSpec,
    SyncStep,
    Workload,
)
from venturi.plan.file import Interfaces


def check_made_by(workload: Workload, interfaces: Interfaces) -> None:
    """Refuses entries whose `made_by` cannot be the same files as those that it names."""
    for name, spec in workload.files.items():
        where = f"files.{name}.made_by"
        for maker in spec.made_by:
            if maker == name or maker not in workload.files:
                known = ", ".join(other for other in workload.files if other != name) or "none"
                raise UserError(f"{where}: there is no other file '{maker}'", f"files: {known}")
            _check_alike(where, spec, maker, workload.files[maker])
        if spec.made_by and interfaces.in_force(spec).entry.has_datasets:
            raise UserError(
                f"{where}: files with datasets have one name",
                "use it with an interface of bytes, or say 'prestage'",
            )
    named = {name for name, spec in workload.files.items() if spec.made_by}
    for steps in workload.program.values() if named else ():
        _check_caches(steps, named)


def _check_alike(where: str, spec: FileSpec, maker: str, made: FileSpec) -> None:
    if made.made_by:
        raise UserError(f"{where}: '{maker}' makes no files", f"say {made.made_by}")
    if (made.interface, made.shared) != (spec.interface, spec.shared):
        raise UserError(f"{where}: '{maker}' has another interface, or is shared otherwise")
    for one in (spec, made):
        if one.tree or one.datasets or one.foreign or one.content.verify:
            raise UserError(
                f"{where}: not with 'tree', 'datasets', 'foreign' or 'verify'",
                "only plain files have several names",
            )
    if spec.prestage is not None:
        raise UserError(f"{where}: '{maker}' makes the files", "give it the 'prestage'")


def _check_caches(steps: Sequence[StepSpec | BareStep], named: set[str]) -> None:
    for step in steps:
        if not isinstance(step, StepSpec):
            continue
        policy = step.cache.policy if isinstance(step.cache, CacheStep) else step.cache
        used = sorted(set(_used(step.inner)) & named)
        if policy is not CachePolicy.KEEP and used:
            raise UserError(
                f"phase '{step.phase}': the caches of '{used[0]}' cannot be dropped, because "
                "another entry makes its files",
                "drop them before a phase that uses that entry",
            )
        _check_caches(step.inner, named)


def _used(steps: Sequence[StepSpec | BareStep]) -> Iterator[str]:
    """Entries that steps name."""
    for step in steps:
        if not isinstance(step, StepSpec):
            continue
        yield from _used(step.inner)
        said = getattr(step, step.verb)
        if isinstance(said, DataStep):
            said = said.to or said.from_
        elif isinstance(said, EachStep | SyncStep):
            said = said.on
        if isinstance(said, str) and step.verb != "phase":
            yield said.partition(".")[0]


def with_makers(workload: Workload, indices: set[int]) -> set[int]:
    """These files, by their places in the workload, with all that name the same ones."""
    names = list(workload.files)
    makers = {index: workload.files[name].made_by for index, name in enumerate(names)}
    found = set(indices)
    for index, made in makers.items():
        places = {names.index(maker) for maker in made}
        if index in indices:
            found |= places
        elif places & indices:
            found.add(index)
    return found
