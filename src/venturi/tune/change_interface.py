"""Another interface: the same requests through other calls, or the same data in another format."""

from __future__ import annotations

from venturi.model.interface import DEFAULT_INTERFACE, Interface
from venturi.model.tuning import Meaning
from venturi.model.workload import FileSpec, PatternKind
from venturi.tune.change import TuningChange, Variant, one_of
from venturi.tune.evaluation_context import DoesNotApply, EvaluationContext, uses_of
from venturi.tune.rewrite import with_files

_CHOICES = tuple(interface for interface in Interface if interface.entry.calls.both)
"""Interfaces whose calls an application can make."""


def _values(context: EvaluationContext) -> list[str]:
    """Not the libraries: another format is more than a change of calls, so it must be asked for."""
    plain = [choice for choice in _CHOICES if not choice.entry.is_library]
    return [choice.value for choice in plain if choice in context.interfaces]


def _make(context: EvaluationContext, value: str) -> Variant:
    wanted = Interface(one_of(value, "interface", [word.value for word in _CHOICES]))
    if wanted.entry.needs_mpi and not context.has_mpi:
        raise DoesNotApply("the ranks run without MPI (--on openmpi or mpich has it)")
    used = {use.name for use in uses_of(context.workload)}
    if not wanted.entry.can_append:
        uses = list(uses_of(context.workload))
        used -= {use.name for use in uses if use.step.pattern is PatternKind.APPEND}
    touched: list[str] = []

    def reach(name: str, spec: FileSpec) -> FileSpec | None:
        if name not in used or not _may_become(spec, wanted):
            return None
        touched.append(name)
        hints = spec.hints if wanted.entry.is_library else {}
        return spec.model_copy(update={"interface": wanted, "options": {}, "hints": hints})

    workload = with_files(context.workload, reach)
    if not touched:
        raise DoesNotApply(f"no file that could be is reached otherwise than by {value}")
    now = context.workload.files[touched[0]].interface
    return Variant(
        workload,
        f"through {value}",
        f"Use {wanted.entry.calls.both} for {context.listed(touched)} instead of "
        f"{now.entry.calls.both}.",
        Meaning(assumes=_assumed(now, wanted)),
    )


def _may_become(spec: FileSpec, wanted: Interface) -> bool:
    """Whether the data of a file can be moved by the interface, as far as its kind goes."""
    now = spec.interface
    if now is wanted:
        return False
    before, after = now.entry, wanted.entry
    if not before.is_library:
        return before.reaches_storage and not after.is_library
    if before.has_bare_files:
        return wanted is DEFAULT_INTERFACE
    return before.has_general_format and after.is_library


def _assumed(now: Interface, wanted: Interface) -> str:
    if wanted.entry.buffers:
        return "data wait in the stream's buffer until it is full, synced or closed"
    if not now.entry.has_general_format:
        return ""
    if wanted.entry.has_general_format:
        return "who reads the files knows that format"
    return "the files are bare data: who reads them knows without a library what lies where"


CHANGE = TuningChange("interface", "posix, uring, stdio, mmap or a library's name", _values, _make)
