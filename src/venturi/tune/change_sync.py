"""Fewer or cheaper syncs: once at the end instead of at every write; data without times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from venturi.model.plan import ItemVerb, SyncMode
from venturi.model.row_table import RowTable
from venturi.model.tuning import Meaning
from venturi.model.workload import BareStep, DataStep, StepSpec, SyncStep, Workload
from venturi.plan.file import template_names
from venturi.tune.call import sync_call
from venturi.tune.change import TuningChange, Variant, one_of, weaker
from venturi.tune.evaluation_context import (
    DataStepUse,
    DoesNotApply,
    EvaluationContext,
    steps_of,
    use_of,
    uses_of,
)
from venturi.tune.rewrite import Steps, altered, named_in, with_data, with_steps

_WORDS = ("end", "fdatasync")


def _values(context: EvaluationContext) -> Sequence[str]:
    del context
    return _WORDS


def _make(context: EvaluationContext, value: str) -> Variant:
    one_of(value, "sync", _WORDS)
    return _at_end(context) if value == "end" else _data_only(context)


def _at_end(context: EvaluationContext) -> Variant:
    workload = context.workload
    files = _synced_often(workload)
    trees = _synced_trees(workload)
    if not files and not trees:
        raise DoesNotApply("nothing is made persistent more than once in a phase")
    again = _closed_often(workload, files)
    changed = with_steps(workload, lambda step: _without(step, files, trees, workload), chosen=True)
    ends = _ends_of(workload, files)
    changed = with_steps(
        changed, lambda step: _closing(step, files, trees, again, ends), chosen=True
    )
    first = next(iter(files or trees))
    call = sync_call(workload.files[first], files.get(first, SyncMode.FSYNC))
    called, sign, elsewhere = call.partition(" (")
    return Variant(
        changed,
        "one sync at the end",
        f"Call {called} once, when all of {context.listed([*files, *trees])} is written, not "
        f"after every write{sign}{elsewhere}.",
        weaker(
            "a crash before the end of the last phase that writes a file may take what was written "
            "to it; at that end all is as persistent as before"
        ),
    )


def _synced_often(workload: Workload) -> dict[str, SyncMode]:
    """Files that are synced at every write, or in a loop, with the way."""
    found: dict[str, SyncMode] = {}
    for use in uses_of(workload):
        if use.is_write and use.step.sync is not SyncMode.NONE:
            found[use.name] = use.step.sync
    left = _not_closed_once(workload)
    for step in steps_of(workload):
        if step.for_ is None:
            continue
        for inner in [*_below(step), *_chosen_in(step)]:
            if isinstance(inner.sync, SyncStep) and inner.sync.on in workload.files:
                found.setdefault(inner.sync.on, inner.sync.mode)
    return {
        name: mode
        for name, mode in found.items()
        if mode is not SyncMode.FILE_SYSTEM and name not in left
    }


def _chosen_in(step: StepSpec) -> list[StepSpec]:
    """The steps in a loop of which a number chooses one."""
    return [one for inner in _below(step) if inner.choose is not None for one in inner.choose.of]


def _not_closed_once(workload: Workload) -> set[str]:
    """Files on which the rows of a table work, unless one row alone opens them and one closes them:
    only that one is an end."""
    used: set[str] = set()
    opens: Counter[str] = Counter()
    closes: Counter[str] = Counter()
    for loop in steps_of(workload):
        table = workload.tables.get(loop.for_ or "")
        for choose in [inner.choose for inner in _below(loop) if inner.choose is not None]:
            used |= named_in(choose.of)
            if not isinstance(table, RowTable) or choose.by not in table.columns:
                continue
            rows = Counter(table.column(str(choose.by)))
            for number, one in enumerate(choose.of):
                closes[one.close or ""] += rows[number]
                opens[one.create or one.open or ""] += rows[number]
    return {name for name in used if (opens[name], closes[name]) != (1, 1)}


def _below(step: StepSpec) -> list[StepSpec]:
    """Steps in a loop, down to phases that begin in it: these are ends of their own."""
    found = []
    for inner in step.do or []:
        if isinstance(inner, StepSpec) and inner.phase is None:
            found += [inner, *_below(inner)]
    return found


def _closed_often(workload: Workload, files: dict[str, SyncMode]) -> set[str]:
    """Those of these files that are closed at every turn of a loop, and are the same in each."""
    loops = [step for step in steps_of(workload) if step.for_ is not None]
    variables = {loop.for_ for loop in loops}
    inside = [step for loop in loops for step in _below(loop)]
    gone = {step.unlink for step in inside}
    return {
        step.close
        for step in inside
        if step.close in files
        and step.close not in gone
        and not variables & set(template_names(workload.files[step.close].path))
    }


def _synced_trees(workload: Workload) -> list[str]:
    return [
        step.each.on
        for step in steps_of(workload)
        if step.each is not None and ItemVerb.SYNC in step.each.do
    ]


def _without(
    step: StepSpec, files: dict[str, SyncMode], trees: list[str], workload: Workload
) -> Steps | None:
    """The step without its syncs of these files."""
    use = use_of(step, workload)
    if use is not None and use.is_write and use.name in files:
        return [step.model_copy(update={"write": altered(use.step, sync=SyncMode.NONE)})]
    if isinstance(step.sync, SyncStep) and step.sync.on in files:
        return []
    if step.each is not None and step.each.on in trees:
        return [step.model_copy(update={"each": step.each.without(ItemVerb.SYNC)})]
    return None


def _ends_of(workload: Workload, files: dict[str, SyncMode]) -> dict[str, str]:
    """The last phase that writes each file, unless a later one closes it.

    Phases before it end while the file is being written.
    """
    ends: dict[str, str] = {}
    for step in steps_of(workload):
        if step.phase is None:
            continue
        for inner in _all_below(step.do or []):
            if inner.close is not None:
                ends.pop(inner.close, None)
        ends |= {name: step.phase for name in _written(step.do or []) if name in files}
    return ends


def _closing(
    step: StepSpec,
    files: dict[str, SyncMode],
    trees: list[str],
    again: set[str],
    ends: dict[str, str],
) -> Steps | None:
    """A sync before the close of a file, or at the end of its last phase where that does not close
    it.

    Files that are closed `again` and again are opened once more for it.
    """
    if step.close in files and step.close not in again:
        return [_sync(step.close, files[step.close]), step]
    if step.phase is None:
        return None
    do: Steps = list(step.do or [])
    closed = {inner.close for inner in _all_below(do)}
    written = {inner for inner in _written(do)}
    for name, mode in files.items():
        if name not in written or (name not in again and ends.get(name) != step.phase):
            continue
        if name in again:
            do += [StepSpec(open=name), _sync(name, mode), StepSpec(close=name)]
        elif name not in closed:
            do.append(_sync(name, mode))
    worked = {inner.each.on for inner in _all_below(do) if inner.each is not None}
    for name in dict.fromkeys(trees):
        if name in worked:
            do.append(_sync(name, SyncMode.FILE_SYSTEM))
    return [step.model_copy(update={"do": do})]


def _all_below(steps: Sequence[StepSpec | BareStep]) -> list[StepSpec]:
    found = []
    for step in steps:
        if isinstance(step, StepSpec):
            found += [step, *_all_below(step.inner)]
    return found


def _written(steps: Sequence[StepSpec | BareStep]) -> list[str]:
    targets = [step.write for step in _all_below(steps) if step.write is not None]
    words = [target if isinstance(target, str) else target.to or "" for target in targets]
    return [word.partition(".")[0] for word in words]


def _sync(name: str | None, mode: SyncMode) -> StepSpec:
    assert name is not None
    return StepSpec(sync=SyncStep(on=name, mode=mode))


def _data_only(context: EvaluationContext) -> Variant:
    """fdatasync in place of fsync."""
    touched: list[str] = []

    def of_data(use: DataStepUse) -> DataStep | None:
        if use.step.sync is not SyncMode.FSYNC:
            return None
        touched.append(use.name)
        return altered(use.step, sync=SyncMode.FDATASYNC)

    def of_step(step: StepSpec) -> list[StepSpec] | None:
        if step.sync is SyncMode.FSYNC:
            touched.append("all open files")
            return [step.model_copy(update={"sync": SyncMode.FDATASYNC})]
        if isinstance(step.sync, SyncStep) and step.sync.mode is SyncMode.FSYNC:
            touched.append(step.sync.on)
            rich = step.sync.model_copy(update={"mode": SyncMode.FDATASYNC})
            return [step.model_copy(update={"sync": rich})]
        return None

    workload = with_steps(with_data(context.workload, of_data), of_step)
    if not touched:
        raise DoesNotApply("nothing is synced with fsync()")
    return Variant(
        workload,
        "fdatasync instead of fsync",
        f"Call fdatasync() instead of fsync() for {context.listed(touched)}.",
        Meaning(assumes="times of change of the file may be lost in a crash, its data are not"),
    )


CHANGE = TuningChange("sync", "end or fdatasync", _values, _make)
