"""A larger buffer between the application and the system, without another line of I/O."""

from __future__ import annotations

from venturi.model.tuning import Meaning
from venturi.model.workload import FileSpec, StepSpec, Workload
from venturi.tune.change import TuningChange, Variant, size_of
from venturi.tune.evaluation_context import DoesNotApply, EvaluationContext, steps_of, uses_of
from venturi.tune.rewrite import with_files

_OPTION = "buffer_bytes"


def _values(context: EvaluationContext) -> list[str]:
    del context
    return ["4MiB"]


def _make(context: EvaluationContext, value: str) -> Variant:
    size = size_of(value, "buffer")
    used = {use.name for use in uses_of(context.workload)} - _opened_again(context.workload)
    touched: list[str] = []

    def buffer(name: str, spec: FileSpec) -> FileSpec | None:
        if name not in used or not _has_stream(spec):
            return None
        touched.append(name)
        return spec.model_copy(update={"options": {**spec.options, _OPTION: size}})

    workload = with_files(context.workload, buffer)
    if not touched:
        raise DoesNotApply("no file that stays open is a stream of the C library")
    return Variant(
        workload,
        f"stream buffers of {value}",
        f"Call setvbuf(file, NULL, _IOFBF, {size}) after fopen() of {context.listed(touched)} "
        f"(Python: open(..., buffering={size})).",
        Meaning(assumes="data wait in the stream's buffer until it is full, synced or closed"),
    )


def _has_stream(spec: FileSpec) -> bool:
    """Return whether the calls of a file go through a buffer whose size can be set."""
    entry = spec.interface.entry
    return entry.has_file_calls and entry.has_option(_OPTION)


def _opened_again(workload: Workload) -> set[str | None]:
    """Files that are opened at every turn of a loop: a large buffer is made and lost each time."""
    loops = [step for step in steps_of(workload) if step.for_ is not None]
    inside = [step for loop in loops for step in loop.do or [] if isinstance(step, StepSpec)]
    return {name for step in inside for name in (step.open, step.create)}


CHANGE = TuningChange("buffer", "SIZE", _values, _make)
