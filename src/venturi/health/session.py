"""One session of health: the load of others, the audit, the suite, and what follows from them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from venturi import library
from venturi.analyse.kernel import kernel_failures
from venturi.execute.audit import audited
from venturi.execute.node_audit import audited_nodes, digest_of
from venturi.health.fault import named_faults, rank_times
from venturi.health.judge import PARTS, PartFaults, consistency_of, parts_of, rows_of
from venturi.health.keep import baseline_of, keep_session, sessions
from venturi.health.load import noise_of, sampled_load
from venturi.model.error import RunFailed, UserError
from venturi.model.event import Event
from venturi.model.health import AuditEntry, Drift, Health, NodeAudits
from venturi.model.machine import Machine
from venturi.model.record import Level, Record
from venturi.model.verdict import SuspicionCause
from venturi.plan.setting import RunSettings
from venturi.store.run import Request, perform, prepare

SUITES = ("quick", "standard", "full")
_OTHERS = (SuspicionCause.NEIGHBOUR, SuspicionCause.STEAL, SuspicionCause.THROTTLED)


@dataclass(frozen=True)
class HealthRequest:
    """Which suite to run, where, and what of it to leave out."""

    suite: str
    machine: Machine
    ranks: int | None
    nodes: int
    store: Path
    command: list[str]
    skip: Mapping[str, str]
    """Parts that are left out, and why."""


def run_session(request: HealthRequest, watch: Callable[[Event], None]) -> Health:
    """Run a suite and judge it; the session is kept in the store.

    Raises UserError for parts that there are not, RunFailed where the run came to no end: there is
    no session then. A kernel that fails its check is no such failure: its part is FAILED.
    """
    left_out = dict(request.skip)
    for part in left_out:
        if part not in PARTS:
            raise UserError(f"there is no part '{part}'", f"parts: {', '.join(PARTS)}")
    ranks = request.ranks or len(os.sched_getaffinity(0)) * request.nodes
    if request.machine.launcher.mpi is None:
        left_out.setdefault("messages", "needs MPI ranks: --on openmpi or --on mpich")
    if ranks < 2:
        for part in ("messages", "tcp"):
            left_out.setdefault(part, "needs two ranks: -n 2")
    load_before, audit = sampled_load(), audited()
    nodes_before = audited_nodes(request.machine, request.nodes)
    start_s = time.monotonic()
    record = _ran(request, ranks, left_out, watch)
    seconds = time.monotonic() - start_s
    load_after = sampled_load()
    nodes_after = audited_nodes(request.machine, request.nodes)
    noise = "; ".join(
        filter(
            None,
            (noise_of(load_before, "before"), noise_of(load_after, "after"), _meanwhile(record)),
        )
    )
    series = series_of(request.suite, record)
    before = sessions(request.store, series)
    references = baseline_of(request.store, series)
    rows = rows_of(record, before, references.references if references else {}, noise)
    failed = kernel_failures(record.phases)
    slow = named_faults(record, before)
    health = Health(
        id=record.id,
        suite=request.suite,
        series=series,
        started=record.started,
        seconds=seconds,
        load_before=load_before,
        load_after=load_after,
        noise=noise,
        parts=parts_of(rows, PartFaults(left_out, failed, slow, noise)),
        rows=rows,
        consistency=consistency_of(record),
        ranks=rank_times(record),
        slow=slow,
        failed=failed,
        audit=audit,
        audit_sha256=digest_of(audit),
        drift=_drift(before, audit),
        drift_since=before[-1].id if before else "",
        nodes=nodes_before,
        changed=changed(nodes_before, nodes_after),
        record=record,
    )
    keep_session(request.store, health)
    return health


def _ran(
    request: HealthRequest, ranks: int, left_out: Mapping[str, str], watch: Callable[[Event], None]
) -> Record:
    name = f"health-{request.suite}"
    workload = library.load(name)
    directory = request.store / "health"
    directory.mkdir(parents=True, exist_ok=True)
    switched_off = {part: "0" for part in PARTS if part in left_out}
    chosen = {part: "1" for part in PARTS} | switched_off
    record = perform(
        prepare(
            Request(
                workload=workload,
                workload_text=library.text_of(name),
                settings=RunSettings(ranks=ranks, nodes=request.nodes, assignments=chosen),
                machine=request.machine,
                directory=directory,
                store=request.store,
                command=request.command,
            )
        ),
        watch,
    )
    if record.verdict.level is Level.INVALID:
        failed = kernel_failures(record.phases)
        others = [reason for reason in record.verdict.reasons if reason not in failed]
        if others:
            raise RunFailed(f"{name} failed: {others[0]}", f"venturi results show {record.id}")
    return record


def series_of(suite: str, record: Record) -> str:
    """What sessions have in common that may be compared."""
    kernels = {f"{result.name} {result.version}" for row in record.phases for result in row.kernels}
    here = record.environment
    launched = here.comm.replace(",", "")[:40].strip()
    parts = [suite, here.host, f"{record.ranks} ranks", launched, here.engine, *sorted(kernels)]
    return ", ".join(parts)


def _meanwhile(record: Record) -> str:
    """What the run itself saw of others."""
    seen = [one.what for one in record.verdict.suspicions if one.cause in _OTHERS]
    return seen[0] if seen else ""


def changed(before: NodeAudits, after: NodeAudits) -> list[Drift]:
    """What changed on a node that answered both times."""
    earlier, later = before.values_by_host(), after.values_by_host()
    return [
        Drift(key=f"{key} on {host}", before=value, now=later[host].get(key, "absent"))
        for host, values in earlier.items()
        if host in later
        for key, value in values.items()
        if later[host].get(key, "absent") != value
    ]


def _drift(before: Sequence[Health], audit: Sequence[AuditEntry]) -> list[Drift]:
    """What is set otherwise than in the session before."""
    if not before:
        return []
    earlier = {entry.key: entry.value for entry in before[-1].audit if not entry.volatile}
    now = {entry.key: entry.value for entry in audit if not entry.volatile}
    return [
        Drift(key=key, before=earlier.get(key, "absent"), now=now.get(key, "absent"))
        for key in dict.fromkeys((*earlier, *now))
        if earlier.get(key) != now.get(key)
    ]
