"""Events and the facts known before the start, put together to a record."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from venturi.analyse.fidelity import fidelity_of
from venturi.analyse.label import (
    in_memory_rows,
    is_memory,
    labelled,
    labels_of,
    run_labels_of,
)
from venturi.analyse.metric import NODE_MEMORY, measured_in
from venturi.analyse.neighbour import notices
from venturi.analyse.rule import failure_by, rules_of
from venturi.analyse.server import slow_servers_of
from venturi.analyse.straggler import stragglers_of
from venturi.analyse.verdict import VerdictFacts, verdict_of
from venturi.execute.engine import Left
from venturi.execute.target import identity_of
from venturi.model.background import Background
from venturi.model.ceiling import Ceiling
from venturi.model.command import CommandRun
from venturi.model.document import Count, Document, Positive, Real
from venturi.model.event import (
    ClockFacts,
    Event,
    Failed,
    FileFacts,
    Finished,
    Hello,
    Paused,
    PhaseFacts,
    PhaseFinished,
    Warning,
)
from venturi.model.host_sample import HostLimits, HostSample
from venturi.model.machine import Bound
from venturi.model.record import (
    Environment,
    Fidelity,
    FileSystem,
    MetricValue,
    OperationRow,
    PhaseRow,
    Record,
    RuleRow,
    Seconds4,
    Substitution,
)
from venturi.model.result import RunOf
from venturi.model.statistic import latency_of
from venturi.model.storage_layout import StorageLayout
from venturi.model.verdict import Suspicion, SuspicionCause, Verdict
from venturi.model.workload import Workload
from venturi.store.observed import label_facts, observed_of, unobserved


class RunFacts(Document):
    """What is known before the engine starts."""

    id: str
    started: str
    command: list[str]
    directory: str
    run_directory: str
    target_identity: str
    ranks: Positive
    seed: Count
    repetitions_asked: Positive
    parameters: dict[str, int | float]
    substituted: list[Substitution]
    interfaces: list[str]
    bounds: list[Bound]
    ceilings: list[Ceiling] = Field(default_factory=list)
    cold_wanted: list[str]
    """Paths of the phases whose caches were to be dropped."""
    faults: Count
    """Faults that the workload injects."""
    warnings: list[str]
    host_limits: HostLimits | None = None
    host: str
    kernel: str
    system: str
    cpu: str
    cores: Count
    memory_bytes: Count
    load_average: Real
    file_system: FileSystem
    layout: StorageLayout | None = None
    python: str
    venturi: str
    variables: dict[str, str]
    workload: dict[str, Any]
    machine: str = ""
    run_of: RunOf | None = None


@dataclass(frozen=True)
class RunEnd:
    """How a run ended, beside what its events say."""

    interrupted: bool = False
    last_error: str = ""
    """The engine's last line on standard error."""
    warning: str = ""
    """Why the run's files could not be removed."""
    warnings: tuple[str, ...] = ()
    """Those of processes that may not write events."""
    commands: Sequence[CommandRun] = ()
    """What was run in place of skeletons, as far as it came to an end."""
    enough: str = ""
    """Why there were enough repetitions, where their number was left to the run."""
    samples: Sequence[HostSample] = ()
    """Counters of the host that started the run."""
    disturbed: tuple[str, ...] = ()
    """What else happened to the run that is not the storage's doing, in words."""
    background: Sequence[Background] = ()
    """What probes felt on the file system meanwhile."""


@dataclass(frozen=True)
class _Ran:
    """What the events say of a run, before anything is judged."""

    workload: Workload
    hello: Hello | None
    hosts: list[str]
    """The host of each rank; empty where the engine did not begin."""
    finished: Finished | None
    phases: list[PhaseRow]
    completed: int
    """Repetitions that came to their end."""
    clock: ClockFacts
    nodes: int


@dataclass(frozen=True)
class _Judged:
    """What follows from the phases of a run."""

    rules: list[RuleRow]
    metrics: dict[str, MetricValue]
    labels: dict[str, list[str]]
    run_labels: list[str]
    failure: str | None
    verdict: Verdict


def _ran(facts: RunFacts, events: Sequence[Event]) -> _Ran:
    hello = next((e for e in events if isinstance(e, Hello)), None)
    hosts = [hello.hosts[node] for node in hello.node_of_rank] if hello else []
    finished = next((e for e in events if isinstance(e, Finished)), None)
    phases = [row_of(e, hosts) for e in events if isinstance(e, PhaseFinished)]
    if is_memory(facts.file_system.type):
        phases = in_memory_rows(phases)
    # Events of other groups, and long ones, come from files of their own.
    phases.sort(key=lambda row: (row.repetition, row.at_s))
    return _Ran(
        workload=Workload.model_validate_json(json.dumps(facts.workload)),
        hello=hello,
        hosts=hosts,
        finished=finished,
        phases=phases,
        completed=finished.repetitions if finished else _completed(phases),
        clock=hello.clock
        if hello
        else ClockFacts(source="unknown", resolution_ns=0, overhead_ns=0),
        nodes=len(hello.hosts) if hello else 1,
    )


def _judged(facts: RunFacts, events: Sequence[Event], ending: RunEnd, ran: _Ran) -> _Judged:
    known = {**facts.parameters, NODE_MEMORY: facts.memory_bytes}
    measured, numbers = measured_in(ran.workload, known, ran.phases, ending.commands)
    rules = rules_of(ran.workload, numbers, ran.phases, ran.nodes)
    named = label_facts(facts, ran.workload, ran.nodes)
    labels, run_labels = labels_of(ran.phases, named), run_labels_of(named)
    metrics = labelled(measured, ran.workload, labels, run_labels)
    failure = _failure(events, ran.finished, ending) or failure_by(ran.workload, rules)
    verdict = verdict_of(
        VerdictFacts(
            phases=ran.phases,
            repetitions=ran.completed,
            metrics=metrics,
            labels=labels,
            run_labels=run_labels,
            clock_resolution_ns=ran.clock.resolution_ns,
            clock_offset_s=ran.clock.offset_uncertainty_s,
            bounds=facts.bounds,
            failure=failure,
            target_changed=_target_change(facts),
            cold_wanted=frozenset(facts.cold_wanted),
            observed=observed_of(facts, ran.hosts, metrics, ending.samples),
            noticed=_noticed(events, ending),
            unobserved=unobserved(facts, ran.hello, ending.samples),
            name=ran.workload.name,
            rules=len(rules),
            broken_rules=[row.says for row in rules if not row.holds],
            thresholds=ran.workload.thresholds,
            background=ending.background,
        )
    )
    return _Judged(rules, metrics, labels, run_labels, failure, verdict)


def assemble(facts: RunFacts, events: Sequence[Event], left: Left, ending: RunEnd) -> Record:
    """Return the record of a run; partial where the engine did not come to its end."""
    ran = _ran(facts, events)
    judged = _judged(facts, events, ending, ran)
    asked = ran.completed if ran.finished and ending.enough else facts.repetitions_asked
    remaining, strange = _remaining(facts, ran.workload, left)
    return Record(
        id=facts.id,
        name=ran.workload.name,
        about=ran.workload.about,
        started=facts.started,
        command=facts.command,
        ranks=facts.ranks,
        seed=facts.seed,
        repetitions=ran.completed,
        repetitions_asked=asked,
        enough=ending.enough,
        partial=ran.finished is None or ran.completed < asked,
        interrupted=ending.interrupted,
        parameters=dict(facts.parameters),
        verdict=judged.verdict,
        phases=ran.phases,
        pauses=[e for e in events if isinstance(e, Paused)],
        metrics=judged.metrics,
        rules=judged.rules,
        substituted=facts.substituted,
        fidelity=_fidelity(ran.workload, ran.phases),
        environment=_environment(facts, ran.hello, ran.clock),
        commands=list(ending.commands),
        machine=facts.machine,
        ceilings=facts.ceilings,
        run_of=facts.run_of,
        file_facts=[e for e in events if isinstance(e, FileFacts)],
        warnings=_warnings(facts, events, ending, strange),
        failure=judged.failure,
        left=remaining,
        left_command=f"venturi results rm --files {facts.id}" if remaining else None,
        labels=judged.labels,
        run_labels=judged.run_labels,
        host_samples=list(ending.samples),
        host_limits=facts.host_limits,
        background=list(ending.background),
        workload=facts.workload,
    )


def _noticed(events: Sequence[Event], ending: RunEnd) -> list[Suspicion]:
    """What the engine noticed that is not the storage's doing."""
    aside = [Suspicion(cause=SuspicionCause.OTHER, what=text) for text in ending.disturbed]
    return [*notices([e for e in events if isinstance(e, Warning)]), *aside]


def _warnings(facts: RunFacts, events: Sequence[Event], ending: RunEnd, strange: str) -> list[str]:
    said = [event.what for event in events if isinstance(event, Warning)]
    notes = [note for note in (strange, ending.warning) if note]
    return [*facts.warnings, *said, *ending.warnings, *notes]


def _fidelity(workload: Workload, phases: list[PhaseRow]) -> Fidelity | None:
    observed = workload.origin.observed if workload.origin else None
    return fidelity_of(observed, phases) if observed else None


def _place_of(run_directory: str, name: str) -> str:
    """Return where a name of the engine is: below the run's directory, or at its own address."""
    return name if "://" in name else os.path.join(run_directory, name)


def _remaining(facts: RunFacts, workload: Workload, left: Left) -> tuple[list[str], str]:
    """Files of the run that are still there, and a word on names that are not the run's."""
    paths = [_place_of(facts.run_directory, name) for name in left.names]
    if left.refused:
        return paths or [facts.run_directory], ""
    if any(file.keep for file in workload.files.values()):
        return paths, ""
    if not paths:
        return [], ""
    if left.doubt:
        return paths, f"nothing was removed from {facts.run_directory}: {left.doubt}"
    return [], f"{facts.run_directory} stays: {left.count} names in it are not of this run"


def _completed(phases: Sequence[PhaseRow]) -> int:
    """Repetitions in which every phase of the first one came to its end."""
    if not phases:
        return 0
    counts: dict[int, int] = {}
    for row in phases:
        counts[row.repetition] = counts.get(row.repetition, 0) + 1
    last = max(counts)
    return sum(1 for n, count in counts.items() if n < last and count >= counts[0])


def _failure(events: Sequence[Event], finished: Finished | None, ending: RunEnd) -> str | None:
    failed = next((e for e in events if isinstance(e, Failed)), None)
    if failed is not None:
        return f"{failed.sentence}{failed.hint and f'; {failed.hint}'}"
    if finished is not None:
        return None
    if ending.interrupted:
        return "interrupted before the end of a repetition"
    return (
        ending.last_error or "the engine ended without a word: it, a rank or the command was killed"
    )


def _target_change(facts: RunFacts) -> str | None:
    directory = Path(facts.directory)
    try:
        now = identity_of(directory) if directory.is_dir() else "gone"
    except OSError as error:
        # A mount whose server is gone answers nothing, not even that it is there.
        now = f"without an answer ({error.strerror})"
    return None if now == facts.target_identity else f"it was {facts.target_identity}, now {now}"


def row_of(event: PhaseFinished, hosts: Sequence[str]) -> PhaseRow:
    """The row of a phase that has come to its end; `hosts` are those of all ranks."""
    total = event.seconds.total
    return PhaseRow(
        **{name: getattr(event, name) for name in PhaseFacts.model_fields},
        iteration={item.name: item.value for item in event.iteration},
        seconds=Seconds4(**event.seconds.model_dump()),
        bytes_per_second=event.bytes / total if total else 0.0,
        by_operation={
            item.kind.value: OperationRow(
                bytes=item.bytes,
                operations=item.operations,
                errors=item.errors,
                seconds=item.seconds,
                latency_ns=latency_of(item.latency),
                histogram=item.latency,
            )
            for item in event.by_operation
        },
        flushed=event.flushed.value,
        stragglers=stragglers_of(event.per_rank, hosts),
        slow_servers=slow_servers_of(event.servers),
    )


def _environment(facts: RunFacts, hello: Hello | None, clock: ClockFacts) -> Environment:
    return Environment(
        host=facts.host,
        hosts=hello.hosts if hello else [facts.host],
        kernel=facts.kernel,
        system=facts.system,
        cpu=facts.cpu,
        cores=facts.cores,
        memory_bytes=facts.memory_bytes,
        load_average=facts.load_average,
        directory=facts.directory,
        file_system=facts.file_system,
        python=facts.python,
        venturi=facts.venturi,
        engine=hello.engine if hello else "unknown",
        comm=hello.comm if hello else "unknown",
        clock=clock,
        variables=facts.variables,
        layout=facts.layout,
    )
