"""Labels: what belongs to the name of a number so that nobody takes it for another one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from venturi.analyse.kernel import measures_machine, phase_of
from venturi.model.data_step import DataStep
from venturi.model.event import CacheState
from venturi.model.plan import Interface, SyncMode
from venturi.model.record import MetricValue, PhaseRow, Substitution
from venturi.model.workload import BareStep, ContentSpec, StepSpec, Workload

IN_MEMORY = "in memory"
NOT_FLUSHED = "not flushed"
CACHE_UNKNOWN = "cache unknown"
FAULTS = "faults injected"
COMPRESSIBLE = "compressible data"
_MEMORY_TYPES = frozenset(("tmpfs", "ramfs", "hugetlbfs"))
"""File systems that keep files in memory only: nothing there is ever on storage."""
_WITHOUT_STORAGE = {
    interface.value: interface.entry.label
    for interface in Interface
    if not interface.entry.reaches_storage
}
NO_STORAGE = tuple(_WITHOUT_STORAGE.values())
"""Labels of numbers that say nothing of any storage."""
_WEAK = frozenset((SyncMode.NONE.value, SyncMode.FLUSH.value))
"""A flush hands data to the system, which may keep them in memory."""
_CACHE_WORDS = {
    CacheState.COLD: "cold",
    CacheState.WARM: "cached",
    CacheState.MIXED: "partly cached",
    CacheState.UNKNOWN: CACHE_UNKNOWN,
}
_LOOKS = frozenset(("stat", "read_dir", "find", "get_xattr", "empty_read", "miss"))
"""Metadata operations that a cache can answer."""
_WORD = re.compile(r"[A-Za-z_][\w./ -]*")


@dataclass(frozen=True)
class LabelFacts:
    """What labels are made from, beside the phases."""

    file_system: str = ""
    interfaces: frozenset[str] = frozenset()
    substituted: Sequence[Substitution] = ()
    faults: int = 0
    ranks: int = 1
    cpus: float = 0
    """That the run may use, of all hosts; 0 where unknown."""
    compressible: frozenset[str] = frozenset()
    """Paths of the phases whose data compress or repeat, as the workload says."""


def is_memory(file_system: str) -> bool:
    """Whether a type of file system keeps its files in memory only."""
    return file_system in _MEMORY_TYPES


def labels_of(phases: Sequence[PhaseRow], facts: LabelFacts) -> dict[str, list[str]]:
    """By the path of a phase: its labels, what was measured first, then how."""
    bare = {_WITHOUT_STORAGE[name] for name in facts.interfaces if name in _WITHOUT_STORAGE}
    no_storage = bool(facts.interfaces) and facts.interfaces <= set(_WITHOUT_STORAGE)
    found = {}
    for path in dict.fromkeys(row.path for row in phases):
        rows = [row for row in phases if row.path == path]
        if measures_machine(rows):
            own = []
        elif no_storage:
            own = sorted(bare)
        elif is_memory(facts.file_system):
            own = [IN_MEMORY]
        else:
            own = [*_of_caches(rows), *_of_writes(rows), *(f"{word} in part" for word in bare)]
        if path in facts.compressible and not no_storage and any(row.bytes for row in rows):
            own.append(COMPRESSIBLE)
        found[path] = own
    return found


def compressible_phases(workload: Workload) -> frozenset[str]:
    """The paths of the phases that write or read what compresses or repeats by its settings.

    Storage that compresses or finds duplicates moves less than it is told to.
    """
    files = {name for name, spec in workload.files.items() if _compresses(spec.content)}
    files |= {name for name, spec in workload.files.items() if files & set(spec.made_by)}
    found: set[str] = set()
    for steps in workload.program.values():
        _moved_files(steps, "", found, files)
    return frozenset(found)


def _compresses(content: ContentSpec) -> bool:
    return content.repeats or content.compressibility > 0 or bool(content.duplicates)


def _moved_files(
    steps: Sequence[StepSpec | BareStep], path: str, found: set[str], files: set[str]
) -> bool:
    """Whether steps move data of some files; adds the paths of the phases in which they do."""
    moves = False
    for step in steps:
        if not isinstance(step, StepSpec):
            continue
        below = path if step.phase is None else f"{path}/{step.phase}".lstrip("/")
        inside = _moved_files(step.inner, below, found, files)
        if step.phase is not None and inside:
            found.add(below)
        moves |= inside or not files.isdisjoint(_data_of(step))
    return moves


def _data_of(step: StepSpec) -> Iterator[str]:
    """The files whose data a step moves."""
    for access in (step.write, step.read):
        target = (access.to or access.from_) if isinstance(access, DataStep) else access
        if target:
            yield target.partition(".")[0]
    if step.each is not None:
        yield step.each.on
    if step.copy_ is not None:
        yield from (step.copy_.from_, step.copy_.to)


def run_labels_of(facts: LabelFacts) -> list[str]:
    """Labels of every number of the run."""
    labels = list(
        dict.fromkeys(f"{item.used} in place of {item.wanted}" for item in facts.substituted)
    )
    if facts.faults:
        labels.append(FAULTS)
    if facts.cpus and facts.ranks > facts.cpus:
        labels.append(f"{facts.ranks} ranks on {facts.cpus:.3g} cores")
    return labels


def _kinds(rows: Sequence[PhaseRow]) -> set[str]:
    return {kind for row in rows for kind, done in row.by_operation.items() if done.operations}


def _of_caches(rows: Sequence[PhaseRow]) -> list[str]:
    kinds = _kinds(rows)
    if "exec" in kinds:
        return ["caches of its command unknown"]
    changes = kinds & {"write", "create", "unlink"}
    if "read" not in kinds and (changes or not kinds & _LOOKS):
        return []
    states = {row.cache for row in rows} - {CacheState.NONE}
    if len(states) > 1:
        return ["partly cached" if CacheState.UNKNOWN not in states else CACHE_UNKNOWN]
    return [_CACHE_WORDS[state] for state in states]


def _of_writes(rows: Sequence[PhaseRow]) -> list[str]:
    weak = any(row.flushed in _WEAK for row in rows)
    return [NOT_FLUSHED] if weak and "write" in _kinds(rows) else []


def labelled(
    metrics: Mapping[str, MetricValue],
    workload: Workload,
    by_phase: Mapping[str, list[str]],
    of_the_run: Sequence[str] = (),
) -> dict[str, MetricValue]:
    """The metrics with their labels: those of a phase, or of all phases that a metric is about.

    Those of the run stand behind them.
    """
    found: dict[str, MetricValue] = {}
    for name, value in metrics.items():
        path = name if name in by_phase else phase_of(name)
        if path in by_phase and name not in workload.metrics:
            labels = by_phase[path]
        else:
            labels = _of_expression(name, workload, by_phase, found)
        found[name] = value.model_copy(update={"labels": labels})
    return {
        name: value.model_copy(update={"labels": [*value.labels, *of_the_run]})
        for name, value in found.items()
    }


def _of_expression(
    name: str,
    workload: Workload,
    by_phase: Mapping[str, list[str]],
    before: Mapping[str, MetricValue],
) -> list[str]:
    """Labels of the phases and metrics that an expression names; of all where it names none."""
    metric = workload.metrics.get(name)
    words = {word.strip() for word in _WORD.findall(metric.value)} if metric else set()
    text = metric.value if metric else ""
    named = [
        by_phase[other] if other in by_phase else before[other].labels
        for other in dict.fromkeys((*by_phase, *before))
        if other in words or (other in by_phase and re.search(rf"\b{re.escape(other)}\s*\)", text))
    ]
    return list(dict.fromkeys(label for labels in named or by_phase.values() for label in labels))


def in_memory_rows(rows: Sequence[PhaseRow]) -> list[PhaseRow]:
    """Rows of a file system in memory: nothing that was written there became persistent."""
    return [
        row.model_copy(update={"flushed": SyncMode.NONE.value, "bytes_durable": 0}) for row in rows
    ]
